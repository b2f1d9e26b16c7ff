import { createHmac, randomBytes } from 'node:crypto';
import type { RawResponse } from '../../http/raw.js';
import { form, type TypedRequest } from '../../http/request.js';
import type { Session } from '../../http/session.js';
import { until } from '../../stacks/until.js';
import { FormBrowser, sendFrom } from '../login/helpers.js';
import { type Shop, TLS_PROXY } from './shop-site.js';

/** One run of the steps in a shop, with its own names and addresses. */
export interface Visit {
  readonly shop: Shop;
  /** Distinguishes the runs, in logins for example. */
  readonly name: string;
  /** The owner's session in this run. */
  readonly owner: Session;
  /** A browser with an unused client address. */
  browser(): FormBrowser;
}

/** An action of people or programs in a shop. */
export interface Step {
  readonly title: string;
  run(visit: Visit): Promise<unknown>;
  /** The expected result, also in the run without guard. */
  readonly outcome: unknown;
}

export const PASSWORD = 'a long enough pass-phrase 7';

let last = 0;

export function startVisit(shop: Shop, name: string, owner: Session): Visit {
  return { shop, name, owner, browser: () => new FormBrowser(shop, `127.0.71.${++last}`, 'A browser') };
}

/** E-mail address of a customer, which is also a login. */
export function toCustomerEmail({ name }: Visit, which: string): string {
  return `${which}-${name}@example.com`;
}

/** Sends the login form of the page *My account*. */
export async function logInAtMyAccount(browser: FormBrowser, login: string, password: string): Promise<RawResponse> {
  const page = await browser.get('/my-account/');
  const nonce = { 'woocommerce-login-nonce': field(page, 'woocommerce-login-nonce') };
  return browser.request(post('/my-account/', { username: login, password, login: 'Log in', ...nonce }));
}

/** Whether *My account* shows an account instead of the login form. */
export function isLoggedIn(body: string): boolean {
  return body.includes('customer-logout') && !body.includes('woocommerce-login-nonce');
}

/** Value of a field of a page, by its name. */
export function field({ body }: RawResponse, name: string): string {
  const input = new RegExp(`<input[^>]*\\bname=["']${name}["'][^>]*>`).exec(body)?.[0] ?? '';
  return attribute(input, 'value');
}

/** The fields that a browser would send of a form: those with a name that are not disabled, without the buttons. */
export function readFormFields({ body }: RawResponse, formId: string): Record<string, string> {
  const start = body.search(new RegExp(`<form[^>]*\\bid=["']${formId}["']`));
  const form = body.slice(start, body.indexOf('</form>', start));
  const fields: Record<string, string> = {};
  for (const [tag, kind, text = ''] of form.matchAll(/<(input|select|textarea)\b[^>]*>(?:([^<]*)<\/textarea>)?/g)) {
    const name = attribute(tag, 'name');
    const type = attribute(tag, 'type');
    if (name === '' || /\bdisabled\b/.test(tag) || /^(?:submit|button|file)$/.test(type)) continue;
    if (/^(?:checkbox|radio)$/.test(type) && !/\bchecked\b/.test(tag)) continue;
    fields[name] = kind === 'input' ? attribute(tag, 'value') : decode(text.trim());
  }
  for (const [, tag = '', options = ''] of form.matchAll(/<select\b([^>]*)>([\s\S]*?)<\/select>/g)) {
    const chosen = /<option\b[^>]*\bselected\b[^>]*>/.exec(options)?.[0] ?? /<option\b[^>]*>/.exec(options)?.[0];
    if (chosen !== undefined) fields[attribute(tag, 'name')] = attribute(chosen, 'value');
  }
  return fields;
}

function attribute(tag: string, name: string): string {
  return decode(
    new RegExp(`\\b${name}=(?:"([^"]*)"|'([^']*)')`)
      .exec(tag)
      ?.slice(1)
      .find((value) => value !== undefined) ?? '',
  );
}

/** Decodes HTML entities of a link. */
export function decode(text: string): string {
  return text
    .replace(/&quot;/g, '"')
    .replace(/&#0?39;/g, "'")
    .replace(/&(?:amp|#0?38);/g, '&');
}

/** Path and query of a URL of the site. */
export function toPath(url: string | undefined): string {
  return decode(url ?? '/no-address').replace(/^https?:\/\/[^/]+/, '');
}

export function post(target: string, fields: Readonly<Record<string, string>>): TypedRequest {
  return form(target, new URLSearchParams(fields).toString());
}

export function json(
  method: string,
  target: string,
  body?: unknown,
  headers: Record<string, string> = {},
): TypedRequest {
  if (body === undefined) return { method, target, headers };
  return { method, target, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

/** Parses a response as JSON. Returns its text if it is not JSON. */
// biome-ignore lint/suspicious/noExplicitAny: answers of another program, looked into and never handed on.
export function parseResponse({ body }: RawResponse): any {
  try {
    return JSON.parse(body);
  } catch {
    return { text: body.slice(0, 300) };
  }
}

/** Waits for a mail of the shop to an address. @returns the first link that contains a text */
export function mailedLink(shop: Shop, address: string, holds: string): Promise<string> {
  return until(`a mail to ${address} with ${holds} is there`, () => {
    const mails = shop.mails().filter((text) => new RegExp(`^To: .*${address}`, 'im').test(text));
    const texts = mails.map((text) => text.replace(/=\r?\n/g, '').replace(/=3D/g, '='));
    const links = texts.flatMap((text) => text.match(/https?:\/\/[^\s"'<>]+/g) ?? []);
    const link = links.find((each) => each.includes(holds));
    return link === undefined ? null : decode(link);
  });
}

/** How programs use the keys of the REST API: over https as Basic or in the query, over http signed with OAuth 1.0a. */
export const programs = {
  basic: (visit: Visit, request: TypedRequest, secret = visit.shop.keys.secret) =>
    overHttps(visit, request, { authorization: `Basic ${btoa(`${visit.shop.keys.key}:${secret}`)}` }),
  query(visit: Visit, request: TypedRequest, secret = visit.shop.keys.secret) {
    const keys = new URLSearchParams({ consumer_key: visit.shop.keys.key, consumer_secret: secret });
    const mark = request.target.includes('?') ? '&' : '?';
    return overHttps(visit, { ...request, target: `${request.target}${mark}${keys}` }, {});
  },
  oauth(visit: Visit, request: TypedRequest, secret = visit.shop.keys.secret) {
    const { shop } = visit;
    const url = new URL(request.target, shop.url);
    const params = {
      ...Object.fromEntries(url.searchParams),
      oauth_consumer_key: shop.keys.key,
      oauth_nonce: randomBytes(8).toString('hex'),
      oauth_signature_method: 'HMAC-SHA256',
      oauth_timestamp: String(Math.floor(Date.now() / 1000)),
    };
    const pairs = Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1));
    const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
    const base = [request.method ?? 'GET', url.origin + url.pathname, text].map(encodeURIComponent).join('&');
    const signature = createHmac('sha256', `${secret}&`).update(base).digest('base64');
    const query = new URLSearchParams({ ...params, oauth_signature: signature });
    return sendFrom(shop, '127.0.71.201', { ...request, target: `${url.pathname}?${query}` });
  },
} as const;

export function overHttps(
  { shop }: Visit,
  request: TypedRequest,
  headers: Readonly<Record<string, string>>,
): Promise<RawResponse> {
  const proxy = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.71' };
  return sendFrom(shop, TLS_PROXY, { ...request, headers: { ...request.headers, ...proxy, ...headers } });
}
