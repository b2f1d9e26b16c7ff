import { sentFilters } from '@security-optimizer/contract/activity/requests';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activityInFile, FIRST_VISIT, type TestVisit } from '../../test/support/activity-store.js';
import { siteConfig } from '../../test/support/site-config.js';
import { countNewVisits, listVisits } from './anonymous-visits.js';
import { ListCursors, type ListQuery } from './list-activity.js';
import { listEvents } from './registered-events.js';

const owner = { id: 1, login: 'owner', address: '203.0.113.9' };
const visits = (count: number): TestVisit[] => Array.from({ length: count }, () => ({}));

async function setUp(rows: readonly TestVisit[] = []) {
  const file = await activityInFile();
  if (rows.length > 0) await file.addVisits(rows);
  const counts = { of: 0 };
  const { countVisits } = file.store;
  file.store.countVisits = (...args) => {
    counts.of++;
    return countVisits(...args);
  };
  let now = 1_800_000_000_000;
  const deps = {
    store: file.store,
    cursors: new ListCursors(),
    timeZone: () => 'Europe/Berlin',
    clock: () => now,
    visitors: { flags: () => ({ block: 0, do_not_block: 0 }) as const },
    users: { flags: () => ({ block: 0, do_not_block: 0 }) as const },
    blocks: { find: async () => new Map(), findUser: async () => null },
  };
  const query = ({ sent, ...more }: Partial<ListQuery> & { sent?: unknown } = {}): ListQuery => ({
    ...{ site: siteConfig(), caller: owner, limited: false, page: 1, cursor: null, exact: false },
    filters: sentFilters.parse(sent),
    ...more,
  });
  return {
    ...{ file, deps, counts },
    list: (more?: Parameters<typeof query>[0]) => listVisits(deps, query(more)),
    listUsers: (more?: Parameters<typeof query>[0]) => listEvents(deps, query(more)),
    pass: (ms: number) => {
      now += ms;
    },
  };
}
/** Returns the numbers of the visits in a response. */
const shown = (list: { entries: readonly { page_visited: string }[] }) =>
  list.entries.map(({ page_visited }) => Number(page_visited.slice(1)));
const down = (from: number, to: number) =>
  Array.from({ length: Math.max(0, from - to + 1) }, (_, index) => from - index);

