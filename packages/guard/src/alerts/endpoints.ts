import { domainToASCII } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { AlertChannel } from '@security-optimizer/contract/alerts/catalogue';
import type { alertEndpoints as calls } from '@security-optimizer/contract/alerts/endpoints';
import type { Alerts, LastDelivery } from '@security-optimizer/contract/alerts/schemas';
import { messages } from '@security-optimizer/contract/messages';
import { type ServerText, toParam, type WithMessages } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { toResponseValues } from '@security-optimizer/contract/settings/catalogue';
import type { SettingCalls } from '@security-optimizer/contract/settings/endpoints';
import type { CallContext, CallHandlers } from '../feature.js';
import { ApiError } from '../lib/api-error.js';
import { toLocalTimestamp } from '../lib/time-zone.js';
import type { Services } from '../services.js';
import type { AuditEntry } from '../settings/audit-store.js';
import type { SiteConfig, SiteId } from '../site.js';
import {
  type AlertSettings,
  type AlertSettingsStore,
  getRecipientAlerts,
  listAlertedEmails,
  OFFERED_KINDS,
} from './alert-settings.js';
import { composeTest, describeTest } from './compose-mail.js';
import { type AlertDelivery, sendToPerson, sendToProgram } from './deliver-alerts.js';
import { parseWebhookUrl, resolveTarget, TargetRefused } from './safe-target.js';
import type { DeliveryOutcome } from './webhook.js';

/** The endpoints of the simple settings are served with those of all simple settings. */
export type AlertCalls = Exclude<(typeof calls)[number], SettingCalls>;

type AlertsResponse = WithMessages<Alerts>;

/** Test messages of a site within `TESTS_MS`. They are limited because they are sent to other people. */
const TESTS_MAX = 20;
const TESTS_MS = 10 * 60_000;

export interface AlertEndpointParts extends AlertDelivery {
  readonly store: AlertSettingsStore;
  /** Makes the queue of a site due soon. */
  readonly wake: (site: SiteId) => void;
  /** Called when rows were added to the record of changes. */
  readonly onAudit: () => void;
}

