import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { LoginReport } from '../../src/wordpress/login-headers.js';

/** A request as it reached the fake. */
export interface ReachedRequest {
  readonly method: string;
  /** The target that the web server received. */
  readonly url: string;
  readonly context: Record<string, unknown> | null;
  readonly body: string;
  /** The note that guard has signed with the request, and for which it sent no byte. */
  readonly note: string;
  /** The target that WordPress sees. */
  readonly shown: string;
  /** Length of the request line and of each header line. */
  readonly bytes: readonly number[];
}

/**
 * A web server with WordPress behind it, limited to logins, written from docs/developer/login-security.md alone. It
 * checks passwords on every route, obeys the instruction to refuse, hides traces of a custom login, and signs with its
 * own code.
 */
export interface FakeWordPress {
  readonly upstream: string;
  readonly reached: ReachedRequest[];
  /** Password checks that were made, by route. */
  readonly checks: string[];
  refused: number;
  /** Duration of one check, milliseconds. */
  checkMs: number;
  /** A check that begins while this is set ends when the promise does. */
  held: Promise<void> | null;
  /** Highest number of checks at the same time. */
  readonly max: number;
  /** A custom login is set in the policy. */
  custom: boolean;
  /** Anonymous clients may register. */
  registration: boolean;
  /** The owner needs a second factor. */
  factor: boolean;
  /** Further fields of the connector's report about the second factor. */
  factorReport: Partial<NonNullable<Report['factor']>>;
  /** WordPress's own response to a login whose session was withheld, in place of the login page. */
  ownResponse: { readonly status: number; readonly headers: Readonly<Record<string, string | string[]>> } | null;
  /** `/chat` never responds. */
  hangs: boolean;
  /** A user with a session is staff, and the connector refuses their changes while the owner is away. */
  staff: boolean;
  /** The connector is of a version that does not check the user while the owner is away. */
  old: boolean;
  /** There is no connector. */
  bare: boolean;
  /** The connector's records of the checks in a request, by its id. */
  readonly records: Map<string, LoginReport | 'unfinished'>;
  /** The connector can't be queried. */
  down: boolean;
  /** Status of the response that the web server, or WordPress during maintenance, sends before anything is loaded. */
  unsignedStatus: number | 'cut off' | null;
  /** The web server's own response in place of that to a request in which a password was checked, or to any request. */
  lostResponse: { status: number | 'cut off'; when: 'checked' | 'always'; unfinished?: true } | null;
  /**
   * The requests with `Authorization: Basic` that check a password: all, as with a plugin for it, or those of REST and
   * XML-RPC only, as WordPress checks application passwords.
   */
  checksBasic: 'everywhere' | 'api';
  /** Keys (`name:secret`) that a plugin compares itself, as shops do. A client that sends one is signed in. */
  readonly pluginKeys: Set<string>;
  /** Basic authentication of the web server itself, in front of PHP; null for none. */
  webServer: WebServerBasic | null;
  /** Guard's probes for the owner of credentials get no response. */
  probesHang: boolean;
  /** Called before the response to a request in which a password was checked. */
  mangle: (response: ServerResponse) => void;
}

/** How a web server requires its own credentials. */
export interface WebServerBasic {
  /** Below this path. */
  readonly path: string;
  /** `name:password`; `any` accepts all credentials. */
  readonly credentials: string | 'any';
  /** Only these methods need credentials, as with Apache's `<Limit GET>`. */
  readonly methods?: readonly string[];
  /** A cookie that is accepted in place of credentials. */
  readonly cookie?: string;
}

/** The password of every user. */
export const PASSWORD = 'right';
const USERS: Readonly<Record<string, number>> = { owner: 1, reader: 2 };

export async function fakeWordPress(secret: string): Promise<FakeWordPress> {
  const server = createServer((request, response) => void respond(fake, secret, request, response, checking));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  let max = 0;
  let underWay = 0;
  const checking: CheckCount = (step) => {
    underWay += step;
    max = Math.max(max, underWay);
  };
  const fake: FakeWordPress = {
    upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached: [],
    checks: [],
    refused: 0,
    checkMs: 5,
    held: null,
    get max() {
      return max;
    },
    custom: false,
    registration: true,
    factor: false,
    factorReport: {},
    ownResponse: null,
    hangs: false,
    staff: false,
    old: false,
    bare: false,
    records: new Map(),
    down: false,
    unsignedStatus: null,
    lostResponse: null,
    checksBasic: 'everywhere',
    pluginKeys: new Set(),
    webServer: null,
    probesHang: false,
    mangle: () => {},
  };
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return fake;
}

