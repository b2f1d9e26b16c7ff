import type { Claim } from './login-slots.js';

/** An answer, or the lack of one, that came without the connector's signature. */
export interface UnsignedOutcome {
  readonly method: string;
  /** Whether a password may have been checked at all: a request without leave carries the order to refuse them. */
  readonly allowed: boolean;
  readonly claim: Claim;
  /** The log-in or sign-up form, XML-RPC: not by `Authorization: Basic` alone. */
  readonly byForm: boolean;
  /** A route of the REST API, as far as the target shows. */
  readonly rest: boolean;
  /** Null when there was no answer. */
  readonly status: number | null;
  /** The answer sets the cookie of a session. */
  readonly startsSession: boolean;
}

/**
 * What is made of an answer that lacks the connector's signature, so that nothing says how a password check ended.
 * - `failure`: one failure of the address. On routes that certainly check a password, unless the answer itself shows
 *   that it was right.
 * - `ask`: a password may have been checked. The connector, if it is there, has a record of each check.
 * - `nothing`: the web server answered by itself, as it does for files, and the request holds no password.
 */
export function judgeUnsigned(outcome: UnsignedOutcome): 'failure' | 'ask' | 'nothing' {
  const { method, allowed, claim, byForm, rest, status, startsSession } = outcome;
  if (!allowed) return 'nothing';
  const reads = method === 'GET' || method === 'HEAD';
  const isError = status === null || status >= 500;
  // WordPress checks such credentials in REST and XML-RPC; elsewhere they may be the web server's own.
  if (claim === 'certain' && (byForm || rest || !reads)) return byForm && startsSession ? 'nothing' : 'failure';
  if (isError) return 'ask';
  return reads && (claim !== 'possible' || !rest) ? 'nothing' : 'ask';
}
