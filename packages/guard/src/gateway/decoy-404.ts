import type { IncomingMessage, ServerResponse } from 'node:http';
import { toCanonicalPath, toOriginalPath } from '../http/canonical-path.js';
import { deriveDecoyKey, toDecoyTarget, toSiblingTarget } from '../http/decoy-target.js';
import { toRequestFacts } from '../http/request-facts.js';
import { isFinal, needsStaffCheck } from '../rules/snapshot.js';
import { forward } from '../upstream/forward.js';
import { readSignal, type Signal } from '../wordpress/signature.js';
import type { GatewayContext } from './context.js';
import type { Allowed } from './evaluate.js';
import { toForwardedClient } from './forwarded-client.js';
import { FAILURE_PAGES, reportUpstreamFailure } from './observer.js';
import { editForwardedHeaders, type Responder } from './respond.js';

/**
 * Serves a decoy 404 after WordPress's response to the original request would have revealed a login. The body has
 * already been sent to WordPress, and a missing page needs none. No password is checked.
 */
export function serveDecoy404(
  gateway: GatewayContext,
  allowed: Allowed,
  request: IncomingMessage,
  response: ServerResponse,
  responder: Responder,
): void {
  const { site, snapshot } = allowed;
  const requested = allowed.uri ?? allowed.target;
  const requestId = gateway.createRequestId();
  const decoy = toDecoyTarget(requested, snapshot.login.hiddenNames, deriveDecoyKey(site.config.secret, requestId));
  // The custom login address is a missing page to WordPress. Any other page may redirect anonymous clients to the login
  // and has no name to disguise, so a sibling of it is requested.
  const isCustomLogin = allowed.loginRoute === 'login' || allowed.loginRoute === 'signup';
  const target = decoy !== null ? decoy.target : isCustomLogin ? requested : toSiblingTarget(requested, gateway.random);
  const missing = toCanonicalPath(target);
  if (!missing.ok) {
    responder.page('not-found', null);
    return;
  }
  const { method, address, now } = allowed.facts;
  const { path, query } = missing;
  const facts = toRequestFacts({
    method,
    address,
    now,
    path,
    query,
    paths: snapshot.paths,
    credentials: allowed.facts,
  });
  const verdict = snapshot.evaluate(facts, gateway.onRuleError);
  if (isFinal(verdict) || needsStaffCheck(verdict)) {
    responder.page(verdict.refusal.page, verdict.rule);
    return;
  }
  // This request must not be longer than the one before, which the web server accepted.
  const shown = decoy === null || decoy.reversible ? undefined : toOriginalPath(requested);
  const context = shown === undefined ? null : ({ login: 'refuse', why: 'busy', path: shown } as const);
  const more = { decoy: decoy?.reversible === true, repeated: true };
  let signal: Signal = { kind: 'missing' };
  forward({
    request,
    response,
    pool: site.pool,
    address,
    target,
    toForwardedClient: () => toForwardedClient(allowed, requestId, gateway.clock(), context, more),
    strippedHeaders: new Set([...(snapshot.stripRequestHeaders(facts, gateway.onRuleError) ?? []), ...BODY_HEADERS]),
    timeoutMs: site.timeoutMs,
    idleMs: gateway.idleMs,
    expectsContinue: false,
    withoutBody: true,
    editHeaders: (headers) => editForwardedHeaders(gateway, allowed, facts, headers),
    onSignal(value) {
      signal = readSignal(site.config.secret, value, requestId);
      gateway.onSignal(site.config, signal, allowed);
    },
    onResponse: (status) => responder.record(status),
    handler: {
      outlivesClient: false,
      onLoginReport: () => null,
      onHead() {
        if (signal.kind !== 'ok' || !signal.flags.includes('a')) return false;
        responder.page('not-found', null);
        return true;
      },
      onNoResponse: () => null,
    },
    onFailure(kind, cause, started) {
      reportUpstreamFailure(gateway, site.config, kind, cause, requestId);
      if (started) response.destroy();
      else responder.page(FAILURE_PAGES[kind], null);
    },
  });
}

/** Headers that describe the body, which is omitted. */
const BODY_HEADERS = ['content-length', 'content-type', 'content-encoding'];
