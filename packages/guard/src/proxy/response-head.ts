import { LOGIN_HEADER } from '../wordpress/login-headers.js';
import { HEADER_PREFIX, SIGNAL_HEADER } from '../wordpress/signature.js';
import { connectionOptions } from './request-head.js';
import type { ResponseHead } from './upstream/response-parser.js';

const SIGNAL = SIGNAL_HEADER.toLowerCase();
const LOGIN = LOGIN_HEADER.toLowerCase();
/** Headers of WordPress's own connection; guard's server writes its own. */
const STOPPED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
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
 * (RFC 9110 section 7.6.1) and all of ours. A header of ours that comes twice is a forgery: unreadable.
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
    else if (!STOPPED.has(lower) && !lower.startsWith(HEADER_PREFIX) && nominated?.has(lower) !== true)
      headers.push(name, head.headers[i + 1] as string);
  }
  return { headers, signal, login };
}
