import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardAnswers } from '../src/cli/guard-response.js';
import { loadConfig } from '../src/config/load-config.js';
import { noopObserver } from '../src/gateway/observer.js';
import { RawClient, toBody, toStatus } from './raw-client.js';
import { type GatewayOptions, recordingServer, startGateway } from './running-gateway.js';
import { activitySite } from './support/activity-site.js';
import { fakeConnector } from './support/fake-connector.js';
import { binaryHeader, tlsTlv } from './support/proxy-headers.js';
import { dataFolderFor, runningGuard } from './support/running-guard.js';
import { scratchFolder } from './support/scratch.js';

/** A gateway whose refusals are counted by rule. */
async function observedGateway(options: GatewayOptions = {}) {
  const upstream = await recordingServer();
  const refused: string[] = [];
  const observer = { ...noopObserver, refused: (rule: string) => void refused.push(rule) };
  const gateway = await startGateway(upstream.port, { ...options, observer });
  const send = (...pieces: (string | Buffer)[]) => {
    const client = new RawClient(gateway.port);
    for (const piece of pieces) client.send(piece);
    return client.end();
  };
  /** Everything that a request has left behind. */
  const traces = () => [upstream.seen, gateway.visits, refused];
  return { ...upstream, gateway, refused, send, traces };
}

const NO_TRACES = [[], [], []];

/** Checks as load balancers send them. */
const checks = {
  'HAProxy (option httpchk)': 'OPTIONS / HTTP/1.0\r\n\r\n',
  'HAProxy with a path': 'GET /wp-login.php?a=1 HTTP/1.0\r\n\r\n',
  'a check by HEAD': 'HEAD / HTTP/1.0\r\n\r\n',
  'a check by GET': 'GET / HTTP/1.0\r\nUser-Agent: check/1.0\r\nConnection: close\r\n\r\n',
  'a check of the server as a whole': 'OPTIONS * HTTP/1.0\r\n\r\n',
  'a check with a body': 'GET / HTTP/1.0\r\nContent-Length: 4\r\n\r\nping',
  'a check with an empty host': 'GET / HTTP/1.0\r\nHost:\r\n\r\n',
  'a check of a path with raw bytes': 'GET /\xfc HTTP/1.0\r\n\r\n',
  'a check that a proxy has forwarded': 'GET / HTTP/1.0\r\nX-Forwarded-For: 192.0.2.7\r\nVia: 1.0 lb\r\n\r\n',
};

const upstream = 'http://127.0.0.1:1';
const setUps: readonly (readonly [string, GatewayOptions])[] = [
  ['one site for all hosts', {}],
  ['a trusted proxy', { trustedProxies: ['127.0.0.1'] }],
  ['one site with a name', { sites: [{ id: 'site', hosts: ['example.com'], upstream }] }],
  [
    'several sites',
    {
      sites: [
        { id: 'one', hosts: ['example.com'], upstream },
        { id: 'other', hosts: ['example.org', '*'], upstream },
      ],
    },
  ],
  ['no site', { sites: [] }],
];

