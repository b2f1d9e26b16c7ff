import { createHash, createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { version } from '../../src/lib/version.js';
import { SECRET } from './site-config.js';

export const OTHER_SECRET = 'a1'.repeat(32);

/** A user whom the fake WordPress identifies by cookie and nonce. */
interface FakeUser {
  readonly nonce: string;
  readonly can_manage: boolean;
  readonly id: number;
  readonly login: string;
}

/** A user of the fake WordPress. */
interface FakeWordPressUser {
  login: string;
  readonly administrator: boolean;
}

/**
 * A web server that implements the connector's side of docs/developer/connector-protocol.md, written from that document
 * alone. It checks every signature and signs its responses with its own code.
 */
export interface FakeConnector {
  readonly upstream: string;
  secret: string;
  version: string;
  home: string;
  /** The site's locale, as `hello` reports it. */
  locale: string;
  /** `gone`: WordPress without the connector. `broken`: PHP is down. `slow`: never responds. */
  mode: 'ok' | 'gone' | 'broken' | 'slow';
  readme: 'deleted' | 'absent' | 'not_deleted';
  /** Called before a command is carried out; its response waits for this. */
  hold: (command: string, cookie: string | undefined) => void | Promise<void>;
  /**
   * Called for every request, whatever its result.
   * @param command `probe` for a request that only identifies the connector; null for none
   */
  onRequest: (command: string | null, request: IncomingMessage) => void;
  /** Called before a policy is stored; may change the state in between. */
  beforePolicy: () => void | Promise<void>;
  policy: { hash: string; policy: Record<string, number | string> } | null;
  /** The hash that it reports as stored, when it differs from the hash that was sent. */
  sentPolicy: string | null;
  /** Users of the site by ID, for Login Security. */
  readonly members: Map<number, FakeWordPressUser>;
  /** Its folders, as `hello` reports them; null as from a connector that does not report them. */
  folders: { readonly wordpress: string; readonly connector: string } | null;
  /** Further names and addresses in `hello`; empty as from a connector that reports none. */
  names: Readonly<Record<string, unknown>>;
  /** Plugins with signed XML-RPC requests, as `hello` reports them. */
  signedXmlRpc: readonly unknown[];
  /** Roles of the site, as `login-data` reports them; null as from a connector that does not report them. */
  roles: readonly { readonly role: string; readonly name: string }[] | null;
  /** Whether visitors may register. */
  registration: boolean;
  /** Names that exist in addition to the listed users. */
  readonly hiddenNames: Set<string>;
  /** Paths of the site and what uses them. */
  readonly usedPaths: Map<string, string>;
  /** Bodies of `issue-session`. */
  readonly issued: unknown[];
  /** Bodies of `end-sessions`, with the cookie of the request. */
  readonly endedSessions: { readonly body: unknown; readonly cookie: string | undefined }[];
  /** Commands whose response is HTTP status 500. */
  readonly failing: Set<string>;
  /** Commands that it does not have, as a connector of an older version. */
  readonly unknown: Set<string>;
  readonly users: Map<string, FakeUser>;
  /** Records of password checks, by request; null for a check that did not end. */
  readonly checks: Map<string, object | null>;
  /** Rows of the outbox, oldest first. */
  outbox: FakeEvent[];
  /** Seconds after which it reports more rows; null as from a connector that holds none back. */
  held: number | null;
  /** Bodies of `events`, in order. */
  readonly drains: { readonly ack: readonly string[]; readonly limit: number }[];
  /** Bodies of `send-mail`. */
  readonly mails: unknown[];
  /** Why WordPress can't send mail, or null. */
  mailFault: string | null;
  /** The response to `overview`. */
  overview: Record<string, unknown>;
  /** Flags of the signal on every response. */
  flags: string;
  /** Commands carried out, in order. */
  readonly commands: string[];
  /** Redirects requests for another host to this one, like a network of sites; null for no redirect. */
  onlyHost: string | null;
  /** Whether requests without guard's signature are refused. */
  requireGuard: boolean;
  /** How far its clock is ahead of this machine's, milliseconds. */
  clockAhead: number;
  /** The value of `address_seen` in `hello`; undefined as from a connector that does not report it. */
  addressSeen: ((request: IncomingMessage) => boolean | null) | undefined;
  /** Pages that its web server serves in addition to WordPress, by path. Called with the request. */
  readonly pages: Map<string, (request: IncomingMessage) => string | null>;
  /** HTTP status of pages. */
  pageStatus: number;
  /** The signal on every page in place of the one for the request, as from a cache; null for none. */
  cachedSignal: string | null;
  /** Host header of each command. */
  readonly hosts: string[];
  close(): Promise<void>;
}

/** Status of the responses that refuse. */
const refusals: Readonly<Record<string, number>> = { not_renamed: 400, not_sent: 500 };

const usedNonces = new Set<string>();

export async function fakeConnector(): Promise<FakeConnector> {
  const server = createServer((request, response) => void respond(fake, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fake: FakeConnector = {
    upstream,
    secret: SECRET,
    version,
    home: 'https://example.com',
    locale: 'en_US',
    mode: 'ok',
    readme: 'deleted',
    hold: () => undefined,
    onRequest: () => undefined,
    beforePolicy: () => undefined,
    policy: null,
    sentPolicy: null,
    members: new Map([
      [1, { login: 'owner', administrator: true }],
      [2, { login: 'editor', administrator: false }],
    ]),
    folders: null,
    names: {},
    signedXmlRpc: [],
    roles: [
      { role: 'administrator', name: 'Administrator' },
      { role: 'editor', name: 'Editor' },
      { role: 'author', name: 'Author' },
      { role: 'shop_manager', name: 'Shop manager' },
    ],
    registration: false,
    hiddenNames: new Set(),
    usedPaths: new Map(),
    issued: [],
    endedSessions: [],
    failing: new Set(),
    unknown: new Set(),
    users: new Map([
      ['session=owner', { nonce: 'owner-nonce', can_manage: true, id: 1, login: 'owner' }],
      ['session=editor', { nonce: 'editor-nonce', can_manage: false, id: 2, login: 'editor' }],
    ]),
    checks: new Map(),
    outbox: [],
    held: null,
    drains: [],
    mails: [],
    mailFault: null,
    overview: {
      core_update: null,
      plugin_updates: 0,
      theme_updates: 0,
      salts: 'set',
      shows_errors: false,
      can_edit_files: false,
      administrators: [{ id: 1, login: 'owner' }],
      default_role: 'subscriber',
      registration: false,
      https: true,
    },
    flags: '-',
    commands: [],
    onlyHost: null,
    requireGuard: true,
    clockAhead: 0,
    addressSeen: undefined,
    pages: new Map(),
    pageStatus: 200,
    cachedSignal: null,
    hosts: [],
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  onTestFinished(() => fake.close());
  return fake;
}

async function respond(fake: FakeConnector, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  const command = /rest_route=\/security-optimizer-connector\/v1\/([a-z-]+)$/.exec(request.url ?? '')?.[1];
  const isProbe = checkGuardHeader(fake, request.headers['x-security-optimizer-guard'], ' probe') !== null;
  fake.onRequest(isProbe ? 'probe' : (command ?? null), request);
  response.setHeader('Date', new Date(Date.now() + fake.clockAhead).toUTCString());
  if (fake.mode === 'slow') return;
  if (fake.mode === 'broken') return finish(response, 502, { error: 'Bad Gateway' });
  const page = fake.pages.get(new URL(request.url ?? '', 'http://site.invalid').pathname)?.(request);
  if (page !== undefined && page !== null) {
    response.end(page);
    return;
  }
  if (fake.mode === 'gone') return finish(response, 404, { code: 'rest_no_route' });
  if (fake.onlyHost !== null && request.headers.host !== fake.onlyHost) {
    response.setHeader('Location', `http://${fake.onlyHost}/`);
    return finish(response, 302, {});
  }
  const header = request.headers['x-security-optimizer-guard'];
  const requestId =
    checkGuardHeader(fake, header, isProbe ? ' probe' : '') ?? checkGuardHeader(fake, header, ' repeated');
  if (requestId === null) {
    if (header === undefined && !fake.requireGuard) {
      return finish(response, request.url?.includes('rest_route') ? 404 : 200, { code: 'rest_no_route' });
    }
    response.setHeader('X-Security-Optimizer-Signal', `1 ${toKey(fake.secret)}`);
    return finish(response, 403, { message: 'This address is not available here.' });
  }
  const known =
    command &&
    !fake.unknown.has(command) &&
    checkCommand(fake, command, request.headers['x-security-optimizer-command'], body);
  if (known) await fake.hold(command, request.headers.cookie);
  const done = known ? await run(fake, command, JSON.parse(body), request) : null;
  const fields = `1 ${toKey(fake.secret)} ${requestId} ${fake.policy?.hash ?? '-'} ${fake.version} ${fake.flags}`;
  response.setHeader('X-Security-Optimizer-Signal', `${fields} ${mac(fake.secret, `connector-signal\n${fields}`)}`);
  if (request.method === 'POST' && request.url === '/wp-login.php') {
    // A wrong password for the owner.
    const report = { failed: [{ user: 'owner', id: 1, route: 'form' }], refused: 0, ok: null, factor: null };
    const header = `1 ${requestId} ${Buffer.from(JSON.stringify(report)).toString('base64url')}`;
    response.setHeader('X-Security-Optimizer-Login', `${header} ${mac(fake.secret, `connector-login\n${header}`)}`);
  }
  if (isProbe) return finish(response, 200, {});
  if (command === undefined && fake.cachedSignal !== null) {
    response.setHeader('X-Security-Optimizer-Signal', fake.cachedSignal);
  }
  if (done === null) return finish(response, command ? 404 : fake.pageStatus, { code: 'rest_no_route' });
  if (fake.failing.has(command as string)) return finish(response, 500, { code: 'failed' });
  if (command === 'rename-users' && request.headers.cookie === 'session=owner') {
    response.setHeader('Set-Cookie', 'renamed=1; HttpOnly');
  }
  if (command === 'issue-session') response.setHeader('Set-Cookie', ['first=1; HttpOnly', 'second=2; HttpOnly']);
  fake.commands.push(command as string);
  fake.hosts.push(request.headers.host ?? '');
  finish(response, refusals[(done as { code?: string }).code ?? ''] ?? 200, done);
}

async function run(fake: FakeConnector, command: string, body: Record<string, unknown>, request: IncomingMessage) {
  const { cookie } = request.headers;
  if (command === 'hello') {
    const path = new URL(fake.home).pathname.replace(/\/$/, '');
    return {
      connector: fake.version,
      wordpress: '6.5.5',
      php: '8.2.0',
      multisite: false,
      signed_xml_rpc: fake.signedXmlRpc,
      home: fake.home,
      site_url: fake.home,
      paths: {
        admin: `${path}/wp-admin`,
        includes: `${path}/wp-includes`,
        content: `${path}/wp-content`,
        uploads: `${path}/wp-content/uploads`,
        rest: `${path}/wp-json`,
      },
      timezone: 'Europe/Berlin',
      locale: fake.locale,
      policy: fake.policy?.hash ?? null,
      ...(fake.addressSeen !== undefined && { address_seen: fake.addressSeen(request) }),
      ...(fake.folders !== null && { folders: fake.folders }),
      ...fake.names,
    };
  }
  if (command === 'session') {
    const user = fake.users.get(cookie ?? '');
    if (!user || (body.cookie_only !== true && user.nonce !== body.nonce))
      return { user: null, code: 'rest_cookie_invalid_nonce' };
    const { id, login, can_manage } = user;
    return {
      user: { id, login, name: login, roles: [can_manage ? 'administrator' : 'editor'], can_manage },
      locale: 'en_US',
    };
  }
  if (command === 'overview') return fake.overview;
  if (command === 'policy') {
    await fake.beforePolicy();
    const { hash, policy } = body as { hash: string; policy: Record<string, number | string> };
    if (hash !== hashPolicy(policy)) return null;
    fake.policy = { hash, policy };
    return { policy: fake.sentPolicy ?? hash, notes: policy.delete_readme === 1 ? { delete_readme: fake.readme } : [] };
  }
  return runActivityCommand(fake, command, body) ?? runLoginCommand(fake, command, body, cookie);
}

function finish(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function mac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

function toKey(secret: string): string {
  return createHash('sha256').update(`security-optimizer key id\n${secret}`).digest('hex').slice(0, 8);
}

function hashPolicy(policy: Record<string, number | string>): string {
  const pairs = Object.keys(policy)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(policy[name])}`);
  return createHash('sha256')
    .update(`{${pairs.join(',')}}`)
    .digest('hex')
    .slice(0, 16);
}

/**
 * Checks the guard header of a request.
 * @returns the request id, or null for a header that is missing, forged or too old
 */
function checkGuardHeader(
  { secret, clockAhead }: FakeConnector,
  value: string | string[] | undefined,
  note: '' | ' probe' | ' repeated' = '',
): string | null {
  const parts = String(value).split(' ');
  const [version, key, time, requestId] = parts;
  const signed = mac(secret, `guard-request${note}\n${parts.slice(0, 6).join(' ')}`);
  const fresh = isCurrent(time, clockAhead);
  const fits = parts.length === 7 && version === '1' && key === toKey(secret) && parts[6] === signed && fresh;
  return fits ? (requestId ?? null) : null;
}

function checkCommand(
  { secret, clockAhead }: FakeConnector,
  command: string,
  value: string | string[] | undefined,
  body: string,
): boolean {
  const [version, time, nonce, signed] = String(value).split(' ');
  const bodyHash = createHash('sha256').update(body).digest('hex');
  const expected = mac(secret, `guard-command\nPOST\n${command}\n${time}\n${nonce}\n${bodyHash}`);
  if (version !== '1' || signed !== expected || nonce === undefined || usedNonces.has(nonce)) return false;
  usedNonces.add(nonce);
  return isCurrent(time, clockAhead);
}

function isCurrent(time: string | undefined, clockAhead: number): boolean {
  return Math.abs((Date.now() + clockAhead) / 1000 - Number(time)) <= 60;
}

/** A row of the outbox; any field but `uid` may be invalid. */
export interface FakeEvent {
  readonly uid: string;
  readonly [field: string]: unknown;
}

/** An event of a user now, as WordPress reports it. */
export function fakeEvent(change: Omit<Partial<FakeEvent>, 'uid'> = {}): FakeEvent {
  return {
    uid: randomBytes(16).toString('hex'),
    at: Math.floor(Date.now() / 1000),
    kind: 'post.updated',
    user: { id: 2, login: 'editor' },
    address: '198.51.100.77',
    origin: 'web',
    object: { type: 'post', id: '1', name: 'Hello' },
    before: null,
    after: null,
    ...change,
  };
}

/**
 * The fake connector's commands of docs/developer/activity-log.md.
 * @returns null for any other
 */
function runActivityCommand(fake: FakeConnector, command: string, body: Record<string, unknown>): object | null {
  switch (command) {
    case 'events': {
      const { ack, limit } = body as { ack: string[]; limit: number };
      fake.drains.push({ ack, limit });
      fake.outbox = fake.outbox.filter(({ uid }) => !ack.includes(uid));
      const events = fake.outbox.slice(0, limit).map((row, index) => ({ id: index + 1, ...row }));
      const held = fake.held === null ? {} : { held: fake.held };
      const names = typeof fake.names.names === 'string' ? { names: fake.names.names } : {};
      return { events, more: fake.outbox.length > limit, ...held, ...names };
    }
    case 'users-info': {
      const all = [...fake.members].map(([id, { login, administrator }]) => ({
        id,
        login,
        roles: [administrator ? 'administrator' : 'editor'],
        can_manage: administrator,
      }));
      const { users, search = '', limit = 20 } = body as { users?: number[]; search?: string; limit?: number };
      const found = users
        ? all.filter(({ id }) => users.includes(id))
        : all.filter(({ login }) => login.includes(search)).slice(0, limit);
      const blocked = String(fake.policy?.policy.blocked_users ?? '').split(',');
      const free = all.filter(({ id, can_manage }) => can_manage && !blocked.includes(String(id)));
      return { users: found, administrators: free.length };
    }
    case 'send-mail':
      if (fake.mailFault !== null) return { code: 'not_sent', message: fake.mailFault };
      fake.mails.push(body);
      return { sent: true };
    default:
      return null;
  }
}

const COMMON = ['administrator', 'user1', 'admin', 'user'];

/**
 * The fake connector's commands of docs/developer/login-security.md.
 * @returns null for any other
 */
function runLoginCommand(
  fake: FakeConnector,
  command: string,
  body: Record<string, unknown>,
  cookie: string | undefined,
): object | null {
  switch (command) {
    case 'login-data': {
      const members = [...fake.members];
      return {
        users: members.map(([, { login }]) => login),
        matches: members
          .filter(([, { login, administrator }]) => administrator && COMMON.includes(login.toLowerCase()))
          .map(([ID, { login }]) => ({ ID, user_login: login })),
        registration: fake.registration,
        ...(fake.roles && { roles: fake.roles }),
        login_url: `${fake.home}/wp-login.php`,
        signup_url: `${fake.home}/wp-login.php?action=register`,
        factor_users: {
          total: members.length,
          users: members.map(([id, { login, administrator }]) => ({
            ...{ id, login, role: administrator ? 'administrator' : 'editor', sessions: 1 },
          })),
        },
        team: members.length,
      };
    }
    case 'team':
      return { users: [...fake.members].map(([id, { login }]) => ({ id, login, email: `${login}@example.com` })) };
    case 'login-reports': {
      const wanted = (body.requests as string[]).filter((id) => fake.checks.has(id));
      return { reports: Object.fromEntries(wanted.map((id) => [id, fake.checks.get(id)])) };
    }
    case 'path-in-use': {
      const by = fake.usedPaths.get(body.path as string);
      return by === undefined ? { used: false, by: null } : { used: true, by };
    }
    case 'rename-users': {
      const wanted = body.users as { ID: number; user_login: string }[];
      const usedNames = [...fake.hiddenNames, ...[...fake.members.values()].map(({ login }) => login.toLowerCase())];
      const faults = wanted.filter(({ user_login }) => usedNames.includes(user_login.toLowerCase()));
      if (faults.length > 0) {
        return { code: 'not_renamed', fields: Object.fromEntries(faults.map(({ ID }) => [ID, 'exists'])) };
      }
      for (const { ID, user_login } of wanted) Object.assign(fake.members.get(ID) ?? {}, { login: user_login });
      return { renamed: wanted.length };
    }
    case 'end-sessions':
      fake.endedSessions.push({ body, cookie });
      return { ended: 1 };
    case 'issue-session':
      fake.issued.push(body);
      return { redirect: `${fake.home}/wp-admin/` };
    case 'user': {
      const member = fake.members.get(body.user as number);
      return member
        ? {
            id: body.user,
            login: member.login,
            needs_factor: member.administrator,
            email: `${member.login}@example.com`,
          }
        : { id: 0 };
    }
    default:
      return null;
  }
}
