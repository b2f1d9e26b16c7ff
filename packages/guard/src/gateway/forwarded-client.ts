import { toSeenAddress } from '../lib/carried-address.js';
import type { ForwardedClient } from '../upstream/message-head.js';
import { CONTEXT_HEADER, contextHeader, type LoginContext } from '../wordpress/login-headers.js';
import { GUARD_HEADER, type GuardNote, guardHeader } from '../wordpress/signature.js';
import type { Allowed } from './evaluate.js';

/**
 * The signed description of the client for WordPress.
 *
 * @param time when the request is sent, milliseconds since the Unix epoch
 * @param loginContext must fit in a header, see `fitsInHeader`; null for none
 * @param more how the request differs from one for the original page
 * @throws RangeError when the context is too long
 */
export function toForwardedClient(
  {
    host,
    scheme,
    site,
    address,
    trustedHeaders,
  }: Pick<Allowed, 'host' | 'scheme' | 'site' | 'address' | 'trustedHeaders'>,
  requestId: string,
  time: number,
  loginContext: LoginContext | null,
  more: { readonly decoy: boolean; readonly repeated?: boolean; readonly probe?: boolean } = { decoy: false },
): ForwardedClient {
  const { secret } = site.config;
  // WordPress sees the address that the client used, as every other server would show it.
  const { text } = toSeenAddress(address);
  const context = loginContext === null ? null : contextHeader(secret, requestId, loginContext);
  if (loginContext !== null && context === null) throw new RangeError('The context is too long.');
  const note = more.probe === true ? 'probe' : toGuardNote(more.decoy, more.repeated === true, loginContext !== null);
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

/** Whether the context fits in a header to WordPress. */
export function fitsInHeader(
  { site }: Pick<Allowed, 'site'>,
  requestId: string,
  context: LoginContext | null,
): boolean {
  return context === null || contextHeader(site.config.secret, requestId, context) !== null;
}

function toGuardNote(decoy: boolean, repeated: boolean, context: boolean): GuardNote {
  // `repeated` already means that passwords are refused, and so does a context.
  if (repeated && !context) return decoy ? 'repeated decoy' : 'repeated';
  if (decoy) return context ? 'decoy context' : 'decoy';
  return context ? 'context' : '';
}
