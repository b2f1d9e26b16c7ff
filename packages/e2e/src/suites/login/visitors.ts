import { type RawAnswer, sendRaw } from '../../http/raw.js';
import { bytesOf, form, type TypedRequest } from '../../http/request.js';
import { authorised, callApi, type Session } from '../../http/session.js';
import { guardLog, isGuardRunning, securityOptimizer } from '../../stacks/guard-process.js';
import type { Stack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';

/** Sends a request to the site through guard, from an address of this machine such as 127.0.1.9. */
export function askFrom(stack: Stack, from: string, request: TypedRequest): Promise<RawAnswer> {
  return sendRaw(stack.port, bytesOf(stack, request), { from });
}

/** What WordPress's own login form sends. */
export function loginForm(
  login: string,
  password: string,
  more: { readonly path?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): TypedRequest {
  const fields = new URLSearchParams({ log: login, pwd: password, 'wp-submit': 'Log In', testcookie: '1' });
  const cookie = 'wordpress_test_cookie=WP%20Cookie%20check';
  return form(more.path ?? '/wp-login.php', fields.toString(), { cookie, ...more.headers });
}

/** Whether an answer makes a session. */
export function createsSession(answer: RawAnswer): boolean {
  return /^set-cookie: wordpress_logged_in_[0-9a-f]+=(?!\+|%20|;)[^;]+/im.test(answer.head);
}

/** Runs a recovery command of the product on the stack's site. Throws with its words when it fails. */
export async function recover(stack: Stack, ...words: string[]): Promise<string> {
  const lifted = (): number => guardLog(stack).filter(({ event }) => event === 'login-locks-lifted').length;
  // Guard hears of it a moment later, and would then forget failures of the next test.
  const isHeard = words.join(' ') === 'unblock --all' && isGuardRunning(stack);
  const before = isHeard ? lifted() : 0;
  const outcome = await securityOptimizer(...words, '--data-dir', stack.guardDir);
  if (outcome.code !== 0) throw new Error(`${words.join(' ')}: ${outcome.stderr}`);
  if (isHeard) await until('guard has heard of it', () => lifted() > before);
  return outcome.stdout;
}

/** Changes a setting of Login Security through the API, as the dashboard does. */
export async function change(stack: Stack, session: Session, suffix: string, body: unknown): Promise<unknown> {
  const answer = await callApi(stack, {
    path: `/wp-json/security-optimizer/v1${suffix}`,
    body: JSON.stringify(body),
    headers: authorised(session),
  });
  if (answer.body.status !== 200) throw new Error(`${suffix} can't be set: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

/** Everything a visitor can tell an answer by, but for what differs between any two. */
export function looks(answer: RawAnswer) {
  const { date: _, 'content-length': __, etag: ___, ...headers } = answer.headers;
  const body = answer.body.replace(/nonce["=:]+[0-9A-Za-z+/=]+/g, 'NONCE').replace(/[0-9a-f]{8,}/g, 'RANDOM');
  return { status: answer.status, headers, body };
}
