import * as z from 'zod/mini';
import { endpoint } from '../endpoint.js';
import { messages } from '../messages.js';
import { flag, integerBetween, toggleValue } from '../shapes.js';
import { dropUnseen, toPlainText } from '../typed-text.js';
import { ALERT_KINDS, ALERTS_PER_HOUR, alertsSchema, WEBHOOK_URL_MAX } from './schemas.js';

const url = z
  .string({ error: messages.required })
  .check(z.overwrite(dropUnseen), z.maxLength(WEBHOOK_URL_MAX, messages.invalidFormat));
const protocol = z.enum(['udp', 'tcp'], { error: 'Use udp or tcp.' });
const framing = z.enum(['octets', 'lf'], { error: 'Use octets or lf.' });

export const fetchAlerts = endpoint({
  name: 'fetchAlerts',
  suffix: '/alerts',
  methods: ['POST', 'GET'],
  summary: 'The alerts of each recipient, the channels with their last delivery, the limit and the quiet hours.',
  request: z.object({}),
  response: alertsSchema,
});

export const updateAlertRecipient = endpoint({
  name: 'update:alert_recipient',
  suffix: '/alert-recipient',
  methods: ['POST'],
  summary: 'Set what a recipient of the tab Weekly Reports gets: the weekly report (1) or not (0), and the alerts.',
  request: z.object({
    email: z.string({ error: messages.required }).check(z.minLength(1, messages.required)),
    report: toggleValue,
    kinds: z.array(z.enum(ALERT_KINDS, { error: 'Use kinds of alerts.' }), { error: 'Send a list of kinds.' }),
  }),
  response: alertsSchema,
});

export const updateAlertWebhook = endpoint({
  name: 'update:alert_webhook',
  suffix: '/alert-webhook',
  methods: ['POST'],
  summary:
    'Set the URL to which each alert is posted, and the secret that signs it (`whsec_` and base64, as in Standard ' +
    'Webhooks). An absent `url` or `secret` keeps the stored one; an empty `url` switches the webhook off.',
  request: z.object({
    url: z.optional(url),
    secret: z.optional(
      z
        .string({ error: messages.invalidFormat })
        .check(
          z.overwrite(dropUnseen),
          z.regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, 'Use whsec_ and 24 to 64 bytes in base64.'),
        ),
    ),
  }),
  response: alertsSchema,
});

export const updateAlertSlack = endpoint({
  name: 'update:alert_slack',
  suffix: '/alert-slack',
  methods: ['POST'],
  summary: 'Set the URL of an incoming webhook of Slack, or of a service with the same format; empty = off.',
  request: z.object({ url }),
  response: alertsSchema,
});

export const updateAlertSyslog = endpoint({
  name: 'update:alert_syslog',
  suffix: '/alert-syslog',
  methods: ['POST'],
  summary:
    'Set the syslog server (RFC 5424) for alerts. `framing` applies to TCP (RFC 6587): octet counting, or a line ' +
    'feed at the end. An empty `host` switches it off.',
  request: z.object({
    host: z
      .string({ error: messages.required })
      .check(z.overwrite(toPlainText), z.maxLength(253, messages.invalidFormat)),
    port: z._default(integerBetween(1, 65_535, 'Use a port from 1 to 65535.'), 514),
    protocol: z._default(protocol, 'udp'),
    framing: z._default(framing, 'octets'),
  }),
  response: alertsSchema,
});

export const updateAlertLimits = endpoint({
  name: 'update:alert_limits',
  suffix: '/alert-limits',
  methods: ['POST'],
  summary: 'Set the maximum number of mails per hour (2, 4 or 10), and whether alerts wait from 22:00 to 07:00.',
  request: z.object({
    per_hour: z.optional(z.literal([...ALERTS_PER_HOUR], { error: 'Use 2, 4 or 10.' })),
    quiet_hours: z.optional(toggleValue),
  }),
  response: alertsSchema,
});

export const testAlerts = endpoint({
  name: 'testAlerts',
  suffix: '/alert-test',
  methods: ['POST'],
  summary: 'Send a test alert by one channel now. By mail it is sent to all recipients of alerts.',
  request: z.object({
    channel: z.enum(['mail', 'webhook', 'slack', 'syslog'], { error: 'Use mail, webhook, slack or syslog.' }),
  }),
  /** `sent`: number of recipients, for mail. */
  response: z.object({ ok: flag, sent: z.int(), text: z.string(), alerts: alertsSchema }),
});

/** Endpoints of the alerts on the tab Weekly Reports. */
export const alertEndpoints = [
  fetchAlerts,
  updateAlertRecipient,
  updateAlertWebhook,
  updateAlertSlack,
  updateAlertSyslog,
  updateAlertLimits,
  testAlerts,
] as const;
