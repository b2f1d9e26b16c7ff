import { stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closing, exchange, RawClient, toStatus } from './raw-client.js';
import { recordingServer, startGateway } from './running-gateway.js';
import { runInChild, serve, spawnServe } from './support/command-line.js';
import { fakeConnector } from './support/fake-connector.js';
import { recordedLog } from './support/logs.js';
import { dataFolderFor, runningGuard } from './support/running-guard.js';
import { eventually, scratchFolder } from './support/scratch.js';
import { endedListener, socketTo } from './support/sockets.js';

const FORWARDED = 'X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n';

async function gatewayOnSocket(trustedProxies: readonly string[]) {
  const upstream = await recordingServer();
  const path = join(await scratchFolder(), 'guard.sock');
  const gateway = await startGateway(upstream.port, { listen: { path }, trustedProxies });
  return { ...upstream, path, gateway };
}

describe('guard on a Unix socket', () => {
  it('trusts no forwarded address unless the socket is trusted, even when 127.0.0.1 is', async () => {
    const { seen, path } = await gatewayOnSocket(['127.0.0.1']);
    expect(toStatus(await exchange(path, closing(`GET / HTTP/1.1\r\n${FORWARDED.trim()}`)))).toBe(200);
    expect(seen[0]?.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
  });

  it('trusts the headers of a proxy on a trusted socket', async () => {
    const { seen, path, gateway } = await gatewayOnSocket(['unix']);
    gateway.rule({ blocked: ['192.0.2.9'] });
    await exchange(path, closing(`GET / HTTP/1.1\r\n${FORWARDED.trim()}`));
    expect(seen[0]?.headers).toMatchObject({ 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https' });
    const refused = await exchange(path, closing('GET /a HTTP/1.1\r\nX-Forwarded-For: 203.0.113.1, 192.0.2.9'));
    expect(toStatus(refused)).toBe(403);
    expect(gateway.visits.at(-1)).toMatchObject({ address: '192.0.2.9', rule: 'blocked-visitor' });
    await exchange(path, closing('GET /own HTTP/1.1'));
    expect(seen.at(-1)?.headers['x-forwarded-for']).toBe('127.0.0.1');
  });

  it('does not trust peers on the network because the socket is trusted', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port, { trustedProxies: ['unix'] });
    await exchange(gateway.port, closing(`GET / HTTP/1.1\r\n${FORWARDED.trim()}`));
    expect(seen[0]?.headers['x-forwarded-for']).toBe('127.0.0.1');
  });

  it('limits the connections of an untrusted socket as those of one address', async () => {
    const { port, seen } = await recordingServer(() => {});
    const path = join(await scratchFolder(), 'guard.sock');
    await startGateway(port, { listen: { path }, limits: { connectionsPerAddress: 2 } });
    const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    for (let n = 0; n < 2; n++) new RawClient(path).send(head);
    await expect.poll(() => seen.length).toBe(2);
    expect(await new RawClient(path).send(head).end()).toBe('');
  });
});

describe('a web server behind a Unix socket', () => {
  it('gets requests with their bodies and their host', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(`unix:${await socketTo(port)}`);
    const post = closing('POST /form HTTP/1.1\r\nContent-Length: 4', 'a=bc');
    expect(toStatus(await exchange(gateway.port, post))).toBe(200);
    expect(seen.map(({ url, body, headers }) => [url, body, headers.host])).toEqual([['/form', 'a=bc', 'example.com']]);
  });

  it('may redirect visitors to its own name without a port, and they keep their port', async () => {
    const { port } = await recordingServer((request, response) => {
      const host = request.headers.host?.replace(/:\d+$/, '');
      response.writeHead(301, { Location: `http://${host}/wp-admin/` }).end();
    });
    const gateway = await startGateway(`unix:${await socketTo(port)}`);
    const received = await exchange(
      gateway.port,
      'GET /wp-admin HTTP/1.1\r\nHost: example.com:8080\r\nConnection: close\r\n\r\n',
    );
    expect(received).toContain('Location: http://example.com:8080/wp-admin/');
  });

  it('that is down causes a 502 for the visitor', async () => {
    const path = join(await scratchFolder(), 'none.sock');
    const gateway = await startGateway(`unix:${path}`);
    expect(toStatus(await exchange(gateway.port, closing('GET / HTTP/1.1')))).toBe(502);
  });

  it('supports WebSocket handshakes', async () => {
    const { port } = await recordingServer();
    const gateway = await startGateway(`unix:${await socketTo(port)}`);
    const handshake =
      'GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
    // This web server has no WebSockets: its ordinary response is forwarded.
    expect(toStatus(await new RawClient(gateway.port).send(handshake).end())).toBe(200);
  });

  it('gets guard’s commands', async () => {
    const connector = await fakeConnector();
    const path = await socketTo(Number(new URL(connector.upstream).port));
    const log = recordedLog();
    await runningGuard(await dataFolderFor({ upstream: `unix:${path}` }), log.logger);
    await eventually(() => connector.policy?.policy.disable_xml_rpc === 1);
    expect(log.events()).not.toContain('wordpress-unreachable');
  });

  it('that is down is logged with the cause', async () => {
    const log = recordedLog();
    const path = join(await scratchFolder(), 'none.sock');
    await runningGuard(await dataFolderFor({ upstream: `unix:${path}` }), log.logger);
    await eventually(() => log.events().includes('wordpress-unreachable'));
    expect(log.text()).toContain('its socket file is missing');
  });
});

describe('serve on Unix sockets', () => {
  const get = (socketPath: string, path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      request({ socketPath, path, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .once('error', reject)
        .end();
    });

  it('serves visitors and metrics, is found by status, and removes its socket when it ends', async () => {
    const folder = await scratchFolder();
    const [path, metrics] = [join(folder, 'guard.sock'), join(folder, 'metrics.sock')];
    await endedListener(path);
    const dataDir = await dataFolderFor(
      await fakeConnector(),
      {},
      { listen: `unix:${path}`, metrics: { listen: `unix:${metrics}` } },
    );
    const guard = await serve(dataDir);
    expect(guard.url).toBe(`unix:${path}`);
    expect([await get(path, '/'), await get(metrics, '/metrics')]).toEqual([200, 200]);
    expect((await stat(metrics)).mode & 0o777).toBe(0o660);
    const { stdout } = await runInChild('status', '--data-dir', dataDir, '--json');
    expect(JSON.parse(stdout).guard).toMatchObject({ running: true, answers: true, listen: `unix:${path}` });
    guard.child.kill('SIGTERM');
    await new Promise((resolve) => guard.child.once('exit', resolve));
    for (const file of [path, metrics]) await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('exits with a clear message where another program listens', async () => {
    const path = await socketTo(1);
    const { child, log } = spawnServe(await dataFolderFor(await fakeConnector(), {}, { listen: `unix:${path}` }));
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(1);
    expect(log()).toContain(`Another program listens on the socket ${path}`);
  });
});
