import { CONTEXT_HEADER, contextHeader, type LoginContext } from '../wordpress/login-headers.js';
import { GUARD_HEADER, guardHeader } from '../wordpress/signature.js';
import type { Pass } from './examine.js';
import type { VisitorFacts } from './request-head.js';

/**
 * What WordPress is told about the visitor, signed.
 * @param time milliseconds since the Unix epoch, when the request goes out
 */
export function visitorFacts(
  {
    host,
    scheme,
    site,
    address,
    trustedHeaders,
  }: Pick<Pass, 'host' | 'scheme' | 'site' | 'address' | 'trustedHeaders'>,
  requestId: string,
  time: number,
  said: LoginContext | null,
): VisitorFacts {
  const { secret } = site.config;
  const { text } = address;
  const signed = guardHeader(secret, { time: Math.floor(time / 1000), requestId, scheme, address: text });
  const context = said === null ? null : ([CONTEXT_HEADER, contextHeader(secret, requestId, said)] as const);
  return { address: text, scheme, host, signed: [GUARD_HEADER, signed], trustedHeaders, context };
}
