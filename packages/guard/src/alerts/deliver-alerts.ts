import { createHash } from 'node:crypto';
import type { AlertChannel } from '@security-optimizer/contract/alerts/catalogue';
import { type ServerText, toEnglish, toParam } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { SettingValues } from '@security-optimizer/contract/settings/catalogue';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { Mailer } from '../mail/mailer.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { AlertEnd, AlertQueue, ChannelState, Overflow, QueuedAlert } from './alert-queue.js';
import { DAY, GIVE_UP_MS, HOUR, isUrgent, planMessage, planProgram, toNextTry } from './alert-rules.js';
import { type AlertSettings, CHANNELS, isForPrograms, listFormerEmails } from './alert-settings.js';
import type { AlertSite } from './alert-text.js';
import { type Composed, composeMail, countOverflow, describeDigest, toKind } from './compose-mail.js';
import { type Alert, describeAlert, getAddress } from './describe-alert.js';
import type { Resolve, TargetPolicy } from './safe-target.js';
import { sendToSyslog } from './syslog.js';
import { type AlertMessage, type DeliveryOutcome, sendToSlack, sendWebhook } from './webhook.js';

export interface AlertDelivery {
  readonly queue: AlertQueue;
  readonly settings: (site: SiteId) => AlertSettings;
  readonly limits: (site: SiteId) => SettingValues<'alerts'>;
  readonly timeZone: (site: SiteId) => string;
  /** Recipients of the tab Weekly Reports. */
  readonly emails: (site: SiteId) => readonly string[];
  /**
   * Returns what the texts need: the former login addresses, which no alert may name, and the host names of these
   * addresses. Throws StorageError.
   */
  readonly describe: (site: SiteConfig, addresses?: readonly string[]) => Promise<AlertSite>;
  readonly mailer: Mailer;
  readonly policy: TargetPolicy;
  readonly resolve: Resolve;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What became of a message. */
type Outcome = DeliveryOutcome & {
  /** It may have been delivered although there was no answer; it is not sent again. */
  readonly unclear?: true;
};

/** Another process has begun to send these alerts. */
class AlreadyBegun extends Error {}

/** Channels through which a site sends alerts, as the queue names them. */
export function listUsedChannels(
  { settings, emails, clock }: Pick<AlertDelivery, 'settings' | 'emails' | 'clock'>,
  site: SiteId,
): readonly string[] {
  const chosen = settings(site);
  const people = [...emails(site), ...listFormerEmails(chosen, clock())];
  return [...CHANNELS.filter((name) => chosen[name] !== null), ...new Set(people)];
}

/**
 * Delivers the waiting alerts of one channel, as far as they are due. A channel that failed is paused.
 *
 * The alerts are marked as being sent just before the first byte leaves. So a guard that is killed sends no alert
 * twice: what it had begun may have arrived, and is shown as perhaps not delivered.
 *
 * @returns when something is due again, milliseconds since the Unix epoch, or null when nothing waits
 * @throws StorageError
 */
export async function deliverChannel(
  delivery: AlertDelivery,
  site: SiteConfig,
  channel: string,
): Promise<number | null> {
  const { queue, clock, logger } = delivery;
  const { count: interrupted, next } = await queue.endInterrupted(site.id, channel, INTERRUPTED, clock());
  if (interrupted > 0) {
    await queue.setChannel(site.id, channel, { failures: 1, nextAt: 0, lastAt: clock(), answer: INTERRUPTED });
    logger.warn(
      { event: 'alerts-interrupted', site: site.id, channel: toChannelName(channel), count: interrupted },
      'Guard ended while it sent alerts. They may not have arrived.',
    );
  }
  const again = await deliverWaiting(delivery, site, channel);
  return next === null || again === null ? (next ?? again) : Math.min(next, again);
}

/** Delivers the waiting alerts of a channel, as far as they are due. Returns when something is due again, or null. */
async function deliverWaiting(delivery: AlertDelivery, site: SiteConfig, channel: string): Promise<number | null> {
  const { queue, clock } = delivery;
  const all = await giveUpOld(delivery, site, channel);
  const isFormer = channel.includes('@') && !delivery.emails(site.id).includes(channel);
  const waiting = isFormer ? all.filter((alert) => isAboutLeaving(alert, channel)) : all;
  if (waiting.length === 0) return null;
  const state = (await queue.listChannels(site.id, clock())).find((item) => item.channel === channel);
  const now = clock();
  // A longer pause was stored before the clock was set back.
  if (state !== undefined && state.nextAt > now && state.nextAt <= now + DAY) return state.nextAt;
  const failures = state?.failures ?? 0;
  try {
    return isForPrograms(channel)
      ? await deliverToProgram(delivery, site, { channel, waiting, failures })
      : await deliverToPerson(delivery, site, { channel, waiting, failures });
  } catch (error) {
    if (error instanceof AlreadyBegun) return null;
    throw error;
  }
}

/** Whether an alert tells a former recipient that he gets no more. He gets no other. */
function isAboutLeaving({ alert }: QueuedAlert, email: string): boolean {
  const parsed = JSON.parse(alert) as Alert;
  return parsed.kind === 'alerts-changed' && parsed.recipient === email;
}

const INTERRUPTED = 'Guard was stopped while it sent them, so they may not have arrived.';

/**
 * Gives up alerts that have waited too long.
 * @returns the others, oldest first
 */
async function giveUpOld(
  { queue, clock, logger }: AlertDelivery,
  site: SiteConfig,
  channel: string,
): Promise<readonly QueuedAlert[]> {
  const waiting = await queue.listWaiting(site.id, channel);
  const now = clock();
  const isOld = (since: number) => Math.abs(now - since) > GIVE_UP_MS;
  const old = waiting.filter(({ createdAt }) => isOld(createdAt));
  if (old.length === 0) return waiting;
  const overflow = (await queue.listOverflow(site.id, channel)).filter(({ since }) => isOld(since));
  const state = (await queue.listChannels(site.id, now)).find((item) => item.channel === channel);
  const reason = state !== undefined && state.failures > 0 ? state.answer : 'They have waited for a day.';
  await queue.end(site.id, channel, toUids(old), { state: 'failed', reason }, now, overflow);
  logger.error(
    {
      ...{ event: 'alerts-given-up', site: site.id, channel: toChannelName(channel) },
      ...{ count: old.length + countOverflow(overflow), reason: toEnglish(reason) },
    },
    'Alerts could not be delivered for a day and are given up.',
  );
  return waiting.filter((alert) => !old.includes(alert));
}

/** The waiting alerts of a channel, and how often it has failed in a row. */
interface Batch<Name extends string = string> {
  readonly channel: Name;
  readonly waiting: readonly QueuedAlert[];
  readonly failures: number;
}

async function deliverToProgram(
  delivery: AlertDelivery,
  site: SiteConfig,
  { channel, waiting, failures }: Batch<'webhook' | 'syslog'>,
): Promise<number | null> {
  const { queue, clock } = delivery;
  const plan = planProgram(waiting, await queue.listSentTimes(site.id, channel, clock() - HOUR), clock());
  if (plan.send === null) return plan.until;
  const described = await delivery.describe(site);
  const overflow = plan.send === 'together' ? await queue.listOverflow(site.id, channel) : [];
  const isDigest = plan.send === 'together' && plan.alerts.length + overflow.length > 1;
  const messages = isDigest
    ? [{ alerts: plan.alerts, message: toDigestMessage(plan.alerts, overflow, site, described) }]
    : plan.alerts.map((alert) => ({ alerts: [alert], message: toMessage(alert, site, described) }));
  let failed = failures;
  for (const { alerts, message } of messages) {
    const onSend = () => begin(delivery, site, channel, alerts);
    const outcome = await sendToProgram(delivery, site, channel, message, onSend);
    const until = await recordOutcome(delivery, site, channel, { alerts, overflow, outcome, failures: failed });
    if (until !== null) return until;
    failed = 0;
  }
  return plan.alerts.length < waiting.length ? clock() : null;
}

async function deliverToPerson(
  delivery: AlertDelivery,
  site: SiteConfig,
  { channel, waiting, failures }: Batch,
): Promise<number | null> {
  const { queue, clock } = delivery;
  const { alert_limit: perHour, alert_quiet_hours } = delivery.limits(site.id);
  const plan = planMessage(waiting, {
    ...{ perHour, quietHours: alert_quiet_hours === 1, timeZone: delivery.timeZone(site.id) },
    sentAt: await queue.listSentTimes(site.id, channel, clock() - HOUR),
    now: clock(),
  });
  if (plan.send === null) return plan.until;
  const alerts = plan.send;
  const isWhole = alerts.length === waiting.length;
  const overflow = (await queue.listOverflow(site.id, channel)).filter(({ kind }) => isWhole || isUrgent(kind));
  const parsed = alerts.map(({ alert }) => JSON.parse(alert) as Alert);
  const [only] = parsed.length === 1 ? parsed.map(getAddress) : [];
  const described = await delivery.describe(site, only ? [only] : []);
  const composed = composeMail(parsed, overflow, described, { email: channel, perHour, now: clock() });
  const outcome = await sendToPerson(delivery, site, channel, composed, () => begin(delivery, site, channel, alerts));
  const until = await recordOutcome(delivery, site, channel, { alerts, overflow, outcome, failures });
  if (until !== null) return until;
  return isWhole ? null : clock() + 1000;
}

/** Called just before the first byte leaves. Throws AlreadyBegun or StorageError; then nothing is sent. */
async function begin(
  { queue, clock }: AlertDelivery,
  site: SiteConfig,
  channel: string,
  alerts: readonly QueuedAlert[],
): Promise<void> {
  if (!(await queue.begin(site.id, channel, toUids(alerts), clock()))) throw new AlreadyBegun();
}

function toUids(alerts: readonly QueuedAlert[]): string[] {
  return alerts.map(({ uid }) => uid);
}

type Senders = Pick<AlertDelivery, 'mailer' | 'settings' | 'policy' | 'resolve' | 'clock'>;

/**
 * Sends a message to a person.
 * @param onSend called once, just before the first byte of the message leaves
 * @throws the error of `onSend`; then nothing was sent
 */
export async function sendToPerson(
  { mailer, settings, policy, resolve }: Senders,
  site: SiteConfig,
  channel: string,
  { text, notice, language }: Composed,
  onSend: () => Promise<void>,
): Promise<Outcome> {
  const { slack } = settings(site.id);
  if (channel === 'slack') return slack === null ? SWITCHED_OFF : sendToSlack(slack, text, { policy, resolve, onSend });
  // The HTML renderer is loaded with the first mail, since most processes never send any.
  const { renderNotice } = await import('../mail/notice-mail.js');
  const outcome = await mailer.send(site, { ...renderNotice(notice, language), to: channel }, onSend);
  if (outcome.kind === 'sent') return { ok: true, answer: 'The mail was accepted.' };
  return { ok: false, answer: outcome.reason, ...(outcome.kind === 'unclear' && { unclear: true }) };
}

/**
 * Sends an alert to a program.
 * @param onSend called once, just before the first byte of the message leaves
 * @throws the error of `onSend`; then nothing was sent
 */
export async function sendToProgram(
  { settings, policy, resolve, clock }: Senders,
  site: SiteConfig,
  channel: 'webhook' | 'syslog',
  message: AlertMessage,
  onSend: () => Promise<void>,
): Promise<DeliveryOutcome> {
  const { webhook, syslog } = settings(site.id);
  if (channel === 'webhook') {
    return webhook === null ? SWITCHED_OFF : sendWebhook(webhook, message, { policy, resolve, now: clock(), onSend });
  }
  return syslog === null ? SWITCHED_OFF : sendToSyslog(syslog, message, { policy, resolve, onSend });
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

/** Returns the message that contains several alerts, for programs. */
function toDigestMessage(
  alerts: readonly QueuedAlert[],
  overflow: readonly Overflow[],
  site: SiteConfig,
  described: AlertSite,
): AlertMessage {
  const parsed = alerts.map(({ alert }) => JSON.parse(alert) as Alert);
  return {
    uid: createHash('sha256').update(toUids(alerts).join('\n')).digest('hex').slice(0, 32),
    kind: 'digest',
    at: Math.max(...parsed.map(({ at }) => at)),
    site: { id: site.id, url: described.url },
    text: describeDigest(parsed, overflow, described),
    count: alerts.length + countOverflow(overflow),
    alerts: parsed.map((alert) => ({
      ...{ id: alert.uid, kind: toKind(alert), at: alert.at },
      title: describeAlert(alert, described).headline,
    })),
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
  result: {
    readonly alerts: readonly QueuedAlert[];
    readonly overflow: readonly Overflow[];
    readonly outcome: Outcome;
    readonly failures: number;
  },
): Promise<number | null> {
  const { alerts, overflow, outcome, failures } = result;
  const { ok, answer, unclear } = outcome;
  const now = clock();
  const end: AlertEnd = ok ? { state: 'sent' } : unclear ? { state: 'failed', reason: answer } : { state: 'waiting' };
  await queue.end(site.id, channel, toUids(alerts), end, now, overflow);
  const fields = { site: site.id, channel: toChannelName(channel) };
  if (ok) {
    await queue.setChannel(site.id, channel, { failures: 0, nextAt: 0, lastAt: now, answer });
    const count = alerts.length + countOverflow(overflow);
    logger.info({ event: 'alerts-sent', ...fields, count }, 'Alerts were delivered.');
    return null;
  }
  const nextAt = toNextTry(failures + 1, now);
  await queue.setChannel(site.id, channel, { failures: failures + 1, nextAt, lastAt: now, answer });
  if (unclear) {
    logger.warn(
      { event: 'alerts-unclear', ...fields, count: alerts.length, reason: toEnglish(answer) },
      'Alerts may not have been delivered. They are not sent again.',
    );
    return nextAt;
  }
  // Logged once per outage; the page shows later failures.
  if (failures === 0) {
    logger.warn(
      { event: 'alerts-send-failed', ...fields, reason: toEnglish(answer) },
      'Alerts could not be delivered; they are tried again.',
    );
  }
  return nextAt;
}

/** Returns the channel's name without the e-mail address of a person. */
function toChannelName(channel: string): AlertChannel | 'mail' {
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
  const used: readonly string[] = [...CHANNELS.filter((name) => settings[name] !== null), ...emails];
  const [first] = channels.filter(({ channel, failures }) => failures >= FAILURES_REPORTED && used.includes(channel));
  if (first === undefined) return null;
  const name = CHANNELS.find((channel) => channel === first.channel);
  return serverMessage('alerts_failed', {
    channel: name === undefined ? first.channel : { text: NAMES[name] },
    count: first.waiting,
    reason: toParam(first.answer),
  });
}
