import { createHmac } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import { version } from '../lib/version.js';
import type { AlertText } from './alert-text.js';
import { parseWebhookUrl, resolveTarget } from './safe-target.js';
import { connectTo, type DeliveryOutcome, runDelivery, type SendDeps, TimedOut, toReset } from './sending.js';

export type { DeliveryOutcome } from './sending.js';

/** An alert as webhooks and system logs get it. */
export interface AlertMessage {
  readonly uid: string;
  readonly kind: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly site: { readonly id: string; readonly url: string };
  readonly text: AlertText;
  /** Number of alerts that this message combines. */
  readonly count?: number;
  /** The combined alerts, perhaps not all. */
  readonly alerts?: readonly {
    readonly id: string;
    readonly kind: string;
    /** Milliseconds since the Unix epoch. */
    readonly at: number;
    readonly title: string;
  }[];
}

/** Returns the response as a text for the owner: the status alone, or what it means. */
function toAnswer(status: number): ServerText {
  const code = String(status);
  if (status >= 200 && status < 300) return code;
  return serverMessage(status >= 300 && status < 400 ? 'alert_redirected' : 'alert_refused', { code });
}

/** Returns the body of a webhook: the envelope of Standard Webhooks with the alert. See docs/developer/alerts.md. */
export function toWebhookBody({ uid, kind, at, site, text, count, alerts }: AlertMessage): string {
  return JSON.stringify({
    type: `alert.${kind}`,
    timestamp: new Date(at).toISOString(),
    data: {
      ...{ id: uid, kind, site, severity: text.severity },
      ...{ title: text.headline, meaning: text.lead, action: text.task.text },
      ...{ link: text.task.button?.href ?? null, log: text.log },
      facts: [...text.facts, ...(alerts === undefined ? (text.list?.rows ?? []) : [])].map(({ name, value }) => ({
        name,
        value,
      })),
      ...(count === undefined ? {} : { count }),
      ...(alerts === undefined ? {} : { alerts: alerts.map(toCombined) }),
    },
  });
}

function toCombined({ id, kind, at, title }: NonNullable<AlertMessage['alerts']>[number]): object {
  return { id, kind, timestamp: new Date(at).toISOString(), title };
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

/** Sends an alert as signed JSON. Throws only the error of `onSend`. */
export function sendWebhook(
  { url, secret }: { readonly url: string; readonly secret: string },
  message: AlertMessage,
  deps: SendDeps & { readonly now: number },
): Promise<DeliveryOutcome> {
  const body = toWebhookBody(message);
  return post(url, body, signWebhook(secret, message.uid, body, deps.now), deps);
}

/** Posts a text to an incoming webhook of Slack. Throws only the error of `onSend`. */
export function sendToSlack(
  { url }: { readonly url: string },
  text: AlertText,
  deps: SendDeps,
): Promise<DeliveryOutcome> {
  return post(url, toSlackBody(text), {}, deps);
}

/** Returns the message for Slack and services with the same format. Only guard's own links are links in it. */
export function toSlackBody({ headline, lead, facts, list, task, log }: AlertText): string {
  const toLine = ({ name, value }: { readonly name: string; readonly value: string }) =>
    toSlackText(`${name}: ${value}`);
  const links = [task.button?.href ?? null, log].filter((href) => href !== null);
  const lines = [
    ...[headline, lead].map(toSlackText),
    ...facts.map(toLine),
    ...(list === undefined ? [] : [toSlackText(list.title), ...list.rows.map(toLine)]),
    toSlackText(`${task.title}: ${task.text}`),
    ...new Set(links),
  ];
  return JSON.stringify({ text: lines.join('\n'), mrkdwn: false, link_names: false, unfurl_links: false });
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

function post(
  address: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  deps: SendDeps,
): Promise<DeliveryOutcome> {
  const begin = performance.now();
  return runDelivery(deps, async ({ policy, resolve, onSend, limits }) => {
    let lastMs = begin + limits.exchangeMs;
    // Checked again, since the provider's configuration and DNS may have changed.
    const url = parseWebhookUrl(address, policy);
    const addresses = await resolveTarget(url.hostname, policy, resolve);
    const isSecure = url.protocol === 'https:';
    const { socket } = await connectTo(
      {
        ...{ host: url.hostname, port: Number(url.port || (isSecure ? 443 : 80)), addresses },
        tls: isSecure ? { authorities: policy.authorities, protocols: ['http/1.1'] } : null,
      },
      Math.min(limits.connectMs, lastMs - performance.now()),
    );
    try {
      const connected = performance.now();
      await onSend();
      // Guard's own work is no delay of the service.
      lastMs += performance.now() - connected;
      if (socket.destroyed) throw socket.errored ?? toReset();
      const status = await postBy(socket, url, body, headers, lastMs - performance.now());
      return { ok: status >= 200 && status < 300, answer: toAnswer(status) };
    } finally {
      socket.destroy();
    }
  });
}

/** Interim responses (1xx) that are ignored. A service that sends more never answers. */
const INTERIM_MAX = 20;

/**
 * Posts by a connection and returns the status. Redirects are not followed, and the response body is not read: an owner
 * must not see responses of services inside a network. A head of more than 16 KB is an error.
 */
function postBy(
  socket: Socket,
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  exchangeMs: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method: 'POST',
      createConnection: () => socket,
      maxHeaderSize: 16_384,
      headers: {
        ...headers,
        host: url.host,
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(body),
        'user-agent': `security-optimizer/${version}`,
      },
    });
    // Bounds the whole exchange: a service may send a byte now and then.
    const timer = setTimeout(() => request.destroy(new TimedOut('exchange')), Math.max(0, exchangeMs));
    let interim = 0;
    request.on('information', () => {
      if (++interim > INTERIM_MAX) request.destroy(Object.assign(new Error('no-response'), { code: 'EPROTO' }));
    });
    request.on('response', (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.on('error', reject);
    request.on('close', () => {
      clearTimeout(timer);
      reject(toReset());
    });
    request.end(body);
  });
}
