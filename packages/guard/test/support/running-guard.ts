import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';
import type { Logger } from '../../src/lib/logger.js';
import { type RunningGuard, startGuard } from '../../src/main.js';
import { openTestDatabase, type TestDatabase, withDatabase } from './database.js';
import type { FakeConnector } from './fake-connector.js';
import { fakeConnector } from './fake-connector.js';
import { recentLogger } from './logs.js';
import { eventually, scratchFolder } from './scratch.js';
import { SECRET } from './site-config.js';

/**
 * A data folder whose only site is behind the fake connector.
 * @param config further keys of `guard.json`
 */
export async function dataFolderFor(
  connector: Pick<FakeConnector, 'upstream'>,
  extra: object = {},
  config: object = {},
): Promise<string> {
  const dataDir = await scratchFolder();
  await mkdir(join(dataDir, 'sites'));
  await writeFile(join(dataDir, 'sites', 'site.secret'), SECRET, { mode: 0o600 });
  // Tests use the machine's own address, also as a proxy with visitors from elsewhere.
  const hosts = ['*', '127.0.0.1'];
  const site = { id: 'site', upstream: connector.upstream, hosts, ...extra };
  const written = await withDatabase(dataDir, { listen: '127.0.0.1:0', sites: [site], ...config });
  await writeFile(join(dataDir, 'guard.json'), JSON.stringify(written));
  return dataDir;
}

/** A complete guard on a real socket, stopped after the test. */
export async function runningGuard(dataDir: string, logger: Logger = recentLogger()): Promise<RunningGuard> {
  const guard = await startGuard(await loadConfig({ dataDir, env: {} }), { logger });
  onTestFinished(() => guard.close());
  return guard;
}

export interface ApiResponse {
  readonly http: number;
  readonly headers: Headers;
  readonly body: { data: never; code?: string; message: string; status: number; fields?: Record<string, string> };
}

/** Sends an API request as the owner. The given headers are added, and null removes one. */
export async function callApi(
  url: string,
  suffix: string,
  options: {
    method?: string;
    body?: string | Uint8Array | Blob | ReadableStream | null;
    headers?: Record<string, string | null>;
  } = {},
): Promise<ApiResponse> {
  const all = { cookie: 'session=owner', 'x-wp-nonce': 'owner-nonce', ...options.headers };
  const headers = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null),
  );
  const response = await fetch(`${url}/wp-json/security-optimizer/v1${suffix}`, {
    method: options.method ?? 'POST',
    headers,
    body: options.body ?? null,
    ...(options.body instanceof ReadableStream ? { duplex: 'half' } : {}),
  } as RequestInit);
  const text = await response.text();
  return { http: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

/** Guard, the fake WordPress, and a second connection to guard's database. */
export async function loginSite() {
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(connector);
  const guard = await runningGuard(dataDir);
  await eventually(() => connector.policy !== null);
  const db: TestDatabase = await openTestDatabase(dataDir);
  onTestFinished(() => db.destroy());
  const call = async (suffix: string, body?: unknown, options: { method?: string } = {}) => {
    const { http, body: response } = await callApi(guard.url, suffix, {
      ...(options.method && { method: options.method }),
      body: body === undefined ? null : JSON.stringify(body),
    });
    expect(http).toBe(response.status);
    return response as {
      status: number;
      data: Record<string, unknown>;
      message: string;
      code?: string;
      fields?: object;
    };
  };
  const options = async () => (await call('/fetch-options', { page: 'login' })).data;
  const audited = async () =>
    (await db.selectFrom('audit').selectAll().orderBy('at').execute()).map((row) => [
      row.name,
      row.before,
      row.after,
      row.actor_login,
    ]);
  return { connector, guard, db, call, options, audited };
}
