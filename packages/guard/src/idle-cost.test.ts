import { expect, it, onTestFinished, vi } from 'vitest';
import { type FakeConnector, type FakeEvent, fakeConnector, fakeEvent } from '../test/support/fake-connector.js';
import { recordedLog } from '../test/support/logs.js';
import { callApi, dataFolderFor, runningGuard } from '../test/support/running-guard.js';
import { TIMEOUT_MS } from '../test/support/scratch.js';
import { siteConfig } from '../test/support/site-config.js';
import { CHECK_INTERVAL_MS, faultPause, idlePause, SitesInUse } from './wordpress/connector-health.js';
import { GUARD_HEADER, guardHeader, SIGNAL_HEADER } from './wordpress/signature.js';

/**
 * The cost of a site without visitors: every command starts a WordPress. The tests run a whole guard over real sockets;
 * only its clock is simulated.
 */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** A Wednesday. The checks of the night and reports of Mondays would be among the commands. */
const NOON = Date.parse('2026-03-04T12:00:00Z');

/** Lets pending events of sockets and threads be processed, without advancing the clock. */
async function settle(): Promise<void> {
  for (let round = 0; round < 30; round++) await new Promise((resolve) => setImmediate(resolve));
}

async function pass(ms: number, step = 10 * SECOND): Promise<void> {
  for (let left = ms; left > 0; left -= step) {
    await vi.advanceTimersByTimeAsync(Math.min(step, left));
    await settle();
  }
}

/** Waits until a condition holds, for at most this simulated time. Threads get as much real time as they need. */
async function within(ms: number, condition: () => boolean): Promise<void> {
  for (let left = ms; left > 0 && !condition(); left -= SECOND) await pass(SECOND, SECOND);
  const end = performance.now() + TIMEOUT_MS;
  while (!condition() && performance.now() < end) await settle();
  expect(condition()).toBe(true);
}

/** A guard whose WordPress counts the commands that it receives, three minutes after the start of both. */
async function idleSite(prepare: (connector: FakeConnector) => void = () => undefined) {
  const connector = await fakeConnector();
  const commands: { readonly command: string; readonly at: number }[] = [];
  connector.onRequest = (command) => {
    if (command !== null) commands.push({ command, at: Date.now() });
  };
  prepare(connector);
  const dataDir = await dataFolderFor(connector);
  const log = recordedLog();
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'], now: NOON });
  onTestFinished(() => void vi.useRealTimers());
  const guard = await runningGuard(dataDir, log.logger);
  await pass(3 * MINUTE);
  return { connector, guard, log, commands: commands };
}

/** The largest number of commands in any hour, wherever it begins. */
function getHourlyMax(commands: readonly { readonly at: number }[]): number {
  return Math.max(
    0,
    ...commands.map(({ at: from }) => commands.filter(({ at }) => at >= from && at < from + HOUR).length),
  );
}

const row = (more: object = {}): FakeEvent => fakeEvent({ at: Math.floor(Date.now() / 1000), ...more });

it('an idle site receives at most 2 commands an hour', async () => {
  const { commands } = await idleSite();
  const start = commands.splice(0).map(({ command }) => command);
  expect(start.sort()).toEqual(['events', 'hello', 'policy']);
  await pass(5 * HOUR);
  expect(getHourlyMax(commands)).toBeLessThanOrEqual(2);
  expect(new Set(commands.map(({ command }) => command))).toEqual(new Set(['events']));
  // Commands are still sent.
  expect(commands.length).toBeGreaterThanOrEqual(6);
});

it('an idle site whose connector does not respond receives at most 2 commands an hour after the first one', async () => {
  const { connector, commands, log } = await idleSite();
  connector.mode = 'gone';
  await pass(2 * HOUR);
  expect(log.events()).toContain('connector-missing');
  commands.splice(0);
  await pass(4 * HOUR);
  expect(getHourlyMax(commands)).toBeLessThanOrEqual(2);
  expect(commands.length).toBeGreaterThanOrEqual(5);
  connector.mode = 'ok';
  await within(46 * MINUTE, () => log.events().filter((event) => event === 'connector-ok').length === 2);
});

it('a WordPress that starts after guard is found soon, without a visitor', async () => {
  const { connector, log } = await idleSite((fake) => {
    fake.mode = 'broken';
  });
  connector.mode = 'ok';
  await within(4 * MINUTE, () => log.events().includes('connector-ok'));
  await within(MINUTE, () => connector.drains.length > 0);
});

it('changes made without guard are found on an idle site within three quarters of an hour', async () => {
  const { connector } = await idleSite();
  connector.outbox = [row({ kind: 'option.changed' })];
  const before = connector.commands.filter((command) => command === 'hello').length;
  await within(46 * MINUTE, () => connector.outbox.length === 0);
  // The site's paths may have changed as well.
  await within(MINUTE, () => connector.commands.filter((command) => command === 'hello').length > before);
});

