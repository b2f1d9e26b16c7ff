import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import type { Service } from '@security-optimizer/sandbox/lib/service';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { shortAttacks } from '../../attacks/lists/index.js';
import { runAttacks } from '../../attacks/run.js';
import { AttackedSite, type Transport } from '../../attacks/site.js';
import { type Http2Request, sendHttp2 } from '../../http/http2.js';
import { type RawResponse, sendRaw } from '../../http/raw.js';
import { form, type TypedRequest, toBytes } from '../../http/request.js';
import { stopGuard } from '../../stacks/guard-process.js';
import { removeLayouts } from '../../stacks/layouts.js';
import type { Stack } from '../../stacks/stack.js';
import {
  apacheInFront,
  type Certificate,
  caddyInFront,
  haproxyInFront,
  makeCertificate,
  missingPrograms,
  nginxInFront,
  type StartFront,
  V1_AT,
  varnishInFront,
} from './fronts.js';
import { configure, FORGED, FORGED_ADDRESS, type ProbedSite, readWho, startProbedSite } from './probed-site.js';
import { HOST, startNginx } from './site-behind.js';

/** One WordPress with every common server in front of guard, each by its example of the guide. */

const MINUTES = 60_000;
const stack = inject('stacks').find((one): one is Stack => one.kind === 'nginx-defaults' && !('problem' in one));
/** Wrong passwords that lock an address out. */
const LIMIT = 3;

interface FrontPlan {
  readonly name: string;
  readonly programs: readonly string[];
  readonly start: StartFront;
  readonly protocols: readonly ('HTTP/1.1' | 'HTTP/2')[];
  /** Keys of guard's configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Attacks that the server answers itself, without guard. */
  readonly own?: readonly string[];
}

const PROXY_HEADER = { proxyProtocol: true };
const FRONTS: readonly FrontPlan[] = [
  {
    ...{ name: 'nginx', programs: ['nginx'], protocols: ['HTTP/1.1', 'HTTP/2'] },
    // "listen 443 ssl http2", as its comment says.
    start: nginxInFront((text) => text.replace(/(listen \S+ ssl);/, '$1 http2;')),
  },
  {
    ...{ name: 'Caddy', programs: ['caddy'], protocols: ['HTTP/1.1', 'HTTP/2'], start: caddyInFront },
    // Empty, since it has no site of that name.
    own: ['/wp-config.php.bak, absolute form of another host'],
  },
  { name: 'Apache', programs: ['apache2'], protocols: ['HTTP/1.1', 'HTTP/2'], start: apacheInFront },
  {
    ...{ name: 'Varnish behind HAProxy', programs: ['haproxy', 'varnishd'], protocols: ['HTTP/1.1'] },
    start: varnishInFront,
  },
  {
    ...{ name: 'HAProxy, PROXY protocol 2', programs: ['haproxy'], protocols: ['HTTP/1.1'], config: PROXY_HEADER },
    start: haproxyInFront(2),
  },
  {
    ...{ name: 'HAProxy, PROXY protocol 1', programs: ['haproxy'], protocols: ['HTTP/1.1'], config: PROXY_HEADER },
    start: haproxyInFront(1),
  },
];

/** Whether this user may listen on the port that means https to version 1 of the PROXY protocol. */
const canListenOn443 = await new Promise<boolean>((resolve) => {
  const server = createServer();
  server.once('error', () => resolve(false));
  server.listen(V1_AT, () => server.close(() => resolve(true)));
});

function problem({ programs, name }: FrontPlan): string | null {
  const [missing] = missingPrograms(...programs);
  if (missing !== undefined) return `${missing} is not installed`;
  return name.endsWith('protocol 1') && !canListenOn443 ? 'this user may not listen on port 443' : null;
}

