import type { IncomingMessage, ServerResponse } from 'node:http';
import { readSignal, type Signal } from '../wordpress/signature.js';
import { canonicalPath } from './canonical-path.js';
import { decoyKey, decoyTarget, siblingTarget } from './decoy-target.js';
import type { Pass } from './examine.js';
import { forward } from './forward.js';
import type { GateAnswers } from './gate-answers.js';
import type { GateDeps } from './gate-deps.js';
import { editAnswer } from './prepare-answer.js';
import { requestFacts } from './request-facts.js';
import { shownPath } from './shown-path.js';
import { FAILURE_PAGES, noteFailure } from './upstream-failures.js';
import { visitorFacts } from './visitor-facts.js';

/**
 * Answers with the missing page beside the one that was asked for, after WordPress has shown that the one asked for
 * would tell of a login. The body has gone to WordPress already and a missing page needs none. No password is checked.
 */
export function missingInstead(
  deps: GateDeps,
  pass: Pass,
  request: IncomingMessage,
  response: ServerResponse,
  answers: GateAnswers,
): void {
  const { site, policy } = pass;
  const asked = pass.uri ?? pass.target;
  const requestId = deps.nextId();
  const named = decoyTarget(asked, policy.login.hidden, decoyKey(site.config.secret, requestId));
  // A custom address without its door is a missing page itself. Any other page may send strangers to the login and has
  // no name to disguise: a page beside it answers.
  const atDoor = pass.road === 'login' || pass.road === 'signup';
  const target = named !== null ? named.target : atDoor ? asked : siblingTarget(asked, deps.random);
  const missing = canonicalPath(target);
  if (!missing.ok) {
    answers.page('not-found', null);
    return;
  }
  const { method, address, now } = pass.facts;
  const { path, query } = missing;
  const facts = requestFacts({ method, address, now, path, query, paths: policy.paths, credentials: pass.facts });
  const verdict = policy.decide(facts, deps.onFault);
  if (verdict !== null) {
    answers.page(verdict.refusal.page, verdict.rule);
    return;
  }
  // No byte more than the request before it took, or the web server would find this one too long.
  const shown = named === null || named.reversible ? undefined : shownPath(asked);
  const context = shown === undefined ? null : ({ login: 'refuse', why: 'busy', path: shown } as const);
  const more = { decoy: named?.reversible === true, repeated: true };
  let signal: Signal = { kind: 'missing' };
  forward({
    request,
    response,
    pool: site.pool,
    address,
    target,
    visitor: () => visitorFacts(pass, requestId, deps.clock(), context, more),
    stopped: new Set([...(policy.stopHeaders(facts, deps.onFault) ?? []), ...OF_THE_BODY]),
    timeoutMs: deps.timeoutMs,
    idleMs: deps.idleMs,
    continueFirst: false,
    withoutBody: true,
    editHeaders: (headers) => editAnswer(deps, pass, facts, headers),
    onSignal(value) {
      signal = readSignal(site.config.secret, value, requestId);
      deps.onSignal(site.config, signal);
    },
    onAnswered: (status) => answers.note(status, null),
    watch: {
      staysForHead: false,
      onLogin: () => null,
      onHead() {
        if (signal.kind !== 'ok' || !signal.flags.includes('a')) return false;
        answers.page('not-found', null);
        return true;
      },
      onNoHead: () => null,
    },
    onFailure(kind, cause, started) {
      noteFailure(deps, site.config, kind, cause, requestId);
      if (started) response.destroy();
      else answers.page(FAILURE_PAGES[kind], null);
    },
  });
}

/** Headers that make no sense without the body. */
const OF_THE_BODY = ['content-length', 'content-type', 'content-encoding'];
