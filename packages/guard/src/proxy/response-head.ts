import { LOGIN_HEADER } from '../wordpress/login-headers.js';
import { HEADER_PREFIX, SIGNAL_HEADER } from '../wordpress/signature.js';
import { isAddressHeader } from './address-headers.js';
import { CLAIMS, connectionOptions } from './request-head.js';
import type { ResponseHead } from './upstream/response-parser.js';

const SIGNAL = SIGNAL_HEADER.toLowerCase();
const LOGIN = LOGIN_HEADER.toLowerCase();
/**
 * Headers that end at guard. Those of WordPress's own connection, since guard's server writes its own. Those of a
 * request, which some servers repeat (PHP's own does with `Host`) and which then tell how guard asks: beside these, every
 * one that names an address. And those by which operators let a web server name the machine behind it. What says which
 * software answered, or what a cache did, is the site's to show: `Server`, `Via`, `X-Cache`.
 */
const STOPPED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'host',
  ...CLAIMS,
  'server-addr',
  'x-server-addr',
  'x-upstream',
  'x-upstream-addr',
  'x-upstream-address',
  'x-upstream-host',
  'x-upstream-server',
  'x-backend',
  'x-backend-addr',
  'x-backend-host',
  'x-backend-server',
]);

export interface ForwardedHead {
  readonly headers: string[];
  /** Value of the connector's signal, taken out of the headers, or undefined. */
  readonly signal: string | undefined;
  /** The same of what the connector says about passwords. */
  readonly login: string | undefined;
}

/**
 * The headers that go on to the visitor: without those of WordPress's own connection, those that its `Connection` names
 * (RFC 9110 section 7.6.1), what repeats the request or names the server behind, and all of ours. A header of ours that
 * comes twice is a forgery: unreadable.
 */
export function forwardedHead(head: ResponseHead): ForwardedHead {
  const headers: string[] = [];
  const nominated = connectionOptions(head.headers);
  let signal: string | undefined;
  let login: string | undefined;
  for (let i = 0; i < head.headers.length; i += 2) {
    const name = head.headers[i] as string;
    const lower = name.toLowerCase();
    if (lower === SIGNAL) signal = signal === undefined ? head.headers[i + 1] : 'repeated';
    else if (lower === LOGIN) login = login === undefined ? head.headers[i + 1] : 'repeated';
    else if (!isStopped(lower) && nominated?.has(lower) !== true) headers.push(name, head.headers[i + 1] as string);
  }
  return { headers, signal, login };
}

function isStopped(name: string): boolean {
  return STOPPED.has(name) || name.startsWith(HEADER_PREFIX) || isAddressHeader(name);
}
