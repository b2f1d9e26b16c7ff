import type { IncomingMessage } from 'node:http';
import type { PageName } from '../pages/visitor-pages.js';
import type { RequestFacts } from './request-facts.js';

/** A scheme, a host name (253) and a port take less. WordPress's REST API repeats it in a header of its answer. */
const ORIGIN_MAX = 512;
/** The longest names of languages take 20. WordPress's login form repeats it in a cookie. */
const LANGUAGE_MAX = 64;
/** What a form that posts a password has in its query: an action, a way back. */
const LOGIN_QUERY_MAX = 2048;

/**
 * What WordPress repeats in the head of its answers is bounded: web servers have little room for that head (nginx a page
 * of memory, 4 KB), and when it is too long for them, what the connector says of passwords is lost with it.
 *
 * @returns whether `Origin` is longer than any origin, for whichever page
 */
export function echoFault(request: IncomingMessage): boolean {
  const { origin } = request.headers;
  return origin !== undefined && origin.length > ORIGIN_MAX;
}

/**
 * The same for what the log-in form repeats.
 * @param query as it stands in the target
 * @returns how to refuse the request, or null
 */
export function loginEchoFault(
  facts: Pick<RequestFacts, 'method' | 'query'>,
  query: string,
): { readonly page: PageName; readonly rule: string } | null {
  if (facts.query.all('wp_lang').some((language) => language.length > LANGUAGE_MAX)) {
    return { page: 'bad-request', rule: 'ambiguous:language' };
  }
  if (facts.method === 'POST' && query.length > LOGIN_QUERY_MAX) {
    return { page: 'too-long', rule: 'ambiguous:login-query' };
  }
  return null;
}