describe('a list', () => {
  it('is sorted newest first, has 30 rows a page, and contains their number', async () => {
    const { list } = await setUp(visits(70));
    const first = await list();
    expect([shown(first), first.page, first.pages, first.total]).toEqual([down(70, 41), 1, 3, 70]);
    const last = await list({ page: 3 });
    expect([shown(last), last.page, last.pages, last.cursor]).toEqual([down(10, 1), 3, 3, null]);
  });

  it.each([
    [0, 1],
    [1, 1],
    [30, 1],
    [31, 2],
    [60, 2],
  ])('of %i rows has %i pages', async (rows, pages) => {
    const { list } = await setUp(visits(rows));
    const response = await list();
    expect([response.pages, response.total, response.cursor === null]).toEqual([pages, rows, pages === 1]);
  });

  it('in the limited view is five rows on one page', async () => {
    const { list } = await setUp(visits(70));
    expect(await list({ limited: true, page: 3 })).toMatchObject({ page: 1, pages: 1, cursor: null, total: null });
    expect(shown(await list({ limited: true }))).toEqual(down(70, 66));
  });

  it('returns the requested page, also when the previous ones were not read', async () => {
    const { list } = await setUp(visits(100));
    expect(shown(await list({ page: 3 }))).toEqual(down(40, 11));
    const beyond = await list({ page: 9 });
    expect([beyond.entries, beyond.pages]).toEqual([[], 4]);
  });

  it('contains every row exactly once while rows are added, by page and by cursor', async () => {
    const { list, file } = await setUp();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(160),
        fc.array(fc.nat(40), { minLength: 8, maxLength: 8 }),
        fc.boolean(),
        async (rows, arriving, byCursor) => {
          const site = siteConfig({ id: `site-${runs++}` });
          await file.addVisits(visits(rows), site.id);
          const seen: number[] = [];
          let response = await list({ site });
          for (let page = 1; ; page++) {
            seen.push(...shown(response));
            if (response.page >= response.pages) break;
            await file.addVisits(visits(arriving[page] ?? 0), site.id);
            response = await list(byCursor ? { site, cursor: response.cursor } : { site, page: page + 1 });
            expect(response.page).toBe(page + 1);
          }
          expect(seen).toEqual(down(rows, 1));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('has separate pages for different filters and users', async () => {
    const { list, file } = await setUp(visits(100));
    await list();
    await file.addVisits(visits(50));
    const human = [{ wp_name: 'type', children: [{ value: 'Human' }] }];
    expect(shown(await list({ sent: human }))).toEqual(down(150, 121));
    expect(shown(await list({ caller: { ...owner, id: 2 } }))).toEqual(down(150, 121));
    expect(shown(await list({ page: 2 }))).toEqual(down(70, 41));
    expect(shown(await list({ sent: human, page: 2 }))).toEqual(down(120, 91));
  });

  it('begins anew when its first page is read again, or after a long pause', async () => {
    const { list, file, pass } = await setUp(visits(60));
    await list();
    await file.addVisits(visits(1));
    expect(shown(await list({ page: 2 }))).toEqual(down(30, 1));
    pass(3_600_001);
    expect(shown(await list({ page: 2 }))).toEqual(down(31, 2));
    expect(shown(await list())[0]).toBe(61);
  });

  it('is counted once while it is being read', async () => {
    const { list, counts } = await setUp(visits(100));
    const { cursor } = await list();
    await list({ page: 2 });
    await list({ cursor });
    expect(counts.of).toBe(1);
  });

  it('continues by its cursor after a restart', async () => {
    const { list, deps, file } = await setUp(visits(70));
    const { cursor } = await list();
    await file.addVisits(visits(20));
    deps.cursors = new ListCursors();
    expect(shown(await list({ cursor }))).toEqual(down(40, 11));
    expect((await list({ page: 3 })).total).toBe(70);
  });

  it.each(['x', '1.2', '1.2.3.4', '-1.2.3', '9'.repeat(20)])('refuses the cursor %j and names it', async (cursor) => {
    const { list } = await setUp();
    await expect(list({ cursor })).rejects.toMatchObject({ fields: { cursor: 'Use the cursor of an answer.' } });
  });

  it('gets more pages while it is read when it was too long to be counted', async () => {
    const { list, deps } = await setUp(visits(100));
    deps.store.countVisits = async () => ({ rows: 45, exact: false });
    const { total, pages } = await list();
    expect([total, pages]).toEqual([null, 2]);
    expect((await list({ page: 2 })).pages).toBe(3);
    expect((await list({ page: 4 })).pages).toBe(4);
  });
});

describe('the cursors of lists', () => {
  it('are bounded in lists and in pages of a list', () => {
    const cursors = new ListCursors();
    for (let index = 0; index < 5000; index++) cursors.begin(`list ${index}`, index, 0);
    expect(cursors.findPosition('list 0', 2, 30, 0)).toBeNull();
    expect(cursors.findPosition('list 4999', 2, 30, 0)).toEqual({ anchor: 4999, before: null, skip: 30 });
    for (let page = 1; page <= 2000; page++) cursors.recordPageEnd('list 4999', 4999, page, 5000 - page, 0);
    expect(cursors.findPosition('list 4999', 2001, 30, 0)).toEqual({ anchor: 4999, before: 3000, skip: 0 });
    expect(cursors.findPosition('list 4999', 3, 30, 0)).toEqual({ anchor: 4999, before: null, skip: 60 });
  });
});

describe('a row', () => {
  it('contains the status, and that a rule refused the request', async () => {
    const { list, file } = await setUp([
      { status: 404, address: '192.0.2.2' },
      { status: 403, rule: 'blocked-visitors', count: 7 },
    ]);
    const [{ visitor_id: id } = { visitor_id: 0 }] = (await list()).entries;
    await file.store.setHostname('site', id, 'host.example', null);
    const [refused, missing] = (await list()).entries;
    expect(missing).toMatchObject({ response: '404', code: 404, rule: null, hostname: '', ts: '2026-11-18 12:06' });
    expect(refused).toMatchObject({ response: '403 Blocked', rule: 'blocked-visitors', count: 7 });
    expect([refused?.hostname, refused?.type]).toEqual(['host.example', 'Human']);
  });

  it('of a user is a sentence, and says whether the user is the caller', async () => {
    const { file, listUsers } = await setUp();
    const event = { at: FIRST_VISIT, address: '', objectType: '', before: null, after: null } as const;
    const role = { before: 'Editor', after: 'Administrator', object: '<b>editor-1</b>' };
    await file.addEvents([
      { ...event, uid: '1', kind: 'user.role', user: { id: 1, login: 'owner' }, origin: 'web', ...role },
      { ...event, uid: '2', kind: 'plugin.deleted', user: null, origin: 'cli', object: 'Forms' },
      { ...event, uid: '3', kind: 'from.a.newer.version', user: { id: 7, login: 'x' }, origin: 'web', object: 'y' },
    ]);
    const failed = {
      ...event,
      uid: '4',
      kind: 'login.failed',
      user: { id: 1, login: 'owner' },
      origin: 'web',
    } as const;
    await file.addEvents([{ ...failed, object: 'owner' }]);
    const [tried, unknown, cli, changed] = (await listUsers()).entries;
    expect(tried).toMatchObject({ user: 'owner', activity: 'Failed login', you: 0 });
    expect(changed).toMatchObject({
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

describe('the filters of a response', () => {
  it('contain the choices, most frequent first, as numbers where the API has numbers', async () => {
    const { list } = await setUp([{ status: 404 }, {}, {}, { agent: null }]);
    const response = await list({ sent: [{ wp_name: 'code', children: [{ selectedValue: '404' }] }] });
    const [date, type, code] = response.filters;
    expect(date).toMatchObject({ type: 'datepicker', wp_name: 'date', children: [{ id: 'from' }, { id: 'to' }] });
    expect(type?.children[0]?.options.map(({ value }) => value)).toEqual(['Human', 'Unknown']);
    expect(code?.children[0]).toMatchObject({ value: 404, selectedValue: 404, searchable: true, optionLabel: 'label' });
    expect(shown(response)).toEqual([1]);
  });

  it('contain the name of the chosen user, also when others did more', async () => {
    const { file, listUsers, deps } = await setUp();
    const event = { at: FIRST_VISIT, address: '', kind: 'login', origin: 'web', object: '', objectType: '' } as const;
    const more = { ...event, before: null, after: null };
    await file.addEvents([3, 4].map((id) => ({ ...more, uid: `${id}`, user: { id, login: `user-${id}` } })));
    const [fourth, third] = (await listUsers()).entries.map(({ visitor_id }) => visitor_id);
    deps.store.options = async () => [{ label: 'user-3', value: String(third) }];
    const response = await listUsers({ sent: [{ wp_name: 'user', children: [{ value: fourth }] }] });
    const [, user] = response.filters;
    expect(user?.children[0]?.options).toEqual([
      { label: 'user-3', value: third },
      { label: 'user-4', value: fourth },
    ]);
    expect(response.entries.map(({ user: login }) => login)).toEqual(['user-4']);
  });
});

it('the news of a list are the rows of the same filters since a row', async () => {
  const { deps, file, list } = await setUp(visits(2));
  const [newest] = (await list()).entries;
  await file.addVisits([{}, { status: 404 }, {}]);
  const filters = sentFilters.parse([{ wp_name: 'code', children: [{ value: 404 }] }]);
  const query = { site: 'site', since: newest?.id ?? 0, exact: false };
  expect(await countNewVisits(deps, { ...query, filters: undefined }, 1000)).toBe(3);
  expect(await countNewVisits(deps, { ...query, filters }, 1000)).toBe(1);
  expect(await countNewVisits(deps, { ...query, filters: undefined }, 2)).toBe(2);
});
