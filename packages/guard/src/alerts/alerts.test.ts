import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ALERT_KINDS } from '@security-optimizer/contract/alerts/schemas';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve } from '../../test/support/command-line.js';
import { openTestDatabase, prepareEmptyDatabase } from '../../test/support/database.js';
import { refuseChanges } from '../../test/support/database-faults.js';
import { type FakeConnector, fakeConnector, fakeEvent } from '../../test/support/fake-connector.js';
import { recordedLog } from '../../test/support/logs.js';
import { mailServer } from '../../test/support/mail-server.js';
import { passingTime } from '../../test/support/passing-time.js';
import { callApi, dataFolderFor, runningGuard } from '../../test/support/running-guard.js';
import { eventually } from '../../test/support/scratch.js';
import { silentLogger } from '../lib/logger.js';
import { migrations } from '../migrations.js';
import { openDatabase, withTables } from '../storage/database.js';
import { openSqlite } from '../storage/sqlite.js';
import { sqlAlertQueue } from './alert-queue.js';
import { CALM_MS, DAY, SETTLE_MS } from './alert-rules.js';
import type { AlertTables } from './alert-tables.js';

const MINUTE = 60_000;
const ANNA = 'anna@example.com';
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const all = [...ALERT_KINDS].filter((kind) => kind !== 'vulnerability-found');

