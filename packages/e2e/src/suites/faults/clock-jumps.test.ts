import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { form } from '../../http/request.js';
import type { Session } from '../../http/session.js';
import { fakeClock, fakeClockLibrary } from '../../stacks/fake-clock.js';
import { guardLog, securityOptimizer } from '../../stacks/guard-process.js';
import { type OddSite, startOddInstall } from '../../stacks/odd-install.js';
import { until } from '../../stacks/until.js';
import { call, logInToSite, openPage, visit } from '../installs/odd-site.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const canRun =
  fakeClockLibrary !== null && inject('stacks').some((stack) => stack.kind === 'embedded' && !('problem' in stack));

describe.skipIf(!canRun)('a clock that jumps while guard and WordPress run', () => {
  let dir: string;
  let site: OddSite;
  let owner: Session;
  let guardClock: ReturnType<typeof fakeClock>;
  let phpClock: ReturnType<typeof fakeClock>;
  const jump = (seconds: number) => {
    guardClock.set(seconds);
    phpClock.set(seconds);
  };
  const guess = async (address: string) =>
    (await visit(site, form('/wp-login.php', `log=${site.user}&pwd=wrong`), address)).status;
  const lock = async (address: string) => {
    for (let n = 0; n < 5; n++) expect(await guess(address)).toBe(200);
    expect(await guess(address)).toBe(429);
  };
  /** Searches every page, since rows are sorted by time. */
  const listed = async (name: string) => {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { body } = await call(site, owner, '/activity-unknown', { page });
      const list = body.data as { entries: { page_visited: string; ts: string }[]; pages: number };
      const found = list.entries.find(({ page_visited }) => page_visited.includes(name));
      if (found !== undefined) return found;
      pages = list.pages;
    }
    return null;
  };
  const faults = () => guardLog(site).filter(({ level }) => level === 'error' || level === 'fatal');

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'so-clock-'));
    guardClock = fakeClock(join(dir, 'guard-clock'));
    phpClock = fakeClock(join(dir, 'php-clock'));
    const env = { guard: guardClock.env, php: phpClock.env };
    site = await startOddInstall(dir, { home: '', core: '', origin: 'https://shop.example' }, env);
    owner = await logInToSite(site);
  });
  afterAll(async () => {
    await site?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('ends a lockout when its time is over, and not before', async () => {
    await lock('198.51.100.1');
    jump(59 * MINUTE);
    expect(await guess('198.51.100.1')).toBe(429);
    jump(61 * MINUTE);
    expect(await guess('198.51.100.1')).toBe(200);
    jump(0);
  });

  it('that is set back keeps lockouts, and lets all other clients in', async () => {
    await lock('198.51.100.2');
    jump(-2 * DAY);
    expect(await guess('198.51.100.2')).toBe(429);
    expect(await guess('198.51.100.3')).toBe(200);
    owner = await logInToSite(site);
    expect((await openPage(site, owner)).answer.status).toBe(200);
    jump(0);
    expect(await guess('198.51.100.2')).toBe(429);
    owner = await logInToSite(site);
  });

  it('that was a day ahead extends no lockout once it is right again', async () => {
    jump(DAY);
    await lock('198.51.100.4');
    jump(0);
    const waits = async () => {
      const response = await visit(site, form('/wp-login.php', 'log=x&pwd=wrong'), '198.51.100.4');
      return response.status === 429 ? Number(response.headers['retry-after']) : 0;
    };
    expect(await waits()).toBeGreaterThan(0);
    // Guard checks its lockouts twice a minute.
    await until('the lock is as long as it was meant to be', async () => (await waits()) <= HOUR, 40);
    expect(await waits()).toBeGreaterThan(HOUR - 2 * MINUTE);
    jump(61 * MINUTE);
    expect(await guess('198.51.100.4')).toBe(200);
    jump(0);
  });

  it('never refuses a visitor when it jumps by a few hours, back and forth', async () => {
    const statusCounts = new Map<number, number>();
    for (let turn = 0; turn < 40; turn++) {
      jump(turn % 4 === 0 ? -3 * HOUR : turn % 4 === 2 ? 3 * HOUR : 0);
      const { status } = await visit(site, { target: '/hello-world/' });
      statusCounts.set(status, (statusCounts.get(status) ?? 0) + 1);
    }
    expect([...statusCounts]).toEqual([[200, 40]]);
    jump(0);
  });

  it('loses no visit from the log, and each keeps its time', async () => {
    await visit(site, { target: '/before-the-jump/' });
    await until('it is listed', () => listed('before-the-jump'));
    jump(2 * DAY);
    owner = await logInToSite(site);
    await visit(site, { target: '/from-the-future/' });
    const ahead = await until('it is listed', () => listed('from-the-future'));
    jump(0);
    owner = await logInToSite(site);
    await visit(site, { target: '/after-the-jump/' });
    const after = await until('it is listed', () => listed('after-the-jump'));
    expect(await listed('before-the-jump')).not.toBeNull();
    expect(ahead.ts > after.ts).toBe(true);
  });

  it('accepts an upload that took minutes to reach PHP', async () => {
    const upload = (bytes: number) => visit(site, form('/', `film=${'x'.repeat(bytes)}`));
    // The signature is as old as behind a web server that buffers the whole request.
    guardClock.set(-3 * MINUTE);
    const long = await upload(1024 * 1024);
    const small = await upload(100);
    guardClock.set(0);
    expect([long.status, small.status]).toEqual([200, 403]);
    await until('visitors are served', async () => (await visit(site, { target: '/hello-world/' })).status === 200);
  });

  it('is reported when guard and WordPress differ by more than a minute, and the report ends when they agree again', async () => {
    guardClock.set(5 * MINUTE);
    await visit(site, { target: '/hello-world/' });
    await until('it is logged', () => guardLog(site).some(({ event }) => event === 'wordpress-unreachable'));
    expect(JSON.stringify(faults())).toContain('compare the clocks of both machines');
    guardClock.set(0);
    await until('visitors are served', async () => (await visit(site, { target: '/hello-world/' })).status === 200);
    await until(
      'the owner can work',
      async () => (await call(site, owner, '/fetch-options', { page: 'security' })).http === 200,
    );
    const { stdout } = await securityOptimizer('status', '--data-dir', site.guardDir, '--json');
    expect(JSON.parse(stdout).problems).toEqual([]);
  });
});
