import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '@security-optimizer/guard/lib/logger';
import { CONFIG_FILE, secretFile } from '@security-optimizer/guard/load-config';
import { openDatabase } from '@security-optimizer/guard/storage/database';
import { freePort } from '@security-optimizer/sandbox/process/free-port';
import { answersHttp } from '@security-optimizer/sandbox/process/http-ready';
import { startService } from '@security-optimizer/sandbox/process/service';
import type { Bench } from '../measure.js';
import type { Server } from './node-program.js';

const SITE = 'bench';
const program = fileURLToPath(import.meta.resolve('@security-optimizer/guard/cli/security-optimizer'));

export interface GuardSettings {
  readonly upstream: string;
  readonly trustedProxies?: readonly string[];
  /** Addresses in the owner's list of blocked ones. */
  readonly blocked?: Iterable<string>;
}

/** Starts guard as its users do, `security-optimizer serve` with a data folder of its own, in front of an upstream. */
export async function startGuard(bench: Bench, settings: GuardSettings): Promise<Server> {
  const port = await freePort();
  const dataDir = join(bench.dir, `guard-${port}`);
  await mkdir(join(dataDir, 'sites'), { recursive: true, mode: 0o700 });
  await writeFile(secretFile(dataDir, SITE), randomBytes(32).toString('hex'), { mode: 0o600 });
  const config = {
    listen: `127.0.0.1:${port}`,
    trustedProxies: settings.trustedProxies ?? [],
    sites: [{ id: SITE, upstream: settings.upstream }],
  };
  await writeFile(join(dataDir, CONFIG_FILE), JSON.stringify(config), { mode: 0o600 });
  if (settings.blocked !== undefined) await fillBlockedAddresses(dataDir, settings.blocked);
  return serve(bench, dataDir);
}

/** Starts guard with a data folder that is already set up. */
export async function serve(bench: Bench, dataDir: string): Promise<Server> {
  const { listen } = JSON.parse(await readFile(join(dataDir, CONFIG_FILE), 'utf8')) as { listen: string };
  const url = `http://${listen}`;
  const service = bench.keep(
    await startService({
      name: 'guard',
      command: process.execPath,
      args: [program, 'serve', '--data-dir', dataDir],
      pidFile: join(dataDir, 'run.json'),
      logFile: join(dataDir, 'guard.log'),
      // Any answer will do: a blocked visitor gets one too.
      ready: () => answersHttp(url),
      readySeconds: 30,
    }),
  );
  return { url, pid: service.pid, stop: service.stop };
}

/** SQLite takes 32,766 values in a statement. */
const ROWS_AT_ONCE = 4000;

const blockedRow = (address: string) => ({
  ...({ site: SITE, kind: 'ip', value: address, name: address } as const),
  ...{ visitor_id: 0, created_at: 0, by_id: null, by_login: '' },
});

async function fillBlockedAddresses(dataDir: string, addresses: Iterable<string>): Promise<void> {
  const db = await openDatabase({ url: 'sqlite:guard.sqlite', dataDir, logger: silentLogger() });
  try {
    let rows: ReturnType<typeof blockedRow>[] = [];
    const store = async () => {
      if (rows.length > 0) await db.insertInto('blocked_visitors').values(rows).execute();
      rows = [];
    };
    await db.insertInto('blocked_versions').values({ site: SITE, version: 1 }).execute();
    for (const address of addresses) {
      rows.push(blockedRow(address));
      if (rows.length === ROWS_AT_ONCE) await store();
    }
    await store();
  } finally {
    await db.destroy();
  }
}
