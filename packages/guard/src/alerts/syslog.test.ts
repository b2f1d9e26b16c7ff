import { createSocket } from 'node:dgram';
import { type AddressInfo, createServer, type Server, type ServerOpts, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { alertMessage, sendingTo } from '../../test/support/alert-messages.js';
import { certificateAuthority, hasOpenssl, selfSignedCertificate } from '../../test/support/certificates.js';
import { eventually } from '../../test/support/scratch.js';
import { frameMessage, type SyslogTarget, sendToSyslog, toSyslogMessage } from './syslog.js';

describe('a message of the system log', () => {
  const from = { host: 'web 1', pid: 7 };

  it('has the format of RFC 5424', () => {
    const line = toSyslogMessage(alertMessage({ log: 'https://example.com/wp-admin/?log_user=1' }), from);
    expect(line).toBe(
      '<84>1 2026-11-21T14:00:05.000Z web1 security-optimizer 7 administrator-login ' +
        '[alert@32473 site="site" url="https://example.com" id="abc" log="https://example.com/wp-admin/?log_user=1"] ' +
        '\ufeffowner logged in on a new device. If it was this person, there is nothing to do. Login: owner. ' +
        'Force a password reset.',
    );
  });

  it('is one line, even with line breaks in text of visitors and users', () => {
    const evil = {
      ...alertMessage({ headline: 'a\r\n<0>1 - - forged' }),
      site: { id: 'x"] [evil@1 a="', url: 'a\\b\nc' },
    };
    const line = toSyslogMessage(evil, from);
    expect(line).not.toMatch(/[\r\n]/);
    expect(line).toContain('site="x\\"\\] [evil@1 a=\\""');
    expect(line).toContain('url="a\\\\b');
  });

  it('contains the number of combined alerts', () => {
    const line = toSyslogMessage({ ...alertMessage({ lead: 'ä'.repeat(3000) }), count: 70 }, from);
    expect(line).toContain(' id="abc" count="70"] \ufeff');
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(2048);
  });

  it('is truncated between characters', () => {
    const long = toSyslogMessage(alertMessage({ lead: 'ä'.repeat(3000) }), from);
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(2048);
    expect(long).not.toContain('\ufffd');
  });

  it('is preceded by its octet count, or ended by a line feed', () => {
    const frame = (protocol: 'tcp' | 'tls', framing: 'octets' | 'lf') => frameMessage('ä b', { protocol, framing });
    expect([frame('tcp', 'octets'), frame('tcp', 'lf')]).toEqual(['4 ä b', 'ä b\n']);
    expect([frame('tls', 'octets'), frame('tls', 'lf')]).toEqual(['4 ä b', '4 ä b']);
  });
});

/** A log server on a bare socket. It closes when its client does, unless the options say otherwise. */
async function logServer(
  handle: (socket: Socket) => void = () => {},
  options: ServerOpts = {},
  tls: TlsOptions | null = null,
) {
  const state = { text: '', connections: 0, open: 0 };
  const sockets = new Set<Socket>();
  const serve = (socket: Socket) => {
    state.connections++;
    state.open++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => state.open--);
    if (options.pauseOnConnect !== true) {
      socket.on('data', (data) => {
        state.text += data.toString();
      });
    }
    handle(socket);
  };
  const server: Server = tls === null ? createServer(options, serve) : createTlsServer({ ...options, ...tls }, serve);
  server.on('tlsClientError', () => {});
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return Object.assign(state, { port: (server.address() as AddressInfo).port });
}