async function receiver() {
  /** `holds`: it does not answer until `release`. */
  const receiver = { status: 200, bodies: [] as string[], holds: false };
  const held: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    receiver.bodies.push(Buffer.concat(chunks).toString());
    if (receiver.holds) await new Promise<void>((done) => held.push(done));
    response.writeHead(receiver.status).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
  const { port } = server.address() as AddressInfo;
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${port}/secret-path?token=hidden`,
    release: () => held.splice(0).forEach((done) => void done()),
    types: () => receiver.bodies.map((body) => (JSON.parse(body) as { type: string }).type),
  });
}

/** Starts guard with a site, a real mail server, and targets on this machine allowed. */
async function setUp(config: object = {}) {
  const connector = await fakeConnector();
  const mail = await mailServer();
  const { host, port, from } = mail.server;
  const dataDir = await dataFolderFor(
    connector,
    {},
    {
      mail: { smtp: { host, port, from } },
      alerts: { privateTargets: ['127.0.0.0/8'], plainHttp: true },
      ...config,
    },
  );
  const call = (url: string, suffix: string, body: object = {}) => callApi(url, suffix, { body: JSON.stringify(body) });
  const choose = async (url: string, kinds: readonly string[] = all) => {
    await call(url, '/notification-emails', { entries: [ANNA] });
    const response = await call(url, '/alert-recipient', { email: ANNA, report: 1, kinds });
    expect(response.http).toBe(200);
  };
  const subjects = () => mail.received.map(({ message }) => /^Subject: (.*)$/m.exec(message)?.[1]);
  return { connector, mail, dataDir, call, choose, subjects };
}

/** Adds an event to the connector's outbox and sends the signal that makes guard drain it. */
async function addEvent(connector: FakeConnector, url: string, event: Parameters<typeof fakeEvent>[0]): Promise<void> {
  connector.outbox.push(fakeEvent(event));
  connector.flags = 'o';
  await fetch(`${url}/`);
}

/** Waits until guard has acknowledged every event. Their alerts are stored by then. */
const stored = (connector: FakeConnector) => eventually(() => connector.outbox.length === 0);

const newAdministrator = {
  kind: 'user.created',
  administrator: true,
  object: { type: 'user', id: '7', name: 'web-helper' },
  after: 'Administrator',
};
const login = (address: string, agent: string) => ({
  ...{ kind: 'login', administrator: true, user: { id: 1, login: 'owner' }, address, agent },
  object: { type: 'user', id: '1', name: 'owner' },
});
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const CHROME = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36';

describe('alerts', () => {
  it('are sent to nobody by default, and then to those who chose them', async () => {
    const { pass } = passingTime();
    const { connector, mail, dataDir, call, choose, subjects } = await setUp();
    const { url } = await runningGuard(dataDir);
    await call(url, '/notification-emails', { entries: [ANNA, 'ben@example.com'] });
    await addEvent(connector, url, { ...newAdministrator, object: { type: 'user', id: '6', name: 'before' } });
    await stored(connector);
    await choose(url, ['new-administrator']);
    await addEvent(connector, url, newAdministrator);
    await addEvent(connector, url, { kind: 'plugin.installed', object: { type: 'plugin', id: 'x', name: 'X' } });
    await stored(connector);
    pass(SETTLE_MS);
    await eventually(() => mail.received.length > 0);
    expect(mail.received.map(({ to }) => to)).toEqual([[ANNA]]);
    expect(subjects()).toEqual(['example.com has a new administrator']);
    expect(mail.received[0]?.message).toContain('web-helper');
  });

  it('of a login are sent for new devices and networks only', async () => {
    const { pass } = passingTime();
    const { connector, mail, dataDir, choose, subjects } = await setUp();
    const { url } = await runningGuard(dataDir);
    await choose(url, ['administrator-login']);
    await addEvent(connector, url, login('192.0.2.1', FIREFOX));
    await addEvent(connector, url, login('192.0.2.200', FIREFOX.replaceAll('140', '141')));
    await stored(connector);
    await addEvent(connector, url, login('192.0.2.1', CHROME));
    await stored(connector);
    pass(SETTLE_MS);
    await eventually(() => mail.received.length === 1);
    expect(subjects()).toEqual(['example.com: owner logged in on a new device']);
  });

  it('of a login are sent once when the device logs in again before the first login is stored', async () => {
    const { pass } = passingTime();
    const { connector, mail, dataDir, choose, subjects } = await setUp();
    const { url } = await runningGuard(dataDir);
    await choose(url, ['administrator-login']);
    await addEvent(connector, url, login('192.0.2.1', FIREFOX));
    await stored(connector);
    const again = Array.from({ length: 3 }, () => fakeEvent(login('192.0.2.1', CHROME)));
    connector.outbox.push(...again, fakeEvent(login('198.51.100.7', CHROME)));
    connector.flags = 'o';
    await fetch(`${url}/`);
    await stored(connector);
    pass(SETTLE_MS);
    await eventually(() => mail.received.length === 1);
    expect(subjects()).toEqual(['2 alerts of example.com']);
  });

  it('of a new device that can’t be stored are sent once they can be', async () => {
    const { pass } = passingTime();
    const { connector, mail, dataDir, choose, subjects } = await setUp();
    const { url } = await runningGuard(dataDir);
    await choose(url, ['administrator-login']);
    await addEvent(connector, url, login('192.0.2.1', FIREFOX));
    await stored(connector);
    const db = await openTestDatabase(dataDir);
    onTestFinished(() => db.destroy());
    const accept = await refuseChanges(db, 'insert', 'alert_queue');
    await addEvent(connector, url, login('198.51.100.7', CHROME));
    // Reading the log again means that the first attempt has failed.
    await eventually(() => connector.commands.filter((name) => name === 'events').length > 2);
    expect(connector.outbox).toHaveLength(1);
    await accept();
    pass(MINUTE);
    await fetch(`${url}/`);
    await stored(connector);
    pass(SETTLE_MS);
    await eventually(() => mail.received.length === 1);
    expect(subjects()[0]).toContain('example.com: owner logged in on a new device');
  });

  it('name the protection that was switched off, and by whom, by mail and webhook', async () => {
    const { pass } = passingTime();
    const { mail, dataDir, call, choose, subjects } = await setUp();
    const { url } = await runningGuard(dataDir);
    const hook = await receiver();
    await choose(url);
    expect((await call(url, '/alert-webhook', { url: hook.url, secret: SECRET })).http).toBe(200);
    expect((await call(url, '/xss-protection', { xss_protection: 0 })).http).toBe(200);
    await eventually(() => hook.bodies.length === 1);
    pass(SETTLE_MS);
    await eventually(() => mail.received.length === 1);
    expect(subjects()[0]).toContain('Advanced XSS Protection');
    expect(hook.types()).toEqual(['alert.protection-off']);
    expect(hook.bodies[0]).toContain('"value":"owner"');
  });

  it('that a webhook refuses wait, are explained to the owner, become a notification, and arrive in order', async () => {
    const { dataDir, call, choose } = await setUp();
    const { url } = await runningGuard(dataDir);
    const hook = await receiver();
    hook.status = 503;
    await choose(url, []);
    await call(url, '/alert-webhook', { url: hook.url, secret: SECRET });
    await call(url, '/xss-protection', { xss_protection: 0 });
    await eventually(() => hook.bodies.length === 1);
    const last = async () => {
      const { body } = await call(url, '/alerts');
      return (body.data as { webhook: { last: { ok: 0 | 1; text: string; waiting: number } | null } }).webhook.last;
    };
    await eventually(async () => (await last()) !== null);
    expect(await last()).toMatchObject({ ok: 0, text: 'The service refused it (503).', waiting: 1 });
    // Makes the second attempt due now.
    const db = await openTestDatabase(dataDir);
    onTestFinished(() => db.destroy());
    await sqlAlertQueue(db).retryNow('site', Date.now());
    await call(url, '/alert-quiet-hours', { alert_quiet_hours: 1 });
    await eventually(() => hook.bodies.length === 2);
    await eventually(async () => {
      const { body } = await call(url, '/notifications');
      const found = (body.data as { id: string; text: string }[]).find(({ id }) => id === 'alerts-failed');
      return found?.text === 'Webhook: 1 alert waits. The service refused it (503).';
    });
    hook.status = 204;
    const test = await call(url, '/alert-test', { channel: 'webhook' });
    expect(test.body.data).toMatchObject({ ok: 1, text: '204' });
    await eventually(() => hook.bodies.length === 4);
    expect(hook.types()).toEqual([
      'alert.protection-off',
      'alert.protection-off',
      'alert.test',
      'alert.protection-off',
    ]);
    expect(await last()).toMatchObject({ ok: 1, waiting: 0 });
  });

  it('wait while quiet hours are on at night, and are sent as soon as these are switched off', async () => {
    const { pass } = passingTime();
    const { connector, mail, dataDir, call, choose, subjects } = await setUp();
    pass(new Date().setUTCHours(23, 0, 0, 0) + DAY - Date.now());
    const { url } = await runningGuard(dataDir);
    await choose(url);
    expect((await call(url, '/alert-quiet-hours', { alert_quiet_hours: 1 })).body).toMatchObject({
      data: { alert_quiet_hours: 1 },
      message: 'Alerts wait during the quiet hours.',
    });
    await call(url, '/xss-protection', { xss_protection: 0 });
    await addEvent(connector, url, newAdministrator);
    await stored(connector);
    pass(SETTLE_MS);
    // It is sent at once even then. Without quiet hours, both alerts would share a mail.
    await eventually(() => mail.received.length === 1);
    expect(subjects()).toEqual(['example.com has a new administrator']);
    // From the next rounds on, the rest is due in the morning only.
    for (let round = 0; round < 3; round++) {
      pass(5000);
      await call(url, '/alerts');
    }
    await call(url, '/alert-quiet-hours', { alert_quiet_hours: 0 });
    pass(CALM_MS);
    await eventually(() => mail.received.length === 2);
    expect(subjects()[1]).toContain('Advanced XSS Protection');
  });

  it('keep the limit and the quiet hours that were chosen before these became simple settings', async () => {
    const { dataDir, call } = await setUp();
    const older = Object.entries(migrations).filter(([name]) => name < '045');
    const options = { url: await prepareEmptyDatabase(dataDir), dataDir, logger: silentLogger() };
    const db = withTables<AlertTables>(await openDatabase({ ...options, migrations: Object.fromEntries(older) }));
    const before = { recipients: {}, webhook: null, slack: null, syslog: null };
    for (const [site, value] of [
      ['site', JSON.stringify({ ...before, perHour: 10, quietHours: true })],
      ['other', JSON.stringify({ ...before, perHour: 4, quietHours: false })],
      ['broken', '{'],
    ] as const) {
      await db.insertInto('alert_settings').values({ site, value }).execute();
    }
    await db.destroy();
    const now = await openTestDatabase(dataDir);
    expect(
      await now.selectFrom('settings').select(['site', 'name', 'value']).orderBy('site').orderBy('name').execute(),
    ).toEqual([
      { site: 'other', name: 'alert_limit', value: '4' },
      { site: 'site', name: 'alert_limit', value: '10' },
      { site: 'site', name: 'alert_quiet_hours', value: '1' },
    ]);
    await now.deleteFrom('alert_settings').where('site', '=', 'broken').execute();
    await now.destroy();
    const { url } = await runningGuard(dataDir);
    expect((await call(url, '/alerts')).body.data).toMatchObject({
      alert_limit: [
        { value: 2, selected: 0 },
        { value: 4, selected: 0 },
        { value: 10, label: '10', selected: 1 },
      ],
      alert_quiet_hours: 1,
    });
  });

  it('survive guard being killed', async () => {
    const { connector, mail, dataDir, choose } = await setUp();
    const guard = await serve(dataDir);
    await choose(guard.url);
    await addEvent(connector, guard.url, newAdministrator);
    // The alert was stored before the event was acknowledged. It is not sent yet: alerts wait some seconds for others.
    await stored(connector);
    guard.child.kill('SIGKILL');
    await new Promise((resolve) => guard.child.once('exit', resolve));
    expect(mail.received).toEqual([]);
    const { pass } = passingTime();
    await runningGuard(dataDir);
    pass(SETTLE_MS);
    await eventually(() => mail.received.length === 1);
    expect(mail.received[0]?.message).toContain('has a new administrator');
  });

  it('are not sent twice when guard is killed while a receiver takes its time to answer', async () => {
    const { mail, dataDir, call, choose } = await setUp();
    const guard = await serve(dataDir);
    const hook = await receiver();
    hook.holds = true;
    await choose(guard.url);
    await call(guard.url, '/alert-webhook', { url: hook.url, secret: SECRET });
    await call(guard.url, '/xss-protection', { xss_protection: 0 });
    await eventually(() => hook.bodies.length === 1);
    guard.child.kill('SIGKILL');
    await new Promise((resolve) => guard.child.once('exit', resolve));
    hook.holds = false;
    const { pass } = passingTime();
    pass(11 * MINUTE);
    const { url } = await runningGuard(dataDir);
    const last = async () =>
      ((await call(url, '/alerts')).body.data as { webhook: { last: { lost: number; lost_text: string } | null } })
        .webhook.last;
    await eventually(async () => (await last())?.lost === 1);
    expect((await last())?.lost_text).toBe('Guard was stopped while it sent them, so they may not have arrived.');
    await eventually(() => hook.bodies.length === 2);
    // The mail had not been begun. The stop itself is reported, too.
    pass(SETTLE_MS);
    await eventually(() => mail.received.length === 1);
    expect(hook.types()).toEqual(['alert.protection-off', 'alert.trouble']);
    expect(mail.received[0]?.message).toContain('Advanced XSS Protection');
  });

  it('tell that guard did not run for some minutes, and nothing of a short restart', async () => {
    const { pass } = passingTime();
    const { mail, dataDir, choose, subjects } = await setUp();
    const first = await runningGuard(dataDir);
    await choose(first.url, ['trouble']);
    await first.close();
    pass(2 * MINUTE);
    const second = await runningGuard(dataDir);
    pass(SETTLE_MS);
    await second.close();
    pass(20 * MINUTE);
    const third = await runningGuard(dataDir);
    await eventually(async () => (await countWaiting(third.url)).join() === '1');
    pass(SETTLE_MS);
    await eventually(() => mail.received.length === 1);
    expect(subjects()).toEqual(['The protection of example.com did not run for 20 minutes']);
    expect(mail.received[0]?.message).toContain('log_from=');
  });

  it('of 10,000 events are one mail and one digest, and the log has every event', async () => {
    const { pass } = passingTime();
    const { connector, mail, dataDir, choose, subjects } = await setUp();
    const { url } = await runningGuard(dataDir);
    await choose(url, ['software-added']);
    const EVENTS = 10_000;
    const push = (from: number, to: number) => {
      for (let index = from; index < to; index++) {
        const object = { type: 'plugin', id: `p${index}`, name: `Plugin ${index}` };
        connector.outbox.push(fakeEvent({ kind: 'plugin.activated', object }));
      }
    };
    push(0, 500);
    connector.flags = 'o';
    await fetch(`${url}/`);
    await eventually(() => connector.outbox.length === 0);
    pass(SETTLE_MS);
    await eventually(() => mail.received.length === 1);
    push(500, EVENTS);
    await fetch(`${url}/`);
    await eventually(() => connector.outbox.length === 0);
    pass(CALM_MS);
    await eventually(() => mail.received.length === 2);
    expect(subjects()).toEqual(['500 alerts of example.com', '9,500 alerts of example.com']);
    const log = openSqlite(join(dataDir, 'activity.sqlite'), { busyTimeoutMs: 5000, readOnly: true });
    onTestFinished(() => log.close());
    const counted = log.prepare("select count(*) as count from events where kind = 'plugin.activated'").get();
    expect(counted).toEqual({ count: EVENTS });
  });

  it('are mailed while a webhook takes its time to answer', async () => {
    const { pass } = passingTime();
    const { mail, dataDir, call, choose } = await setUp();
    const { url } = await runningGuard(dataDir);
    const hook = await receiver();
    hook.holds = true;
    await choose(url);
    await call(url, '/alert-webhook', { url: hook.url, secret: SECRET });
    await call(url, '/xss-protection', { xss_protection: 0 });
    await eventually(() => hook.bodies.length === 1);
    pass(SETTLE_MS);
    await eventually(() => mail.received.length === 1);
    hook.release();
  });

  it('are sent by webhook while WordPress is down, and by its mailer when it responds again', async () => {
    const { pass } = passingTime();
    const log = recordedLog();
    const { connector, dataDir, call, choose } = await setUp({ mail: { smtp: null } });
    const { url } = await runningGuard(dataDir, log.logger);
    const hook = await receiver();
    await choose(url);
    await call(url, '/alert-webhook', { url: hook.url, secret: SECRET });
    await call(url, '/disable-feeds', { disable_feed: 1 });
    await call(url, '/disable-feeds', { disable_feed: 0 });
    connector.mode = 'broken';
    await eventually(() => hook.bodies.length === 1);
    pass(SETTLE_MS);
    await eventually(() => log.events().includes('alerts-send-failed'));
    expect(connector.mails).toEqual([]);
    connector.mode = 'ok';
    const again = async () => {
      await fetch(`${url}/`);
      return connector.mails.length === 1;
    };
    await eventually(again);
  });
});

/** Number of alerts that wait for each recipient,. */
async function countWaiting(url: string): Promise<readonly number[]> {
  const { body } = await callApi(url, '/alerts', { body: '{}' });
  const { recipients } = body.data as { recipients: { last: { waiting: number } | null }[] };
  return recipients.map(({ last }) => last?.waiting ?? 0);
}

describe('who gets fewer alerts', () => {
  const removed = 'anna@example.com gets no more alerts';
  const BEN = 'ben@example.com';
  const switchedOff = 'Advanced XSS Protection is switched off';

  async function twoRecipients() {
    const { pass } = passingTime();
    const { dataDir, call, mail } = await setUp();
    const { url } = await runningGuard(dataDir);
    const setEmails = (entries: readonly string[]) => call(url, '/notification-emails', { entries });
    const choose = (email: string, kinds: readonly string[]) =>
      call(url, '/alert-recipient', { email, report: 1, kinds });
    await setEmails([ANNA, BEN]);
    for (const email of [ANNA, BEN]) await choose(email, ['protection-off']);
    const isMailed = (email: string, text: string) =>
      mail.received.some(({ to, message }) => to[0] === email && message.replace(/=\r\n/g, '').includes(text));
    /** Lets the alerts leave once so many wait for the last recipient. */
    const leave = async (waiting: number) => {
      await eventually(async () => (await countWaiting(url)).at(-1) === waiting || mail.received.length > 0);
      pass(SETTLE_MS);
    };
    return { url, call, mail, setEmails, choose, isMailed, leave };
  }

  it('is told so when somebody removes the address, and so are the others', async () => {
    const { mail, setEmails, isMailed, leave } = await twoRecipients();
    await setEmails([BEN]);
    await leave(1);
    await eventually(() => isMailed(ANNA, removed) && isMailed(BEN, removed));
    expect(mail.received[0]?.message).toContain('By: owner');
  });

  it('is told nothing when the removal is undone at once', async () => {
    const { url, call, setEmails, isMailed, leave } = await twoRecipients();
    await setEmails([BEN]);
    await setEmails([ANNA, BEN]);
    await leave(1);
    await eventually(() => isMailed(BEN, removed));
    expect([isMailed(ANNA, removed), ...(await countWaiting(url))]).toEqual([false, 0, 0]);
    const { recipients } = (await call(url, '/alerts')).body.data as { recipients: { kinds: string[] }[] };
    expect(recipients.map(({ kinds }) => kinds)).toEqual([['protection-off'], ['protection-off']]);
  });

  it('is told so when choices are taken away, or a channel is switched off', async () => {
    const { url, call, choose, isMailed, leave } = await twoRecipients();
    await choose(ANNA, ['trouble', 'protection-off']);
    await choose(ANNA, ['trouble']);
    await call(url, '/alert-slack', { url: 'http://127.0.0.1:1/' });
    await call(url, '/alert-slack', { url: 'http://127.0.0.1:1/other' });
    await call(url, '/alert-slack', { url: '' });
    const texts = [`${ANNA} gets fewer alerts`, 'The alert channel Slack was changed', 'Slack gets no more alerts'];
    await leave(texts.length);
    await eventually(() => isMailed(ANNA, texts[0] as string) && texts.every((text) => isMailed(BEN, text)));
    expect(texts.map((text) => isMailed(ANNA, text))).toEqual([true, false, false]);
  });

  it('gets what waited for the address that it replaces', async () => {
    const { url, call, setEmails, isMailed, leave } = await twoRecipients();
    await call(url, '/xss-protection', { xss_protection: 0 });
    await eventually(async () => (await countWaiting(url)).join() === '1,1');
    await setEmails(['dora@example.com', BEN]);
    await leave(2);
    await eventually(() => isMailed(ANNA, removed) && isMailed('dora@example.com', switchedOff));
    expect(isMailed(ANNA, switchedOff)).toBe(false);
  });
});

describe('the settings of alerts', () => {
  it('name the recipients of the mail at the weekly checkup', async () => {
    const { dataDir, call, choose } = await setUp();
    const { url } = await runningGuard(dataDir);
    const mailed = async () =>
      ((await call(url, '/checkup')).body.data as { weekly: { emails: string[] } }).weekly.emails;
    await choose(url, ['new-administrator']);
    expect(await mailed()).toEqual([]);
    await choose(url, ['checkup-finding']);
    expect(await mailed()).toEqual([ANNA]);
  });

  it('contain no secret in responses, in the log, or in the record of changes', async () => {
    const { dataDir, call, choose } = await setUp();
    const lines: string[] = [];
    const guard = await serve(dataDir);
    const { url } = guard;
    const hook = await receiver();
    await choose(url);
    lines.push(JSON.stringify((await call(url, '/alert-webhook', { url: hook.url, secret: SECRET })).body));
    lines.push(JSON.stringify((await call(url, '/alert-slack', { url: hook.url })).body));
    lines.push(JSON.stringify((await call(url, '/alert-test', { channel: 'webhook' })).body));
    lines.push(JSON.stringify((await call(url, '/alerts')).body));
    lines.push(JSON.stringify((await call(url, '/activity-registered')).body));
    lines.push(guard.log());
    expect(lines.join('\n')).not.toMatch(new RegExp(`hidden|${SECRET.slice(6, 40)}`));
    expect(lines[0]).toContain(`/secret-path?…`);
    expect(lines[1]).toMatch(/"slack":\{"address":"127\.0\.0\.1:\d+"/);
    const files = await readFile(join(dataDir, 'guard.json'), 'utf8');
    expect(files).not.toContain(SECRET);
  });

  it('refuse private targets, plain HTTP and invalid addresses, with a text at the field', async () => {
    const { dataDir, call } = await setUp({ alerts: {} });
    const { url } = await runningGuard(dataDir);
    const refused = async (suffix: string, body: object) => {
      const { http, body: response } = await call(url, suffix, body);
      return [http, ...Object.entries(response.fields ?? {}).flat()];
    };
    const inside = 'This address is inside a private network. Ask your hosting provider to allow it.';
    const secret = SECRET;
    expect(await refused('/alert-webhook', { url: 'https://127.0.0.1/', secret })).toEqual([400, 'url', inside]);
    expect(await refused('/alert-webhook', { url: 'https://169.254.169.254/', secret })).toEqual([400, 'url', inside]);
    expect(await refused('/alert-slack', { url: 'https://localhost/' })).toEqual([400, 'url', inside]);
    expect(await refused('/alert-syslog', { host: '127.0.0.1' })).toEqual([400, 'host', inside]);
    expect(await refused('/alert-webhook', { url: 'http://8.8.8.8/', secret })).toEqual([
      400,
      'url',
      'Use an address that begins with https://.',
    ]);
    expect((await refused('/alert-webhook', { url: 'https://8.8.8.8/' }))[1]).toBe('secret');
    expect((await refused('/alert-webhook', { url: 'https://8.8.8.8/', secret: 'short' }))[1]).toBe('secret');
  });

  it('accept only recipients of the tab, and are deleted with them', async () => {
    const { pass } = passingTime();
    const { dataDir, call, choose } = await setUp();
    const { url } = await runningGuard(dataDir);
    await choose(url);
    expect((await call(url, '/alert-recipient', { email: 'eve@example.com', report: 1, kinds: all })).http).toBe(404);
    await call(url, '/notification-emails', { entries: [] });
    const db = await openTestDatabase(dataDir);
    onTestFinished(() => db.destroy());
    const stored = () => db.selectFrom('alert_settings').select('value').executeTakeFirstOrThrow();
    await eventually(async () => JSON.parse((await stored()).value).recipients[ANNA] === undefined);
    pass(3 * MINUTE);
    await call(url, '/notification-emails', { entries: [ANNA] });
    const recipients = async () =>
      ((await call(url, '/alerts')).body.data as { recipients: { kinds: string[] }[] }).recipients;
    await eventually(async () => (await recipients())[0]?.kinds.length === 0);
  });

  it('are available to administrators only', async () => {
    const { dataDir } = await setUp();
    const { url } = await runningGuard(dataDir);
    const headers = { cookie: 'session=editor', 'x-wp-nonce': 'editor-nonce' };
    for (const suffix of ['/alerts', '/alert-recipient', '/alert-webhook', '/alert-slack', '/alert-test']) {
      expect((await callApi(url, suffix, { body: '{}', headers })).http).toBe(403);
    }
  });

  it('are tested by mail to everybody who gets alerts, with the outcome explained', async () => {
    const { dataDir, call, choose, mail } = await setUp();
    const { url } = await runningGuard(dataDir);
    const test = async () =>
      (await call(url, '/alert-test', { channel: 'mail' })).body.data as { ok: number; sent: number };
    expect(await test()).toMatchObject({
      ok: 0,
      sent: 0,
      text: 'Nobody gets alerts yet. Add an e-mail address, then choose its alerts with the pencil.',
    });
    await choose(url);
    expect(await test()).toMatchObject({ ok: 1, sent: 1 });
    expect(mail.received[0]?.message).toContain('This is a test from example.com');
    let http = 200;
    for (let count = 0; count < 25 && http === 200; count++) {
      http = (await call(url, '/alert-test', { channel: 'webhook' })).http;
    }
    expect(http).toBe(429);
  });
});
