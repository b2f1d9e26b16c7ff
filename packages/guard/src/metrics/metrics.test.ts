import { rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { webServer } from '../../test/running-gateway.js';
import { onPostgres } from '../../test/support/database.js';
import { lockTable } from '../../test/support/database-faults.js';
import { fakeConnector } from '../../test/support/fake-connector.js';
import { recordedLog } from '../../test/support/logs.js';
import { quietState } from '../../test/support/quiet-state.js';
import { callApi, dataFolderFor, runningGuard } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';
import { loadConfig, secretFile } from '../config/load-config.js';
import { version } from '../lib/version.js';
import { startGuard } from '../main.js';
import { openSqlite } from '../storage/sqlite.js';
import { StorageError } from '../storage/storage-error.js';
import { serveMetrics } from './metrics.js';

/** A guard that serves metrics. */
async function measuredGuard(upstream?: { upstream: string }) {
  const connector = await fakeConnector();
  const { logger, text } = recordedLog();
  const dataDir = await dataFolderFor(upstream ?? connector, {}, { metrics: { listen: '127.0.0.1:0' } });
  const guard = await runningGuard(dataDir, logger);
  const metricsUrl = findMetricsUrl(text()) as string;
  const metrics = async (): Promise<string> => (await fetch(`${metricsUrl}/metrics`)).text();
  /** Returns the value of one line of the metrics, or null without it. */
  const metric = async (name: string): Promise<number | null> => {
    const found = (await metrics()).split('\n').find((entry) => entry.startsWith(`${name} `));
    return found === undefined ? null : Number(found.slice(name.length + 1));
  };
  return { connector, dataDir, guard, metricsUrl, metrics, metric };
}

/** Status and body of a response. */
async function ask(url: string, path: string): Promise<string> {
  const response = await fetch(`${url}${path}`);
  return `${response.status} ${(await response.text()).trim()}`;
}

/** The address of the metrics in a log. */
const findMetricsUrl = (text: string): string | undefined => /"event":"metrics-served","url":"([^"]+)"/.exec(text)?.[1];

describe('health and readiness', () => {
  it('differ: guard is ready while it serves, and no longer when it stops', async () => {
    const { logger, text } = recordedLog();
    const metrics = await serveMetrics({ host: '127.0.0.1', port: 0 }, logger);
    onTestFinished(() => metrics.stop());
    const url = findMetricsUrl(text()) as string;
    const both = async () => [await ask(url, '/healthz'), await ask(url, '/readyz')];
    expect(await both()).toEqual(['200 ok', '503 starting: the settings are not loaded yet']);
    metrics.observe(quietState);
    expect(await both()).toEqual(['200 ok', '200 ok']);
    metrics.endReadiness();
    expect(await both()).toEqual(['200 ok', '503 stopping']);
    expect(await ask(url, '/health')).toMatch(/^404 /);
  });

  it.skipIf(onPostgres)('of a guard that waits for its database: alive, but not ready', async () => {
    const dataDir = await dataFolderFor(await fakeConnector(), {}, { metrics: { listen: '127.0.0.1:0' } });
    // Another process is in the middle of a write, and guard has its tables to create.
    const other = openSqlite(join(dataDir, 'guard.sqlite'), { busyTimeoutMs: 0 });
    onTestFinished(() => other.close());
    other.exec('begin immediate');
    const { logger, text } = recordedLog();
    const started = runningGuard(dataDir, logger);
    await eventually(() => findMetricsUrl(text()) !== undefined);
    const url = findMetricsUrl(text()) as string;
    expect([await ask(url, '/healthz'), await ask(url, '/readyz')]).toEqual([
      '200 ok',
      '503 starting: the settings are not loaded yet',
    ]);
    other.exec('rollback');
    await started;
    expect(await ask(url, '/readyz')).toBe('200 ok');
  });

  it.skipIf(onPostgres)(
    'of a guard whose database was deleted: it enforces its settings and stays ready, and a metric tells',
    async () => {
      const { dataDir, guard, metricsUrl, metric } = await measuredGuard();
      await rename(dataDir, `${dataDir}-gone`);
      onTestFinished(() => rm(`${dataDir}-gone`, { recursive: true, force: true }));
      const failed = 'security_optimizer_storage_errors_total{fault="cannot_open"}';
      await eventually(async () => ((await metric(failed)) ?? 0) > 0);
      expect(await ask(metricsUrl, '/readyz')).toBe('200 ok');
      expect((await fetch(`${guard.url}/xmlrpc.php`, { method: 'POST' })).status).toBe(403);
    },
  );

  it('of a guard that can serve none of its sites: not ready', async () => {
    const dataDir = await dataFolderFor(await fakeConnector(), {}, { metrics: { listen: '127.0.0.1:0' } });
    await rm(secretFile(dataDir, 'site'));
    const { logger, text } = recordedLog();
    await runningGuard(dataDir, logger);
    expect(await ask(findMetricsUrl(text()) as string, '/readyz')).toBe('503 no site can be served');
  });

  it('of a guard that completes its last requests: alive, but not ready', async () => {
    let finish: (() => void) | null = null;
    const port = await webServer((request, response) => {
      if (request.url === '/held') finish = () => response.end('late');
      else response.end();
    });
    const upstream = { upstream: `http://127.0.0.1:${port}` };
    const { guard, metricsUrl } = await measuredGuard(upstream);
    expect(await ask(metricsUrl, '/readyz')).toBe('200 ok');
    const held = fetch(`${guard.url}/held`);
    await eventually(() => finish !== null);
    const closed = guard.close();
    expect([await ask(metricsUrl, '/healthz'), await ask(metricsUrl, '/readyz')]).toEqual(['200 ok', '503 stopping']);
    (finish as unknown as () => void)();
    expect(await (await held).text()).toBe('late');
    await closed;
    await expect(fetch(`${metricsUrl}/healthz`)).rejects.toThrow();
  });
});

