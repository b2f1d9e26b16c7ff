import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { LoginClosed } from '../hooks.js';
import { findScheme } from '../http/client-address.js';
import type { RawHeaders } from '../http/headers.js';
import { type RequestFacts, toRequestFacts } from '../http/request-facts.js';
import { toReference } from '../http/request-id.js';
import { rewriteLocationHeaders } from '../http/rewrite-location.js';
import { wantsJson } from '../http/wants-json.js';
import type { Language } from '../i18n/language.js';
import { formatDayAndTime } from '../i18n/time-labels.js';
import { stripPort } from '../lib/address.js';
import { awayPage, type ClosedLogin, lockedPage, toLockedSentence } from '../pages/login-closed-pages.js';
import { type PageName, visitorPage, visitorPages } from '../pages/visitor-pages.js';
import { LOGIN_RULES, triesLogin } from '../rules/login-policy.js';
import { endResponse, scheduleWrite } from '../upstream/batched-writes.js';
import { CLIENT_CLOSED_REQUEST } from '../upstream/forward.js';
import { CRON_HEADER, isSignedCronRequest } from '../wordpress/signature.js';
import type { GatewayContext } from './context.js';
import type { Allowed, Decision } from './evaluate.js';
import { isTrustedFor } from './peer.js';
import type { VisitContext, VisitOrigin } from './visits.js';

/** Responses that guard sends itself. Each is recorded for the Activity Log and carries the rules' headers. */
export interface Responder {
  /**
   * Sends a visitor page; the page for `away` shows when the login opens again. @param rule that refused the request,
   * or null
   */
  page(page: PageName | 'away', rule: string | null): void;
  /** Responds that the login is closed to this client. */
  loginClosed(closed: LoginClosed, rule: string | null): void;
  /**
   * Responds that WordPress refused a request of staff while Away Mode is on. @param json respond in JSON, whatever the
   * path
   */
  away(json: boolean): void;
  /** Records a response for the Activity Log without sending one. */
  record(status: number): void;
  /**
   * Counts a wrong password in the request: in the row of the request, or separately when that row is already recorded.
   */
  passwordFailed(login: string): void;
  /** Counts passwords that WordPress refused unchecked; a rule means that the request is recorded as refused by it. */
  checksRefused(passwords: number, rule: string | null): void;
  /** Whether a password in the request was wrong or refused, and is not in a recorded row yet. */
  hasFailed(): boolean;
}

/** @param time arrival of the request, milliseconds since the Unix epoch */
export function createResponder(
  gateway: GatewayContext,
  decision: Decision,
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, time }: { readonly requestId: string; readonly time: number },
): Responder {
  const { host, address, snapshot, facts } = decision;
  const { language } = snapshot;
  /** Passwords that were wrong or refused, and the login of the first one. */
  let failedLogins = 0;
  let tried = '';
  let checksRefusedBy: string | null = null;
  let isRecorded = false;
  const record = (status: number, rule: string | null = null): void => {
    isRecorded = true;
    // WordPress refused the passwords on guard's behalf: this counts as a refusal by the gateway, as in the log.
    if (rule === null && checksRefusedBy !== null) gateway.refusals.add(checksRefusedBy);
    // Guard refused the request itself, so nothing has counted its password yet.
    if (rule !== null && failedLogins === 0 && LOGIN_RULES.has(rule) && facts !== null && holdsLogin(facts)) {
      failedLogins = 1;
      gateway.observer.loginFailed();
    }
    recordVisit(gateway, decision, request, status, rule ?? checksRefusedBy, { requestId, failedLogins, tried });
  };
  const holdsLogin = (request: RequestFacts): boolean => triesLogin(request, snapshot.login.getRoute(request));
  const editHeaders = (headers: RawHeaders): void =>
    snapshot.editResponseHeaders(facts ?? toUnreadFacts(decision), headers, gateway.onRuleError);

  const loginClosed = (
    why: LoginClosed,
    rule: string | null,
    format = toResponseFormat(request.headers, facts),
  ): void => {
    record(LOGIN_CLOSED_STATUS[why.kind], rule);
    const home = `${snapshot.paths.home}/`;
    const { timeZone } = snapshot.login;
    sendLoginClosed(
      request,
      response,
      why,
      { host, home, now: gateway.clock(), timeZone, format, language },
      editHeaders,
    );
  };
  return {
    record,
    loginClosed,
    away(json) {
      loginClosed({ kind: 'away', until: snapshot.login.away(time).until }, 'away-mode', json ? 'json' : undefined);
    },
    passwordFailed(login) {
      if (isRecorded) {
        const { site } = decision;
        if (site === null || 'quarantined' in site) return;
        const failure = { address, target: request.url as string, failedLogins: 1 };
        gateway.visits.addFailedLogins?.(site.config.id, failure);
        return;
      }
      if (failedLogins === 0) tried = login;
      failedLogins++;
    },
    checksRefused(passwords, rule) {
      failedLogins += passwords;
      checksRefusedBy ??= rule;
    },
    hasFailed: () => failedLogins > 0 && !isRecorded,
    page(page, rule) {
      if (page === 'away') loginClosed({ kind: 'away', until: snapshot.login.away(time).until }, rule);
      else {
        record(visitorPages[page].status, rule);
        const refused = { page, language, host, address: address.text, requestId, time };
        sendRefusal(request, response, refused, toRefusalFormat(request.headers, facts), editHeaders);
      }
    },
  };
}