describe.skipIf(stack === undefined || missingPrograms('openssl').length > 0)(
  'a site behind a server in front of guard, by its example',
  { timeout: 5 * MINUTES },
  () => {
    const dir = join((stack as Stack | undefined)?.dir ?? '', 'infront');
    let probed: ProbedSite & { readonly web: Service };
    let certificate: Certificate;
    let visitors = 0;

    /** An address that has sent nothing yet. */
    const nextVisitor = () => `127.0.91.${++visitors}`;

    beforeAll(async () => {
      const startWeb: Parameters<typeof startProbedSite>[2] = (site, log) =>
        startNginx(site, { lines: `access_log ${log};` });
      probed = await startProbedSite(stack as Stack, dir, startWeb, LIMIT);
      certificate = makeCertificate(join(dir, 'certificate'));
    }, 5 * MINUTES);
    afterAll(async () => {
      await stopGuard(probed.site);
      await probed.web.stop();
      removeLayouts(dir);
    });

    for (const [number, plan] of FRONTS.entries()) {
      const why = problem(plan);
      describe.skipIf(why !== null)(`${plan.name}${why === null ? '' : ` not run: ${why}`}`, () => {
        let services: readonly Service[] = [];
        let at: { readonly host: string; readonly port: number };
        let cache: number | undefined;

        beforeAll(async () => {
          const { site } = probed;
          const hello = plan.config === undefined ? '' : 'PROXY TCP4 127.0.0.1 127.0.0.1 1 443\r\n';
          const ready = () =>
            sendRaw(site.port, hello + toBytes(site, { target: '/%zz' })).then(
              ({ status }) => status === 400,
              () => false,
            );
          await configure(site, plan.config ?? {}, ready);
          const place = { dir: join(dir, `front-${number}`), certificate, tls: await findFreePort(), guard: site.port };
          mkdirSync(place.dir);
          const started = await plan.start(place);
          services = started.services;
          cache = started.cache;
          at = started.at ?? { host: '127.0.0.1', port: place.tls };
        });
        afterAll(async () => {
          for (const service of [...services].reverse()) await service.stop();
        });

        const way = (from: string) => ({ from, tls: HOST, ca: certificate.ca });
        const transports: Readonly<Record<FrontPlan['protocols'][number], Transport>> = {
          'HTTP/1.1': (request, from = '127.0.91.251') =>
            sendRaw(at.port, toBytes(probed.site, request), { to: at.host, ...way(from) }),
          'HTTP/2': (request, from = '127.0.91.251') => sendHttp2(at.port, toHttp2(request), way(from)),
        };

        describe.each(plan.protocols)('%s', (protocol) => {
          const send = transports[protocol];

          it('names each visitor to the web server behind and to WordPress, whatever the visitor claims', async () => {
            const [visitor, target] = [nextVisitor(), `/who.php?${visitors}`];
            expect(readWho(await send({ target, headers: { ...FORGED, cookie: 'a=1' } }, visitor))).toEqual({
              ...{ server: visitor, wordpress: visitor, https: true, forged: [], proxy: [null, null] },
              ...{ cookie: 'a=1', host: HOST, target },
            });
            expect(await probed.loggedClients(target)).toEqual([visitor]);
          });

          it('locks out the visitor who guesses, and nobody else', async () => {
            const [visitor, other] = [nextVisitor(), nextVisitor()];
            const guess = form('/wp-login.php', 'log=nobody&pwd=wrong&wp-submit=Log+In', FORGED);
            for (let time = 0; time < LIMIT; time++) await send(guess, visitor);
            const login = (headers = {}) => ({ target: '/wp-login.php', headers });
            expect((await send(login(), visitor)).status).toBe(429);
            expect((await send(login({ 'x-forwarded-for': other }), visitor)).status).toBe(429);
            expect((await send(login({ 'x-forwarded-for': visitor }), other)).status).toBe(200);
          });

          it('lets no attack succeed', async () => {
            const results = await runAttacks(await AttackedSite.meet(probed.about(send)), { list: shortAttacks });
            const faults = results.filter(({ ok, attack }) => ok === false && plan.own?.includes(attack) !== true);
            expect(faults.map(({ attack, expected, got, twin }) => ({ attack, expected, got, twin }))).toEqual([]);
            expect(results.filter(({ ok }) => ok === true).length).toBeGreaterThan(80);
          });
        });

        it('hands on no request that is hidden behind another one, or only as the visitor’s own', async () => {
          const visitor = nextVisitor();
          const answers = await Promise.all(
            smuggling(`/who.php?hidden-${number}`).map(async ([name, bytes]) => {
              const received = await receive(bytes, visitor);
              return { name, ends: [...received.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status) };
            }),
          );
          expect(answers.filter(({ ends }) => ends.length > 0).length).toBeGreaterThan(3);
          expect((await hiddenClients()).filter((client) => client !== visitor)).toEqual([]);
        });

        /** Clients of the hidden requests so far in the web server's log, which it writes in the order of requests. */
        async function hiddenClients(): Promise<readonly string[]> {
          const last = `/who.php?after-${++visitors}`;
          await transports['HTTP/1.1']({ target: last }, undefined);
          await probed.loggedClients(last);
          const lines = readFileSync(probed.log, 'utf8').split('\n');
          return lines
            .filter((line) => line.includes(`/who.php?hidden-${number} `))
            .map((line) => line.split(' ')[0] as string);
        }

        /** Writes bytes to the front, and returns what comes until it closes, or within a second and a half. */
        function receive(bytes: string, from: string): Promise<string> {
          return new Promise((resolve) => {
            const { ca } = certificate;
            const socket = connectTls(
              { ...at, localAddress: from, servername: HOST, ca, ALPNProtocols: ['http/1.1'] } as never,
              () => socket.write(Buffer.from(bytes, 'latin1')),
            );
            let received = '';
            socket.on('data', (chunk: Buffer) => {
              received += chunk.toString('latin1');
            });
            socket.on('error', () => socket.destroy());
            socket.on('close', () => resolve(received));
            void pause(1500).then(() => socket.destroy());
          });
        }

        if (plan.start === varnishInFront) {
          /** A visit as HAProxy hands it on. */
          const visit = (from: string, request: TypedRequest, isEncrypted = true): Promise<RawResponse> => {
            const bytes = Buffer.from(toBytes(probed.site, request), 'latin1');
            return sendRaw(cache as number, Buffer.concat([proxyHeader(from, isEncrypted), bytes]));
          };
          /** Varnish names the request that stored the page, too. */
          const isFromCache = ({ headers }: RawResponse) => /^\d+ \d+$/.test(headers['x-varnish'] ?? '');

          it('stores pages for everybody, each scheme with its own, and none of a member', async () => {
            const page = { target: '/?stored' };
            expect(isFromCache(await visit('203.0.113.20', page))).toBe(false);
            const stored = await visit('203.0.113.21', { ...page, headers: { cookie: 'a=1' } });
            expect([stored.status, isFromCache(stored)]).toEqual([200, true]);
            expect(stored.head).not.toMatch(/security-optimizer/i);
            for (const isSecond of [false, true]) {
              const unencrypted = await visit('203.0.113.21', page, false);
              expect([unencrypted.status, isFromCache(unencrypted)]).toEqual([200, isSecond]);
            }
            const { cookie } = probed.owner.ownerHeaders as { cookie: string };
            for (const target of ['/?stored', '/?member']) {
              const mine = await visit('203.0.113.22', { target, headers: { cookie } });
              expect([isFromCache(mine), mine.body.includes('wpadminbar')]).toEqual([false, true]);
              expect((await visit('203.0.113.23', { target })).body).not.toContain('wpadminbar');
            }
            for (let time = 0; time < 2; time++) {
              expect((await visit('203.0.113.24', { target: '/wp-admin/' })).status).toBe(302);
            }
          });

          it('stores no refusal of guard, and asks guard about all that is not a stored page', async () => {
            const blocked = '203.0.113.30';
            const page = { target: '/?refused' };
            await probed.change('/block-addresses', { address: blocked });
            for (let time = 0; time < 2; time++) {
              const refused = await visit(blocked, page);
              expect([refused.status, isFromCache(refused)]).toEqual([403, false]);
            }
            expect((await visit('203.0.113.31', page)).status).toBe(200);
            // As the example says.
            const stored = await visit(blocked, page);
            expect([stored.status, isFromCache(stored)]).toEqual([200, true]);
            for (const request of [
              { target: '/?another' },
              { target: '/wp-login.php' },
              { target: '/wp-json/' },
              { ...page, method: 'POST', body: 'a=1' },
              { ...page, headers: { cookie: 'wordpress_logged_in_x=1' } },
              { ...page, headers: { authorization: 'Basic YTph' } },
            ]) {
              expect([request, (await visit(blocked, request)).status]).toEqual([request, 403]);
            }
          });
        }

        if (plan.protocols.includes('HTTP/2')) {
          it.each(http2Attacks)('understands by HTTP/2 nothing but what guard decides on: %s', async (name, more) => {
            const visitor = nextVisitor();
            const target = `/who.php?hidden-${number}`;
            const fields = {
              ':method': 'GET',
              ':scheme': 'https',
              ':authority': HOST,
              ':path': target,
              ...more(target),
            };
            const response = await sendHttp2(at.port, { fields }, way(visitor)).catch(() => null);
            expect([name, response?.body ?? '']).toEqual([name, expect.not.stringContaining(FORGED_ADDRESS)]);
            // Caddy answers for hosts that it does not have, with an empty page.
            if (response?.status === 200 && response.body !== '') {
              const { host, https, server } = readWho(response);
              expect([name, host, https, server]).toEqual([name, HOST, true, visitor]);
            }
            expect((await hiddenClients()).filter((client) => !client.startsWith('127.0.91.'))).toEqual([]);
          });

          it('joins a cookie that comes in several fields', async () => {
            const { ownerHeaders, owner } = await AttackedSite.meet(probed.about(transports['HTTP/2']));
            expect(owner).not.toBe(null);
            const crumbs = ownerHeaders.cookie?.split('; ') ?? [];
            expect(crumbs.length).toBeGreaterThan(1);
            const fields = { ':method': 'GET', ':scheme': 'https', ':authority': HOST, cookie: crumbs };
            const visitor = nextVisitor();
            const who = await sendHttp2(at.port, { fields: { ...fields, ':path': '/who.php?c' } }, way(visitor));
            expect(readWho(who).cookie).toBe(crumbs.join('; '));
            const editor = { ...fields, ':path': '/wp-admin//plugin-editor.php' };
            expect((await sendHttp2(at.port, { fields: editor }, way(visitor))).status).toBe(403);
            const admin = await sendHttp2(at.port, { fields: { ...fields, ':path': '/wp-admin/' } }, way(visitor));
            expect(admin.body).toContain('wpadminbar');
          });
        }
      });
    }
  },
);

