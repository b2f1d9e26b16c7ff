import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  CONFIG_FILE,
  createSettingsStore,
  openGuardDatabase,
  secretFile,
  silentLogger,
} from '@security-optimizer/guard/testing';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { startService } from '@security-optimizer/sandbox/lib/service';
import type { Bench } from '../measure.js';
import type { Server } from './node-program.js';

/** Id of the first site of a guard that `startGuard` starts. */
export const SITE = 'bench';
const program = fileURLToPath(import.meta.resolve('@security-optimizer/guard/program/security-optimizer'));
const unitFile = fileURLToPath(
  new URL('../../../../docs/operator/examples/security-optimizer.service', import.meta.url),
);

/** Options of Node with which the unit of the guide starts guard. */
const nodeOptions = (/^ExecStart=\S+((?: --\S+)*) packages/m.exec(readFileSync(unitFile, 'utf8'))?.[1] ?? '')
  .split(' ')
  .filter((option) => option !== '');

export interface GuardSettings {
  readonly upstream: string;
  /** Default: 1. */
  readonly processes?: number;
  readonly trustedProxies?: readonly string[];
  /** Addresses in the owner's list of blocked ones. */
  readonly blocked?: Iterable<string>;
  /** Secret of guard and the connector. Default: a new one. */
  readonly secret?: string;
  /** File of an Activity Log, which is moved to guard's data folder, and the limit of its visits. */
  readonly log?: { readonly file: string; readonly maxRows: number };
  /** Whether the Activity Log records visits. Default: true. */
  readonly recording?: boolean;
  /** Number of sites, with the hosts `site-0.example.com` and so on. Default: one site with any host. */
  readonly sites?: number;
}

/** A running guard. */
export interface GuardServer extends Server {
  readonly dataDir: string;
}

/** Starts `security-optimizer serve` with a new data folder in front of an upstream. */
export async function startGuard(bench: Bench, settings: GuardSettings): Promise<GuardServer> {
  const port = await findFreePort();
  const dataDir = join(bench.dir, `guard-${port}`);
  await mkdir(join(dataDir, 'sites'), { recursive: true, mode: 0o700 });
  const secret = settings.secret ?? randomBytes(32).toString('hex');
  const sites = listSites(settings);
  for (const { id } of sites) await writeFile(secretFile(dataDir, id), secret, { mode: 0o600 });
  const config = {
    listen: `127.0.0.1:${port}`,
    processes: settings.processes ?? 1,
    trustedProxies: settings.trustedProxies ?? [],
    ...(settings.log && { activity: { maxRows: settings.log.maxRows } }),
    sites,
  };
  await writeFile(join(dataDir, CONFIG_FILE), JSON.stringify(config), { mode: 0o600 });
  if (settings.blocked !== undefined) await fillBlockedAddresses(dataDir, settings.blocked);
  if (settings.log !== undefined) await rename(settings.log.file, join(dataDir, 'activity.sqlite'));
  if (settings.recording === false) await disableLog(dataDir);
  return serve(bench, dataDir);
}

function listSites({ upstream, sites }: GuardSettings): { id: string; upstream: string; hosts?: string[] }[] {
  if (sites === undefined) return [{ id: SITE, upstream, hosts: ['*', '127.0.0.1'] }];
  return Array.from({ length: sites }, (_, number) => ({
    ...{ id: number === 0 ? SITE : `${SITE}-${number}`, upstream, hosts: [`site-${number}.example.com`] },
  }));
}

/** Starts guard with an existing data folder. */
export async function serve(bench: Bench, dataDir: string): Promise<GuardServer> {
  const { listen } = JSON.parse(await readFile(join(dataDir, CONFIG_FILE), 'utf8')) as { listen: string };
  const url = `http://${listen}`;
  const service = bench.stopAtEnd(
    await startService({
      name: 'guard',
      command: process.execPath,
      args: [...nodeOptions, program, 'serve', '--data-dir', dataDir],
      pidFile: join(dataDir, 'run.json'),
      logFile: join(dataDir, 'guard.log'),
      // Any response, because blocked clients get one too.
      ready: () => answersHttp(url),
      readySeconds: 90,
    }),
  );
  return { url, pid: service.pid, stop: service.stop, dataDir };
}

/** SQLite allows 32,766 values in a statement. */
const ROWS_AT_ONCE = 4000;

const toBlockedRow = (address: string) => ({
  ...({ site: SITE, kind: 'ip', value: address, name: address } as const),
  ...{ visitor_id: 0, created_at: 0, by_id: null, by_login: '' },
});

async function withDatabase(
  dataDir: string,
  use: (db: Awaited<ReturnType<typeof openGuardDatabase>>) => Promise<void>,
): Promise<void> {
  const db = await openGuardDatabase({ url: 'sqlite:guard.sqlite', dataDir, logger: silentLogger() });
  try {
    await use(db);
  } finally {
    await db.destroy();
  }
}

function disableLog(dataDir: string): Promise<void> {
  const change = { name: 'disable_activity_log', before: 0, after: 1, expectedVersion: 0 };
  const actor = { id: null, login: '', address: null };
  return withDatabase(dataDir, async (db) => {
    await createSettingsStore(db).write({ site: SITE, changes: [change], actor, at: Date.now() });
  });
}

function fillBlockedAddresses(dataDir: string, addresses: Iterable<string>): Promise<void> {
  return withDatabase(dataDir, async (db) => {
    let rows: ReturnType<typeof toBlockedRow>[] = [];
    const store = async () => {
      if (rows.length > 0) await db.insertInto('blocked_visitors').values(rows).execute();
      rows = [];
    };
    await db.insertInto('blocked_versions').values({ site: SITE, version: 1 }).execute();
    for (const address of addresses) {
      rows.push(toBlockedRow(address));
      if (rows.length === ROWS_AT_ONCE) await store();
    }
    await store();
  });
}