function toResponseFormat(headers: IncomingHttpHeaders, facts: RequestFacts | null): 'json' | 'xml-rpc' | 'page' {
  if (facts !== null && facts.restRoute === null && facts.segments.includes('xmlrpc.php')) return 'xml-rpc';
  return wantsJson(headers, facts) ? 'json' : 'page';
}

/** The format of a refusal: a page for browsers, JSON for programs that read it, else one line of plain text. */
export type RefusalFormat = 'page' | 'json' | 'line';

/** @param facts null when the request could not be read */
export function toRefusalFormat(headers: IncomingHttpHeaders, facts: RequestFacts | null): RefusalFormat {
  if (wantsJson(headers, facts)) return 'json';
  return headers.accept?.includes('text/html') === true ? 'page' : 'line';
}

/** Facts for a request that could not be read, because the headers of the rules apply to its response, too. */
function toUnreadFacts({ snapshot, address }: Pick<Decision, 'snapshot' | 'address'>): RequestFacts {
  return toRequestFacts({
    method: 'GET',
    address,
    path: { path: '/', segments: [] },
    query: '',
    paths: snapshot.paths,
  });
}

export interface RefusalDetails {
  readonly page: PageName;
  readonly language: Language;
  readonly host: string;
  readonly address: string;
  readonly requestId: string;
  readonly time: number;
}

/** Renders a refusal. A plain line is in English, the other formats in the language of the site. */
export function renderRefusal(
  refused: RefusalDetails,
  format: RefusalFormat,
): { status: number; headers: RawHeaders; body: Buffer } {
  const reference = toReference(refused.requestId);
  const { status, title } = visitorPages[refused.page];
  const body =
    format === 'line'
      ? plainLine(refused.page === 'blocked' ? BLOCKED_LINE : title)
      : Buffer.from(format === 'json' ? toRefusalJson(refused, reference) : toRefusalPage(refused, reference));
  const headers = [
    'Content-Type',
    REFUSAL_TYPES[format],
    'Content-Length',
    String(body.length),
    'Cache-Control',
    'no-store',
  ];
  // Too many logins at the same time. The queue advances within seconds.
  if (status === 429) headers.push('Retry-After', '10');
  if (status === 503) headers.push('Retry-After', '60');
  return { status, headers, body };
}

const REFUSAL_TYPES: Readonly<Record<RefusalFormat, string>> = {
  page: 'text/html; charset=utf-8',
  json: 'application/json; charset=UTF-8',
  line: 'text/plain; charset=utf-8',
};

function toRefusalPage({ page, language, host, address, time }: RefusalDetails, reference: string): string {
  return visitorPage(language, page, { host: stripPort(host), address, time: new Date(time), reference });
}

/**
 * The text of the page in the format of WordPress's REST API. Clients of guard's API read the status at the top level.
 */
function toRefusalJson({ page, language, host }: RefusalDetails, reference: string): string {
  const { status, text } = visitorPages[page];
  const named = stripPort(host) || language.translate('This site');
  const code = page.replaceAll('-', '_');
  return JSON.stringify({
    code,
    message: language.translate(text, { host: named }),
    status,
    data: { status, reference },
  });
}