/** The endpoints of alerts on the tab Weekly Reports. */
export function alertEndpoints(services: Services, parts: AlertEndpointParts): CallHandlers<AlertCalls> {
  const { sites, audit, mutex, clock } = services;
  const { store, queue, emails, policy, resolve } = parts;
  const tests = new Map<SiteId, number[]>();

  async function getResponse(site: SiteConfig): Promise<AlertsResponse> {
    const settings = store.get(site.id);
    const states = await queue.listChannels(site.id, clock());
    const last = (channel: string): WithMessages<LastDelivery> | null => {
      const state = states.find((item) => item.channel === channel);
      if (state === undefined) return null;
      const at =
        state.lastAt === null ? '' : toLocalTimestamp(sites.timeZone(site.id), Math.floor(state.lastAt / 1000));
      const { lost } = state;
      return {
        at,
        ok: state.failures === 0 ? 1 : 0,
        text: state.answer,
        waiting: state.waiting,
        lost: lost?.count ?? 0,
        lost_text: lost?.reason ?? '',
      };
    };
    const { webhook, slack, syslog } = settings;
    return {
      kinds: [...OFFERED_KINDS],
      recipients: emails(site.id).map((email) => {
        const { report, kinds } = getRecipientAlerts(settings, email);
        return {
          ...{ email, report: report ? 1 : 0, last: last(email) },
          kinds: OFFERED_KINDS.filter((kind) => kinds.includes(kind)),
        };
      }),
      ...toResponseValues('alerts', sites.get(site.id).settings.alerts),
      webhook: webhook && { address: withoutQuery(webhook.url), has_secret: 1, last: last('webhook') },
      slack: slack && { address: new URL(slack.url).host, last: last('slack') },
      syslog: syslog && { ...syslog, last: last('syslog') },
    };
  }

  /** Changes the settings of a site. The audit rows contain no secret. */
  async function change(
    { site, actor }: CallContext,
    decide: (now: AlertSettings) => { readonly settings: AlertSettings; readonly entries: readonly AuditEntry[] },
  ): Promise<void> {
    await mutex.run(site.id, async () => {
      const { settings, entries } = decide(store.get(site.id));
      await store.set(site.id, settings);
      const changed = entries.filter(({ before, after }) => before !== after);
      await audit.add(site.id, { actor, at: clock() }, changed);
      parts.onAudit();
    });
  }

  async function setChannel<Name extends AlertChannel>(
    context: CallContext,
    channel: Name,
    decide: (now: AlertSettings[Name]) => AlertSettings[Name],
  ): Promise<{ data: AlertsResponse; message: string }> {
    await change(context, (now) => {
      const settings = { ...now, [channel]: decide(now[channel]) };
      const entry = {
        name: `alert_${channel}`,
        before: toTargetText(now, channel),
        after: toTargetText(settings, channel),
      };
      // The rest of an address is a secret, and one host has the addresses of many: a change of it is recorded without it.
      const isSecret = entry.before === entry.after && !isDeepStrictEqual(now[channel], settings[channel]);
      return { settings, entries: [isSecret ? { ...entry, after: `${entry.after}, changed` } : entry] };
    });
    const { id } = context.site;
    if (store.get(id)[channel] === null) await queue.dropChannel(id, channel);
    else await queue.resetChannel(id, channel);
    parts.wake(id);
    const isOn = store.get(id)[channel] !== null;
    return {
      data: await getResponse(context.site),
      message: isOn ? 'Alerts go there from now on.' : 'No alerts go there any more.',
    };
  }

  /** @throws ApiError with a text at the field when the target may not be used */
  async function checkTarget(field: string, check: () => Promise<unknown>): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof TargetRefused)) throw error;
      throw new ApiError('invalid_input', { fields: { [field]: error.text } });
    }
  }

  const checkUrl = (url: string) =>
    checkTarget('url', async () => resolveTarget(parseWebhookUrl(url, policy).hostname, policy, resolve));

  function countTest(site: SiteId): void {
    const now = clock();
    const recent = (tests.get(site) ?? []).filter((at) => Math.abs(now - at) < TESTS_MS);
    if (recent.length >= TESTS_MAX) throw new ApiError('too_many_calls');
    tests.set(site, [...recent, now]);
  }

  async function test(
    site: SiteConfig,
    channel: 'mail' | AlertChannel,
  ): Promise<DeliveryOutcome & { readonly sent: number }> {
    const described = await parts.describe(site);
    const text = describeTest(described, clock());
    if (channel === 'mail') {
      const to = listAlertedEmails(store.get(site.id), emails(site.id));
      if (to.length === 0)
        return {
          ...{ ok: false, sent: 0 },
          answer:
            emails(site.id).length === 0
              ? 'Nobody gets alerts yet. Add an e-mail address, then choose its alerts with the pencil.'
              : 'Nobody gets alerts yet. Choose them with the pencil.',
        };
      const outcomes = await Promise.all(
        to.map(async (email) => ({
          ...(await sendToPerson(parts, site, email, composeTest(text, described, email), atOnce)),
          email,
        })),
      );
      const failed = outcomes.find(({ ok }) => !ok);
      const answer: ServerText =
        failed === undefined
          ? ''
          : serverMessage('alert_mail_failed', { email: failed.email, reason: toParam(failed.answer) });
      return { ok: failed === undefined, sent: outcomes.filter(({ ok }) => ok).length, answer };
    }
    const message = {
      ...{ uid: `test-${clock()}`, kind: 'test', at: clock() },
      site: { id: site.id, url: described.url },
      text,
    };
    const outcome =
      channel === 'slack'
        ? await sendToPerson(parts, site, channel, composeTest(text, described, ''), atOnce)
        : await sendToProgram(parts, site, channel, message, atOnce);
    if (store.get(site.id)[channel] !== null) {
      const failures = outcome.ok ? 0 : 1;
      await queue.setChannel(site.id, channel, { failures, nextAt: 0, lastAt: clock(), answer: outcome.answer });
      parts.wake(site.id);
    }
    return { ...outcome, sent: outcome.ok ? 1 : 0 };
  }

  return {
    fetchAlerts: async (_input, { site }) => ({ data: await getResponse(site), message: '' }),

    async 'update:alert_recipient'({ email, report, kinds }, context) {
      const { site } = context;
      if (!emails(site.id).includes(email)) throw new ApiError('not_found');
      await change(context, (now) => {
        const gets = { report: report === 1, kinds: OFFERED_KINDS.filter((kind) => kinds.includes(kind)) };
        const before = getRecipientAlerts(now, email);
        const entry = {
          name: 'alert_recipient',
          before: toRecipientText(email, before),
          after: toRecipientText(email, gets),
        };
        return { settings: { ...now, recipients: { ...now.recipients, [email]: gets } }, entries: [entry] };
      });
      return { data: await getResponse(site), message: 'Saved.' };
    },

    async 'update:alert_webhook'({ url, secret }, context) {
      const now = store.get(context.site.id).webhook;
      if (url === '') return setChannel(context, 'webhook', () => null);
      const wanted = { url: url ?? now?.url, secret: secret ?? now?.secret };
      if (wanted.url === undefined) throw new ApiError('invalid_input', { fields: { url: messages.required } });
      if (wanted.secret === undefined) throw new ApiError('invalid_input', { fields: { secret: messages.required } });
      await checkUrl(wanted.url);
      const webhook = { url: wanted.url, secret: wanted.secret };
      return setChannel(context, 'webhook', () => webhook);
    },

    async 'update:alert_slack'({ url }, context) {
      if (url === '') return setChannel(context, 'slack', () => null);
      await checkUrl(url);
      return setChannel(context, 'slack', () => ({ url }));
    },

    async 'update:alert_syslog'({ host: typed, port, protocol, framing }, context) {
      if (typed === '') return setChannel(context, 'syslog', () => null);
      // A name in another script, as DNS has it.
      const host = domainToASCII(typed) || typed;
      if (!HOST.test(host)) {
        throw new ApiError('invalid_input', { fields: { host: 'Enter the name or the address of a server.' } });
      }
      await checkTarget('host', () => resolveTarget(host, policy, resolve));
      return setChannel(context, 'syslog', () => ({ host, port, protocol, framing }));
    },

    async testAlerts({ channel }, { site }) {
      countTest(site.id);
      const { ok, sent, answer: text } = await test(site, channel);
      return { data: { ok: ok ? 1 : 0, sent, text, alerts: await getResponse(site) }, message: '' };
    },
  };
}

/** A test is not in the queue. */
const atOnce = async (): Promise<void> => undefined;

/** A host name or an address without brackets. */
const HOST = /^[a-zA-Z0-9._:-]{1,253}$/;

/** Returns host and path. A query often contains a token. */
function withoutQuery(text: string): string {
  const { host, pathname, search } = new URL(text);
  return `${host}${pathname === '/' ? '' : pathname}${search === '' ? '' : '?…'}`;
}

/** Returns the targets of a channel for the Activity Log: hosts alone. */
function toTargetText({ webhook, slack, syslog }: AlertSettings, channel: AlertChannel): string {
  const hosts = {
    webhook: webhook && new URL(webhook.url).host,
    slack: slack && new URL(slack.url).host,
    syslog: syslog && `${syslog.host}:${syslog.port} (${syslog.protocol})`,
  };
  return hosts[channel] ?? 'Off';
}

function toRecipientText(email: string, { report, kinds }: AlertSettings['recipients'][string]): string {
  return `${email}: ${[...(report ? ['report'] : []), ...kinds].join(', ') || 'nothing'}`;
}
