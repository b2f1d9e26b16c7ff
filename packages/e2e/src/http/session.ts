import {
  type SecurityField,
  type SecurityOptions,
  siteSecurityToggles,
} from '@security-optimizer/contract/settings/protections';
import type { Stack } from '../stacks/stack.js';
import type { RawResponse } from './raw.js';
import { form, sendRequest } from './request.js';

/** The session of a logged-in user. */
export interface Session {
  readonly login: string;
  /** Value of the Cookie header. */
  readonly cookie: string;
  /** Nonce of WordPress's REST API. */
  readonly nonce: string;
}

/** Logs in through guard as a browser without JavaScript would. */
export async function logIn(stack: Stack, login: string = stack.user): Promise<Session> {
  const fields = new URLSearchParams({ log: login, pwd: stack.password, 'wp-submit': 'Log In', testcookie: '1' });
  const response = await sendRequest(
    stack,
    form('/wp-login.php', fields.toString(), { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' }),
  );
  const cookie = getCookies(response);
  if (!cookie.includes('wordpress_logged_in_')) throw new Error(`${login} could not log in: ${response.head}`);
  const nonce = await sendRequest(stack, { target: '/wp-admin/admin-ajax.php?action=rest-nonce', headers: { cookie } });
  return { login, cookie, nonce: nonce.body.trim() };
}

/** The value of the Cookie header that a browser would send after this response. */
export function getCookies({ head }: RawResponse): string {
  const pairs = new Map<string, string>();
  for (const [, name, value] of head.matchAll(/^set-cookie: ([^=]+)=([^;]*)/gim)) pairs.set(name ?? '', value ?? '');
  return [...pairs].map(([name, value]) => `${name}=${value}`).join('; ');
}

export interface ApiResponse {
  readonly http: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly data?: unknown;
    readonly message?: string;
    readonly status?: number;
    readonly code?: string;
    readonly fields?: Readonly<Record<string, string>>;
  };
}

/** Calls the product's API with a JSON body. The path may have any form that WordPress supports. */
export async function callApi(
  stack: Stack,
  call: { path: string; body?: string; method?: string; headers?: Readonly<Record<string, string>> },
): Promise<ApiResponse> {
  const response = await sendRequest(stack, {
    method: call.method ?? 'POST',
    target: call.path,
    headers: { accept: 'application/json', ...call.headers },
    ...(call.body === undefined ? {} : { body: call.body }),
  });
  return { http: response.status, headers: response.headers, body: JSON.parse(response.body) as ApiResponse['body'] };
}

export function authorised(session: Session): Record<string, string> {
  return { cookie: session.cookie, 'x-wp-nonce': session.nonce, 'content-type': 'application/json' };
}

const API = '/wp-json/security-optimizer/v1';

/** The seven options as stored on the server. */
export async function readOptions(stack: Stack, session: Session): Promise<SecurityOptions> {
  const response = await callApi(stack, {
    path: `${API}/fetch-options`,
    body: '{"page":"security"}',
    headers: authorised(session),
  });
  if (response.body.status !== 200) throw new Error(`Options can't be read: ${JSON.stringify(response.body)}`);
  return response.body.data as SecurityOptions;
}

/** Sets options through the API, one call each. */
export async function setOptions(
  stack: Stack,
  session: Session,
  wanted: Partial<Record<SecurityField, 0 | 1>>,
): Promise<void> {
  for (const { field, suffix } of siteSecurityToggles) {
    if (wanted[field] === undefined) continue;
    const response = await callApi(stack, {
      path: `${API}${suffix}`,
      body: JSON.stringify({ [field]: wanted[field] }),
      headers: authorised(session),
    });
    if (response.body.status !== 200) throw new Error(`${field} can't be set: ${JSON.stringify(response.body)}`);
  }
}

/** Every option on, or every option off. */
export function allOptions(value: 0 | 1): SecurityOptions {
  return Object.fromEntries(siteSecurityToggles.map(({ field }) => [field, value])) as SecurityOptions;
}

/** Answers the consent dialog: no, twice. */
export async function answerConsent(stack: Stack, session: Session): Promise<void> {
  const response = await callApi(stack, {
    method: 'PUT',
    path: '/wp-json/provider-settings/v1/update-settings',
    body: JSON.stringify({ siteground_settings_security: 1, siteground_data_consent: 0, siteground_email_consent: 0 }),
    headers: authorised(session),
  });
  if (response.body.status !== 200) throw new Error(`Consent can't be answered: ${JSON.stringify(response.body)}`);
}
