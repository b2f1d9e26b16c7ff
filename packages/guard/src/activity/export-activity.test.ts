import { sentFilters } from '@security-optimizer/contract/activity/requests';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activityInFile, type TestVisit } from '../../test/support/activity-store.js';
import { siteConfig } from '../../test/support/site-config.js';
import { createLoginAddresses } from '../login/login-addresses.js';
import type { SiteConfig } from '../site.js';
import { csvLine, exportActivity } from './export-activity.js';
import { parseVisitFilters } from './filters.js';

const site: SiteConfig = siteConfig();

/** Parses a file strictly by RFC 4180. */
function readCsv(text: string): string[][] {
  expect(text.endsWith('\r\n')).toBe(true);
  return text
    .slice(0, -2)
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))(?=,|$)/g)].map(
        ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '',
      ),
    );
}

async function setUp(visits: readonly TestVisit[]) {
  const memory = await activityInFile();
  if (visits.length > 0) await memory.addVisits(visits);
  const deps = {
    store: memory.store,
    timeZone: () => 'Europe/Berlin',
    clock: () => Date.UTC(2026, 10, 20, 23, 30),
    loginAddresses: async () => createLoginAddresses([]),
  };
  const write = async (list: 'unknown' | 'registered', format: 'csv' | 'json', parameters: object = {}) => {
    const file = await exportActivity(deps, { site, list, format, parameters: { ...parameters }, exact: false });
    let text = '';
    for await (const chunk of file.content) text += chunk;
    return { file, text };
  };
  return { memory, deps, write };
}

describe('a line of a CSV file', () => {
  it('preserves every text whose characters are all visible, but never begins a cell as a formula', () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('=1+1', '+1', '-1', '@SUM(A1)', 'a,b', 'say "hi"', '＝1+1', "'quoted'", ';x', ''),
    );
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 5 }), (cells) => {
        // All other texts are escaped, see lib/plain-text.
        fc.pre(cells.every((text) => !/[\p{C}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|[\p{Mn}\p{Me}]{6}/u.test(text)));
        const [read] = readCsv(csvLine(cells));
        expect(read).toHaveLength(cells.length);
        for (const [index, text] of cells.entries()) {
          const formula = /^[=+\-@＝＋－＠]/.test(text);
          expect(read?.[index]).toBe(formula ? `'${text}` : text);
        }
      }),
    );
  });

  it.each([
    ['\t=1', '"\'\\u0009=1"'],
    ['\r\n=cmd|', '"\'\\u000d\\u000a=cmd|"'],
    ['a\u0000b', '"a\\u0000b"'],
    ['x\u202egnp', '"x\\u202egnp"'],
  ])('represents %j as %s', (cell, written) => {
    expect(csvLine([cell])).toBe(`${written}\r\n`);
  });

  it('is empty for null and keeps numbers unchanged', () => {
    expect(csvLine([null, 7, -3, 'x'])).toBe(',7,-3,"x"\r\n');
  });
});

