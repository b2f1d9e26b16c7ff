import { sentFilters } from '@security-optimizer/contract/activity-filters';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SiteConfig } from '../site.js';
import { memoryActivity, type TestVisit } from '../testing/memory-activity.js';
import { ListReadings } from './cursors.js';
import type { ListAsk } from './list-activity.js';
import { listEvents } from './registered-events.js';
import { countNewVisits, listVisits } from './unknown-visits.js';

const site: SiteConfig = {
  id: 'site',
  hosts: ['*'],
  upstream: 'http://127.0.0.1:1',
  wordpressDir: null,
  secret: '',
  onlyThroughGuard: true,
};
const owner = { id: 1, login: 'owner', address: '203.0.113.9' };
const visits = (count: number): TestVisit[] => Array.from({ length: count }, (_, index) => ({ at: 1000 + index }));

function world(rows: readonly TestVisit[]) {
  const memory = memoryActivity(rows);
  let now = 1_800_000_000_000;
  const deps = {
    store: memory.store,
    readings: new ListReadings(),
    timeZone: () => 'Europe/Berlin',
    clock: () => now,
    visitors: { flags: () => ({ block: 0, do_not_block: 0 }) as const },
    users: { flags: () => ({ block: 0, do_not_block: 0 }) as const },
  };
  const ask = (more: Partial<ListAsk> & { sent?: unknown } = {}): ListAsk => {
    const { sent, ...rest } = more;
    const filters = sentFilters.parse(sent);
    return { site, caller: owner, limited: false, page: 1, filters, cursor: null, exact: false, ...rest };
  };
  return {
    memory,
    deps,
    list: (more?: Parameters<typeof ask>[0]) => listVisits(deps, ask(more)),
    listUsers: (more?: Parameters<typeof ask>[0]) => listEvents(deps, ask(more)),
    pass: (ms: number) => {
      now += ms;
    },
  };
}
const ids = (answer: { entries: readonly { id: number }[] }) => answer.entries.map(({ id }) => id);
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index);