const at = (port: number, change: Partial<SyslogTarget> = {}): SyslogTarget => ({
  ...{ host: 'log.example.com', port, protocol: 'tcp', framing: 'octets' },
  ...change,
});
const TAKEN = { ok: true, answer: 'The log took it.' };
const MESSAGE = /^<84>1 .* administrator-login \[alert@32473 /;

describe('a message by UDP', () => {
  async function socketOfLog() {
    const socket = createSocket('udp4');
    onTestFinished(() => void socket.close());
    const received: string[] = [];
    socket.on('message', (data) => received.push(data.toString()));
    await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
    return { received, target: at(socket.address().port, { protocol: 'udp' }) };
  }

  it('is announced, and sent as one datagram', async () => {
    const { received, target } = await socketOfLog();
    const deps = sendingTo();
    expect((await sendToSyslog(target, alertMessage(), deps)).ok).toBe(true);
    await eventually(() => received.length === 1);
    expect(received[0]).toMatch(MESSAGE);
    expect(deps.announced).toBe(1);
  });

  it('is not sent when it can’t be announced', async () => {
    const { received, target } = await socketOfLog();
    const fault = new Error('The database is full.');
    const failing = { ...sendingTo(), onSend: () => Promise.reject(fault) };
    await expect(sendToSyslog(target, alertMessage(), failing)).rejects.toBe(fault);
    // This one comes after the other.
    await sendToSyslog(target, { ...alertMessage(), uid: 'next' }, sendingTo());
    await eventually(() => received.length > 0);
    expect(received).toEqual([expect.stringContaining('id="next"')]);
  });
});

describe('a message by TCP', () => {
  it.each(['octets', 'lf'] as const)('is sent with framing %s', async (framing) => {
    const log = await logServer();
    const deps = sendingTo();
    expect(await sendToSyslog(at(log.port, { framing }), alertMessage(), deps)).toEqual(TAKEN);
    const [, count, line] = /^(\d+) (<84>1 .*)$/s.exec(log.text) ?? [];
    if (framing === 'octets') expect(Number(count)).toBe(Buffer.byteLength(line ?? ''));
    else expect(log.text).toMatch(/^<84>1 [^\n]*\n$/);
    expect([log.connections, deps.announced]).toEqual([1, 1]);
  });

  it('is reported as failed when nothing listens or the target is private', async () => {
    const deps = sendingTo();
    const refused = await sendToSyslog(at(1, { host: '127.0.0.1' }), alertMessage(), deps);
    expect(refused).toEqual({ ok: false, answer: 'Nothing answers at this address.' });
    const log = await logServer();
    const inside = { ...deps, policy: { ...deps.policy, privateTargets: [] } };
    expect((await sendToSyslog(at(log.port), alertMessage(), inside)).ok).toBe(false);
    expect([log.connections, deps.announced]).toEqual([0, 0]);
  });

  it('is announced when the connection stands and before its first byte', async () => {
    const log = await logServer();
    const onSend = async () => {
      await eventually(() => log.connections === 1);
      expect(log.text).toBe('');
    };
    expect(await sendToSyslog(at(log.port), alertMessage(), { ...sendingTo(), onSend })).toEqual(TAKEN);
  });

  it('is not sent when it can’t be announced', async () => {
    const log = await logServer();
    const fault = new Error('The database is full.');
    const onSend = async () => {
      await eventually(() => log.connections === 1);
      throw fault;
    };
    await expect(sendToSyslog(at(log.port), alertMessage(), { ...sendingTo(), onSend })).rejects.toBe(fault);
    await eventually(() => log.open === 0);
    expect(log.text).toBe('');
  });

  it.each([
    ['has closed its own side before', (socket) => socket.end(), { allowHalfOpen: true }],
    ['closes when it has the message', (socket) => socket.on('data', () => socket.end()), {}],
    ['sends data', (socket) => void socket.write('ready\n'.repeat(100_000)), {}],
    ['sends data without an end', flood, {}],
    ['sends data without an end, and keeps the connection open', flood, { allowHalfOpen: true }],
    ['keeps the connection open', () => {}, { allowHalfOpen: true }],
  ] as readonly [string, (socket: Socket) => void, ServerOpts][])(
    'is delivered to a log server that %s',
    async (_what, handle, options) => {
      const log = await logServer(handle, options);
      const deps = { ...sendingTo(), limits: { closeMs: options.allowHalfOpen ? 300 : 60_000 } };
      expect(await sendToSyslog(at(log.port), alertMessage(), deps)).toEqual(TAKEN);
      await eventually(() => /^\d+ <84>1 .*$/s.test(log.text));
    },
  );

  it('counts as delivered to a log server that never reads and never closes', async () => {
    const log = await logServer(() => {}, { pauseOnConnect: true, allowHalfOpen: true });
    const deps = { ...sendingTo(), limits: { closeMs: 300 } };
    expect(await sendToSyslog(at(log.port), alertMessage(), deps)).toEqual(TAKEN);
  });

  it.each([
    ['closes at once', (socket: Socket) => void socket.destroy()],
    ['resets the connection at once', (socket: Socket) => void socket.resetAndDestroy()],
  ])('fails with a log server that %s', async (_what, close) => {
    const log = await logServer(close);
    const onSend = () => eventually(() => log.connections === 1 && log.open === 0);
    const outcome = await sendToSyslog(at(log.port), alertMessage(), { ...sendingTo(), onSend });
    expect(outcome).toMatchObject({ ok: false, answer: { code: 'alert_connection_failed' } });
    expect(log.text).toBe('');
  });

  it('fails with a log server that closes a moment later, without having read', async () => {
    // Its end and guard's message cross each other.
    const log = await logServer((socket) => setTimeout(() => socket.destroy(), 20), { pauseOnConnect: true });
    const deps = { ...sendingTo(), limits: { resetMs: 60_000 } };
    const outcome = await sendToSyslog(at(log.port), alertMessage(), deps);
    expect(outcome).toMatchObject({ ok: false, answer: { code: 'alert_connection_failed' } });
  });

  it('fails with a log server that resets the connection when it has the message, or at its end', async () => {
    const deps = { ...sendingTo(), limits: { closeMs: 60_000 } };
    for (const event of ['data', 'end']) {
      const log = await logServer((socket) => socket.on(event, () => socket.resetAndDestroy()), {
        allowHalfOpen: true,
      });
      const outcome = await sendToSyslog(at(log.port), alertMessage(), deps);
      expect(outcome).toMatchObject({ ok: false, answer: { params: { code: 'ECONNRESET' } } });
    }
  });
});

/** Sends data as fast as it is read. */
function flood(socket: Socket): void {
  const more = () => {
    while (!socket.destroyed && socket.writable && socket.write('x'.repeat(1000)));
  };
  socket.on('drain', more);
  more();
}

describe.skipIf(!hasOpenssl)('a message by TLS', () => {
  const UNTRUSTED = { ok: false, answer: 'The certificate of the service can’t be trusted.' };
  const secure = { protocol: 'tls', framing: 'lf' } as const;

  it('is sent with its octet count to a log server with a certificate of the provider’s authority', async () => {
    const ca = await certificateAuthority();
    const names: string[] = [];
    const certificate = await ca.issue(['DNS:log.example.com', 'IP:127.0.0.1']);
    const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
      names.push(name);
      done(null);
    };
    for (const host of ['log.example.com', 'LOG.example.com.', '127.0.0.1']) {
      const log = await logServer(() => {}, {}, { ...certificate, SNICallback });
      const deps = sendingTo({ authorities: [ca.cert] });
      const outcome = await sendToSyslog(at(log.port, { ...secure, host }), alertMessage(), deps);
      expect([host, outcome]).toEqual([host, TAKEN]);
      const [, count, line] = /^(\d+) (<84>1 .*)$/s.exec(log.text) ?? [];
      expect([Number(count), deps.announced]).toEqual([Buffer.byteLength(line ?? ''), 1]);
    }
    // An address is no name of a server.
    expect(names.map((name) => name.toLowerCase())).toEqual(['log.example.com', 'log.example.com']);
  });

  it('is sent to the address that was checked, even if DNS changes afterwards', async () => {
    const ca = await certificateAuthority();
    const log = await logServer(() => {}, {}, await ca.issue(['DNS:log.example.com']));
    let calls = 0;
    const deps = sendingTo({ authorities: [ca.cert] }, async () => (calls++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']));
    expect(await sendToSyslog(at(log.port, secure), alertMessage(), deps)).toEqual(TAKEN);
    expect(calls).toBe(1);
  });

  it.each([
    ['of an unknown authority', 'log.example.com', ['DNS:log.example.com'], 2, false, 'can’t be trusted'],
    ['of another name', 'log.example.com', ['DNS:other.example.com', 'IP:127.0.0.1'], 2, true, 'is for another name'],
    ['of another address', '127.0.0.1', ['DNS:log.example.com', 'IP:127.0.0.2'], 2, true, 'is for another name'],
    ['that has expired', 'log.example.com', ['DNS:log.example.com'], -1, true, 'has expired'],
  ] as const)('is not sent to a log server with a certificate %s', async (_what, host, names, days, isKnown, why) => {
    const ca = await certificateAuthority();
    const log = await logServer(() => {}, {}, await ca.issue(names, days));
    const deps = sendingTo({ authorities: isKnown ? [ca.cert] : [] });
    expect(await sendToSyslog(at(log.port, { ...secure, host }), alertMessage(), deps)).toEqual({
      ok: false,
      answer: `The certificate of the service ${why}.`,
    });
    expect([log.text, deps.announced]).toEqual(['', 0]);
  });

  it('is sent to a log server with a self-signed certificate only if the provider trusts it', async () => {
    const certificate = await selfSignedCertificate(['DNS:log.example.com']);
    const log = await logServer(() => {}, {}, certificate);
    const deps = sendingTo();
    expect(await sendToSyslog(at(log.port, secure), alertMessage(), deps)).toEqual(UNTRUSTED);
    expect([log.text, deps.announced]).toEqual(['', 0]);
    const trusting = sendingTo({ authorities: [certificate.cert] });
    expect(await sendToSyslog(at(log.port, secure), alertMessage(), trusting)).toEqual(TAKEN);
  });

  it('is not sent by TLS 1.1, nor to a log server that does not begin TLS', async () => {
    const ca = await certificateAuthority();
    const certificate = await ca.issue(['DNS:log.example.com']);
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' } as const;
    for (const log of [await logServer(() => {}, {}, { ...certificate, ...old }), await logServer()]) {
      const deps = { ...sendingTo({ authorities: [ca.cert] }), limits: { connectMs: 1000 } };
      const outcome = await sendToSyslog(at(log.port, secure), alertMessage(), deps);
      expect([outcome.ok, outcome.answer === UNTRUSTED.answer, deps.announced]).toEqual([false, false, 0]);
      expect(log.text).not.toContain('alert@32473');
      if (log.text !== '') expect(outcome.answer).toBe('The service did not answer within 10 seconds.');
    }
  });

  it('is announced after the handshake, and not sent when it can’t be', async () => {
    const ca = await certificateAuthority();
    const log = await logServer(() => {}, {}, await ca.issue(['DNS:log.example.com']));
    const fault = new Error('The database is full.');
    const onSend = async () => {
      await eventually(() => log.connections === 1);
      throw fault;
    };
    const failing = { ...sendingTo({ authorities: [ca.cert] }), onSend };
    await expect(sendToSyslog(at(log.port, secure), alertMessage(), failing)).rejects.toBe(fault);
    await eventually(() => log.open === 0);
    expect(log.text).toBe('');
  });

  it.each([
    ['closes when it has the message', (socket: Socket) => socket.on('data', () => socket.end()), {}, true],
    ['keeps the connection open', () => {}, { allowHalfOpen: true }, true],
    ['closes at once', (socket: Socket) => socket.destroy(), {}, false],
  ] as const)('by a log server that %s counts as by TCP', async (_what, handle, options, ok) => {
    const ca = await certificateAuthority();
    const log = await logServer(handle, options, await ca.issue(['DNS:log.example.com']));
    const onSend = () => eventually(() => log.connections === 1 && (ok || log.open === 0));
    const deps = { ...sendingTo({ authorities: [ca.cert] }), limits: { closeMs: 300 }, onSend };
    expect((await sendToSyslog(at(log.port, secure), alertMessage(), deps)).ok).toBe(ok);
    if (ok) await eventually(() => /^\d+ <84>1 .*$/s.test(log.text));
  });

  it('fails with a log server that wants a certificate of guard', async () => {
    const ca = await certificateAuthority();
    const wants = { requestCert: true, rejectUnauthorized: true, ca: ca.cert };
    const log = await logServer(() => {}, {}, { ...(await ca.issue(['DNS:log.example.com'])), ...wants });
    const deps = { ...sendingTo({ authorities: [ca.cert] }), limits: { closeMs: 60_000 } };
    const outcome = await sendToSyslog(at(log.port, secure), alertMessage(), deps);
    expect(outcome).toMatchObject({ ok: false, answer: { code: 'alert_connection_failed' } });
    expect(log.text).toBe('');
  });
});
