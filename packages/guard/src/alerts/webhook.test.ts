import { createHmac, timingSafeEqual } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, rootCertificates, type TlsOptions } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ALERTED_AT, alertMessage, alertText, sendingTo } from '../../test/support/alert-messages.js';
import { certificateAuthority, hasOpenssl, selfSignedCertificate } from '../../test/support/certificates.js';
import { eventually, scratchFolder } from '../../test/support/scratch.js';
import { loadConfig } from '../config/load-config.js';
import type { Resolve } from './safe-target.js';
import { type DeliveryOutcome, listAuthorities, type SendDeps } from './sending.js';
import { sendToSlack, sendWebhook, toSlackBody, toWebhookBody } from './webhook.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a receiver does once it has a whole request. */
type Answer = (socket: Socket, request: Received) => void;

const status =
  (code: number, headers = ''): Answer =>
  (socket) =>
    socket.end(`HTTP/1.1 ${code} X\r\n${headers}Content-Length: 6\r\n\r\ninside`);

/** An HTTP server on a bare socket, so that it can violate the protocol. Encrypted with `tls`. */
async function receiver(answer: Answer = status(200), tls: TlsOptions | null = null) {
  const state = { received: [] as Received[], connections: 0, open: 0, bytes: 0 };
  const sockets = new Set<Socket>();
  const serve = (socket: Socket) => {
    state.connections++;
    state.open++;
    sockets.add(socket);
    let text = '';
    let answered = false;
    socket.on('error', () => {});
    socket.on('close', () => state.open--);
    socket.on('data', (data) => {
      state.bytes += data.length;
      text += data.toString();
      const [head = '', body] = text.split('\r\n\r\n');
      const [first = '', ...lines] = head.split('\r\n');
      const headers = Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]));
      if (answered || body === undefined || Buffer.byteLength(body) < Number(headers['content-length'])) return;
      answered = true;
      const request = { path: first.split(' ')[1] ?? '', headers, body };
      state.received.push(request);
      answer(socket, request);
    });
  };
  const server: Server = tls === null ? createServer(serve) : createTlsServer(tls, serve);
  server.on('tlsClientError', () => {});
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return Object.assign(state, { port: (server.address() as AddressInfo).port });
}

const sendHook = (url: string, deps: SendDeps) =>
  sendWebhook({ url, secret: SECRET }, alertMessage(), { ...deps, now: ALERTED_AT });