interface Report {
  failed: { user: string; id: number; route: string }[];
  refused: number;
  ok: { id: number; login: string; route: string } | null;
  factor: {
    id: number;
    login: string;
    remember: boolean;
    redirect: string;
    interim: boolean;
    site?: string;
    withheld?: boolean;
  } | null;
}

/** Called when a check begins (1) and when it ends (-1). */
type CheckCount = (step: 1 | -1) => void;

async function respond(
  fake: FakeWordPress,
  secret: string,
  request: IncomingMessage,
  response: ServerResponse,
  checking: CheckCount,
) {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return;
  }
  const body = Buffer.concat(chunks).toString();
  const requestId = String(request.headers['x-security-optimizer-guard']).split(' ')[3] ?? '';
  const context = readContext(secret, requestId, request.headers['x-security-optimizer-context']);
  const note = readLoginNote(secret, String(request.headers['x-security-optimizer-guard']));
  const shown = toVisiblePath(secret, request.url ?? '/', requestId, context, note);
  const bytes = headBytes(request);
  const credentials = readBasicCredentials(request);
  if (fake.webServer !== null && requestsFactor(fake.webServer, request, credentials)) {
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="staging"', 'Content-Length': 0 }).end();
    return;
  }
  fake.reached.push({ method: request.method ?? '', url: request.url ?? '', context, body, note, shown, bytes });
  const signal = (letters: string): void => {
    const flags = fake.old ? letters : `S${letters.replace('-', '')}`;
    const fields = `1 ${keyId(secret)} ${requestId} - 0.1.0 ${flags}`;
    response.setHeader('X-Security-Optimizer-Signal', `${fields} ${mac(secret, `connector-signal\n${fields}`)}`);
  };

  if (note === 'probe') {
    if (fake.probesHang) return;
    if (!fake.bare) signal('-');
    response.writeHead(200, { 'Content-Length': 0 }).end();
    return;
  }

  if (fake.unsignedStatus !== null) {
    if (fake.unsignedStatus === 'cut off') request.socket.destroy();
    else response.writeHead(fake.unsignedStatus, { 'Content-Type': 'text/html', 'Content-Length': 3 }).end('own');
    return;
  }

  const script = new URL(request.url ?? '/', 'http://x').pathname;
  if (fake.hangs && script === '/chat') return;
  const query = new URLSearchParams(request.url?.split('?')[1]);
  const form = new URLSearchParams(body);
  const action = form.get('action') ?? query.getAll('action').pop() ?? 'login';
  const report: Report = { failed: [], refused: 0, ok: null, factor: null };
  const check = async (user: string, password: string, route: string): Promise<boolean> => {
    if (context?.login === 'refuse' || note.startsWith('repeated') || report.failed.length > 0) {
      report.refused++;
      fake.refused++;
      return false;
    }
    fake.checks.push(route);
    if (!fake.bare) fake.records.set(requestId, 'unfinished');
    checking(1);
    await Promise.all([new Promise((resolve) => setTimeout(resolve, fake.checkMs)), fake.held]);
    checking(-1);
    const id = USERS[user] ?? 0;
    if (id === 0 || password !== PASSWORD) {
      report.failed.push({ user, id, route });
      return false;
    }
    if (fake.factor) {
      report.factor = {
        id,
        login: user,
        remember: true,
        redirect: 'https://example.com/wp-admin/',
        interim: false,
        ...fake.factorReport,
      };
    } else report.ok = { id, login: user, route };
    return true;
  };

  // Every route on which a password may be sent.
  let loggedIn = false;
  const hasKey = credentials !== null && fake.pluginKeys.has(credentials);
  const isApi = script.startsWith('/wp-json') || query.has('rest_route') || script === '/xmlrpc.php';
  if (credentials !== null && !hasKey && context?.basic !== 'web-server') {
    const [user = '', password = ''] = credentials.split(':');
    if (fake.checksBasic === 'everywhere') loggedIn = await check(user, password, 'rest');
    else if (isApi) loggedIn = await check(user, password, 'application-password');
  }
  if (script === '/xmlrpc.php') {
    // One call per line: a password of the owner, or a name and a password.
    for (const call of body.split('\n').filter(Boolean)) {
      const [password = '', user = 'owner'] = call.split(' ').reverse();
      await check(user, password, 'xmlrpc');
    }
  }
  if (form.has('pwd') && (script === '/wp-login.php' ? action === 'login' : true)) {
    loggedIn = await check(form.get('log') ?? '', form.get('pwd') ?? '', script === '/wp-login.php' ? 'form' : 'other');
  }
  // A plugin that reads a password from the address.
  if (script === '/plugin/' && request.method === 'GET') {
    loggedIn = await check(query.get('log') ?? '', query.get('code') ?? query.get('password') ?? '', 'other');
  }
  const asUser = request.headers.cookie?.includes('wordpress_logged_in_x=1') === true;
  signal(asUser || hasKey ? 'm' : '-');
  const isAjax = script.startsWith('/wp-admin/admin-');
  if (asUser && fake.staff && context?.why === 'away' && (isAjax || request.method !== 'GET') && !fake.old) {
    signal('mw');
    const type = isApi || isAjax || form.has('rest_route') ? 'application/json' : 'text/html';
    response.writeHead(403, { 'Content-Type': `${type}; charset=utf-8`, 'Content-Length': 6 }).end('closed');
    return;
  }
  if (report.failed.length + report.refused > 0 || report.ok !== null || report.factor !== null) {
    const payload = Buffer.from(JSON.stringify(report)).toString('base64url');
    const fields = `1 ${requestId} ${payload}`;
    response.setHeader('X-Security-Optimizer-Login', `${fields} ${mac(secret, `connector-login\n${fields}`)}`);
    fake.mangle(response);
    if (fake.lostResponse?.unfinished !== true && fake.records.has(requestId))
      fake.records.set(requestId, report as LoginReport);
  }
  if (fake.lostResponse !== null && (fake.lostResponse.when === 'always' || fake.records.has(requestId) || fake.bare)) {
    // Removes all headers of PHP's own response.
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    if (fake.lostResponse.status === 'cut off') request.socket.destroy();
    else response.writeHead(fake.lostResponse.status, { 'Content-Type': 'text/html', 'Content-Length': 3 }).end('own');
    return;
  }
  if (fake.bare) for (const name of ['Signal', 'Login']) response.removeHeader(`X-Security-Optimizer-${name}`);
  if (report.factor !== null) response.setHeader('Set-Cookie', 'wordpress_logged_in_x=must-not-leave; HttpOnly');
  else if (loggedIn) response.setHeader('Set-Cookie', 'wordpress_logged_in_x=1; HttpOnly');

  const send = (status: number, type: string, text: string): void => {
    response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) }).end(text);
  };
  const trace = (): void => {
    signal('a');
    send(200, 'text/html', '');
  };
  if (report.factor !== null && fake.ownResponse !== null) {
    response.writeHead(fake.ownResponse.status, { ...fake.ownResponse.headers }).end('must-not-leave');
    return;
  }
  if (script === '/wp-login.php') {
    if (fake.custom && context?.page === undefined && action !== 'postpass' && action !== 'confirmaction')
      return trace();
    if (context?.page === 'signup' && !fake.registration) return trace();
    return send(200, 'text/html', `login page, action ${action}, seen as ${shown}`);
  }
  if (script === '/wp-signup.php') {
    return context?.page === 'signup' ? send(200, 'text/html', `sign-up of a network, seen as ${shown}`) : trace();
  }
  if (script === '/wp-activate.php') {
    return query.get('key') === 'right' ? send(200, 'text/html', 'account activated') : trace();
  }
  if (script === '/wp-admin/admin-ajax.php' || script === '/wp-admin/admin-post.php')
    return send(200, 'text/plain', '0');
  if (script.startsWith('/wp-admin/css/') || script === '/wp-admin/menu.php') {
    // The connector is not involved: a file that the web server sends by itself, or a script that loads no WordPress.
    response.removeHeader('X-Security-Optimizer-Signal');
    return send(200, 'text/css', 'body{}');
  }
  if (script.startsWith('/wp-admin')) {
    if (asUser) return send(200, 'text/html', 'admin page');
    if (fake.custom) return trace();
    response.writeHead(302, { Location: '/wp-login.php' }).end();
    return;
  }
  if (script === '/xmlrpc.php' || script === '/wp-cron.php' || script.startsWith('/wp-json'))
    return send(200, 'text/plain', 'ok');
  if (script === '/author/wp-admin/' || script === '/news/wp-admin/')
    return send(200, 'text/html', 'what a writer wrote');
  if (script === '/' || script === '/shop/account') return send(200, 'text/html', 'a page');
  if (script === '/members') return fake.custom && !asUser ? trace() : send(200, 'text/html', 'members');
  // A rewrite rule of WordPress. It sees the target that the web server received: the connector restores the visitor's
  // path later.
  if (/wp-register\.php\/?(?:\?|$)/.test(String(request.url))) {
    response.writeHead(301, { Location: '/wp-login.php?action=register' }).end();
    return;
  }
  // The theme's 404 page shows the path that WordPress sees. Its length is not known in advance, as with PHP.
  response.writeHead(404, { 'Content-Type': 'text/html' });
  response.write('nothing at ');
  response.end(shown);
}