/** The request in the fields of HTTP/2, which has no Host and no connection headers. */
function toHttp2({ method = 'GET', target, headers = {}, body }: TypedRequest): Http2Request {
  const { host = HOST, connection: _, ...rest } = headers;
  return {
    fields: { ':method': method, ':scheme': 'https', ':authority': host, ':path': target, ...rest },
    ...(body === undefined ? {} : { body }),
  };
}

/** The header of the PROXY protocol, version 2, of a connection to port 443. */
function proxyHeader(from: string, isEncrypted: boolean): Buffer {
  const addresses = [...from.split('.').map(Number), 127, 0, 0, 1, 0x9c, 0x40, 0x01, 0xbb];
  // The field about TLS: the client used it, and no certificate of the client was verified.
  const tls = [0x20, 0, 5, isEncrypted ? 1 : 0, 0, 0, 0, 1];
  const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
  const body = Buffer.from([...addresses, ...tls]);
  return Buffer.concat([signature, Buffer.from([0x21, 0x11, 0, body.length]), body]);
}

/** Messages whose end is ambiguous, with a request behind them that claims another address. */
function smuggling(target: string): readonly (readonly [name: string, bytes: string])[] {
  const forged = `X-Forwarded-For: ${FORGED_ADDRESS}\r\nX-Forwarded-Proto: https\r\n`;
  const hidden = `GET ${target} HTTP/1.1\r\nHost: ${HOST}\r\n${forged}\r\n`;
  const post = (head: string, body: string) =>
    `POST /?front HTTP/1.1\r\nHost: ${HOST}\r\nContent-Type: text/plain\r\n${head}\r\n${body}`;
  const get = (head: string) => `GET /?front HTTP/1.1\r\nHost: ${HOST}\r\n${head}\r\n${hidden}`;
  const chunked = 'Transfer-Encoding: chunked\r\n';
  const end = `0\r\n\r\n${hidden}`;
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
  const size = (5 + hidden.length).toString(16);
  return [
    ['a length and chunks', post(`Content-Length: 5\r\n${chunked}`, end)],
    ['chunks and a longer length', post(`${chunked}Content-Length: ${5 + hidden.length}\r\n`, end)],
    ['chunks named twice', post(`${chunked}Transfer-Encoding: x\r\n`, end)],
    [
      'chunks and a space before the colon',
      post(`Transfer-Encoding : chunked\r\nContent-Length: ${end.length}\r\n`, end),
    ],
    ['chunks behind a tab', post(`Transfer-Encoding:\tchunked\r\nContent-Length: ${end.length}\r\n`, end)],
    ['chunks of another coding', post(`Transfer-Encoding: xchunked\r\nContent-Length: ${end.length}\r\n`, end)],
    ['a line feed in a chunk extension', post(chunked, `${size};a\n0\r\n\r\n${hidden}\r\n0\r\n\r\n`)],
    ['a chunk size with a sign', post(chunked, `+0\r\n\r\n${hidden}`)],
    ['a chunk size with a prefix', post(chunked, `0x0\r\n\r\n${hidden}`)],
    ['a chunk size beyond 64 bits', post(chunked, `10000000000000000\r\n${hidden}`)],
    ['a body of a GET', get(`Content-Length: ${hidden.length}\r\n`)],
    ['a WebSocket', get(`Connection: Upgrade\r\nUpgrade: websocket\r\n${key}`)],
    ['a WebSocket without a key', get('Connection: Upgrade\r\nUpgrade: websocket\r\n')],
    ['a WebSocket that the connection does not name', get(`Upgrade: websocket\r\n${key}`)],
    ['another protocol', get('Connection: Upgrade\r\nUpgrade: tea/1\r\n')],
    ['h2c', get('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n')],
    ['an expectation', post(`Expect: 100-continue\r\nContent-Length: 3\r\n`, `abc${hidden}`)],
    ['headers that the connection names', get('Connection: close, X-Forwarded-For, X-Forwarded-Proto, Host\r\n')],
    ['CONNECT', `CONNECT ${HOST}:443 HTTP/1.1\r\nHost: ${HOST}:443\r\n\r\n${hidden}`],
  ];
}

