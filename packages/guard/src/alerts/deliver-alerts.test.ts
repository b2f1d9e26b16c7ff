import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type SettingValues, simpleDefaults } from '@security-optimizer/contract/settings/catalogue';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { recordedLog } from '../../test/support/logs.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { siteConfig } from '../../test/support/site-config.js';
import { english } from '../i18n/language.js';
import { createLoginAddresses } from '../login/login-addresses.js';
import type { Mail, MailOutcome } from '../mail/mailer.js';
import { sqlAlertQueue } from './alert-queue.js';
import { CALM_LATEST_MS, CALM_MS, DAY, HOUR } from './alert-rules.js';
import { type AlertSettings, defaultAlertSettings } from './alert-settings.js';
import { type AlertDelivery, deliverChannel, listUsedChannels } from './deliver-alerts.js';
import type { Alert } from './describe-alert.js';

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 10, 21, 14);
const site = siteConfig();
const ANNA = 'anna@example.com';

/** Queue and delivery on a real database, with a clock and a mail server that the test controls. */
async function setUp() {
  const dataDir = await scratchFolder();
  const log = recordedLog();
  let db: TestDatabase = await openTestDatabase(dataDir);
  onTestFinished(() => db.destroy());
  const state = {
    now: NOON,
    settings: { ...defaultAlertSettings } as AlertSettings,
    limits: simpleDefaults('alerts') as SettingValues<'alerts'>,
    outcome: { kind: 'sent' } as MailOutcome | Error | null,
    mails: [] as Mail[],
    log,
    queue: sqlAlertQueue(db),
  };
  let number = 0;
  return Object.assign(state, {
    async add(change: Partial<Alert> = {}, channels = [ANNA]) {
      const uid = `alert-${number++}`;
      const alert = {
        ...{ kind: 'software-added', uid, at: state.now, by: 'owner', address: '192.0.2.1' },
        ...{ software: 'plugin', name: `Plugin ${number}`, action: 'installed' },
        ...change,
      } as Alert;
      await state.queue.add(site.id, [{ uid, kind: alert.kind, alert: JSON.stringify(alert), channels }], state.now);
    },
    /** The state of a channel, as the page shows it. */
    async channel(name: string) {
      return (await state.queue.listChannels(site.id, state.now)).find(({ channel }) => channel === name);
    },
    /** Delivers what is due at the given time. Returns when something is due again. */
    async at(now: number) {
      state.now = now;
      const delivery: AlertDelivery = {
        queue: state.queue,
        settings: () => state.settings,
        limits: () => state.limits,
        emails: () => [ANNA],
        timeZone: () => 'Europe/Berlin',
        describe: async () => ({
          ...{ name: 'example.com', url: 'https://example.com', language: english, timeZone: 'Europe/Berlin' },
          page: (name) => `https://example.com/wp-admin/${name}`,
          redact: createLoginAddresses(['my-door']).redact,
        }),
        mailer: {
          async send(_site, mail, onSend) {
            if (state.outcome !== null) await onSend?.();
            state.mails.push(mail);
            // Null: nothing listens. An Error: guard ends before the answer is stored.
            if (state.outcome instanceof Error) throw state.outcome;
            return state.outcome ?? { kind: 'refused', reason: 'Nothing listens.' };
          },
        },
        policy: { privateTargets: ['127.0.0.0/8'], plainHttp: true },
        resolve: async () => ['127.0.0.1'],
        clock: () => state.now,
        logger: log.logger,
      };
      const due: number[] = [];
      for (const channel of listUsedChannels(delivery, site.id)) {
        const next = await deliverChannel(delivery, site, channel);
        if (next !== null) due.push(next);
      }
      return due.length === 0 ? null : Math.min(...due);
    },
    database: () => db,
    async restart() {
      await db.destroy();
      db = await openTestDatabase(dataDir);
      state.queue = sqlAlertQueue(db);
    },
    subjects: () => state.mails.map(({ subject }) => subject),
  });
}

