import { randomBytes, randomInt } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CONFIG_FILE,
  openGuardDatabase,
  openSqlite,
  secretFile,
  silentLogger,
} from '@security-optimizer/guard/testing';
import { until } from '../stacks/until.js';
import { type Load, type LoadReport, startLoad } from './load.js';
import { Releases } from './releases.js';
import { type SupervisedGuard, type Supervisor, startSupervisor } from './supervisor.js';
import { downloadBytes, page, startWebServer } from './web-server.js';

export interface RestartOptions {
  readonly restarts: number;
  readonly upgrades: number;
  readonly perSecond: number;
  /** `limits.drainSeconds` of guard. Default: guard's own. */
  readonly drainSeconds?: number;
  readonly onProgress?: (line: string) => void;
  /** Ends the restarts early; what has happened so far is judged. */
  readonly signal?: AbortSignal;
}

export interface RestartReport {
  readonly load: LoadReport;
  readonly restarts: number;
  readonly upgrades: number;
  /** Requests in the Activity Log, and those that it counted as dropped. */
  readonly logged: number;
  readonly dropped: number;
  /** Rows that contain them. */
  readonly rows: number;
  /** Attackers that were locked out while guard was restarted. */
  readonly lockouts: number;
  /** Password checks that reached the web server. */
  readonly checks: number;
  /** From the signal until the next guard serves, milliseconds. */
  readonly restartMs: { readonly median: number; readonly longest: number };
  /** All failures; empty if nothing was lost. */
  readonly faults: readonly string[];
}

const SITE = 'site';
/** Wrong passwords until an address is locked out. */
const LIMIT = 5;
/** Addresses of the steady load. */
const ADDRESSES = 40;
/** Attackers at each restart. */
const ATTACKERS = 2;
/** How long the transfers that a restart interrupts take, milliseconds. */
const TRANSFER_MS = [600, 1500] as const;
/** Only ends a hanging run. */
const PATIENCE_SECONDS = 120;
/** Refused because no script runs in the folder of uploads. */
const REFUSED_PATH = '/wp-content/uploads/shell.php';

/** Restarts and upgrades a guard under load, and counts what was lost. @param dir a new folder */
export async function runRestarts(dir: string, options: RestartOptions): Promise<RestartReport> {
  const secret = randomBytes(32).toString('hex');
  const webServer = await startWebServer(dir, secret);
  const dataDir = join(dir, 'guard');
  let supervisor: Supervisor | undefined;
  let load: Load | undefined;
  try {
    await layOutGuard(dataDir, webServer.url, secret, options);
    const releases = new Releases(join(dir, 'opt'));
    mkdirSync(join(dir, 'logs'));
    const command = [process.execPath, releases.program, 'serve', '--data-dir', dataDir];
    supervisor = await startSupervisor(command, join(dir, 'logs/guard'));
    const first = await supervisor.start();
    await serving(first);
    load = startLoad({
      ...{ port: supervisor.port, perSecond: options.perSecond, maxUnderWay: options.perSecond * 5 },
      ...{ addresses: ADDRESSES, page, downloadBytes, refusedPath: REFUSED_PATH },
    });
    const history = await restartAll({ supervisor, load, releases, first }, options);
    const report = await load.finish();
    const { last } = history;
    process.kill(last.pid, 'SIGTERM');
    await until('the last guard has ended', () => last.exitCode() !== null, PATIENCE_SECONDS);
    return judge({ ...history, report, dataDir, checks: webServer.checks });
  } finally {
    load?.kill();
    supervisor?.stop();
    await webServer.stop();
  }
}

async function layOutGuard(
  dataDir: string,
  upstream: string,
  secret: string,
  { drainSeconds }: RestartOptions,
): Promise<void> {
  mkdirSync(join(dataDir, 'sites'), { recursive: true, mode: 0o700 });
  writeFileSync(secretFile(dataDir, SITE), secret, { mode: 0o600 });
  const config = {
    trustedProxies: ['127.0.0.1'],
    activity: { maxRows: 100_000_000 },
    ...(drainSeconds !== undefined && { limits: { drainSeconds } }),
    sites: [{ id: SITE, upstream, hosts: ['example.com'] }],
  };
  writeFileSync(join(dataDir, CONFIG_FILE), JSON.stringify(config), { mode: 0o600 });
  const db = await openGuardDatabase({ url: 'sqlite:guard.sqlite', dataDir, logger: silentLogger() });
  try {
    // Lockouts are stored for alerts only if there is a channel. Nothing listens on this one.
    const syslog = { host: '127.0.0.1', port: 9, protocol: 'udp', framing: 'lf' };
    const value = JSON.stringify({ recipients: {}, webhook: null, slack: null, syslog });
    await db.insertInto('alert_settings').values({ site: SITE, value }).execute();
  } finally {
    await db.destroy();
  }
}

