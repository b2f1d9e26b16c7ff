import { type ServerText, toEnglish, toParam } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { SettingValues } from '@security-optimizer/contract/settings/catalogue';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { Mailer } from '../mail/mailer.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { AlertQueue, ChannelState, QueuedAlert } from './alert-queue.js';
import { DAY, GIVE_UP_MS, HOUR, planMessage, toNextTry } from './alert-rules.js';
import { type AlertSettings, CHANNELS, type Channel } from './alert-settings.js';
import { type Composed, composeMail } from './compose-mail.js';
import { type Alert, type AlertSite, describeAlert } from './describe-alert.js';
import type { Resolve, TargetPolicy } from './safe-target.js';
import { sendToSyslog } from './syslog.js';
import { type AlertMessage, type DeliveryOutcome, sendToSlack, sendWebhook } from './webhook.js';

/** Alerts that one round delivers to a webhook or a system log. */
const PER_ROUND = 20;

export interface AlertDelivery {
  readonly queue: AlertQueue;
  readonly settings: (site: SiteId) => AlertSettings;
  readonly limits: (site: SiteId) => SettingValues<'alerts'>;
  /** Recipients of the tab Weekly Reports. */
  readonly emails: (site: SiteId) => readonly string[];
  /** Returns what the texts need. Reads the former login addresses, which no alert may name. Throws StorageError. */
  readonly describe: (site: SiteConfig) => Promise<AlertSite>;
  readonly mailer: Mailer;
  readonly policy: TargetPolicy;
  readonly resolve: Resolve;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Delivers the waiting alerts of a site through every channel. A channel that failed is paused; the others are not
 * delayed. The outcome is stored after sending, so that an alert is sent twice rather than lost when guard is killed in
 * between.
 *
 * @returns when something is due again, milliseconds since the Unix epoch, or null when nothing waits
 * @throws StorageError
 */
export async function deliverAlerts(delivery: AlertDelivery, site: SiteConfig): Promise<number | null> {
  const { queue, clock } = delivery;
  const settings = delivery.settings(site.id);
  const states = new Map((await queue.listChannels(site.id)).map((state) => [state.channel, state]));
  let next: number | null = null;
  const later = (at: number) => {
    next = next === null ? at : Math.min(next, at);
  };
  for (const channel of [...CHANNELS.filter((name) => settings[name] !== null), ...delivery.emails(site.id)]) {
    const waiting = await dropOld(delivery, site, channel, await queue.listWaiting(site.id, channel));
    if (waiting.length === 0) continue;
    const state = states.get(channel);
    const now = clock();
    // A longer pause was stored before the clock was set back.
    if (state !== undefined && state.nextAt > now && state.nextAt <= now + DAY) {
      later(state.nextAt);
      continue;
    }
    const until = await deliverChannel(delivery, site, channel, waiting, state?.failures ?? 0);
    if (until !== null) later(until);
  }
  return next;
}

/** Gives up alerts that have waited too long. */
async function dropOld(
  { queue, clock, logger }: AlertDelivery,
  site: SiteConfig,
  channel: string,
  waiting: readonly QueuedAlert[],
): Promise<readonly QueuedAlert[]> {
  const old = waiting.filter(({ createdAt }) => Math.abs(clock() - createdAt) > GIVE_UP_MS);
  if (old.length === 0) return waiting;
  await queue.end(
    site.id,
    channel,
    old.map(({ uid }) => uid),
    'failed',
    clock(),
  );
  logger.error(
    { event: 'alerts-given-up', site: site.id, channel: toChannelName(channel), count: old.length },
    'Alerts could not be delivered for a day and are given up.',
  );
  return waiting.filter((alert) => !old.includes(alert));
}

async function deliverChannel(
  delivery: AlertDelivery,
  site: SiteConfig,
  channel: string,
  waiting: readonly QueuedAlert[],
  failures: number,
): Promise<number | null> {
  const { queue, clock } = delivery;
  const { alert_limit: perHour, alert_quiet_hours } = delivery.limits(site.id);
  const described = await delivery.describe(site);
  if (channel === 'webhook' || channel === 'syslog') {
    for (const alert of waiting.slice(0, PER_ROUND)) {
      const outcome = await sendToProgram(delivery, site, channel, toMessage(alert, site, described));
      const until = await recordOutcome(delivery, site, channel, [alert], outcome, failures);
      if (until !== null) return until;
    }
    return waiting.length > PER_ROUND ? clock() : null;
  }
  const plan = planMessage(waiting, {
    ...{ perHour, quietHours: alert_quiet_hours === 1, timeZone: described.timeZone },
    sentAt: await queue.listSentTimes(site.id, channel, clock() - HOUR),
    now: clock(),
  });
  if (plan.send === null) return plan.until;
  const alerts = plan.send.map(({ alert }) => JSON.parse(alert) as Alert);
  const to = { email: channel, perHour, now: clock() };
  const outcome = await sendToPerson(delivery, site, channel, composeMail(alerts, described, to));
  const until = await recordOutcome(delivery, site, channel, plan.send, outcome, failures);
  if (until !== null) return until;
  return plan.send.length < waiting.length ? clock() + 1000 : null;
}

/** Sends a message to a person. Never throws. */
export async function sendToPerson(
  { mailer, settings, policy, resolve }: Pick<AlertDelivery, 'mailer' | 'settings' | 'policy' | 'resolve'>,
  site: SiteConfig,
  channel: string,
  { texts, notice, language }: Composed,
): Promise<DeliveryOutcome> {
  const { slack } = settings(site.id);
  if (channel === 'slack') return slack === null ? SWITCHED_OFF : sendToSlack(slack, texts, { policy, resolve });
  // The HTML renderer is loaded with the first mail, since most processes never send any.
  const { renderNotice } = await import('../mail/notice-mail.js');
  const outcome = await mailer.send(site, { ...renderNotice(notice, language), to: channel });
  if (outcome.kind === 'sent') return { ok: true, answer: 'The mail was accepted.' };
  // A mail that may have been delivered is not sent again.
  return { ok: outcome.kind === 'unclear', answer: outcome.reason };
}

/** Sends an alert to a program. Never throws. */
export async function sendToProgram(
  { settings, policy, resolve, clock }: Pick<AlertDelivery, 'settings' | 'policy' | 'resolve' | 'clock'>,
  site: SiteConfig,
  channel: 'webhook' | 'syslog',
  message: AlertMessage,
): Promise<DeliveryOutcome> {
  const { webhook, syslog } = settings(site.id);
  if (channel === 'webhook') {
    return webhook === null ? SWITCHED_OFF : sendWebhook(webhook, message, { policy, resolve, now: clock() });
  }
  return syslog === null ? SWITCHED_OFF : sendToSyslog(syslog, message, { policy, resolve });
}

/** The owner has switched the channel off since the alert was planned. */
const SWITCHED_OFF: DeliveryOutcome = { ok: false, answer: 'This channel is off.' };

function toMessage({ uid, kind, alert }: QueuedAlert, site: SiteConfig, described: AlertSite): AlertMessage {
  const parsed = JSON.parse(alert) as Alert;
  return {
    ...{ uid, kind, at: parsed.at },
    site: { id: site.id, url: described.url },
    text: describeAlert(parsed, described),
  };
}

/**
 * Stores the outcome of a delivery.
 * @returns when the channel may be tried again after a failure, else null
 */
async function recordOutcome(
  { queue, clock, logger }: AlertDelivery,
  site: SiteConfig,
  channel: string,
  alerts: readonly QueuedAlert[],
  { ok, answer }: DeliveryOutcome,
  failures: number,
): Promise<number | null> {
  const now = clock();
  if (ok) {
    await queue.end(
      site.id,
      channel,
      alerts.map(({ uid }) => uid),
      'sent',
      now,
    );
    await queue.setChannel(site.id, channel, { failures: 0, nextAt: 0, lastAt: now, answer });
    logger.info(
      { event: 'alerts-sent', site: site.id, channel: toChannelName(channel), count: alerts.length },
      'Alerts were delivered.',
    );
    return null;
  }
  const nextAt = toNextTry(failures + 1, now);
  await queue.setChannel(site.id, channel, { failures: failures + 1, nextAt, lastAt: now, answer });
  // Logged once per outage; the page shows later failures.
  if (failures === 0) {
    logger.warn(
      { event: 'alerts-send-failed', site: site.id, channel: toChannelName(channel), reason: toEnglish(answer) },
      'Alerts could not be delivered; they are tried again.',
    );
  }
  return nextAt;
}

/** Returns the channel's name without the e-mail address of a person. */
function toChannelName(channel: string): Channel | 'mail' {
  return CHANNELS.find((name) => name === channel) ?? 'mail';
}

/** Consecutive failures from which on the owner is informed. A service that restarts fails once. */
const FAILURES_REPORTED = 2;

const NAMES = { webhook: 'Webhook', slack: 'Slack', syslog: 'System log' } as const;

/**
 * Returns why alerts do not arrive, for the owner; null when no channel has failed repeatedly.
 * @param emails recipients of the tab Weekly Reports
 */
export function describeFailures(
  channels: readonly ChannelState[],
  settings: AlertSettings,
  emails: readonly string[],
): ServerText | null {
  const used = [...CHANNELS.filter((name) => settings[name] !== null), ...emails];
  const [first] = channels.filter(({ channel, failures }) => failures >= FAILURES_REPORTED && used.includes(channel));
  if (first === undefined) return null;
  const name = CHANNELS.find((channel) => channel === first.channel);
  return serverMessage('alerts_failed', {
    channel: name === undefined ? first.channel : { text: NAMES[name] },
    count: first.waiting,
    reason: toParam(first.answer),
  });
}
