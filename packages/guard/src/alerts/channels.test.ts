import { createHmac, timingSafeEqual } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../test/support/scratch.js';
import type { AlertText } from './describe-alert.js';
import { parseWebhookUrl, type Resolve, resolveTarget, type TargetPolicy, TargetRefused } from './safe-target.js';
import { frameMessage, sendToSyslog, toSyslogMessage } from './syslog.js';
import { type AlertMessage, sendToSlack, sendWebhook, toSlackBody } from './webhook.js';

const NOW = Date.UTC(2026, 10, 21, 14, 0, 5);
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const closed: TargetPolicy = { privateTargets: [], plainHttp: false };
const local: TargetPolicy = { privateTargets: ['127.0.0.0/8', '::1'], plainHttp: true };
const resolve: Resolve = async () => ['127.0.0.1'];

const text = (change: Partial<AlertText> = {}): AlertText => ({
  severity: 'warning',
  headline: 'owner logged in on a new device',
  lead: 'If it was this person, there is nothing to do.',
  facts: [{ name: 'Login', value: 'owner' }],
  task: { kind: 'warn', title: 'Was it not you?', text: 'Force a password reset.', button: null },
  ...change,
});
const message = (change: Partial<AlertText> = {}): AlertMessage => ({
  uid: 'abc',
  kind: 'administrator-login',
  at: NOW,
  site: { id: 'site', url: 'https://example.com' },
  text: text(change),
});

async function httpReceiver(status = 200, headers: Record<string, string> = {}) {
  const received: { headers: Record<string, unknown>; body: string; url: string | undefined }[] = [];
  const server = createHttpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString(), url: request.url });
    response.writeHead(status, headers).end('inside');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
  return { received, port: (server.address() as AddressInfo).port };
}

describe('a target', () => {
  const refusal = async (host: string, policy = closed, addresses?: string[]) => {
    try {
      await resolveTarget(host, policy, async () => addresses ?? []);
      return null;
    } catch (error) {
      if (!(error instanceof TargetRefused)) throw error;
      return error.text;
    }
  };
  const INSIDE = 'This address is inside a private network. Ask your hosting provider to allow it.';

  it.each([
    '127.0.0.1',
    '127.255.0.9',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.2.1',
    '224.0.0.1',
    '255.255.255.255',
    '[::1]',
    '[::]',
    '[fe80::1]',
    '[fd00::1]',
    '[ff02::1]',
    '[2001:db8::1]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
  ])('in a private network is refused: %s', async (host) => expect(await refusal(host)).toBe(INSIDE));

  it.each(['8.8.8.8', '172.15.0.1', '172.32.0.1', '[2606:4700::1111]', '[64:ff9b::808:808]'])(
    'on the internet is allowed: %s',
    async (host) => expect(await refusal(host)).toBeNull(),
  );

  it('is refused when any of its addresses is private', async () => {
    expect(await refusal('hooks.example.com', closed, ['8.8.8.8', '10.0.0.1'])).toBe(INSIDE);
    expect(await refusal('hooks.example.com', closed, ['8.8.8.8', '8.8.4.4'])).toBeNull();
  });

  it('in a private network is allowed where the provider allows it, and no other is', async () => {
    const policy = { ...closed, privateTargets: ['10.0.0.0/24'] };
    expect(await refusal('10.0.0.7', policy)).toBeNull();
    expect(await refusal('10.0.1.7', policy)).toBe(INSIDE);
  });

  it('without an address is refused with a reason', async () => {
    expect(await refusal('gone.example.com')).toMatchObject({ code: 'alert_host_unknown' });
  });

  it.each([
    ['ftp://example.com/', 'Enter a whole address'],
    ['hooks.example.com/site', 'Enter a whole address'],
    ['http://hooks.example.com/', 'https://'],
    ['https://user:pass@hooks.example.com/', 'user name'],
  ])('%s is refused as a webhook', (url, text) => {
    const parse = () => parseWebhookUrl(url, closed);
    expect(parse).toThrow(TargetRefused);
    try {
      parse();
    } catch (error) {
      expect((error as TargetRefused).text).toContain(text);
    }
  });
});

