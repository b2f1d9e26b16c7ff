import * as z from 'zod/mini';
import { messages } from '../messages.js';
import { integerBetween, noInput, type RequestsOf } from '../request.js';
import type { SettingCalls } from '../settings/endpoints.js';
import { toggleValue } from '../shapes.js';
import { dropUnseen, toPlainText } from '../typed-text.js';
import { SYSLOG_FRAMINGS, SYSLOG_PROTOCOLS } from './catalogue.js';
import type { alertEndpoints } from './endpoints.js';
import { ALERT_KINDS } from './schemas.js';

/** Maximum length of a webhook's URL. */
const WEBHOOK_URL_MAX = 2000;

const url = z
  .string({ error: messages.required })
  .check(z.overwrite(dropUnseen), z.maxLength(WEBHOOK_URL_MAX, messages.longUrl));
const protocol = z.enum(SYSLOG_PROTOCOLS, { error: 'Use udp, tcp or tls.' });
const framing = z.enum(SYSLOG_FRAMINGS, { error: 'Use octets or lf.' });

export const alertRequests = {
  fetchAlerts: {
    summary: 'The alerts of each recipient, the channels with their last delivery, the limit and the quiet hours.',
    schema: noInput,
  },
  'update:alert_recipient': {
    summary: 'Set what a recipient of the tab Weekly Reports gets: the weekly report (1) or not (0), and the alerts.',
    schema: z.object({
      email: z.string({ error: messages.required }).check(z.minLength(1, messages.required)),
      report: toggleValue,
      kinds: z.array(z.enum(ALERT_KINDS, { error: 'Use kinds of alerts.' }), { error: 'Send a list of kinds.' }),
    }),
  },
  'update:alert_webhook': {
    summary:
      'Set the URL to which each alert is posted, and the secret that signs it (`whsec_` and base64, as in Standard ' +
      'Webhooks). An absent `url` or `secret` keeps the stored one; an empty `url` switches the webhook off.',
    schema: z.object({
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
  },
  'update:alert_slack': {
    summary: 'Set the URL of an incoming webhook of Slack, or of a service with the same format; empty = off.',
    schema: z.object({ url }),
  },
  'update:alert_syslog': {
    summary:
      'Set the syslog server (RFC 5424) for alerts. `tls` is TCP with encryption and a checked certificate (RFC 5425). ' +
      '`framing` applies to TCP (RFC 6587): octet counting, or a line feed at the end. An empty `host` switches it off.',
    schema: z.object({
      host: z
        .string({ error: messages.required })
        .check(z.overwrite(toPlainText), z.maxLength(253, messages.invalidFormat)),
      port: z._default(integerBetween(1, 65_535, 'Use a port from 1 to 65535.'), 514),
      protocol: z._default(protocol, 'udp'),
      framing: z._default(framing, 'octets'),
    }),
  },
  testAlerts: {
    summary: 'Send a test alert by one channel now. By mail it is sent to all recipients of alerts.',
    schema: z.object({
      channel: z.enum(['mail', 'webhook', 'slack', 'syslog'], { error: 'Use mail, webhook, slack or syslog.' }),
    }),
  },
} satisfies RequestsOf<Exclude<(typeof alertEndpoints)[number], SettingCalls>>;