describe('alerts by mail', () => {
  it('are sent one by one, with a task and one button', async () => {
    const alerts = await setUp();
    await alerts.add({ kind: 'new-administrator', login: 'web-helper', promoted: false } as Partial<Alert>);
    expect(await alerts.at(NOON)).toBe(NOON + 5000);
    await alerts.at(NOON + 5000);
    expect(alerts.subjects()).toEqual(['example.com has a new administrator']);
    const [mail] = alerts.mails as [Mail];
    for (const text of [
      'web-helper',
      'owner',
      '192.0.2.1',
      'Was it not you?',
      'Open the checkup',
      'See it in the log',
    ]) {
      expect(mail.html).toContain(text);
      expect(mail.text).toContain(text);
    }
    expect(mail.text).toContain(`You get this alert because ${ANNA} asked for it on example.com.`);
    const log = 'https://example.com/wp-admin/admin.php?page=activity-log';
    expect(mail.text).toContain(`${log}&log_tab=weekly-reports#weekly-reports`);
    const from = NOON / 1000;
    expect(mail.text).toContain(
      `${log}&log_tab=registered&log_from=${from}&log_to=${from + 1}&log_activity=user.created#registered`,
    );
    expect(await alerts.at(NOON + HOUR)).toBeNull();
    expect(alerts.mails).toHaveLength(1);
  });

  it('are combined in one mail when there are more than three an hour, and the fourth is kept for a new administrator', async () => {
    const alerts = await setUp();
    for (let minute = 0; minute < 10; minute++) {
      await alerts.add();
      await alerts.at(NOON + minute * MINUTE + 40_000);
    }
    expect(alerts.mails).toHaveLength(3);
    await alerts.at(NOON + HOUR + 40_000);
    expect(alerts.subjects().at(-1)).toBe('7 alerts of example.com');
    expect(alerts.mails.at(-1)?.text).toContain('7 alerts came together in this mail: you get at most 4 an hour.');
    expect(alerts.mails.at(-1)?.text).toContain('The plugin Plugin 4 was installed');
  });

  it('survive a restart, and are sent once each', async () => {
    const alerts = await setUp();
    await alerts.add();
    await alerts.restart();
    await alerts.at(NOON + 5000);
    await alerts.restart();
    await alerts.at(NOON + HOUR);
    expect(alerts.mails).toHaveLength(1);
  });

  it('that fail are retried after growing pauses, logged once, and given up after a day', async () => {
    const alerts = await setUp();
    alerts.outcome = { kind: 'refused', reason: 'WordPress could not send the mail.' };
    await alerts.add();
    let next = await alerts.at(NOON + 5000);
    const rests: number[] = [];
    while (next !== null && rests.length < 100) {
      rests.push(Math.round((next - alerts.now) / 1000));
      next = await alerts.at(next);
    }
    expect(rests.slice(0, 5)).toEqual([30, 120, 600, 1800, 3600]);
    expect(rests.length).toBeLessThan(30);
    expect(alerts.now - NOON).toBeLessThanOrEqual(DAY + 2 * HOUR);
    const events = alerts.log.events();
    expect(events.filter((event) => event === 'alerts-send-failed')).toHaveLength(1);
    expect(events.filter((event) => event === 'alerts-given-up')).toHaveLength(1);
    const reason = 'WordPress could not send the mail.';
    expect(await alerts.channel(ANNA)).toMatchObject({ answer: reason, waiting: 0, lost: { count: 1, reason } });
  });

  it('are sent as soon as the mailer works again', async () => {
    const alerts = await setUp();
    alerts.outcome = { kind: 'refused', reason: 'no' };
    await alerts.add();
    await alerts.at(NOON + 5000);
    alerts.outcome = { kind: 'sent' };
    await alerts.queue.retryNow(site.id, NOON + 6000);
    await alerts.at(NOON + 6000);
    expect(alerts.mails).toHaveLength(2);
    expect(await alerts.at(NOON + HOUR)).toBeNull();
  });

  it('are not sent again when they may have been delivered', async () => {
    const alerts = await setUp();
    alerts.outcome = { kind: 'unclear', reason: 'The answer was lost.' };
    await alerts.add();
    await alerts.at(NOON + 5000);
    expect(await alerts.at(NOON + HOUR)).toBeNull();
    expect(alerts.mails).toHaveLength(1);
    const lost = { count: 1, reason: 'The answer was lost.' };
    expect(await alerts.channel(ANNA)).toMatchObject({ failures: 1, waiting: 0, lost });
    await alerts.at(NOON + 8 * DAY);
    expect(await alerts.channel(ANNA)).toMatchObject({ lost: null });
  });

  it('are sent again when guard ended before the first byte left, and not when it ended later', async () => {
    const alerts = await setUp();
    await alerts.add();
    alerts.outcome = null;
    await alerts.at(NOON + 5000);
    await alerts.restart();
    alerts.outcome = new Error('Killed.');
    await expect(alerts.at(NOON + MINUTE)).rejects.toThrow('Killed.');
    await alerts.restart();
    alerts.outcome = { kind: 'sent' };
    // It may still be sent by another process, but not for ever.
    const end = NOON + 11 * MINUTE + 1;
    expect(await alerts.at(NOON + 2 * MINUTE)).toBe(end);
    expect(await alerts.at(end)).toBeNull();
    expect(alerts.mails).toHaveLength(2);
    const reason = 'Guard was stopped while it sent them, so they may not have arrived.';
    expect(await alerts.channel(ANNA)).toMatchObject({ answer: reason, waiting: 0, lost: { count: 1, reason } });
    expect(alerts.log.events()).toContain('alerts-interrupted');
    await alerts.add();
    await alerts.at(NOON + HOUR + 5000);
    expect(await alerts.channel(ANNA)).toMatchObject({ failures: 0, lost: { count: 1 } });
  });

  it('are sent by one of two processes', async () => {
    const alerts = await setUp();
    await alerts.add();
    const [first, second] = [sqlAlertQueue(alerts.database()), sqlAlertQueue(alerts.database())];
    expect(await first.begin(site.id, ANNA, ['alert-0'], NOON)).toBe(true);
    expect(await second.begin(site.id, ANNA, ['alert-0'], NOON)).toBe(false);
    await alerts.at(NOON + 5000);
    expect(alerts.mails).toEqual([]);
  });

  it('of a flood are one mail and one digest, which counts every alert', async () => {
    const alerts = await setUp();
    const PER_SECOND = 20;
    for (let second = 0; second < 60; second++) {
      alerts.now = NOON + second * 1000;
      for (let count = 0; count < PER_SECOND; count++) await alerts.add();
      if (second === 30) {
        await alerts.add({ kind: 'new-administrator', login: 'web-helper', promoted: false } as Partial<Alert>);
      }
      await alerts.at(alerts.now);
    }
    for (let second = 60; second < 3 * 60; second++) await alerts.at(NOON + second * 1000);
    const total = alerts.subjects().map((subject) => Number(/^[\d,]+/.exec(subject)?.[0].replace(',', '')));
    expect(total).toHaveLength(2);
    expect((total[0] as number) + (total[1] as number)).toBe(60 * PER_SECOND + 1);
    const digest = alerts.mails[1] as Mail;
    expect(digest.text).toContain('The most urgent one: example.com has a new administrator.');
    expect(digest.text).toMatch(/A plugin is added or switched on: [\d,]+\n/);
    expect(digest.text).toContain('A new administrator: 1');
    expect(digest.text).toMatch(/See them in the log: \S+log_tab=registered&log_from=\d+&log_to=\d+#registered/);
    expect(digest.html.length).toBeLessThan(60_000);
    expect(await alerts.channel(ANNA)).toMatchObject({ waiting: 0, lost: null });
  });

  it('of one batch keep their order, are queued once, and only the number of the oldest over 200 is kept', async () => {
    const alerts = await setUp();
    const batch = (from: number, to: number, kind = 'software-added') =>
      Array.from({ length: to - from }, (_, at) => ({ uid: `${from + at}`, kind, alert: '{}', channels: [ANNA] }));
    await alerts.queue.add(site.id, batch(0, 3, 'new-administrator'), NOON - HOUR);
    await alerts.queue.add(site.id, batch(0, 650), NOON);
    await alerts.queue.add(site.id, batch(640, 650), NOON + MINUTE);
    const waiting = (await alerts.queue.listWaiting(site.id, ANNA)).map(({ uid }) => Number(uid));
    expect(waiting).toEqual([0, 1, 2, ...Array.from({ length: 197 }, (_, at) => 453 + at)]);
    expect(await alerts.queue.listOverflow(site.id, ANNA)).toEqual([
      { kind: 'software-added', count: 450, since: NOON - 646 },
    ]);
  });

  it('that follow a mail wait until it is calm, but not for ever', async () => {
    const alerts = await setUp();
    await alerts.add();
    await alerts.at(NOON + 5000);
    alerts.now = NOON + MINUTE;
    await alerts.add();
    expect(await alerts.at(NOON + MINUTE + 10_000)).toBe(NOON + MINUTE + CALM_MS);
    for (let passed = 20_000; passed < CALM_LATEST_MS; passed += 10_000) {
      await alerts.add();
      await alerts.at(NOON + MINUTE + passed);
    }
    expect(alerts.mails).toHaveLength(1);
    await alerts.at(NOON + MINUTE + CALM_LATEST_MS);
    expect(alerts.mails).toHaveLength(2);
  });

  it('are limited in number: of the oldest only the number is kept, of a new administrator last', async () => {
    const alerts = await setUp();
    await alerts.add({ kind: 'new-administrator', login: 'first', promoted: false } as Partial<Alert>);
    for (let count = 0; count < 260; count++) await alerts.add();
    const waiting = await alerts.queue.listWaiting(site.id, ANNA);
    expect(waiting).toHaveLength(200);
    expect(waiting[0]?.kind).toBe('new-administrator');
    await alerts.at(NOON + 5000);
    expect(alerts.mails).toHaveLength(1);
    expect(alerts.subjects()).toEqual(['261 alerts of example.com']);
  });

  it('wait until the morning in quiet hours', async () => {
    const alerts = await setUp();
    alerts.limits = { ...alerts.limits, alert_quiet_hours: 1 };
    const night = Date.UTC(2026, 10, 21, 22);
    alerts.now = night;
    await alerts.add();
    const morning = Date.UTC(2026, 10, 22, 6);
    expect(await alerts.at(night + MINUTE)).toBe(morning);
    await alerts.add({ kind: 'new-administrator', login: 'web-helper', promoted: true } as Partial<Alert>);
    await alerts.at(night + 2 * MINUTE);
    expect(alerts.subjects()).toEqual(['example.com has a new administrator']);
    await alerts.at(morning);
    expect(alerts.subjects()).toHaveLength(2);
  });
});

describe('alerts for programs', () => {
  const setUpWebhook = async () => {
    const bodies: { type: string; data: { id: string; count?: number; alerts?: { id: string }[]; title: string } }[] =
      [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
      response.writeHead(200).end();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
    const { port } = server.address() as AddressInfo;
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const webhook = { url: `http://hooks.example.com:${port}/`, secret };
    const alerts = await setUp();
    alerts.settings = { ...alerts.settings, webhook };
    return { alerts, bodies };
  };

  it('are sent one by one, and together when there are more than 60 an hour', async () => {
    const { alerts, bodies } = await setUpWebhook();
    for (let count = 0; count < 300; count++) await alerts.add({}, ['webhook']);
    let next: number | null = NOON;
    while (next !== null) next = await alerts.at(Math.max(next, alerts.now + 1));
    const types = bodies.map(({ type }) => type);
    expect(types).toEqual([...Array(60).fill('alert.software-added'), 'alert.digest']);
    const { data } = bodies.at(-1) as (typeof bodies)[number];
    expect(data).toMatchObject({ count: 240, title: '240 alerts of example.com' });
    expect(data.alerts).toHaveLength(140);
    const ids = bodies.flatMap(({ data: { id, alerts: several } }) => several?.map((alert) => alert.id) ?? [id]);
    expect(new Set(ids).size).toBe(200);
  });
});

describe('text of visitors and users in an alert', () => {
  it('is plain, truncated, and contains no login address', async () => {
    const alerts = await setUp();
    const name = `<img src=x onerror=alert(1)>\r\nBcc: evil@example.net /my-door/ ${'long '.repeat(100)}`;
    await alerts.add({ name, by: '<script>' } as Partial<Alert>);
    await alerts.at(NOON + 5000);
    const [{ subject, html, text }] = alerts.mails as [Mail];
    expect(subject).not.toMatch(/[\r\n]/);
    expect(subject.length).toBeLessThan(150);
    expect(html).not.toMatch(/<img|<script/);
    expect(`${subject}${html}${text}`).not.toContain('my-door');
  });
});
