import { CONTEXT_HEADER, contextHeader, type LoginContext } from '../wordpress/login-headers.js';
import { GUARD_HEADER, type GuardNote, guardHeader } from '../wordpress/signature.js';
import type { Pass } from './examine.js';
import type { VisitorFacts } from './request-head.js';

/**
 * What WordPress is told about the visitor, signed.
 * @param time milliseconds since the Unix epoch, when the request goes out
 * @param more how the request differs from one for the page itself
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
  more: { readonly decoy: boolean; readonly repeated?: boolean } = { decoy: false },
): VisitorFacts {
  const { secret } = site.config;
  const { text } = address;
  const context = said === null ? null : contextHeader(secret, requestId, said);
  // `fits` has been asked before.
  if (said !== null && context === null) throw new RangeError('The context is too long.');
  const note = noteFor(more.decoy, more.repeated === true, said !== null);
  const signed = guardHeader(secret, { time: Math.floor(time / 1000), requestId, scheme, address: text }, note);
  return {
    address: text,
    scheme,
    host,
    signed: [GUARD_HEADER, signed],
    trustedHeaders,
    context: context === null ? null : [CONTEXT_HEADER, context],
  };
}

/** Whether WordPress can be told this. */
export function fits({ site }: Pick<Pass, 'site'>, requestId: string, said: LoginContext | null): boolean {
  return said === null || contextHeader(site.config.secret, requestId, said) !== null;
}

function noteFor(decoy: boolean, repeated: boolean, context: boolean): GuardNote {
  // What repeats a request says by itself that passwords are refused; its context says so, too.
  if (repeated && !context) return decoy ? 'repeated decoy' : 'repeated';
  if (decoy) return context ? 'decoy context' : 'decoy';
  return context ? 'context' : '';
}