function readContext(secret: string, requestId: string, value: string | string[] | undefined) {
  if (typeof value !== 'string') return null;
  const [version, request, payload = '', signed] = value.split(' ');
  if (version !== '1' || request !== requestId) throw new Error('a context of another request');
  if (signed !== mac(secret, `guard-context\n1 ${request} ${payload}`)) throw new Error('a context with a wrong MAC');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
}

function readBasicCredentials(request: IncomingMessage): string | null {
  const value = /^basic (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  return value === undefined ? null : Buffer.from(value, 'base64').toString();
}

function requestsFactor(server: WebServerBasic, request: IncomingMessage, sent: string | null): boolean {
  if (request.url?.startsWith(server.path) !== true) return false;
  if (server.methods !== undefined && !server.methods.includes(request.method ?? '')) return false;
  if (server.cookie !== undefined && request.headers.cookie?.includes(server.cookie) === true) return false;
  return server.credentials === 'any' ? sent === null : sent !== server.credentials;
}

/** The purpose for which the guard header was signed, in addition to the plain one. */
function readLoginNote(secret: string, header: string): string {
  const cut = header.lastIndexOf(' ');
  const notes = ['', 'context', 'decoy', 'decoy context', 'repeated', 'repeated decoy', 'probe'];
  const note = notes.find((each) => {
    const purpose = each === '' ? 'guard-request' : `guard-request ${each}`;
    return header.slice(cut + 1) === mac(secret, `${purpose}\n${header.slice(0, cut)}`);
  });
  if (note === undefined) throw new Error('a guard header with a wrong MAC');
  return note;
}

function toVisiblePath(
  secret: string,
  target: string,
  requestId: string,
  context: Record<string, unknown> | null,
  note: string,
): string {
  const query = target.includes('?') ? target.slice(target.indexOf('?')) : '';
  if (typeof context?.path === 'string') {
    const own = context.page === 'signup' ? query.replace(/[?&]action=register$/, '') : query;
    return context.path + own;
  }
  if (!note.includes('decoy')) return target;
  const key = createHmac('sha256', secret).update(`guard-decoy\n${requestId}`).digest();
  const path = target.slice(0, target.length - query.length);
  return (
    path.replace(/%2f|(?:(?!%2f)[^/])+/gi, (name) => {
      if (/^%2f$/i.test(name)) return name;
      const back = unshift(name, key);
      const stem =
        decodeURIComponent(back.replace(/[\x80-\xff]/g, ''))
          .split(/[.;:?]/)[0]
          ?.trim()
          .toLowerCase() ?? '';
      return ['wp-login', 'wp-admin', 'wp-register', 'wp-signup', 'wp-activate'].includes(stem) ? back : name;
    }) + query
  );
}

/** Reverses the shift of letters, plain and encoded ones. It is sufficient for the ASCII names that the tests use. */
function unshift(name: string, key: Uint8Array): string {
  const kinds = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789'];
  const unshiftLetter = (letter: string, alphabets: readonly string[], by: number): string => {
    const kind = alphabets.find((each) => each.includes(letter)) ?? letter;
    return kind.at((kind.indexOf(letter) - by) % kind.length) as string;
  };
  let over = false;
  return (name.match(/%[0-9a-f]{2}|./gi) ?? []).reduce((back, unit, i) => {
    const by = key[i % 32] as number;
    over ||= /^(?:[.;:?]|%2e|%3[abf])$/i.test(unit);
    if (over) return back + unit;
    if (unit.length === 1) return back + unshiftLetter(unit, kinds, by);
    const high = unit[1] as string;
    if (!/[3-7]/.test(high)) return back + unit;
    const low = high === '4' || high === '6' ? ['123456789', 'abcdef', 'ABCDEF'] : ['0123456789'];
    return `${back}%${high}${unshiftLetter(unit[2] as string, low, by)}`;
  }, '');
}

function headBytes(request: IncomingMessage): number[] {
  const lines = [`${request.method} ${request.url} HTTP/1.1`];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    lines.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`);
  }
  return lines.map((line) => line.length);
}

function keyId(secret: string): string {
  return createHash('sha256').update(`security-optimizer key id\n${secret}`).digest('hex').slice(0, 8);
}

function mac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}