describe('a list', () => {
  it('comes newest first, 30 rows a page, and says how many there are', async () => {
    const { list } = world(visits(70));
    const first = await list();
    expect([ids(first), first.page, first.pages, first.total]).toEqual([down(70, 41), 1, 3, 70]);
    const last = await list({ page: 3 });
    expect([ids(last), last.page, last.pages, last.cursor]).toEqual([down(10, 1), 3, 3, null]);
  });

  it.each([
    [0, 1],
    [1, 1],
    [30, 1],
    [31, 2],
    [60, 2],
  ])('of %i rows has %i pages', async (rows, pages) => {
    const { list } = world(visits(rows));
    const answer = await list();
    expect([answer.pages, answer.total, answer.cursor === null]).toEqual([pages, rows, pages === 1]);
  });

  it('in the limited view is five rows on one page', async () => {
    const { list } = world(visits(70));
    expect(await list({ limited: true, page: 3 })).toMatchObject({ page: 1, pages: 1, cursor: null, total: null });
    expect(ids(await list({ limited: true }))).toEqual(down(70, 66));
  });

  it('shows the page that is asked for, also when nobody read the ones before', async () => {
    const { list } = world(visits(100));
    expect(ids(await list({ page: 3 }))).toEqual(down(40, 11));
    const beyond = await list({ page: 9 });
    expect([beyond.entries, beyond.pages]).toEqual([[], 4]);
  });

  it('gives every row exactly once while rows arrive, by page and by cursor', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(200),
        fc.array(fc.nat(40), { minLength: 8, maxLength: 8 }),
        fc.boolean(),
        async (rows, arriving, byCursor) => {
          const { list, memory } = world(visits(rows));
          const seen: number[] = [];
          let answer = await list();
          for (let page = 1; ; page++) {
            seen.push(...ids(answer));
            if (answer.page >= answer.pages) break;
            for (let extra = 0; extra < (arriving[page] ?? 0); extra++) memory.addVisit({ at: 9999 });
            answer = await list(byCursor ? { cursor: answer.cursor } : { page: page + 1 });
            expect(answer.page).toBe(page + 1);
          }
          expect(seen).toEqual(down(rows, 1));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('keeps the pages of different filters and users apart', async () => {
    const { list, memory } = world(visits(100));
    await list();
    for (let extra = 0; extra < 50; extra++) memory.addVisit({ at: 5000 });
    const human = [{ wp_name: 'type', children: [{ value: 'Human' }] }];
    expect(ids(await list({ sent: human }))).toEqual(down(150, 121));
    expect(ids(await list({ caller: { ...owner, id: 2 } }))).toEqual(down(150, 121));
    expect(ids(await list({ page: 2 }))).toEqual(down(70, 41));
    expect(ids(await list({ sent: human, page: 2 }))).toEqual(down(120, 91));
  });

  it('begins anew when it is read from the first page again, or was left alone for long', async () => {
    const { list, memory, pass } = world(visits(60));
    await list();
    memory.addVisit({ at: 5000 });
    expect(ids(await list({ page: 2 }))).toEqual(down(30, 1));
    pass(3_600_001);
    expect(ids(await list({ page: 2 }))).toEqual(down(31, 2));
    expect(ids(await list())[0]).toBe(61);
  });

  it('counts its rows once while it is being read', async () => {
    const { list, memory } = world(visits(100));
    const { cursor } = await list();
    await list({ page: 2 });
    await list({ cursor });
    expect(memory.counts()).toBe(1);
  });

  it('goes on by its cursor after a restart', async () => {
    const before = world(visits(70));
    const { cursor } = await before.list();
    const after = world(visits(90));
    expect(ids(await after.list({ cursor }))).toEqual(down(40, 11));
  });

  it.each(['x', '1.2', '1.2.3.4', '-1.2.3', '9'.repeat(20)])('refuses the cursor %j and names it', async (cursor) => {
    await expect(world([]).list({ cursor })).rejects.toMatchObject({
      fields: { cursor: 'Use the cursor of an answer.' },
    });
  });

  it('grows in pages while it is read when it was too long to be counted', async () => {
    const { list, deps } = world(visits(100));
    deps.store.countVisits = async () => ({ rows: 45, exact: false }) as never;
    const { total, pages } = await list();
    expect([total, pages]).toEqual([null, 2]);
    expect((await list({ page: 2 })).pages).toBe(3);
    expect((await list({ page: 4 })).pages).toBe(4);
  });
});

describe('the memory of lists', () => {
  it('is bounded in lists and in pages of a list', () => {
    const readings = new ListReadings();
    for (let index = 0; index < 5000; index++) readings.begin(`list ${index}`, index, 0);
    expect(readings.place('list 0', 2, 30, 0)).toBeNull();
    expect(readings.place('list 4999', 2, 30, 0)).toEqual({ anchor: 4999, before: null, skip: 30 });
    for (let page = 1; page <= 2000; page++) readings.ended('list 4999', 4999, page, 5000 - page, 0);
    expect(readings.place('list 4999', 2001, 30, 0)).toEqual({ anchor: 4999, before: 3000, skip: 0 });
    expect(readings.place('list 4999', 3, 30, 0)).toEqual({ anchor: 4999, before: null, skip: 60 });
  });
});

describe('a row', () => {
  it('says what was answered, and that a rule refused it', async () => {
    const { list } = world([
      { at: 1_795_000_000, status: 404 },
      { at: 1_795_000_000, status: 403, rule: 'blocked-visitors', count: 7, hostname: 'host.example' },
    ]);
    const [refused, missing] = (await list()).entries;
    expect(missing).toMatchObject({ response: '404', code: 404, rule: null, hostname: '', ts: '2026-11-18 12:06' });
    expect(refused).toMatchObject({ response: '403 Blocked', rule: 'blocked-visitors', count: 7 });
    expect(refused?.hostname).toBe('host.example');
  });

  it('of a user is told in words, and says whether it was the caller', async () => {
    const { memory, listUsers } = world([]);
    const event = { at: 1, address: '', objectType: '', before: null, after: null } as const;
    const user = (id: number, login: string) => ({ id, login });
    memory.addEvent({
      ...event,
      uid: '1',
      kind: 'user.role',
      user: user(1, 'owner'),
      origin: 'web',
      object: '<b>editor-1</b>',
      before: 'Editor',
      after: 'Administrator',
    });
    memory.addEvent({ ...event, uid: '2', kind: 'plugin.deleted', user: null, origin: 'cli', object: 'Forms' });
    memory.addEvent({
      ...event,
      uid: '3',
      kind: 'from.a.newer.version',
      user: user(7, 'x'),
      origin: 'web',
      object: 'y',
    });
    const [unknown, cli, role] = (await listUsers()).entries;
    expect(role).toMatchObject({
      user: 'owner',
      activity: 'Changed the role of “<b>editor-1</b>” from Editor to Administrator',
      actions: 'user.role',
      you: 1,
      response: '',
    });
    expect(cli).toMatchObject({ user: 'Command line', activity: 'Deleted plugin “Forms”', you: 0, do_not_block: 1 });
    expect(unknown).toMatchObject({ activity: 'from.a.newer.version: y', you: 0, do_not_block: 0 });
  });
});

describe('the filters of an answer', () => {
  it('hold the choices, most frequent first, numbers where the API has numbers', async () => {
    const { list } = world([{ at: 1, status: 404 }, { at: 2 }, { at: 3 }, { at: 4, type: 'Googlebot' }]);
    const answer = await list({ sent: [{ wp_name: 'code', children: [{ selectedValue: '404' }] }] });
    const [date, type, code] = answer.filters;
    expect(date).toMatchObject({ type: 'datepicker', wp_name: 'date', children: [{ id: 'from' }, { id: 'to' }] });
    expect(type?.children[0]?.options.map(({ value }) => value)).toEqual(['Human', 'Googlebot']);
    expect(code?.children[0]).toMatchObject({ value: 404, selectedValue: 404, searchable: true, optionLabel: 'label' });
    expect(ids(answer)).toEqual([1]);
  });

  it('name the user who was chosen, also when others did more', async () => {
    const { memory, listUsers, deps } = world([]);
    const event = { at: 1, address: '', kind: 'login', origin: 'web', object: '', objectType: '' } as const;
    for (const [uid, id] of [
      ['1', 3],
      ['2', 4],
    ] as const) {
      memory.addEvent({ ...event, uid, user: { id, login: `user-${id}` }, before: null, after: null });
    }
    deps.store.options = async () => [{ label: 'user-3', value: '3' }];
    const answer = await listUsers({ sent: [{ wp_name: 'user', children: [{ value: 4 }] }] });
    const [, user] = answer.filters;
    expect(user?.children[0]?.options).toEqual([
      { label: 'user-3', value: 3 },
      { label: 'user-4', value: 4 },
    ]);
    expect(ids(answer)).toEqual([2]);
  });
});

it('news are the rows of the same filters since a row', async () => {
  const { deps, memory } = world(visits(3));
  memory.addVisit({ at: 1, status: 404 });
  memory.addVisit({ at: 2 });
  const filters = sentFilters.parse([{ wp_name: 'code', children: [{ value: 404 }] }]);
  const ask = { site: 'site', since: 2, exact: false };
  expect(await countNewVisits(deps, { ...ask, filters: undefined }, 1000)).toBe(3);
  expect(await countNewVisits(deps, { ...ask, filters }, 1000)).toBe(1);
  expect(await countNewVisits(deps, { ...ask, filters: undefined }, 2)).toBe(2);
});