interface History {
  readonly last: SupervisedGuard;
  readonly guards: readonly SupervisedGuard[];
  /** How many of the restarts were upgrades. */
  readonly upgraded: number;
  readonly attackers: readonly string[];
  /** Milliseconds from each signal until the next guard served. */
  readonly gaps: readonly number[];
  readonly mistakes: readonly string[];
}

/** Restarts guard; upgrades are distributed evenly among the restarts. */
async function restartAll(
  parts: { supervisor: Supervisor; load: Load; releases: Releases; first: SupervisedGuard },
  { restarts, upgrades, perSecond, onProgress, signal }: RestartOptions,
): Promise<History> {
  const { supervisor, load, releases } = parts;
  const guards = [parts.first];
  const attackers: string[] = [];
  const gaps: number[] = [];
  const mistakes: string[] = [];
  const total = restarts + upgrades;
  let current = parts.first;
  let upgraded = 0;
  for (let turn = 0; turn < total && signal?.aborted !== true; turn++) {
    const isUpgrade = Math.floor(((turn + 1) * upgrades) / total) > Math.floor((turn * upgrades) / total);
    await steady(load, perSecond);
    for (let one = 0; one < ATTACKERS; one++) {
      const address = `203.0.113.${attackers.length % 256}`;
      const full = attackers.length < 256 ? address : `192.0.2.${attackers.length % 256}`;
      attackers.push(full);
      load.attack(full);
    }
    load.transfer(randomInt(...TRANSFER_MS), '198.51.100.250');
    // Some are refused before the restart, some after it.
    await sleep(randomInt(0, 400));
    if (isUpgrade) {
      releases.upgrade();
      upgraded++;
    }
    const isBefore = turn % 2 === 0;
    let next: SupervisedGuard | null = null;
    if (isBefore) {
      next = await supervisor.start();
      const { log } = next;
      await until('the next guard waits', () => log().includes('"data-folder-awaited"'), PATIENCE_SECONDS);
    }
    const from = performance.now();
    process.kill(current.pid, 'SIGTERM');
    await until('guard has ended', () => current.exitCode() !== null, PATIENCE_SECONDS);
    if (current.exitCode() !== 0) mistakes.push(`guard ${turn} ended with ${current.exitCode()}`);
    next ??= await supervisor.start();
    const version = await serving(next);
    gaps.push(performance.now() - from);
    if (version !== releases.version) mistakes.push(`the guard that started is ${version}, not ${releases.version}`);
    current = next;
    guards.push(next);
    onProgress?.(
      `${turn + 1} of ${total}${isUpgrade ? `, now ${releases.version}` : ''}: ${Math.round(gaps.at(-1) ?? 0)} ms`,
    );
  }
  return { last: current, guards, upgraded, attackers, gaps, mistakes };
}

/** Waits until the load has recovered from the last restart, and runs for a moment. */
async function steady(load: Load, perSecond: number): Promise<void> {
  const { responses } = await load.count();
  await until(
    'guard keeps up with the load (try a lower rate on a slow machine)',
    async () => {
      const now = await load.count();
      return now.responses > responses + perSecond / 2 && now.underWay < Math.max(20, perSecond / 20);
    },
    PATIENCE_SECONDS,
  );
}

/** Waits until a guard serves. @returns its version */
async function serving(guard: SupervisedGuard): Promise<string> {
  const line = await until(
    'guard serves',
    () => {
      if (guard.exitCode() !== null) return guard.log();
      return guard
        .log()
        .split('\n')
        .find((text) => text.includes('"guard-started"'));
    },
    PATIENCE_SECONDS,
  );
  if (guard.exitCode() !== null) throw new Error(`guard did not start:\n${line}`);
  return JSON.parse(line).version as string;
}

/** Log events that say that something was lost or went wrong, besides those of level `error`. */
const LOSSES = /shutdown-cut-requests|shutdown-timed-out|visits-store-failed/;