/** Sends a refusal without forwarding the request. */
function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  refused: RefusalDetails,
  format: RefusalFormat,
  editHeaders: (headers: RawHeaders) => void,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers, body } = renderRefusal(refused, format);
  editHeaders(headers);
  response.writeHead(status, headers);
  // During a flood each response still costs a system call, but the receiver wakes only once per turn of the event
  // loop.
  scheduleWrite({ sendNow: () => endResponse(response, request.method === 'HEAD' ? undefined : body, true) });
}

const BLOCKED_LINE = 'Blocked';

const plainLines = new Map<string, Buffer>();

function plainLine(title: string): Buffer {
  let line = plainLines.get(title);
  if (line === undefined) {
    line = Buffer.from(`${title}\n`);
    plainLines.set(title, line);
  }
  return line;
}

/** HTTP status of the response. */
const LOGIN_CLOSED_STATUS = { locked: 429, away: 403 } as const;

type LoginClosedDetails = Omit<ClosedLogin, 'until'> & {
  /** JSON for programs that read it, a fault for XML-RPC; `page` depends on the `Accept` header. */
  readonly format: 'json' | 'xml-rpc' | 'page';
  readonly language: Language;
};

/** Responds that the login is closed, and until when: a page for browsers, JSON or XML for programs, else one line. */
function sendLoginClosed(
  request: IncomingMessage,
  response: ServerResponse,
  closed: LoginClosed,
  facts: LoginClosedDetails,
  editHeaders: (headers: RawHeaders) => void,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const status = LOGIN_CLOSED_STATUS[closed.kind];
  const { type, text } = renderLoginClosed(request, closed, {
    ...facts,
    until: closed.until,
    host: stripPort(facts.host),
  });
  const body = Buffer.from(text);
  const headers = ['Content-Type', type, 'Content-Length', String(body.length), 'Cache-Control', 'no-store'];
  if (closed.until !== null) {
    headers.push('Retry-After', String(Math.max(1, Math.ceil((closed.until - facts.now) / 1000))));
  }
  editHeaders(headers);
  response.writeHead(status, headers);
  response.end(request.method === 'HEAD' ? undefined : body);
}

function renderLoginClosed(
  request: IncomingMessage,
  closed: LoginClosed,
  facts: ClosedLogin & Pick<LoginClosedDetails, 'format' | 'language'>,
): { type: string; text: string } {
  if (facts.format === 'xml-rpc') {
    return {
      type: 'text/xml; charset=UTF-8',
      text: toXmlRpcFault(LOGIN_CLOSED_STATUS[closed.kind], toLoginClosedSentence(closed, facts)),
    };
  }
  if (facts.format === 'json') {
    const code = closed.kind === 'locked' ? 'too_many_login_attempts' : 'away_mode';
    const status = LOGIN_CLOSED_STATUS[closed.kind];
    const data = { status, until: unixSeconds(closed.until) };
    return {
      type: 'application/json; charset=UTF-8',
      // Clients of WordPress's API read the status in `data`, those of guard's API at the top level.
      text: JSON.stringify({ code, message: toLoginClosedSentence(closed, facts), status, data }),
    };
  }
  if (request.headers.accept?.includes('text/html') !== true) {
    return { type: 'text/plain; charset=utf-8', text: `${toLoginClosedSentence(closed, facts)}\n` };
  }
  const { language } = facts;
  const html = closed.kind === 'locked' ? lockedPage(language, facts, closed.stage) : awayPage(language, facts);
  return { type: 'text/html; charset=utf-8', text: html };
}

function toLoginClosedSentence(closed: LoginClosed, facts: ClosedLogin & Pick<LoginClosedDetails, 'language'>): string {
  const { until, now, timeZone, language } = facts;
  const { translate } = language;
  if (closed.kind === 'locked') {
    return toLockedSentence(language, closed.until - now);
  }
  if (until === null) return translate('The admin area is closed.');
  const time = formatDayAndTime(language, timeZone, until);
  return translate('The admin area is closed. It opens again on {time}.', { time });
}

/** An XML-RPC fault response. */
function toXmlRpcFault(code: number, text: string): string {
  const member = (name: string, value: string): string =>
    `<member><name>${name}</name><value>${value}</value></member>`;
  const struct =
    member('faultCode', `<int>${code}</int>`) + member('faultString', `<string>${escapeXml(text)}</string>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<methodResponse><fault><value><struct>${struct}</struct></value></fault></methodResponse>\n`;
}

function escapeXml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

function unixSeconds(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000);
}

