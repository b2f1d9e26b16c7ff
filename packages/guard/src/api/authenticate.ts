import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../lib/api-error.js';
import type { WordPressUser } from '../wordpress/connector-answers.js';
import type { Sessions } from '../wordpress/session.js';
import type { ApiCall } from './api-call.js';
import { isSameSite } from './same-site.js';

/**
 * Finds out who is calling. Runs before a body is read, so that strangers cost as little as possible.
 *
 * @param fresh the call changes something, so a remembered answer is not enough
 * @param isWanted false once the caller has gone
 * @returns the administrator who calls
 * @throws ApiError cross_site, rest_cookie_invalid_nonce, rest_forbidden, too_many_calls, wordpress_busy, or a fault of
 *   the connector
 */
export async function authenticate(
  sessions: Pick<Sessions, 'who'>,
  call: ApiCall,
  headers: IncomingHttpHeaders,
  fresh: boolean,
  isWanted: () => boolean,
): Promise<WordPressUser> {
  if (!isSameSite(headers, call.host)) throw new ApiError('cross_site');
  const cookie = headers.cookie;
  const nonce = nonceOf(headers, call.query);
  // Without them WordPress can only say no; it need not be asked.
  if (!cookie || !nonce) throw new ApiError('rest_cookie_invalid_nonce');
  const { host, scheme, address, requestId, isMember } = call;
  const sender = { host, scheme, address, requestId };
  const user = await sessions.who(call.site, { cookie, nonce, sender, isMember, isWanted }, fresh);
  if (user === null) throw new ApiError('rest_cookie_invalid_nonce');
  call.onMember();
  if (!user.can_manage) throw new ApiError('rest_forbidden');
  return user;
}

/** The nonce in the header or, as WordPress also takes it, in the query. */
function nonceOf(headers: IncomingHttpHeaders, query: string): string | null {
  const header = headers['x-wp-nonce'];
  if (typeof header === 'string' && header !== '') return header;
  return new URLSearchParams(query).get('_wpnonce');
}
