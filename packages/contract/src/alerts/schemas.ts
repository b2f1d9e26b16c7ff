import * as z from 'zod/mini';
import { alertRows } from '../settings/catalogue.js';
import { settingSchemas } from '../settings/options.js';
import { flag } from '../shapes.js';

/** Kinds of alerts, in the order of the page. */
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

/** Number of lockouts within an hour that counts as a wave. */
export const WAVE_LOCKOUTS = 10;
/** Quiet hours in the site's time zone: start and end in minutes after midnight. */
export const QUIET_FROM = 22 * 60;
export const QUIET_TO = 7 * 60;

/** The last delivery of a channel. */
const lastDelivery = z.object({
  /** Local time of the site, `YYYY-MM-DD HH:MM`. */
  at: z.string(),
  ok: flag,
  /** The status of the response, for example `200`, or why nothing was delivered. */
  text: z.string(),
  /** Number of alerts in the queue. */
  waiting: z.int(),
});

const kind = z.enum(ALERT_KINDS);

/** The settings of alerts for the tab Weekly Reports, without secrets. */
export const alertsSchema = z.object({
  /** Kinds that this version reports. */
  kinds: z.array(kind),
  /** Recipients in the order of the tab: whether they get the weekly report, and their alerts. */
  recipients: z.array(z.object({ email: z.string(), report: flag, kinds: z.array(kind) })),
  ...settingSchemas(alertRows),
  /** `address` is host and path without the query; for Slack only the host, because the path is a secret. */
  webhook: z.nullable(z.object({ address: z.string(), has_secret: flag, last: z.nullable(lastDelivery) })),
  slack: z.nullable(z.object({ address: z.string(), last: z.nullable(lastDelivery) })),
  syslog: z.nullable(
    z.object({
      host: z.string(),
      port: z.int(),
      protocol: z.enum(['udp', 'tcp']),
      framing: z.enum(['octets', 'lf']),
      last: z.nullable(lastDelivery),
    }),
  ),
});
export type Alerts = z.infer<typeof alertsSchema>;
export type AlertRecipient = Alerts['recipients'][number];
export type LastDelivery = z.infer<typeof lastDelivery>;