function judge(
  parts: History & {
    readonly report: LoadReport;
    readonly dataDir: string;
    readonly checks: ReadonlyMap<string, number>;
  },
): RestartReport {
  const { report, dataDir, checks, attackers, gaps, guards } = parts;
  const faults = [...parts.mistakes];
  if (report.failed > 0) faults.push(`${report.failed} requests failed: ${report.failures.join('; ')}`);
  for (const { log } of guards) {
    const lines = log()
      .split('\n')
      .filter((line) => LOSSES.test(line) || /"level":"(?:error|fatal)"/.test(line));
    faults.push(...lines.slice(0, 3).map((line) => `in the log: ${line.slice(0, 500)}`));
  }
  const logged = readLog(join(dataDir, 'activity.sqlite'));
  for (const [address, sent] of Object.entries(report.sent)) {
    const found = logged.byAddress.get(address) ?? 0;
    if (found !== sent) faults.push(`${address} sent ${sent} requests, and the log has ${found}`);
  }
  if (logged.dropped > 0) faults.push(`the log counts ${logged.dropped} dropped visits`);
  faults.push(...findLoginFaults(join(dataDir, 'guard.sqlite'), attackers, checks));
  const sorted = [...gaps].sort((one, other) => one - other);
  return {
    load: report,
    ...{ restarts: gaps.length - parts.upgraded, upgrades: parts.upgraded },
    ...{ logged: logged.hits, dropped: logged.dropped, rows: logged.rows },
    lockouts: attackers.length,
    checks: [...checks.values()].reduce((sum, count) => sum + count, 0),
    restartMs: { median: Math.round(sorted[sorted.length >> 1] ?? 0), longest: Math.round(sorted.at(-1) ?? 0) },
    faults,
  };
}

interface LoggedVisits {
  readonly byAddress: ReadonlyMap<string, number>;
  readonly hits: number;
  readonly rows: number;
  readonly dropped: number;
}

function readLog(file: string): LoggedVisits {
  const database = openSqlite(file, { busyTimeoutMs: 5000, readOnly: true });
  try {
    const found = database
      .prepare(
        `select name, sum(count) as hits, count(*) as rows from visits
         join visitors on visitors.site = visits.site and visitors.id = visits.visitor group by name`,
      )
      .all() as { name: string; hits: number; rows: number }[];
    const [{ dropped }] = database
      .prepare('select coalesce(sum(hits), 0) as dropped from visit_hours where kind = 0')
      .all() as [{ dropped: number }];
    const sum = (of: 'hits' | 'rows') => found.reduce((all, row) => all + Number(row[of]), 0);
    const byAddress = new Map(found.map(({ name, hits }) => [name, Number(hits)]));
    return { byAddress, hits: sum('hits'), rows: sum('rows'), dropped: Number(dropped) };
  } finally {
    database.close();
  }
}

/** Each attacker must have had as many checks as the limit allows, and one lockout for them. */
function findLoginFaults(file: string, attackers: readonly string[], checks: ReadonlyMap<string, number>): string[] {
  const database = openSqlite(file, { busyTimeoutMs: 5000, readOnly: true });
  const faults: string[] = [];
  try {
    const entries = database.prepare('select key, failures, locked_until from login_attempts').all() as {
      key: string;
      failures: number;
      locked_until: number;
    }[];
    const lockouts = database
      .prepare('select address, count(*) as count, max(failures) as failures from alert_lockouts group by address')
      .all() as { address: string; count: number; failures: number }[];
    for (const address of attackers) {
      const stored = entries.filter(({ key }) => key === address);
      const [entry] = stored;
      if (checks.get(address) !== LIMIT) faults.push(`${address} had ${checks.get(address) ?? 0} password checks`);
      if (stored.length !== 1 || Number(entry?.failures) !== LIMIT || Number(entry?.locked_until) === 0) {
        faults.push(`${address} is stored with ${entry?.failures ?? 'no'} failures`);
      }
      const alerts = lockouts.find((row) => row.address === address);
      // A wave contains the lockouts of many addresses, and the first ones are deleted with its report.
      if (attackers.length < WAVE && Number(alerts?.count ?? 0) !== 1) {
        faults.push(`${address} has ${alerts?.count ?? 0} lockouts for alerts`);
      } else if (Number(alerts?.count ?? 1) > 1) faults.push(`${address} has ${alerts?.count} lockouts for alerts`);
    }
    return faults;
  } finally {
    database.close();
  }
}

/** Lockouts that make a wave. */
const WAVE = 10;