describe('a webhook', () => {
  it('gets JSON whose signature its receiver can check with the secret', async () => {
    const { received, port } = await httpReceiver();
    const url = `http://hooks.example.com:${port}/site?key=1`;
    const outcome = await sendWebhook({ url, secret: SECRET }, message(), { policy: local, resolve, now: NOW });
    expect(outcome).toEqual({ ok: true, answer: '200' });
    const [{ headers, body, url: path }] = received as [(typeof received)[0]];
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
    expect(Number(headers['webhook-timestamp'])).toBe(NOW / 1000);
  });

  it('is posted to the address that was checked, even if DNS changes afterwards', async () => {
    const { received, port } = await httpReceiver();
    let calls = 0;
    const once: Resolve = async () => (calls++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']);
    const hook = { url: `http://rebinding.example.com:${port}/`, secret: SECRET };
    expect((await sendWebhook(hook, message(), { policy: local, resolve: once, now: NOW })).ok).toBe(true);
    expect([received.length, calls]).toEqual([1, 1]);
  });

  it('is checked again for each alert', async () => {
    const { received, port } = await httpReceiver();
    const hook = { url: `https://hooks.example.com:${port}/`, secret: SECRET };
    const outcome = await sendWebhook(hook, message(), { policy: closed, resolve, now: NOW });
    expect([outcome.ok, received.length]).toEqual([false, 0]);
  });

  it('is not redirected, and its response is reported by the status alone', async () => {
    const secret = await httpReceiver();
    const { port } = await httpReceiver(302, { location: `http://127.0.0.1:${secret.port}/` });
    const hook = { url: `http://hooks.example.com:${port}/`, secret: SECRET };
    const outcome = await sendWebhook(hook, message(), { policy: local, resolve, now: NOW });
    expect([outcome, secret.received.length]).toEqual([{ ok: false, answer: '302' }, 0]);
  });

  it('reports why nothing was delivered, without its address', async () => {
    const hook = { url: 'http://hooks.example.com:1/secret-path', secret: SECRET };
    const outcome = await sendWebhook(hook, message(), { policy: local, resolve, now: NOW });
    expect(outcome).toEqual({ ok: false, answer: 'Nothing answers at this address.' });
  });
});

describe('a message to Slack', () => {
  it('contains no markup from text of visitors and users', async () => {
    const evil = '<!channel> *bold* [link](https://evil.example) @here <https://evil.example|x> www.evil.example';
    const body = JSON.parse(toSlackBody([text({ headline: evil })])) as { text: string };
    expect(body.text).not.toMatch(/<|>|\]\(|https:\/\/|@here|\*bold\*|www\.evil/);
    expect(body).toMatchObject({ mrkdwn: false, link_names: false });
  });

  it('is posted in Slack’s format', async () => {
    const { received, port } = await httpReceiver();
    const task = { ...text().task, button: { href: 'https://example.com/wp-admin/', label: 'Open' } };
    const hook = { url: `http://hooks.slack.example:${port}/services/T/B/x` };
    expect((await sendToSlack(hook, [text({ task })], { policy: local, resolve })).ok).toBe(true);
    const { text: words } = JSON.parse(received[0]?.body ?? '') as { text: string };
    expect(words.split('\n')).toContain('https://example.com/wp-admin/');
    expect(words).toContain('owner logged in on a new device');
  });
});

describe('a message of the system log', () => {
  const from = { host: 'web 1', pid: 7 };

  it('has the format of RFC 5424', () => {
    const line = toSyslogMessage(message(), from);
    expect(line).toBe(
      '<84>1 2026-11-21T14:00:05.000Z web1 security-optimizer 7 administrator-login ' +
        '[alert@32473 site="site" url="https://example.com" id="abc"] \ufeff' +
        'owner logged in on a new device. If it was this person, there is nothing to do. Login: owner',
    );
  });

  it('is one line, even with line breaks in text of visitors and users', () => {
    const evil = { ...message({ headline: 'a\r\n<0>1 - - forged' }), site: { id: 'x"] [evil@1 a="', url: 'a\\b\nc' } };
    const line = toSyslogMessage(evil, from);
    expect(line).not.toMatch(/[\r\n]/);
    expect(line).toContain('site="x\\"\\] [evil@1 a=\\""');
    expect(line).toContain('url="a\\\\b');
  });

  it('is truncated between characters', () => {
    const long = toSyslogMessage(message({ lead: 'ä'.repeat(3000) }), from);
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(2048);
    expect(long).not.toContain('\ufffd');
  });

  it('is preceded by its octet count, or ended by a line feed', () => {
    expect([frameMessage('ä b', 'octets'), frameMessage('ä b', 'lf')]).toEqual(['4 ä b', 'ä b\n']);
  });

  it('is sent by UDP', async () => {
    const socket = createSocket('udp4');
    onTestFinished(() => void socket.close());
    const received: string[] = [];
    socket.on('message', (data) => received.push(data.toString()));
    await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
    const target = {
      host: 'log.example.com',
      port: socket.address().port,
      protocol: 'udp',
      framing: 'octets',
    } as const;
    expect((await sendToSyslog(target, message(), { policy: local, resolve })).ok).toBe(true);
    await eventually(() => received.length === 1);
    expect(received[0]).toMatch(/^<84>1 .* administrator-login \[alert@32473 /);
  });

  it.each(['octets', 'lf'] as const)('is sent by TCP with framing %s', async (framing) => {
    let received = '';
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => {
        received += data.toString();
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
    const target = {
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      protocol: 'tcp',
      framing,
    } as const;
    expect((await sendToSyslog(target, message(), { policy: local, resolve })).ok).toBe(true);
    await eventually(() => received.length > 0);
    const [, count, line] = /^(\d+) (<84>1 .*)$/s.exec(received) ?? [];
    if (framing === 'octets') expect(Number(count)).toBe(Buffer.byteLength(line ?? ''));
    else expect(received).toMatch(/^<84>1 [^\n]*\n$/);
  });

  it('is reported as failed when nothing listens or the target is private', async () => {
    const target = { host: '127.0.0.1', port: 1, protocol: 'tcp', framing: 'lf' } as const;
    const refused = await sendToSyslog(target, message(), { policy: local, resolve });
    expect(refused).toEqual({ ok: false, answer: 'Nothing answers at this address.' });
    expect((await sendToSyslog(target, message(), { policy: closed, resolve })).ok).toBe(false);
  });
});