/** Fields of HTTP/2 that servers may translate into another request of HTTP/1.1. */
const http2Attacks: readonly (readonly [string, (target: string) => Http2Request['fields']])[] = [
  ['another Host beside the authority', () => ({ host: 'localhost' })],
  ['the authority of the machine, and a Host', () => ({ ':authority': 'localhost', host: HOST })],
  ['two Hosts', () => ({ host: [HOST, 'localhost'] })],
  ['another scheme', () => ({ ':scheme': 'http' })],
  ['a scheme that is none', () => ({ ':scheme': 'https://other.example/?' })],
  ['a space in the path', (target) => ({ ':path': `${target} HTTP/1.1` })],
  [
    'a line in the path',
    (target) => ({ ':path': `/ HTTP/1.1\r\nX-Forwarded-For: ${FORGED_ADDRESS}\r\n\r\nGET ${target}` }),
  ],
  ['a path without a slash', (target) => ({ ':path': target.slice(1) })],
  ['an asterisk', () => ({ ':path': '*' })],
  ['an absolute path of another host', (target) => ({ ':path': `http://localhost${target}` })],
  ['an encoded NUL', () => ({ ':path': '/who.php%00' })],
  ['a fragment', (target) => ({ ':path': `${target}#x` })],
  ['a space in the method', (target) => ({ ':method': `GET ${target} HTTP/1.1` })],
  ['a line in a value', () => ({ 'x-more': `a\r\nX-Forwarded-For: ${FORGED_ADDRESS}` })],
  ['a line in a name', () => ({ 'x-more: a\r\nx-forwarded-for': FORGED_ADDRESS })],
  ['a length without a body', () => ({ 'content-length': '40' })],
  ['CONNECT', () => ({ ':method': 'CONNECT', ':authority': '127.0.0.1:22' })],
];