/**
 * Sets the rules' headers on a response that another part of guard will write.
 *
 * @param record called with the final status when the response closes
 */
export function prepareOwnResponse(
  { onRuleError }: Pick<GatewayContext, 'onRuleError'>,
  { snapshot, facts }: Allowed,
  response: ServerResponse,
  record: (status: number, rule: null) => void,
): void {
  const headers: string[] = [];
  snapshot.editResponseHeaders(facts, headers, onRuleError);
  for (let i = 0; i < headers.length; i += 2) response.setHeader(headers[i] as string, headers[i + 1] as string);
  response.once('close', () => record(response.headersSent ? response.statusCode : CLIENT_CLOSED_REQUEST, null));
}

/**
 * Changes the headers of a WordPress response in place: rewrites redirects to the client's host, then applies the
 * rules.
 *
 * @param facts of the request, for the rules
 */
export function editForwardedHeaders(
  { onRuleError }: Pick<GatewayContext, 'onRuleError'>,
  allowed: Allowed,
  facts: RequestFacts,
  headers: RawHeaders,
): void {
  rewriteLocationHeaders(headers, () => ({
    scheme: allowed.scheme,
    host: allowed.host,
    upstream: allowed.site.pool.host,
    target: facts.method === 'GET' || facts.method === 'HEAD' ? (allowed.uri ?? allowed.target) : null,
  }));
  allowed.snapshot.editResponseHeaders(facts, headers, onRuleError);
}

/** Facts about a request that are known once its response is decided. */
export interface VisitFacts {
  readonly requestId?: string;
  /** Failed logins in the request, see `Exchange.countLoginFailure`, and the login of the first one. */
  readonly failedLogins?: number;
  readonly tried?: string;
}

/** The parts of a request that are recorded. */
export type RecordedRequest = Pick<IncomingMessage, 'url' | 'headers' | 'method'> & {
  readonly socket?: IncomingMessage['socket'];
};

/**
 * Records a request for the Activity Log once its response is decided. A request that belongs to no site is recorded
 * for the only site, if there is exactly one.
 *
 * @param status of the response
 * @param rule name of the rule that refused it, or null
 */
export function recordVisit(
  context: VisitContext,
  origin: VisitOrigin,
  request: RecordedRequest,
  status: number,
  rule: string | null,
  { requestId, failedLogins = 0, tried = '' }: VisitFacts = NO_FACTS,
): void {
  const { site, address } = origin;
  const { config } = site ?? context.router.only ?? NO_SITE;
  if (config === null) return;
  const target = request.url as string;
  const agent = (): string | null => request.headers['user-agent'] ?? null;
  const proof = rule === null ? request.headers[CRON_PROOF] : undefined;
  if (proof === undefined) {
    context.visits.add(config.id, {
      ...{ address, target, status, rule, agent },
      method: request.method ?? '',
      failedLogins,
      tried,
      ...(requestId === undefined ? {} : { requestId }),
      referer: () => request.headers.referer ?? null,
      origin: () => toOrigin(context, origin, request),
    });
  } else {
    const call = { method: request.method ?? '', target };
    const isOwnCron = isSignedCronRequest(config.secret, proof, call, context.clock());
    context.visits.add(config.id, { address, target, status, rule, agent, isOwnCron });
  }
}

const NO_FACTS: VisitFacts = {};

/** Scheme and host that the client requested, or null. */
function toOrigin(
  { findPeer, trusted }: Pick<VisitContext, 'findPeer' | 'trusted'>,
  { host = '', scheme, site }: VisitOrigin,
  request: RecordedRequest,
): string | null {
  if (host === '') return null;
  if (scheme !== undefined) return `${scheme}://${host}`;
  const peer = request.socket && findPeer(request.socket);
  if (peer === undefined) return `http://${host}`;
  const asTrusted = { address: peer.address, isTrusted: isTrustedFor(peer, site?.trusted), scheme: peer.scheme };
  return `${findScheme(asTrusted, request.headers, site?.trusted ?? trusted.addresses)}://${host}`;
}

const CRON_PROOF = CRON_HEADER.toLowerCase();

const NO_SITE = { config: null };
