import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allEvents,
  createEvent,
  EVERY_EVENT,
  NOW_SECONDS,
  SITE,
  testStore,
} from '../../../test/support/activity-store.js';
import type { EventFilter } from '../activity-store.js';

const users = [null, { id: 1, login: 'owner' }, { id: 2, login: 'editor' }];
const kinds = ['login', 'login.failed', 'post.updated'];

describe('events', () => {
  it('are stored once, however often they are sent', async () => {
    const store = await testStore();
    await store.writeEvents(SITE, [createEvent({ uid: 'a' }), createEvent({ uid: 'b' }), createEvent({ uid: 'a' })]);
    await Promise.all([
      store.writeEvents(SITE, [createEvent({ uid: 'b' })]),
      store.writeEvents(SITE, [createEvent({ uid: 'c' })]),
    ]);
    expect(await allEvents(store)).toHaveLength(3);
    expect(await store.eventKinds(SITE, NOW_SECONDS - 3600, NOW_SECONDS)).toEqual([{ kind: 'login', count: 3 }]);
    expect(await store.options(SITE, 'user', '', 10)).toHaveLength(1);
  });

  it('with the same uid on two sites are two events', async () => {
    const store = await testStore();
    await store.writeEvents(SITE, [createEvent({ uid: 'a' })]);
    await store.writeEvents('other', [createEvent({ uid: 'a' })]);
    expect(await store.countEvents(SITE, EVERY_EVENT, null)).toEqual({ rows: 1, exact: true });
    expect(await store.countEvents('other', EVERY_EVENT, null)).toEqual({ rows: 1, exact: true });
  });

  it('contain actor, action and place, and nothing is lost in the database', async () => {
    const store = await testStore();
    const event = createEvent({
      uid: 'a',
      at: NOW_SECONDS - 5,
      kind: 'post.updated',
      user: { id: 7, login: 'editor' },
      address: '2001:db8::7',
      origin: 'cli',
      object: 'Hello “world” \u0007 \u{1f600}',
      objectType: 'page',
      before: '',
      after: 'x'.repeat(3000),
    });
    await store.writeEvents(SITE, [event]);
    const { uid, user, ...rest } = event;
    const visitor = await store.getUserVisitor(SITE, { id: 7, login: 'editor' });
    const [row] = await allEvents(store);
    expect(row).toMatchObject({ ...rest, userId: 7, login: 'editor', hostname: null, visitorId: visitor.id });
  });

  it('have no user or no address where none is known', async () => {
    const store = await testStore();
    await store.writeEvents(SITE, [createEvent({ uid: 'a', user: null, address: '', origin: 'cron' })]);
    expect(await allEvents(store)).toMatchObject([{ visitorId: 0, userId: 0, login: '', address: '', origin: 'cron' }]);
  });

  it('contain the host name of their address once it is known', async () => {
    const store = await testStore();
    await store.writeEvents(SITE, [createEvent({ uid: 'a' })]);
    const { id } = await store.getAddressVisitor(SITE, '192.0.2.1');
    await store.setHostname(SITE, id, 'host.example.com', null);
    expect(await allEvents(store)).toMatchObject([{ hostname: 'host.example.com' }]);
  });

  it('are found by user, kind and time exactly as by filtering all of them', async () => {
    const event = fc.record({
      at: fc.integer({ min: NOW_SECONDS - 7200, max: NOW_SECONDS }),
      user: fc.constantFrom(...users),
      kind: fc.constantFrom(...kinds),
    });
    const time = fc.option(fc.integer({ min: NOW_SECONDS - 8000, max: NOW_SECONDS + 10 }), { freq: 2 });
    const question = fc.record({
      filter: fc.record({
        from: time,
        to: time,
        user: fc.option(fc.nat(4), { freq: 2 }),
        activity: fc.option(fc.constantFrom(...kinds, 'none'), { freq: 2 }),
      }),
      skip: fc.nat(20),
      limit: fc.integer({ min: 1, max: 20 }),
      anchorAt: fc.nat(60),
    });
    const round = async (
      events: { at: number; user: (typeof users)[number]; kind: string }[],
      questions: unknown[],
    ) => {
      const store = await testStore();
      await store.writeEvents(
        SITE,
        events.map((one, index) => createEvent({ ...one, uid: String(index) })),
      );
      const rows = await allEvents(store);
      expect(rows).toHaveLength(events.length);
      for (const query of questions as { filter: EventFilter; skip: number; limit: number; anchorAt: number }[]) {
        const { filter, skip, limit } = query;
        const anchor = rows[query.anchorAt]?.id ?? null;
        const matching = rows.filter(
          (row) =>
            row.at >= (filter.from ?? 0) &&
            row.at <= (filter.to ?? row.at) &&
            row.visitorId === (filter.user ?? row.visitorId) &&
            row.kind === (filter.activity ?? row.kind),
        );
        const expected = matching.filter(({ id }) => id <= (anchor ?? id));
        const page = await store.listEvents({ site: SITE, filter, anchor, before: null, skip, limit });
        expect(page).toEqual(expected.slice(skip, skip + limit));
        expect(await store.countEvents(SITE, filter, anchor)).toEqual({ rows: expected.length, exact: true });
        const since = anchor ?? 0;
        const newer = matching.filter(({ id }) => id > since).length;
        expect(await store.newEvents(SITE, filter, since, 1000)).toBe(newer);
      }
      await store.close();
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 40, maxLength: 80 }),
        fc.array(question, { minLength: 10, maxLength: 10 }),
        round,
      ),
      { numRuns: 10, endOnFailure: true },
    );
  });
});