describe('an export', () => {
  const many = Array.from({ length: 1250 }, (_, index) => ({
    at: (1_795_000_000 + index) * 1000,
    status: index % 5 === 0 ? 404 : 200,
    target: `/page-${index}`,
  }));

  it.each(['csv', 'json'] as const)('contains every row once, newest first, as %s', async (format) => {
    const { text } = await (await setUp(many)).write('unknown', format);
    const pages =
      format === 'json'
        ? JSON.parse(text).map((row: { page_visited: string }) => row.page_visited)
        : readCsv(text)
            .slice(1)
            .map((row) => row[6]);
    expect(pages).toEqual(Array.from({ length: 1250 }, (_, index) => `/page-${1249 - index}`));
  });

  it.each([
    ['csv', '\ufeff"id","ts","ts_unix"'],
    ['json', '[]\n'],
  ] as const)('without rows is a complete file, too: %s', async (format, begins) => {
    const { text } = await (await setUp([])).write('unknown', format);
    expect(text.startsWith(begins)).toBe(true);
  });

  it('contains the rows that match the filters, and none that were added after it began', async () => {
    const { memory, deps } = await setUp(many);
    const query = { site, list: 'unknown', format: 'json', parameters: { code: '404' }, exact: false } as const;
    const { content } = await exportActivity(deps, query);
    await memory.addVisits([{ at: 1_900_000_000_000, status: 404 }]);
    let text = '';
    for await (const chunk of content) text += chunk;
    const rows = JSON.parse(text) as { code: number }[];
    expect([rows.length, rows.every(({ code }) => code === 404)]).toEqual([250, true]);
  });

  it('reads the next rows only when the previous ones were consumed', async () => {
    const { memory, deps } = await setUp(many);
    let reads = 0;
    const list = memory.store.listVisits;
    memory.store.listVisits = (window) => {
      reads++;
      return list(window);
    };
    const file = await exportActivity(deps, { site, list: 'unknown', format: 'csv', parameters: {}, exact: false });
    const chunks = file.content[Symbol.asyncIterator]();
    await chunks.next();
    await chunks.next();
    expect(reads).toBe(1);
    await chunks.next();
    expect(reads).toBe(2);
    await chunks.return?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reads).toBe(2);
  });

  it('names the rows that represent folded visits, with their number and origin', async () => {
    const flood = { status: 403, rule: 'xml-rpc', address: '203.0.113.24' };
    const { write } = await setUp([
      { ...flood, count: 9501, more: 9500 },
      { ...flood, more: 9500, moreBits: 24 },
      { ...flood, more: 9500, moreBits: 0 },
      { ...flood, count: 2 },
    ]);
    const [names = [], ...rows] = readCsv((await write('unknown', 'csv')).text.slice(1));
    const at = (name: string) => names.indexOf(name);
    expect(rows.map((row) => [row[at('count')], row[at('more')], row[at('more_from')]])).toEqual([
      ['2', '0', '203.0.113.24'],
      ['1', '9500', ''],
      ['1', '9500', '203.0.113.0/24'],
      ['1', '9500', '203.0.113.24'],
    ]);
    expect(JSON.parse((await write('unknown', 'json')).text)).toMatchObject([
      { count: 2, more: 0, more_from: '203.0.113.24' },
      { count: 1, more: 9500, more_from: null },
      { count: 1, more: 9500, more_from: '203.0.113.0/24' },
      { count: 1, more: 9500, more_from: '203.0.113.24' },
    ]);
  });

  it('makes hostile names harmless', async () => {
    const { memory, write } = await setUp([]);
    const event = {
      uid: '1',
      at: 1,
      kind: 'post.updated',
      user: { id: 1, login: '=HYPERLINK("http://evil.example")' },
      address: '192.0.2.1',
      origin: 'web',
      object: '"><script>alert(1)</script>\n@x',
      objectType: 'post',
      before: '-2+3',
      after: null,
    } as const;
    await memory.addEvents([event]);
    const [names = [], row = []] = readCsv((await write('registered', 'csv')).text.slice(1));
    const cell = (name: string) => row[names.indexOf(name)];
    expect(cell('user')).toBe('\'=HYPERLINK("http://evil.example")');
    expect(cell('object')).toBe('"><script>alert(1)</script>\\u000a@x');
    expect(cell('before')).toBe("'-2+3");
    expect(cell('activity')).toContain('Updated post “');
    const [parsed] = JSON.parse((await write('registered', 'json')).text);
    expect(parsed).toMatchObject({ object_type: 'post', after: null, user: '=HYPERLINK("http://evil.example")' });
  });

  it('is named after its list and the date in the site’s time zone', async () => {
    const { file } = await (await setUp([])).write('registered', 'csv');
    expect(file.name).toBe('activity-registered-2026-11-21.csv');
  });

  it('refuses invalid filters before anything is written', async () => {
    const { write } = await setUp([]);
    await expect(write('unknown', 'csv', { ip: 'x;y' })).rejects.toMatchObject({
      fields: { ip: { english: 'Invalid format. Check “x”.' } },
    });
  });

  it('interprets its plain filters as the lists do', async () => {
    const sent = sentFilters.parse([{ wp_name: 'date', children: [{ id: 'to', value: 1_795_000_000 }] }]);
    const { filter } = parseVisitFilters(sent, { timeZone: 'Europe/Berlin', exact: false });
    const { text } = await (await setUp(many)).write('unknown', 'json', { to: '1795000000', from: '' });
    expect(JSON.parse(text)).toHaveLength(many.filter(({ at }) => at / 1000 <= (filter.to ?? 0)).length);
  });
});