it('events are fetched at once when a response announces them, however long the site was idle', async () => {
  const { connector, guard } = await idleSite();
  await pass(2 * HOUR);
  connector.outbox = [row()];
  connector.flags = 'o';
  await fetch(`${guard.url}/`);
  connector.flags = '-';
  await within(2 * SECOND, () => connector.outbox.length === 0);
});

it('events that no response announces are fetched within a minute when the site is used again', async () => {
  const { connector, guard } = await idleSite();
  await pass(2 * HOUR);
  await fetch(`${guard.url}/`);
  // Written by work that continued after the head of the response was sent.
  await pass(20 * SECOND);
  connector.outbox = [row()];
  await within(MINUTE, () => connector.outbox.length === 0);
});

it('cached pages cause no more commands than other pages, and do not report the connector as missing', async () => {
  const { connector, commands, guard, log } = await idleSite();
  const facts = { requestId: 'ab'.repeat(8), scheme: 'http' as const, address: '192.0.2.1' };
  const signed = guardHeader(connector.secret, { time: Math.floor(Date.now() / 1000), ...facts });
  const page = await fetch(`${connector.upstream}/`, { headers: { [GUARD_HEADER]: signed } });
  connector.cachedSignal = page.headers.get(SIGNAL_HEADER);
  expect(connector.cachedSignal).toContain(facts.requestId);
  commands.splice(0);
  const rounds = 4;
  for (let at = 0; at < rounds * CHECK_INTERVAL_MS; at += SECOND) {
    await fetch(`${guard.url}/`);
    await pass(SECOND, SECOND);
  }
  expect(commands.filter(({ command }) => command === 'hello').length).toBeLessThanOrEqual(rounds);
  expect(log.events()).not.toContain('connector-missing');
  expect(log.events()).not.toContain('wordpress-unreachable');
});

it('a missing connector is noticed within half a minute of the first visitor, however long the site was idle', async () => {
  const { connector, guard, log } = await idleSite();
  await pass(HOUR);
  connector.mode = 'gone';
  await fetch(`${guard.url}/`);
  await within(31 * SECOND, () => log.events().includes('connector-missing'));
  connector.mode = 'ok';
  await fetch(`${guard.url}/`);
  await within(SECOND, () => log.events().filter((event) => event === 'connector-ok').length === 2);
});

it('a WordPress that does not respond to visitors is noticed within half a minute', async () => {
  const { connector, guard, log } = await idleSite();
  await pass(HOUR);
  await connector.close();
  expect((await fetch(`${guard.url}/`)).status).toBe(502);
  await within(31 * SECOND, () => log.events().includes('wordpress-unreachable'));
});

it('a restored database is corrected with the first visitor, and without visitors within three quarters of an hour', async () => {
  const { connector, guard } = await idleSite();
  const present = connector.policy;
  connector.policy = { hash: '0000000000000000', policy: {} };
  await fetch(`${guard.url}/`);
  await within(6 * SECOND, () => connector.policy?.hash === present?.hash);
  await pass(10 * MINUTE);
  connector.policy = { hash: '0000000000000000', policy: {} };
  await within(46 * MINUTE, () => connector.policy?.hash === present?.hash);
});

it('while the owner has one of guard’s pages open, the site receives as many commands as one with visitors', async () => {
  const { connector, guard } = await idleSite();
  await pass(HOUR);
  const before = connector.drains.length;
  for (let minute = 0; minute < 10; minute++) {
    expect((await callApi(guard.url, '/fetch-options', { body: '{"page":"security"}' })).http).toBe(200);
    await pass(MINUTE);
  }
  expect(connector.drains.length - before).toBeGreaterThanOrEqual(18);
});

it('commands to idle sites do not stay synchronized', () => {
  expect(idlePause(0)).toBe(30 * MINUTE);
  expect(idlePause(1)).toBe(45 * MINUTE);
  const pauses = Array.from({ length: 5000 }, () => idlePause());
  const inAMinute = new Map<number, number>();
  for (const pause of pauses) {
    const minute = Math.floor(pause / MINUTE);
    inAMinute.set(minute, (inAMinute.get(minute) ?? 0) + 1);
  }
  expect(Math.max(...inAMinute.values())).toBeLessThan(500);
});

it('the intervals of a site that does not respond grow to those of an idle one', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 100, 5000].map((failures) => faultPause(failures, 0));
  expect(pauses.slice(0, 4)).toEqual([30, 60, 120, 240].map((seconds) => seconds * SECOND));
  expect(pauses.slice(6)).toEqual(Array(4).fill(30 * MINUTE));
});

it('a site counts as used for two rounds', () => {
  const sites = new SitesInUse();
  const { id } = siteConfig();
  expect(sites.wasRecentlyUsed(id)).toBe(false);
  sites.record(id);
  sites.record(id);
  expect([
    sites.wasRecentlyUsed('other'),
    sites.wasRecentlyUsed(id),
    sites.wasRecentlyUsed(id),
    sites.wasRecentlyUsed(id),
  ]).toEqual([false, true, true, false]);
});
