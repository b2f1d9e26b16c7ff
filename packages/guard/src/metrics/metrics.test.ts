import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../load-config.js';
import { startGuard } from '../main.js';
import { fakeConnector } from '../testing/fake-connector.js';
import { recordedLog } from '../testing/log-lines.js';
import { callApi, dataFolderFor, runningGuard } from '../testing/running-guard.js';
import { eventually } from '../testing/scratch.js';

/** A guard whose metrics are served. */
async function measuredGuard() {
  const connector = await fakeConnector();
  const { logger, text } = recordedLog();
  const guard = await runningGuard(await dataFolderFor(connector, {}, { metrics: { listen: '127.0.0.1:0' } }), logger);
  const line = text()
    .split('\n')
    .find((entry) => entry.includes('"metrics-served"')) as string;
  const metricsUrl = (JSON.parse(line) as { url: string }).url;
  const metrics = async (): Promise<string> => (await fetch(`${metricsUrl}/metrics`)).text();
  /** The value of one line of the metrics, or null without it. */
  const metric = async (name: string): Promise<number | null> => {
    const found = (await metrics()).split('\n').find((entry) => entry.startsWith(`${name} `));
    return found === undefined ? null : Number(found.slice(name.length + 1));
  };
  return { connector, guard, metricsUrl, metrics, metric };
}

describe('metrics', () => {
  it('count what comes, what each rule refuses, and how long WordPress takes', async () => {
    const { guard, metric } = await measuredGuard();
    for (let n = 0; n < 3; n++) await (await fetch(`${guard.url}/`)).text();
    for (let n = 0; n < 2; n++) await (await fetch(`${guard.url}//xmlrpc.php`, { method: 'POST' })).text();
    expect(await metric('security_optimizer_requests_total')).toBe(5);
    expect(await metric('security_optimizer_refused_total{rule="xml-rpc"}')).toBe(2);
    expect(await metric('security_optimizer_forwarded_seconds_count{status="2xx"}')).toBe(3);
    expect(await metric('security_optimizer_forwarded_seconds_bucket{le="10",status="2xx"}')).toBe(3);
    expect(await metric('security_optimizer_connections')).toBeGreaterThan(0);
    expect(await metric('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    expect(await metric('nodejs_eventloop_lag_p99_seconds')).not.toBeNull();
  });

  it('tell how many sites have a connector, and when WordPress is down', async () => {
    const { connector, guard, metric } = await measuredGuard();
    await eventually(async () => (await metric('security_optimizer_sites{connector="ok"}')) === 1);
    expect(await metric('security_optimizer_sites{connector="unreachable"}')).toBe(0);
    await connector.close();
    expect((await fetch(`${guard.url}/`)).status).toBe(502);
    expect(await metric('security_optimizer_upstream_failures_total{kind="connect"}')).toBe(1);
    // A command that can't be carried out has the connector looked at.
    await callApi(guard.url, '/disable-xml-rpc', { body: '{"disable_xml_rpc":0}' });
    await eventually(async () => (await metric('security_optimizer_sites{connector="unreachable"}')) === 1);
    expect(await metric('security_optimizer_sites{connector="ok"}')).toBe(0);
  });

  it('count wrong passwords and who has to wait for them', async () => {
    const { connector, guard, metric } = await measuredGuard();
    // Without the connector whoever gets no session had a wrong password.
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
    expect(await metric('security_optimizer_login_failures_total')).toBe(5);
    expect(await metric('security_optimizer_refused_total{rule="login-limit"}')).toBe(1);
  });

  it('hold nothing that a visitor wrote', async () => {
    const { guard, metrics } = await measuredGuard();
    const headers = { 'User-Agent': 'strange-agent', Referer: 'http://strange-referer.example/' };
    await fetch(`${guard.url}/strange-path?strange=query`, { headers });
    await fetch(`${guard.url}/.git/strange-path`, { headers });
    await fetch(`${guard.url}/%zz-strange`, { headers });
    const text = await metrics();
    expect(text).toContain('security_optimizer_refused_total{rule="ambiguous:');
    expect(text).not.toContain('strange');
  });

  it('are kept from visitors: their address is another', async () => {
    const { guard, metricsUrl, metric } = await measuredGuard();
    expect(metricsUrl).not.toBe(guard.url);
    for (const path of ['/metrics', '/health']) {
      expect(await (await fetch(`${guard.url}${path}`)).text()).not.toContain('security_optimizer_');
    }
    expect(await metric('security_optimizer_forwarded_seconds_count{status="2xx"}')).toBe(2);
  });

  it('answer whoever asks for guard’s health, and for nothing else', async () => {
    const { metricsUrl } = await measuredGuard();
    const health = await fetch(`${metricsUrl}/health`);
    expect([health.status, await health.text()]).toEqual([200, 'ok\n']);
    expect((await fetch(`${metricsUrl}/metrics`)).headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect((await fetch(`${metricsUrl}/health`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${metricsUrl}/metrics`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${metricsUrl}/`)).status).toBe(404);
  });

  it('whose address is taken keep guard from starting, which then leaves nothing behind', async () => {
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