describe('a health check that names no host', () => {
  for (const [what, options] of setUps) {
    it.each(Object.entries(checks))(`is answered by guard itself, with ${what}: %s`, async (_name, check) => {
      const { send, traces } = await observedGateway(options);
      const received = await send(check);
      expect(toStatus(received)).toBe(200);
      expect(toBody(received)).toBe(check.startsWith('HEAD') ? '' : 'ok\n');
      expect(received).toMatch(/\r\nCache-Control: no-store\r\n/);
      expect(traces()).toEqual(NO_TRACES);
    });
  }

  it('may come in a connection of the proxy itself, with a PROXY header that names no visitor', async () => {
    const { send, traces } = await observedGateway({ proxyProtocol: true, trustedProxies: ['127.0.0.1'] });
    const local = { command: 0x20, family: 0, addresses: Buffer.alloc(0) };
    for (const header of ['PROXY UNKNOWN\r\n', binaryHeader(local), binaryHeader({ ...local, tlvs: tlsTlv(0) })]) {
      expect(toStatus(await send(header, 'OPTIONS / HTTP/1.0\r\n\r\n'))).toBe(200);
    }
    expect(traces()).toEqual(NO_TRACES);
  });

  it('gets a response for each one on a connection that is kept open', async () => {
    const { gateway, traces } = await observedGateway();
    const client = new RawClient(gateway.port);
    for (let n = 1; n <= 3; n++) {
      client.send('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
      await client.until((text) => text.split('ok\n').length - 1 === n);
    }
    expect(traces()).toEqual(NO_TRACES);
  });

  it('gets 200 also from a blocked address, and what names a host gets 403', async () => {
    const { gateway, send, seen } = await observedGateway();
    gateway.rule({ blocked: ['127.0.0.1'] });
    expect(toStatus(await send('GET / HTTP/1.0\r\n\r\n'))).toBe(200);
    expect(toStatus(await send('GET / HTTP/1.0\r\nHost: example.com\r\n\r\n'))).toBe(403);
    expect(seen).toEqual([]);
  });
});

describe('the health check of the container', () => {
  /** Runs the check of the image as its runtime does. @returns its exit code */
  async function runCheck(port: number): Promise<number | null> {
    const file = await readFile(new URL('../../../packaging/Containerfile', import.meta.url), 'utf8');
    const [, list = ''] = /^HEALTHCHECK .*\\\n\s*CMD (\[.*\\\n.*\])$/m.exec(file) ?? [];
    const [, ...args] = JSON.parse(list.replaceAll('\\\n', '')) as string[];
    const env = { ...process.env, SECURITY_OPTIMIZER_LISTEN: `0.0.0.0:${port}` };
    const child = spawn(process.execPath, args, { env, stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    return code;
  }

  it('passes while guard serves, leaves no trace, and fails when guard does not answer', async () => {
    const { gateway, traces } = await observedGateway();
    expect(await runCheck(gateway.port)).toBe(0);
    expect(traces()).toEqual(NO_TRACES);
    await gateway.server.close();
    expect(await runCheck(gateway.port)).toBe(1);
  });
});

describe('the command line', () => {
  it.each([
    ['', {}],
    [' behind a proxy with the PROXY protocol', { proxyProtocol: true, trustedProxies: ['127.0.0.1'] }],
  ])('finds that guard%s answers, and leaves no trace', async (_how, options) => {
    const { gateway, traces } = await observedGateway(options);
    const config = await loadConfig({ dataDir: await dataFolderFor(await fakeConnector()), env: {} });
    const asked = { ...config, ...options, listen: { host: '127.0.0.1', port: gateway.port } };
    expect(await guardAnswers(asked)).toBe(true);
    expect(traces()).toEqual(NO_TRACES);
    await gateway.server.close();
    expect(await guardAnswers(asked)).toBe(false);
  });
});

describe('many health checks a second', () => {
  it('start no PHP and fill no log: a visit after them is the only row', async () => {
    const securityLog = join(await scratchFolder(), 'security.log');
    const site = await activitySite({ activity: { securityLog } });
    const port = Number(new URL(site.guard.url).port);
    const requests: string[] = [];
    site.connector.onRequest = (command, { url = '' }) => command === null && requests.push(url);
    const responses = await Promise.all(
      Array.from({ length: 300 }, () => new RawClient(port).send('OPTIONS / HTTP/1.0\r\n\r\n').end()),
    );
    expect(new Set(responses.map(toStatus))).toEqual(new Set([200]));
    await site.visit('/after');
    await site.logged(1);
    expect(requests).toEqual(['/after']);
    const list = await site.call<{ total: number }>('/activity-unknown', {});
    expect(list.total).toBe(1);
    // The count of refusals is logged at the end.
    await site.restart();
    expect(site.log.events().filter((event) => event.startsWith('request'))).toEqual([]);
    expect(await readFile(securityLog, 'utf8')).toBe('');
  });
});

describe('a guard with a site that is in quarantine', () => {
  const check = async (url: string) => new RawClient(Number(new URL(url).port)).send('GET / HTTP/1.0\r\n\r\n').end();

  it('responds with 503 when it has no other site, and with 200 when it has', async () => {
    const connector = await fakeConnector();
    const alone = await dataFolderFor(connector);
    await rm(join(alone, 'sites', 'site.secret'));
    const received = await check((await runningGuard(alone)).url);
    expect([toStatus(received), toBody(received)]).toEqual([503, 'no site can be served\n']);
    const { upstream } = connector;
    const sites = [
      { id: 'site', upstream, hosts: ['example.com'] },
      { id: 'broken', upstream, hosts: ['example.org', '*'] },
    ];
    const both = await dataFolderFor(connector, {}, { sites });
    expect(toStatus(await check((await runningGuard(both)).url))).toBe(200);
  });
});

describe('another request that names no host', () => {
  it.each(['POST /xmlrpc.php', 'POST /', 'PUT /', 'DELETE /wp-json/wp/v2/posts/1', 'PATCH /', 'PROPFIND /', 'POST *'])(
    'is refused and recorded, and never reaches WordPress: %s',
    async (line) => {
      const { send, seen, gateway, refused } = await observedGateway();
      const received = await send(`${line} HTTP/1.0\r\nContent-Length: 4\r\n\r\na=bc`);
      expect(toStatus(received)).toBe(400);
      expect(seen).toEqual([]);
      expect(refused).toHaveLength(1);
      expect(gateway.visits.map(({ status }) => status)).toEqual([400]);
    },
  );

  it('of HTTP/1.1 is invalid', async () => {
    const { send, seen } = await observedGateway();
    for (const line of ['OPTIONS /', 'OPTIONS *', 'GET /', 'HEAD /']) {
      expect([line, toStatus(await send(`${line} HTTP/1.1\r\nConnection: close\r\n\r\n`))]).toEqual([line, 400]);
    }
    expect(seen).toEqual([]);
  });
});

describe('a request of HTTP/1.0 whose target names a host', () => {
  it('is no health check: rules decide, and it is recorded', async () => {
    const { send, seen, gateway, refused } = await observedGateway();
    gateway.rule({ options: { disable_xml_rpc: 1 } });
    const script = 'http://example.com/xmlrpc.php';
    expect(toStatus(await send(`GET ${script} HTTP/1.0\r\nHost: example.com\r\n\r\n`))).toBe(403);
    expect(toStatus(await send(`GET ${script} HTTP/1.0\r\n\r\n`))).toBe(400);
    expect(refused).toEqual(['xml-rpc', 'ambiguous:two-hosts']);
    expect(gateway.visits.map(({ rule }) => rule)).toEqual(refused);
    expect(seen).toEqual([]);
  });
});

describe('a connection without a request', () => {
  const ends = {
    'is closed': (client: RawClient) => void client.socket.end(),
    'is reset': (client: RawClient) => void client.socket.resetAndDestroy(),
  };
  for (const [how, end] of Object.entries(ends)) {
    it.each([
      ['at once', {}, ''],
      ['after a PROXY header', { proxyProtocol: true, trustedProxies: ['127.0.0.1'] }, 'PROXY UNKNOWN\r\n'],
      ['before its PROXY header', { proxyProtocol: true, trustedProxies: ['127.0.0.1'] }, ''],
    ])(`that ${how} %s leaves no trace`, async (_when, options, bytes) => {
      const { gateway, traces } = await observedGateway(options);
      for (let n = 0; n < 20; n++) {
        const client = new RawClient(gateway.port).send(bytes);
        await once(client.socket, 'connect');
        end(client);
        await client.end();
      }
      await expect.poll(() => gateway.server.connections).toBe(0);
      expect(traces()).toEqual(NO_TRACES);
    });
  }

  it('but with a TLS greeting of a trusted proxy gets 400, and is not recorded as a visit', async () => {
    const { gateway, send, seen } = await observedGateway({ trustedProxies: ['127.0.0.1'] });
    const received = await send(Buffer.from('16030000790100007503006b', 'hex'), Buffer.alloc(114, 'HAPROXYSSLCHK\n'));
    expect(toStatus(received)).toBe(400);
    expect([seen, gateway.visits]).toEqual([[], []]);
  });
});