describe('metrics', () => {
  it('contain the version, queue lengths, unrecorded visits, and storage errors', async () => {
    const { metric, metrics } = await measuredGuard();
    expect(await metrics()).toContain(`security_optimizer_build_info{version="${version}",node="`);
    for (const name of ['logins_waiting', 'upstream_requests_waiting', 'visits_dropped_total']) {
      expect([name, await metric(`security_optimizer_${name}`)]).toEqual([name, 0]);
    }
    expect(await metric('security_optimizer_visits_waiting')).not.toBeNull();
    const locked = 'security_optimizer_storage_errors_total{fault="locked"}';
    const before = (await metric(locked)) ?? 0;
    new StorageError('locked', 'another process writes');
    new StorageError('closed', 'guard stops');
    expect(await metric(locked)).toBe(before + 1);
    expect(await metric('security_optimizer_storage_errors_total{fault="closed"}')).toBeNull();
  });

  it('contain the operations that wait for the database, as while another process writes to it', async () => {
    const { dataDir, guard, metric } = await measuredGuard();
    const unlock = await lockTable(dataDir, 'settings');
    const call = callApi(guard.url, '/disable-xml-rpc', { body: '{"disable_xml_rpc":0}' });
    await eventually(async () => ((await metric('security_optimizer_storage_operations_waiting')) ?? 0) > 0);
    await unlock();
    await call;
    await eventually(async () => (await metric('security_optimizer_storage_operations_waiting')) === 0);
  });

  it('have names by the conventions of Prometheus: a unit, and `_total` for counters only', async () => {
    const lines = (await (await measuredGuard()).metrics()).split('\n');
    const types = lines.flatMap((line) => {
      const [, name, type] = /^# TYPE (security_optimizer_\w+) (\w+)/.exec(line) ?? [];
      return name === undefined ? [] : [[name, type] as const];
    });
    expect(types.length).toBeGreaterThan(12);
    for (const [name, type] of types) {
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
      expect([name, name.endsWith('_seconds')]).toEqual([name, type === 'histogram']);
    }
  });

  it('count requests, refusals by rule, and the response times of WordPress', async () => {
    const { guard, metric } = await measuredGuard();
    for (let n = 0; n < 3; n++) await (await fetch(`${guard.url}/`)).text();
    for (let n = 0; n < 2; n++) await (await fetch(`${guard.url}//xmlrpc.php`, { method: 'POST' })).text();
    expect(await metric('security_optimizer_requests_total')).toBe(5);
    expect(await metric('security_optimizer_requests_refused_total{rule="xml-rpc"}')).toBe(2);
    expect(await metric('security_optimizer_upstream_response_seconds_count{status="2xx"}')).toBe(3);
    expect(await metric('security_optimizer_upstream_response_seconds_bucket{le="10",status="2xx"}')).toBe(3);
    expect(await metric('security_optimizer_connections')).toBeGreaterThan(0);
    expect(await metric('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    expect(await metric('nodejs_eventloop_lag_p99_seconds')).not.toBeNull();
  });

  it('contain the number of sites with a connector, and whether WordPress is down', async () => {
    const { connector, guard, metric } = await measuredGuard();
    await eventually(async () => (await metric('security_optimizer_sites{connector="ok"}')) === 1);
    expect(await metric('security_optimizer_sites{connector="unreachable"}')).toBe(0);
    await connector.close();
    expect((await fetch(`${guard.url}/`)).status).toBe(502);
    expect(await metric('security_optimizer_upstream_failures_total{kind="connect"}')).toBe(1);
    // A failed command causes a check of the connector.
    await callApi(guard.url, '/disable-xml-rpc', { body: '{"disable_xml_rpc":0}' });
    await eventually(async () => (await metric('security_optimizer_sites{connector="unreachable"}')) === 1);
    expect(await metric('security_optimizer_sites{connector="ok"}')).toBe(0);
  });

  it('count passwords that were wrong or refused, and locked clients', async () => {
    const { connector, guard, metric } = await measuredGuard();
    // Without the connector, a login that creates no session had a wrong password.
    connector.mode = 'gone';
    const guess = async () => {
      const body = new URLSearchParams({ log: 'owner', pwd: 'wrong' });
      return (await fetch(`${guard.url}/wp-login.php`, { method: 'POST', body })).status;
    };
    expect(await metric('security_optimizer_login_locks')).toBe(0);
    for (let n = 0; n < 5; n++) expect(await guess()).toBe(404);
    expect(await metric('security_optimizer_login_failures_total')).toBe(5);
    expect(await metric('security_optimizer_login_locks')).toBe(1);
    expect(await guess()).toBe(429);
    expect(await metric('security_optimizer_login_failures_total')).toBe(6);
    expect(await metric('security_optimizer_requests_refused_total{rule="login-limit"}')).toBe(1);
  });

  it('contain no text of visitors', async () => {
    const { guard, metrics } = await measuredGuard();
    const headers = { 'User-Agent': 'strange-agent', Referer: 'http://strange-referer.example/' };
    await fetch(`${guard.url}/strange-path?strange=query`, { headers });
    await fetch(`${guard.url}/.git/strange-path`, { headers });
    await fetch(`${guard.url}/%zz-strange`, { headers });
    const text = await metrics();
    expect(text).toContain('security_optimizer_requests_refused_total{rule="ambiguous:');
    expect(text).not.toContain('strange');
  });

  it('are not available to visitors, since their address is another one', async () => {
    const { guard, metricsUrl, metric } = await measuredGuard();
    expect(metricsUrl).not.toBe(guard.url);
    for (const path of ['/metrics', '/healthz']) {
      expect(await (await fetch(`${guard.url}${path}`)).text()).not.toContain('security_optimizer_');
    }
    expect(await metric('security_optimizer_upstream_response_seconds_count{status="2xx"}')).toBe(2);
  });

  it('respond on the paths for metrics and health only', async () => {
    const { metricsUrl } = await measuredGuard();
    const health = await fetch(`${metricsUrl}/healthz`);
    expect([health.status, await health.text()]).toEqual([200, 'ok\n']);
    expect((await fetch(`${metricsUrl}/metrics`)).headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect((await fetch(`${metricsUrl}/healthz`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${metricsUrl}/metrics`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${metricsUrl}/`)).status).toBe(404);
  });

  it('whose address is in use keep guard from starting, and nothing of the failed start remains', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    const dataDir = await dataFolderFor(await fakeConnector(), {}, { metrics: { listen: `127.0.0.1:${port}` } });
    const config = await loadConfig({ dataDir, env: {} });
    await expect(startGuard(config, recordedLog())).rejects.toMatchObject({ code: 'EADDRINUSE', port });
    await new Promise((resolve) => other.close(resolve));
    await runningGuard(dataDir);
  });
});
