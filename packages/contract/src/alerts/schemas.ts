import * as z from 'zod/mini';
import { alertRows } from '../settings/catalogue.js';
import { settingSchemas } from '../settings/options.js';
import { flag } from '../shapes.js';
import { alertKinds, SYSLOG_FRAMINGS, SYSLOG_PROTOCOLS } from './catalogue.js';

/** The names of all kinds, in the order of the page. */
export const ALERT_KINDS = /* @__PURE__ */ alertKinds.map(({ kind }) => kind);

/** The last delivery of a channel. */
const lastDelivery = z.object({
  /** Local time of the site, `YYYY-MM-DD HH:MM`; empty if nothing was sent yet. */
  at: z.string(),
  ok: flag,
  /** The status of the response, for example `200`, or why nothing was delivered. */
  text: z.string(),
  /** Number of alerts in the queue. */
  waiting: z.int(),
  /** Number of alerts of the last 7 days that were not delivered, or perhaps not, and will not be tried again. */
  lost: z._default(z.int(), 0),
  /** Why the latest of them was not; empty if there are none. */
  lost_text: z._default(z.string(), ''),
});

const kind = z.enum(ALERT_KINDS);

/** The settings of alerts for the tab Weekly Reports, without secrets. */
export const alertsSchema = z.object({
  /** Kinds that this version reports. */
  kinds: z.array(kind),
  /** Recipients in the order of the tab: whether they get the weekly report, and their alerts. */
  recipients: z.array(
    z.object({
      email: z.string(),
      report: flag,
      kinds: z.array(kind),
      last: z._default(z.nullable(lastDelivery), null),
    }),
  ),
  ...settingSchemas(alertRows),
  /** `address` is host and path without the query; for Slack only the host, because the path is a secret. */
  webhook: z.nullable(z.object({ address: z.string(), has_secret: flag, last: z.nullable(lastDelivery) })),
  slack: z.nullable(z.object({ address: z.string(), last: z.nullable(lastDelivery) })),
  syslog: z.nullable(
    z.object({
      host: z.string(),
      port: z.int(),
      protocol: z.enum(SYSLOG_PROTOCOLS),
      framing: z.enum(SYSLOG_FRAMINGS),
      last: z.nullable(lastDelivery),
    }),
  ),
});
export type Alerts = z.infer<typeof alertsSchema>;
export type AlertRecipient = Alerts['recipients'][number];
export type LastDelivery = z.infer<typeof lastDelivery>;
