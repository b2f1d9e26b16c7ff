import type { IncomingMessage, ServerResponse } from 'node:http';
import { CLOSED_EARLY } from '../activity/visit.js';
import type { Address } from '../lib/address.js';
import type { DoorVisit } from '../login/two-factor/second-factor-door.js';
import { isMember, readSignal, type Signal } from '../wordpress/signature.js';
import { type Admitted, admitLogin } from './admit-login.js';
import { type Examined, examine, type Pass } from './examine.js';
import { forward } from './forward.js';
import { type GateAnswers, gateAnswers } from './gate-answers.js';
import type { GateDeps } from './gate-deps.js';
import { watchLogin } from './login-exchange.js';
import { missingInstead } from './missing-instead.js';
import { answerOwnCall } from './own-call.js';
import { editAnswer, prepareAnswer } from './prepare-answer.js';
import { ownRoute } from './request-facts.js';
import { isStaticFile } from './static-file.js';
import { FAILURE_PAGES, noteFailure } from './upstream-failures.js';
import { fits, visitorFacts } from './visitor-facts.js';

/** A request under way whose rules have let it pass. */
interface Passage {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly pass: Pass;
  readonly answers: GateAnswers;
  readonly door: DoorVisit;
  /** When it came, milliseconds since the Unix epoch. */
  readonly time: number;
  readonly continueFirst: boolean;
}

/**
 * One request, from its head to its answer: facts, rules, then guard's own API or WordPress. Reads top to bottom.
 * @param peer address at the other end of the connection
 * @param continueFirst the visitor waits for `100 Continue`
 */
export function handleRequest(
  deps: GateDeps,
  request: IncomingMessage,
  response: ServerResponse,
  peer: Address,
  continueFirst: boolean,
): void {
  const examined = examine(deps, request, peer);
  // Names in a decoy are disguised under the id with which it goes to WordPress.
  const requestId = (examined.kind === 'pass' ? examined.decoy?.requestId : undefined) ?? deps.nextId();
  const time = deps.clock();
  const answers = gateAnswers(deps, examined, request, response, { requestId, time });
  if (examined.kind === 'refuse') {
    noteRefusal(deps, examined, requestId);
    // Where this request ends is unclear, and so is where a next one would begin (RFC 9112 section 6.1).
    if (UNCLEAR_END.has(examined.rule)) response.shouldKeepAlive = false;
    answers.page(examined.page, examined.rule);
    return;
  }
  const { facts } = examined;
  const own = ownRoute(facts.restRoute);
  if (own !== null) {
    if (continueFirst) response.writeContinue();
    answerOwnCall(deps, examined, own, request, response, { requestId, time });
    return;
  }
  const door = doorVisit(examined, requestId);
  if (examined.road === 'login' && SECOND_FACTOR.has(facts.query.all('action').at(-1) ?? '')) {
    if (continueFirst) response.writeContinue();
    prepareAnswer(deps, examined, response, answers.note);
    deps.login.door.handle(request, response, door);
    return;
  }
  const passage: Passage = { request, response, pass: examined, answers, door, time, continueFirst };
  admitLogin(deps.login, examined, request, response, {
    admitted: (admitted) => toWordPress(deps, passage, admitted),
    refused(closed) {
      deps.refusals.add('login-limit');
      if (closed === null) answers.page('login-busy', 'login-limit');
      else answers.closed(closed, 'login-limit');
    },
    left: () => answers.note(CLOSED_EARLY, null),
  });
}

const UNCLEAR_END = new Set(['ambiguous:framing', 'ambiguous:host', 'ambiguous:expectation']);

/** Actions of the login address that guard answers itself. */
const SECOND_FACTOR = new Set(['second-factor', 'second-factor-setup']);

function doorVisit({ site, address, scheme, host, policy }: Pass, requestId: string): DoorVisit {
  const { language, login } = policy;
  return { site: site.config, address: address.text, scheme, host, requestId, loginPath: login.loginPath, language };
}

/** Sends the request on, and counts what comes of the passwords in it. */
function toWordPress(deps: GateDeps, passage: Passage, { context, ticket, certain, device, key }: Admitted): void {
  const { request, response, pass, answers, door, time, continueFirst } = passage;
  const { site, policy, facts } = pass;
  const { requestId } = door;
  const { cookie } = request.headers;
  if (!fits(pass, requestId, context)) {
    // Without it WordPress would not know what to refuse.
    ticket?.release();
    deps.refusals.add('ambiguous:context');
    answers.page('too-long', 'ambiguous:context');
    return;
  }
  const more = { decoy: pass.decoy?.reversible === true };
  let signal: Signal = { kind: 'missing' };
  forward({
    request,
    response,
    pool: site.pool,
    address: pass.address,
    target: pass.target,
    visitor: () => visitorFacts(pass, requestId, deps.clock(), context, more),
    stopped: policy.stopHeaders(facts, deps.onFault),
    timeoutMs: deps.timeoutMs,
    idleMs: deps.idleMs,
    continueFirst,
    editHeaders: (headers) => editAnswer(deps, pass, facts, headers),
    onSignal(value) {
      signal = readSignal(site.config.secret, value, requestId);
      deps.onSignal(site.config, signal);
    },
    onAnswered(status) {
      if (status !== CLOSED_EARLY) deps.observer.forwarded(status, deps.clock() - time);
      if (isMember(signal)) deps.members.saw(site.config.id, cookie, time);
      else if (status === CLOSED_EARLY && deps.members.knows(site.config.id, cookie, time)) return;
      else if (!(signal.kind === 'missing' && isStaticFile(facts))) answers.note(status, null);
    },
    onStream: () => deps.tunnels.watch(response, { site: site.config.id, facts, cut: () => response.destroy() }),
    watch: watchLogin(deps.login, {
      pass,
      requestId,
      cookie,
      ticket,
      certain,
      device,
      key,
      signal: () => signal,
      onFailed: deps.observer.loginFailed,
      onFactor(needed) {
        prepareAnswer(deps, pass, response, answers.note);
        deps.login.door.begin(request, response, door, needed);
      },
      onHidden: () => missingInstead(deps, pass, request, response, answers),
    }),
    onFailure(kind, cause, started) {
      noteFailure(deps, site.config, kind, cause, requestId);
      if (started) response.destroy();
      else answers.page(FAILURE_PAGES[kind], null);
    },
  });
}

function noteRefusal(deps: GateDeps, refused: Extract<Examined, { kind: 'refuse' }>, requestId: string): void {
  deps.refusals.add(refused.rule);
  if (!deps.logger.isLevelEnabled('debug')) return;
  deps.logger.debug(
    {
      event: 'request-refused',
      rule: refused.rule,
      address: refused.address.text,
      path: refused.facts?.path.slice(0, 500),
      requestId,
    },
    'request refused',
  );
}
