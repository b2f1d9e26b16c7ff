import { createHmac } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { plainText } from '../lib/plain-text.js';
import { version } from '../lib/version.js';
import type { AlertText } from './describe-alert.js';
import { parseWebhookUrl, type Resolve, resolveTarget, type TargetPolicy, TargetRefused } from './safe-target.js';

/** The outcome of a delivery. `answer` is a text for the owner. */
export interface DeliveryOutcome {
  readonly ok: boolean;
  readonly answer: ServerText;
}

/** An alert as webhooks and system logs get it. */
export interface AlertMessage {
  readonly uid: string;
  readonly kind: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly site: { readonly id: string; readonly url: string };
  readonly text: AlertText;
}

const TIMEOUT_MS = 10_000;

/** Returns the body of a webhook: the envelope of Standard Webhooks with the alert. See docs/developer/alerts.md. */
export function toWebhookBody({ uid, kind, at, site, text }: AlertMessage): string {
  return JSON.stringify({
    type: `alert.${kind}`,
    timestamp: new Date(at).toISOString(),
    data: {
      ...{ id: uid, kind, site, severity: text.severity },
      ...{ title: text.headline, meaning: text.lead, action: text.task.text, link: text.task.button?.href ?? null },
      facts: text.facts.map(({ name, value }) => ({ name, value })),
    },
  });
}

/**
 * Returns headers that sign a body by Standard Webhooks: HMAC-SHA-256 over id, time and body, so that none can be
 * changed and an old request can't be replayed.
 * @param secret `whsec_` and the key in base64
 * @param now milliseconds since the Unix epoch
 */
export function signWebhook(secret: string, id: string, body: string, now: number): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** Sends an alert as signed JSON. Never throws. */
export function sendWebhook(
  { url, secret }: { readonly url: string; readonly secret: string },
  message: AlertMessage,
  deps: { readonly policy: TargetPolicy; readonly resolve: Resolve; readonly now: number },
): Promise<DeliveryOutcome> {
  const body = toWebhookBody(message);
  return post(url, body, signWebhook(secret, message.uid, body, deps.now), deps);
}

/** Posts a text to an incoming webhook of Slack. Never throws. */
export function sendToSlack(
  { url }: { readonly url: string },
  texts: readonly AlertText[],
  deps: { readonly policy: TargetPolicy; readonly resolve: Resolve },
): Promise<DeliveryOutcome> {
  return post(url, toSlackBody(texts), {}, deps);
}

/** Returns the message for Slack and services with the same format. Only guard's own links are links in it. */
export function toSlackBody(texts: readonly AlertText[]): string {
  const blocks = texts.map(({ headline, lead, facts, task }) =>
    [
      toSlackText(headline),
      toSlackText(lead),
      ...facts.map(({ name, value }) => toSlackText(`${name}: ${value}`)),
      toSlackText(`${task.title}: ${task.text}`),
      ...(task.button === null ? [] : [task.button.href]),
    ].join('\n'),
  );
  return JSON.stringify({ text: blocks.join('\n\n'), mrkdwn: false, link_names: false, unfurl_links: false });
}

const ZERO_WIDTH = '\u200b';
const SLACK_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Escapes a text so that Slack reads no markup in it. Slack's control characters become entities. Characters that other
 * services read as Markdown, a mention or an address are followed by a zero-width space.
 */
function toSlackText(text: string): string {
  return text
    .replace(/[&<>]/g, (character) => SLACK_ENTITIES[character] as string)
    .replace(/[*_~`[\]|@#!\\]|:\/\//g, (characters) => `${characters[0]}${ZERO_WIDTH}${characters.slice(1)}`)
    .replace(/\bwww\./gi, (characters) => `www${ZERO_WIDTH}${characters.slice(3)}`);
}

async function post(
  address: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  { policy, resolve }: { readonly policy: TargetPolicy; readonly resolve: Resolve },
): Promise<DeliveryOutcome> {
  try {
    // Checked again, since the provider's configuration and DNS may have changed.
    const url = parseWebhookUrl(address, policy);
    const addresses = await resolveTarget(url.hostname, policy, resolve);
    const status = await postTo(url, addresses, body, headers);
    return { ok: status >= 200 && status < 300, answer: String(status) };
  } catch (error) {
    return { ok: false, answer: error instanceof TargetRefused ? error.text : toReason(error) };
  }
}

/**
 * Posts to one of these addresses and no other. Redirects are not followed, and the response body is not read: an owner
 * must not see responses of services inside a network.
 */
function postTo(
  url: URL,
  addresses: readonly { readonly text: string; readonly family: 4 | 6 }[],
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const all = addresses.map(({ text, family }) => ({ address: text, family }));
  const pinned: LookupFunction = (_host, options, done) => {
    if (options.all) done(null, all);
    else done(null, (all[0] as (typeof all)[number]).address, (all[0] as (typeof all)[number]).family);
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(
      url,
      {
        ...{ method: 'POST', lookup: pinned, agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) },
        headers: {
          ...headers,
          'content-type': 'application/json; charset=utf-8',
          'content-length': Buffer.byteLength(body),
          'user-agent': `security-optimizer/${version}`,
        },
      },
      (response) => {
        resolve(response.statusCode ?? 0);
        response.destroy();
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const REASON_MAX = 120;

/** Returns why nothing was delivered, without the address, which may contain a secret. */
export function toReason(error: unknown): ServerText {
  const { name, code } = error as { readonly name?: string; readonly code?: unknown };
  if (name === 'AbortError' || name === 'TimeoutError' || code === 'ETIMEDOUT') {
    return 'The service did not answer within 10 seconds.';
  }
  if (code === 'ECONNREFUSED') return 'Nothing answers at this address.';
  const isTls = typeof code === 'string' && /CERT|TLS|SSL|ERR_TLS|SELF_SIGNED|UNABLE_TO/.test(code);
  if (isTls) return 'The certificate of the service can’t be trusted.';
  return serverMessage('alert_connection_failed', { code: plainText(String(code ?? name ?? ''), REASON_MAX) });
}
