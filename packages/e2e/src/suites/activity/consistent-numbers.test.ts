import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Attackers } from '@security-optimizer/contract/activity/attackers';
import type { RegisteredRow, Traffic, UnknownRow } from '@security-optimizer/contract/activity/schemas';
import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { multicall, restBasic, usersBlogs } from '../../attacks/requests.js';
import { sendRequest, type TypedRequest } from '../../http/request.js';
import { allOptions, authorised, callApi, logIn, type Session, setOptions } from '../../http/session.js';
import { startGuard, stopGuard } from '../../stacks/guard-process.js';
import { onUsualStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { loginForm, prepareLoginSuite, SHOP_PLUGIN, shopForm } from '../login/helpers.js';
import { BROWSER } from './helpers.js';

const API = '/wp-json/security-optimizer/v1';
const LIMIT = 5;
const TRIES = 7;
const CRAWLER = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

/** An account with an application password: without one WordPress does not compare what REST is sent. */
const PROGRAM = 'story-program';

/** A wrong password on each route; every second one for an account that does not exist. */
const ROUTES: readonly ((turn: number) => TypedRequest)[] = [
  (turn) => loginForm(turn % 2 === 0 ? 'owner' : 'nobody-here', `guess${turn}`),
  (turn) => usersBlogs(turn % 2 === 0 ? 'nobody-here' : 'owner', `guess${turn}`),
  // WordPress ends the request at the first wrong password.
  (turn) => multicall('owner', [`guess${turn}`, `other${turn}`]),
  (turn) => restBasic(PROGRAM, `guess${turn}`),
  (turn) => shopForm(turn % 2 === 0 ? 'owner' : 'nobody-here', `guess${turn}`),
];

/** Separate networks, so that visits of other suites are not added to these. */
const guessers = ROUTES.map((_, index) => `2001:db8:5${index}::1`);
const prober = '2001:db8:61::1';
const crawler = '2001:db8:62::1';
const reader = '2001:db8:63::1';
const registeredUser = '2001:db8:64::1';
const scanner = '2001:db8:65::1';
/** Those whose visits are listed. */
const visitors: readonly string[] = [...guessers, prober, crawler, reader, scanner];

/** The expected numbers, calculated by hand. */
const KNOWN = {
  /** Every wrong password: WordPress compares the first of each guesser, and the lockout refuses the others. */
  failedLogins: guessers.length * TRIES,
  compared: guessers.length * LIMIT,
  /** Guesses of locked addresses, and probes that a rule refused. */
  refused: guessers.length * (TRIES - LIMIT) + 4,
  /** Requests for files of a plugin that the site does not have. */
  scans: 5,
  humans: 3,
  bots: 2,
};

onUsualStack('the numbers of a day of attacks', (stack) => {
  const file = join(stack.guardDir, 'guard.json');
  const before = readFileSync(file, 'utf8');
  let owner: Session;
  let subscriber: Session;
  let metrics = '';
  /** Unix seconds. */
  let loggedInAt = 0;

  prepareLoginSuite(stack, {
    plugin: { file: 'programs-over-http.php', php: `<?php ${SHOP_PLUGIN}` },
    logins: [PROGRAM],
    limit: LIMIT,
  });

  const call = async (suffix: string, body: object = {}) => {
    const response = await callApi(stack, {
      path: `${API}${suffix}`,
      body: JSON.stringify(body),
      headers: authorised(owner),
    });
    expect(response.body.status, suffix).toBe(200);
    return response.body.data;
  };
  const from = (address: string, request: TypedRequest, agent = BROWSER) =>
    sendRequest(stack, {
      ...request,
      headers: { ...request.headers, 'x-forwarded-for': address, 'user-agent': agent },
    });

  /** The numbers in every place that shows them. */
  async function numbers() {
    const facts = (await call('/protection-facts')) as { blocked: number; failed_logins: number };
    const chart = (await call('/activity-traffic')) as Traffic;
    const panel = (await call('/activity-attackers', { all: 1 })) as Attackers;
    const { locked_addresses: locked } = (await call('/fetch-options', { page: 'login' })) as LoginOptions;
    const { text } = (await call('/weekly-report-preview')) as { text: string };
    const scraped = await (await fetch(metrics)).text();
    const sum = (name: string) =>
      [...scraped.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'gm'))].reduce(
        (all, [, n]) => all + Number(n),
        0,
      );
    return {
      dashboard: { failedLogins: facts.failed_logins, refused: facts.blocked },
      login: { locked },
      chart: { refused: chart.blocked, humans: chart.humans, bots: chart.bots },
      panel: {
        ...{ attempts: panel.attempts, logins: panel.logins ?? 0 },
        ...{ failedLogins: panel.failed, failedAddresses: panel.failed_addresses, locked: panel.locked },
      },
      mail: {
        ...{ failedLogins: figure(text, 'Failed logins'), refused: figure(text, 'Blocked visits') },
        ...readStory(text),
      },
      metrics: {
        failedLogins: sum('security_optimizer_login_failures_total'),
        refused: sum('security_optimizer_requests_refused_total'),
      },
    };
  }
  type Numbers = Awaited<ReturnType<typeof numbers>>;
  const minus = (a: Numbers, b: Numbers) =>
    Object.fromEntries(
      Object.entries(a).map(([list, values]) => {
        const old = b[list as keyof Numbers] as Readonly<Record<string, number>>;
        return [
          list,
          Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value - (old[name] ?? 0)])),
        ];
      }),
    );

  const rows = async (body: object): Promise<UnknownRow[]> => {
    const all: UnknownRow[] = [];
    for (let cursor: string | null = null; ; ) {
      const page = (await call('/activity-unknown', { ...body, cursor })) as {
        entries: UnknownRow[];
        cursor: string | null;
      };
      all.push(...page.entries);
      if (page.cursor === null) return all;
      cursor = page.cursor;
    }
  };
  const countRequests = async (addresses: readonly string[], body: object) =>
    (await rows(body))
      .filter(({ ip }) => addresses.includes(ip))
      .reduce((sum, { count, more }) => sum + count + more, 0);

  /** Other visits: requests of WordPress itself, or of a page that an earlier suite left open. */
  async function countOtherVisits() {
    const others = (await rows({})).filter(({ ip, rule }) => rule === null && !visitors.includes(ip));
    const count = (some: readonly UnknownRow[]) => some.reduce((sum, { count, more }) => sum + count + more, 0);
    return {
      humans: count(others.filter(({ type }) => type === 'Human')),
      bots: count(others.filter(({ type }) => type !== 'Human')),
    };
  }

  /** Waits until earlier requests and the logins of this suite are counted, since they are stored with a delay. */
  async function settled(): Promise<void> {
    await from(reader, { target: '/?settled' });
    await until('the visits before are listed', async () =>
      (await rows({})).some(({ page_visited }) => page_visited === '/?settled'),
    );
    await until('the logins are listed', async () => {
      const { entries } = (await call('/activity-registered')) as { entries: RegisteredRow[] };
      const logins = entries.filter(({ words, ts_unix }) => words.kind === 'login' && ts_unix >= loggedInAt);
      return [owner.login, PROGRAM].every((login) => logins.some(({ user }) => user === login));
    });
  }

  beforeAll(async () => {
    const port = await findFreePort();
    metrics = `http://127.0.0.1:${port}/metrics`;
    await stopGuard(stack);
    const listen = { metrics: { listen: `127.0.0.1:${port}` }, trustedProxies: ['127.0.0.1'] };
    writeFileSync(file, JSON.stringify({ ...JSON.parse(before), ...listen }));
    await startGuard(stack);
    loggedInAt = Math.floor(Date.now() / 1000);
    owner = await logIn(stack);
    subscriber = await logIn(stack, PROGRAM);
    // Only the lock of system folders may refuse these requests, whatever earlier suites left on.
    await setOptions(stack, owner, { ...allOptions(0), lock_system_folders: 1 });
  });
  afterAll(async () => {
    await stopGuard(stack);
    writeFileSync(file, before);
    await startGuard(stack);
  });

  it('are the same in dashboard, chart, panel, log, export, mail and metrics', async () => {
    await settled();
    const [start, othersBefore] = [await numbers(), await countOtherVisits()];

    for (let turn = 0; turn < TRIES; turn++) {
      for (const [index, guess] of ROUTES.entries()) await from(guessers[index] as string, guess(turn));
    }
    for (let turn = 0; turn < 4; turn++) await from(prober, { target: `/wp-content/uploads/probe${turn}.php` });
    for (let turn = 0; turn < KNOWN.scans; turn++) {
      await from(scanner, { target: `/wp-content/plugins/example-forms/probe${turn}.php` });
    }
    for (let turn = 0; turn < KNOWN.humans; turn++) await from(reader, { target: `/?page=${turn}` });
    for (let turn = 0; turn < 3; turn++) {
      await from(registeredUser, { target: `/?registered=${turn}`, headers: { cookie: subscriber.cookie } });
    }
    for (let turn = 0; turn < KNOWN.bots; turn++) await from(crawler, { target: `/?crawl=${turn}` }, CRAWLER);

    // The last one is the visit of `settled`.
    const sent = guessers.length * TRIES + 4 + KNOWN.scans + KNOWN.humans + KNOWN.bots + 1;
    await until('every request is listed', async () => (await countRequests(visitors, {})) === sent);

    const { failedLogins, compared, refused, scans, humans, bots } = KNOWN;
    // Compared passwords and scans count as visits that no rule refused, with the user agent of a browser.
    const [end, othersAfter] = [await numbers(), await countOtherVisits()];
    const others = {
      humans: othersAfter.humans - othersBefore.humans,
      bots: othersAfter.bots - othersBefore.bots,
    };
    expect(minus(end, start)).toEqual({
      dashboard: { failedLogins, refused },
      login: { locked: guessers.length },
      chart: { refused, humans: humans + compared + scans + others.humans, bots: bots + others.bots },
      // Nobody got in.
      panel: {
        ...{ attempts: compared + refused + scans, logins: 0 },
        ...{ failedLogins, failedAddresses: guessers.length, locked: guessers.length },
      },
      mail: { failedLogins, refused, attempts: failedLogins, addresses: guessers.length, locked: guessers.length },
      metrics: { failedLogins, refused },
    });

    // Page views of a registered user are not visits: they are in no list and no number.
    expect(await countRequests([registeredUser], {})).toBe(0);

    // The log with its presets, and the text of each row.
    const failed = (await rows({ preset: 'failed-logins' })).filter(({ ip }) => guessers.includes(ip));
    expect(failed.reduce((sum, { count }) => sum + count, 0)).toBe(failedLogins);
    for (const row of failed) expect([row.failed_login, row.goal]).toEqual([1, 'passwords']);
    expect(new Set(failed.map(({ rule }) => rule))).toEqual(new Set([null, 'login-limit']));
    const marked = failed.filter(({ rule }) => rule === null);
    expect(marked.reduce((sum, { count }) => sum + count, 0)).toBe(compared);
    expect(new Set(marked.map(({ tried }) => tried))).toEqual(new Set(['owner', 'nobody-here', PROGRAM]));
    expect(await countRequests(visitors, { preset: 'blocked' })).toBe(refused);
    // The legend of the chart opens the visits that it counts.
    expect(await countRequests(visitors, { preset: 'humans' })).toBe(humans + compared + scans + 1);
    expect(await countRequests(visitors, { preset: 'bots' })).toBe(bots);
    expect(await countRequests(visitors, { preset: 'scanners' })).toBe(4 + scans);

    // The panel, by address.
    const panel = (await call('/activity-attackers', { all: 1 })) as Attackers;
    const rowsByAddress = Object.fromEntries(
      panel.entries.map(({ address, goal, attempts, block }) => [address, { goal, attempts, by: block?.by }]),
    );
    for (const address of guessers)
      expect(rowsByAddress[address]).toEqual({ goal: 'passwords', attempts: TRIES, by: 'lock' });
    expect(rowsByAddress[prober]).toEqual({ goal: 'holes', attempts: 4, by: undefined });
    expect(rowsByAddress[scanner]).toEqual({ goal: 'holes', attempts: scans, by: undefined });
    expect([rowsByAddress[crawler], rowsByAddress[reader]]).toEqual([undefined, undefined]);

    // The export contains the same rows.
    const exported = await callApi(stack, {
      method: 'GET',
      path: `${API}/activity-export?list=unknown&format=json`,
      headers: authorised(owner),
    });
    const lines = (exported.body as unknown as UnknownRow[]).filter(({ ip }) => visitors.includes(ip));
    const sumCounts = (some: readonly UnknownRow[]) => some.reduce((sum, { count }) => sum + count, 0);
    expect(sumCounts(lines)).toBe(sent);
    expect(sumCounts(lines.filter(({ failed_login }) => failed_login === 1))).toBe(failedLogins);
    expect(sumCounts(lines.filter(({ rule }) => rule !== null))).toBe(refused);
  });
});

/** The sentence about the failed logins of the week, "21 attempts from 3 addresses, 3 locked, nobody got in". */
function readStory(text: string) {
  const [, attempts = '0', addresses = '0', locked = '0'] =
    /([\d,]+) attempts? from ([\d,]+) address(?:es)?(?:, ([\d,]+) locked)?/.exec(text) ?? [];
  const toNumber = (shown: string) => Number(shown.replaceAll(',', ''));
  return { attempts: toNumber(attempts), addresses: toNumber(addresses), locked: toNumber(locked) };
}

/** The number before or behind a label of the report's plain text. */
function figure(text: string, label: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${label}:`));
  const number = line?.match(/\d[\d,]*/)?.[0];
  if (number === undefined) throw new Error(`The report does not tell "${label}":\n${text}`);
  return Number(number.replaceAll(',', ''));
}