describe('a webhook', () => {
  it('gets JSON whose signature its receiver can check with the secret', async () => {
    const { received, port } = await receiver();
    const outcome = await sendHook(`http://hooks.example.com:${port}/site?key=1`, sendingTo());
    expect(outcome).toEqual({ ok: true, answer: '200' });
    const [{ headers, body, path }] = received as [Received];
    expect([headers.host, path]).toEqual([`hooks.example.com:${port}`, '/site?key=1']);
    expect(JSON.parse(body)).toMatchObject({
      type: 'alert.administrator-login',
      timestamp: '2026-11-21T14:00:05.000Z',
      data: {
        id: 'abc',
        severity: 'warning',
        site: { url: 'https://example.com' },
        title: 'owner logged in on a new device',
      },
    });
    // The check that docs/developer/alerts.md describes for receivers.
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const expected = createHmac('sha256', Buffer.alloc(32, 7)).update(signed).digest();
    const signature = Buffer.from(String(headers['webhook-signature']).replace('v1,', ''), 'base64');
    expect(timingSafeEqual(expected, signature)).toBe(true);
    expect(Number(headers['webhook-timestamp'])).toBe(ALERTED_AT / 1000);
  });

  it('gets the number and the list of combined alerts, and no such fields for a single one', () => {
    const alerts = [{ id: 'a', kind: 'software-added', at: ALERTED_AT, title: 'A plugin was added' }];
    const { data } = JSON.parse(toWebhookBody({ ...alertMessage(), count: 70, alerts }));
    expect([data.count, data.alerts]).toEqual([
      70,
      [{ id: 'a', kind: 'software-added', timestamp: '2026-11-21T14:00:05.000Z', title: 'A plugin was added' }],
    ]);
    expect(Object.keys(JSON.parse(toWebhookBody(alertMessage())).data)).not.toContain('count');
    expect(Object.keys(JSON.parse(toWebhookBody(alertMessage())).data)).not.toContain('alerts');
  });

  it('is posted to the address that was checked, even if DNS changes afterwards', async () => {
    const { received, port } = await receiver();
    let calls = 0;
    const once: Resolve = async () => (calls++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']);
    expect((await sendHook(`http://rebinding.example.com:${port}/`, sendingTo({}, once))).ok).toBe(true);
    expect([received.length, calls]).toEqual([1, 1]);
  });

  it('is posted to another address of its host when nothing answers at the first', async () => {
    const { received, port } = await receiver();
    const both = sendingTo({}, async () => ['127.0.0.99', '127.0.0.1']);
    expect((await sendHook(`http://hooks.example.com:${port}/`, both)).ok).toBe(true);
    expect([received.length, both.announced]).toEqual([1, 1]);
  });

  it('is checked again for each alert', async () => {
    const { connections, port } = await receiver();
    const deps = sendingTo({ privateTargets: [] });
    const outcome = await sendHook(`https://hooks.example.com:${port}/`, deps);
    expect([outcome.ok, connections, deps.announced]).toEqual([false, 0, 0]);
  });

  it('reports why nothing was delivered, without its address', async () => {
    const deps = sendingTo();
    const outcome = await sendHook('http://hooks.example.com:1/secret-path', deps);
    expect(outcome).toEqual({ ok: false, answer: 'Nothing answers at this address.' });
    expect(deps.announced).toBe(0);
  });
});

describe('a message to Slack', () => {
  it('contains no markup from text of visitors and users', async () => {
    const evil = '<!channel> *bold* [link](https://evil.example) @here <https://evil.example|x> www.evil.example';
    const body = JSON.parse(toSlackBody(alertText({ headline: evil }))) as { text: string };
    expect(body.text).not.toMatch(/<|>|\]\(|https:\/\/|@here|\*bold\*|www\.evil/);
    expect(body).toMatchObject({ mrkdwn: false, link_names: false });
  });

  it('is posted in Slack’s format', async () => {
    const { received, port } = await receiver();
    const task = { ...alertText().task, button: { href: 'https://example.com/wp-admin/', label: 'Open' } };
    const url = `http://hooks.slack.example:${port}/services/T/B/x`;
    const log = 'https://example.com/wp-admin/?log_user=1';
    const list = { title: 'The latest of them', rows: [{ name: '15:00', value: 'A plugin' }], plain: true };
    expect((await sendToSlack({ url }, alertText({ task, log, list }), sendingTo())).ok).toBe(true);
    const { text: words } = JSON.parse(received[0]?.body ?? '') as { text: string };
    expect(words.split('\n').slice(-2)).toEqual(['https://example.com/wp-admin/', log]);
    expect(words).toContain('The latest of them\n15:00: A plugin\n');
    expect(words).toContain('owner logged in on a new device');
  });
});

const senders: readonly (readonly [string, (url: string, deps: SendDeps) => Promise<DeliveryOutcome>])[] = [
  ['a webhook', sendHook],
  ['a message to Slack', (url, deps) => sendToSlack({ url }, alertText(), deps)],
];

/** Long enough for a connection within this machine, and short for a test. */
const SHORT = { exchangeMs: 1500 };
const LATE = { ok: false, answer: 'The service did not answer within 30 seconds.' };

describe.each(senders)('%s', (_name, send) => {
  it('is announced once, when the connection stands and before its first byte', async () => {
    const target = await receiver();
    const deps = sendingTo();
    const outcome = await send(`http://hooks.example.com:${target.port}/`, {
      ...deps,
      onSend: async () => {
        await eventually(() => target.connections === 1);
        expect(target.bytes).toBe(0);
        deps.announced++;
      },
    });
    expect([outcome.ok, deps.announced, target.received.length]).toEqual([true, 1, 1]);
  });

  it('is not sent when it can’t be announced', async () => {
    const target = await receiver();
    const fault = new Error('The database is full.');
    const onSend = async () => {
      await eventually(() => target.connections === 1);
      throw fault;
    };
    await expect(send(`http://hooks.example.com:${target.port}/`, { ...sendingTo(), onSend })).rejects.toBe(fault);
    await eventually(() => target.open === 0);
    expect(target.bytes).toBe(0);
  });

  it('is not sent when the service resets the connection before', async () => {
    let isReset = false;
    const server = createServer((socket) => socket.on('close', () => (isReset = true)).resetAndDestroy());
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const onSend = () => eventually(() => isReset);
    const outcome = await send(`http://hooks.example.com:${port}/`, { ...sendingTo(), onSend });
    expect(outcome).toMatchObject({ ok: false, answer: { params: { code: 'ECONNRESET' } } });
  });

  it('is delivered once by a service that takes its time', async () => {
    const target = await receiver((socket, request) => setTimeout(() => status(204)(socket, request), 300));
    const outcome = await send(`http://hooks.example.com:${target.port}/`, sendingTo());
    expect([outcome, target.received.length]).toEqual([{ ok: true, answer: '204' }, 1]);
  });

  it.each([
    ['never answers', () => {}],
    ['sends a header now and then', (socket) => repeat(socket, 50, 'HTTP/1.1 200 OK\r\n', () => 'a: b\r\n')],
    ['sends interim responses now and then', (socket) => repeat(socket, 200, '', () => CONTINUE)],
  ] as readonly [string, Answer][])('is given up after 30 seconds when the service %s', async (_what, answer) => {
    const target = await receiver(answer);
    const outcome = await send(`http://hooks.example.com:${target.port}/`, { ...sendingTo(), limits: SHORT });
    expect(outcome).toEqual(LATE);
    await eventually(() => target.open === 0);
  });

  it.each([
    ['an error', status(500), '500'],
    ['404', status(404), '404'],
    ['nothing and closes', (socket) => socket.end(), 'ECONNRESET'],
    ['a reset', (socket) => socket.resetAndDestroy(), 'ECONNRESET'],
    ['half a head', (socket) => socket.end('HTTP/1.1 200 OK\r\nX-A: '), 'ECONNRESET'],
    ['something else than HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'), 'HPE_'],
    [
      'two lengths',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
      'HPE_',
    ],
    ['another protocol', (socket) => socket.end('HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'), 'EC'],
    ['endless headers', (socket) => flood(socket, 'HTTP/1.1 200 OK\r\n', `X-A: ${'a'.repeat(1000)}\r\n`), 'HPE_'],
    ['one endless header', (socket) => flood(socket, 'HTTP/1.1 200 OK\r\nX-A: ', 'a'.repeat(1000)), 'HPE_'],
    ['endless interim responses', (socket) => flood(socket, '', CONTINUE), 'EPROTO'],
  ] as readonly [string, Answer, string][])('fails when the service sends %s', async (_what, answer, code) => {
    const target = await receiver(answer);
    const outcome = await send(`http://hooks.example.com:${target.port}/`, sendingTo());
    expect(outcome.ok).toBe(false);
    expect(JSON.stringify(outcome.answer)).toContain(code);
    await eventually(() => target.open === 0);
    expect(target.received).toHaveLength(1);
  });

  it.each([
    ['without an end', (socket) => flood(socket, 'HTTP/1.1 200 OK\r\n\r\n', 'inside '.repeat(100))],
    ['shorter than its length', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nabc')],
    ['longer than its length', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabcdef')],
    ['after an interim response', (socket) => socket.end(`${CONTINUE}HTTP/1.1 200 OK\r\n\r\nabc`)],
    ['in broken chunks', (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz')],
  ] as readonly [string, Answer][])(
    'is delivered when the service has a body %s, which is not read',
    async (_, answer) => {
      const target = await receiver(answer);
      const outcome = await send(`http://hooks.example.com:${target.port}/`, sendingTo());
      expect(outcome).toEqual({ ok: true, answer: '200' });
      await eventually(() => target.open === 0);
    },
  );

  it.each([301, 302, 303, 307, 308])(
    'is not redirected by %s, and its response is reported by the status alone',
    async (code) => {
      const inside = await receiver();
      const target = await receiver(status(code, `Location: http://127.0.0.1:${inside.port}/\r\n`));
      const outcome = await send(`http://hooks.example.com:${target.port}/`, sendingTo());
      const english = `The service sends us to another address (${code}). Enter the final one.`;
      expect([outcome, inside.connections]).toMatchObject([{ ok: false, answer: { english } }, 0]);
    },
  );
});

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

/** Sends the same text again and again, as fast as it is read. */
function flood(socket: Socket, first: string, text: string): void {
  socket.write(first);
  const more = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', more);
  more();
}

/** Sends a text at an interval, until the connection is closed. */
function repeat(socket: Socket, everyMs: number, first: string, text: () => string): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(text()), everyMs);
  socket.on('close', () => clearInterval(timer));
}

describe.skipIf(!hasOpenssl).each(senders)('%s by TLS', (_name, send) => {
  const UNTRUSTED = { ok: false, answer: 'The certificate of the service can’t be trusted.' };

  it('is sent to a service with a certificate of the provider’s authority, by its name or address', async () => {
    const ca = await certificateAuthority();
    const names: string[] = [];
    const target = await receiver(status(200), {
      ...(await ca.issue(['DNS:hooks.example.com', 'IP:127.0.0.1'])),
      SNICallback: (name, done) => {
        names.push(name);
        done(null);
      },
    });
    for (const host of ['hooks.example.com', 'hooks.example.com.', '127.0.0.1']) {
      const deps = sendingTo({ authorities: [ca.cert] });
      expect([host, await send(`https://${host}:${target.port}/`, deps)]).toEqual([host, { ok: true, answer: '200' }]);
      expect(deps.announced).toBe(1);
    }
    // An address is no name of a server.
    expect(names).toEqual(['hooks.example.com', 'hooks.example.com']);
  });

  it('trusts the authorities of `alerts.caFile` in guard.json, and still the built-in ones', async () => {
    const ca = await certificateAuthority();
    const target = await receiver(status(200), await ca.issue(['DNS:hooks.example.com']));
    const dataDir = await scratchFolder();
    const alerts = { privateTargets: ['127.0.0.1'], caFile: 'ca.pem' };
    await writeFile(join(dataDir, 'guard.json'), JSON.stringify({ alerts }));
    await writeFile(join(dataDir, 'ca.pem'), ca.cert);
    const { alerts: policy } = await loadConfig({ dataDir, env: {} });
    const outcome = await send(`https://hooks.example.com:${target.port}/`, { ...sendingTo(), policy });
    expect(outcome).toEqual({ ok: true, answer: '200' });
    expect(listAuthorities(policy.authorities)).toEqual(expect.arrayContaining([rootCertificates[0], ca.cert]));
  });

  it('is sent to another address of the service when nothing answers at the first', async () => {
    const ca = await certificateAuthority();
    const target = await receiver(status(200), await ca.issue(['DNS:hooks.example.com']));
    const deps = sendingTo({ authorities: [ca.cert] }, async () => ['127.0.0.99', '127.0.0.1']);
    const outcome = await send(`https://hooks.example.com:${target.port}/`, deps);
    expect([outcome, deps.announced]).toEqual([{ ok: true, answer: '200' }, 1]);
    const nowhere = sendingTo({ authorities: [ca.cert] }, async () => ['127.0.0.98', '127.0.0.99']);
    const failed = await send(`https://hooks.example.com:${target.port}/`, nowhere);
    expect([failed.answer, nowhere.announced]).toEqual(['Nothing answers at this address.', 0]);
  });

  it.each([
    ['of an unknown authority', ['DNS:hooks.example.com'], 2, false, 'can’t be trusted'],
    ['of another name', ['DNS:other.example.com', 'IP:127.0.0.1'], 2, true, 'is for another name'],
    ['that has expired', ['DNS:hooks.example.com'], -1, true, 'has expired'],
  ] as const)('is not sent to a service with a certificate %s', async (_what, names, days, isKnown, why) => {
    const ca = await certificateAuthority();
    const target = await receiver(status(200), await ca.issue(names, days));
    const deps = sendingTo({ authorities: isKnown ? [ca.cert] : [] });
    expect(await send(`https://hooks.example.com:${target.port}/`, deps)).toEqual({
      ok: false,
      answer: `The certificate of the service ${why}.`,
    });
    expect([target.bytes, deps.announced]).toEqual([0, 0]);
  });

  it('is sent to a service with a self-signed certificate only if the provider trusts it', async () => {
    const certificate = await selfSignedCertificate(['DNS:hooks.example.com']);
    const target = await receiver(status(200), certificate);
    const url = `https://hooks.example.com:${target.port}/`;
    expect(await send(url, sendingTo())).toEqual(UNTRUSTED);
    expect(target.bytes).toBe(0);
    expect((await send(url, sendingTo({ authorities: [certificate.cert] }))).ok).toBe(true);
  });

  it('is not sent by TLS 1.1, nor to a service without TLS', async () => {
    const ca = await certificateAuthority();
    const certificate = await ca.issue(['DNS:hooks.example.com']);
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' } as const;
    const plain = await receiver((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    for (const { port } of [await receiver(status(200), { ...certificate, ...old }), plain]) {
      const deps = { ...sendingTo({ authorities: [ca.cert] }), limits: SHORT };
      const outcome = await send(`https://hooks.example.com:${port}/`, deps);
      expect([outcome.ok, deps.announced]).toEqual([false, 0]);
      expect(outcome.answer).not.toBe(UNTRUSTED.answer);
    }
    expect(plain.received).toEqual([]);
  });
});
