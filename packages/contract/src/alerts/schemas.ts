import * as z from 'zod/mini';
import { flag } from '../shapes.js';

/** What a recipient can be told at once, in the order of the page. */
export const ALERT_KINDS = [
  'new-administrator',
  'administrator-login',
  'lockout-wave',
  'checkup-finding',
  'protection-off',
  'software-added',
  'vulnerability-found',
  'trouble',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Lockouts within an hour from which on they count as a wave. */
export const WAVE_LOCKOUTS = 10;
/** Choices of the limit: mails, and messages to Slack, within one hour. */
export const ALERTS_PER_HOUR = [2, 4, 10] as const;
export const DEFAULT_ALERTS_PER_HOUR = 4;
/** Quiet hours on the site's clock, from and to, in minutes after midnight. */
export const QUIET_FROM = 22 * 60;
export const QUIET_TO = 7 * 60;

/** Longest address of a webhook. */
export const WEBHOOK_URL_MAX = 2000;

/** The last attempt of a channel. */
const lastAnswer = z.object({
  /** Local time of the site, `YYYY-MM-DD HH:MM`. */
  at: z.string(),
  ok: flag,
  /** The answer in words, for example `200`, or why nothing was delivered. */
  text: z.string(),
  /** Alerts that wait to be delivered. */
  waiting: z.int(),
});

const kind = z.enum(ALERT_KINDS);

/** Alerts of a site, as the tab Weekly Reports shows them. Secrets are never part of it. */
export const alertsSchema = z.object({
  /** Kinds that this guard can report. */
  kinds: z.array(kind),
  /** Recipients of the tab, in its order: whether they get the weekly report, and which alerts. */
  recipients: z.array(z.object({ email: z.string(), report: flag, kinds: z.array(kind) })),
  per_hour: z.int(),
  quiet_hours: flag,
  /** `address` is host and path without the query; of Slack the host alone, since its path is a secret. */
  webhook: z.nullable(z.object({ address: z.string(), has_secret: flag, last: z.nullable(lastAnswer) })),
  slack: z.nullable(z.object({ address: z.string(), last: z.nullable(lastAnswer) })),
  syslog: z.nullable(
    z.object({
      host: z.string(),
      port: z.int(),
      protocol: z.enum(['udp', 'tcp']),
      framing: z.enum(['octets', 'lf']),
      last: z.nullable(lastAnswer),
    }),
  ),
});
export type Alerts = z.infer<typeof alertsSchema>;
export type AlertRecipient = Alerts['recipients'][number];
export type LastAnswer = z.infer<typeof lastAnswer>;
