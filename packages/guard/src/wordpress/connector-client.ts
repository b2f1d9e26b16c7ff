import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { USUAL_SESSION_COOKIES } from '../http/session-cookies.js';
import { toClientKey } from '../lib/address.js';
import { parseVisitor } from '../lib/carried-address.js';
import type { Clock } from '../lib/clock.js';
import { toUpstreamAddress, toUpstreamAuthority } from '../lib/socket-address.js';
import type { SiteConfig, SiteFacts } from '../site.js';
import {
  CommandConnections,
  CommandQueue,
  type CommandRequest,
  type CommandResponse,
  KnownAdministrators,
  parseResponse,
  type SessionRequest,
  unreachable,
} from './command-queue.js';
import { ConnectorError } from './connector-error.js';
import {
  endSessionsResponse,
  eventsResponse,
  type FoundUser,
  forgetResponse,
  type HelloResponse,
  helloResponse,
  issueSessionResponse,
  type LoginData,
  loginDataResponse,
  loginReportsResponse,
  type OutboxBatch,
  type PolicyNotes,
  pathInUseResponse,
  policyResponse,
  type RenameFault,
  renameRefusal,
  renameResponse,
  type SessionResponse,
  sendMailRefusal,
  sendMailResponse,
  sessionResponse,
  type TeamMember,
  teamResponse,
  type UsersInfo,
  userResponse,
  usersInfoResponse,
} from './connector-responses.js';
import type { LoginReport } from './login-headers.js';
import { COMMAND_HEADER, commandHeader, GUARD_HEADER, guardHeader, type Signal } from './signature.js';
import {
  getRedirectOrigin,
  isSameOrigin,
  OWN_ADDRESS,
  type Sender,
  type SiteOrigin,
  toForwardedHeaders,
  toSiteOrigin,
} from './site-origin.js';
import { verifyResponse } from './verify-response.js';

/** PHP in WebAssembly on a slow machine needs seconds for its first page. */
const RESPONSE_TIMEOUT_MS = 20_000;
/** Plugins that send mails wait for external servers. */
const MAIL_TIMEOUT_MS = 60_000;
/** How often a command is sent again with another scheme or host. */
const MORE_ORIGINS = 2;

/**
 * Sends commands to the connector of any site. Every method throws ConnectorError when the command was not carried out.
 * `session` and `identify` also throw ApiError too_many_calls or wordpress_busy when the queue is full.
 */
export interface ConnectorClient extends SessionIssuer, UserLookup {
  hello(site: SiteConfig): Promise<HelloResponse>;
  /** The user to whom this cookie and nonce belong. */
  session(site: SiteConfig, query: BrowserIdentity & { readonly nonce: string | null }): Promise<SessionResponse>;
  /**
   * Sends a policy; resolves once it is stored.
   * @param push `reconcile`: WordPress runs a policy other than the one that guard sent last
   */
  policy(
    site: SiteConfig,
    push: { readonly hash: string; readonly policy: object; readonly reconcile?: boolean },
  ): Promise<PolicyNotes>;
  /** Users, administrators with a common username, and WordPress's own addresses for login and sign-up. */
  loginData(site: SiteConfig): Promise<LoginData>;
  /**
   * All users who may write on the site (at most one more than the limit for mails), or all who need a second factor.
   */
  team(site: SiteConfig, group: 'team' | 'needs_factor'): Promise<readonly TeamMember[]>;
  /** What uses a path of the site, for example `a page`, or null. */
  pathInUse(site: SiteConfig, path: string): Promise<string | null>;
  /**
   * Renames all users or none. Faults are by user ID, null when all users were renamed. The cookies must be sent to the
   * caller: a renamed caller gets a new session, since the old one holds the old name.
   */
  renameUsers(
    site: SiteConfig,
    users: readonly { readonly ID: number; readonly user_login: string }[],
    caller: BrowserIdentity,
  ): Promise<{
    readonly faults: Readonly<Record<string, RenameFault>> | null;
    readonly setCookies: readonly string[];
  }>;
  /**
   * Ends the sessions of these users, of all users who need a second factor (`needs_factor`), or of those users, or of
   * the users with certain roles, who have a session that was created without the factor.
   * @param keep the browser whose session is kept
   */
  endSessions(
    site: SiteConfig,
    users: readonly number[] | 'needs_factor' | 'without_factor' | { readonly rolesWithoutFactor: readonly string[] },
    keep?: BrowserIdentity,
  ): Promise<void>;
  /** The results of the password checks in these requests. Requests without a check are omitted. */
  loginReports(site: SiteConfig, requests: readonly string[]): Promise<ReadonlyMap<string, LoginReport | 'unfinished'>>;
  /** A user by ID, or null. `email` and `stamp` are empty when WordPress does not report them. */
  user(site: SiteConfig, id: number): Promise<FoundUser | null>;
  /**
   * Sends any other command, see connector-commands.ts.
   * @param options `visitor`: the browser for which it is sent; `timeoutMs`: 20 s by default
   * @returns the verified response, whatever its status
   */
  send(
    site: SiteConfig,
    name: string,
    content: object,
    options?: { readonly visitor?: BrowserIdentity; readonly timeoutMs?: number },
  ): Promise<CommandResponse>;
  /**
   * Deletes the events in `ack` from the outbox, then returns the oldest ones. `held` is the number of seconds until
   * events that are still held back become available (0: none).
   */
  events(site: SiteConfig, query: { readonly ack: readonly string[]; readonly limit: number }): Promise<OutboxBatch>;
  /** Users by ID or by a part of their login, and the number of administrators. */
  usersInfo(
    site: SiteConfig,
    query: { readonly users: readonly number[] } | { readonly search: string; readonly limit: number },
  ): Promise<UsersInfo>;
  /**
   * Sends a mail through WordPress.
   * @returns the reason why WordPress could not send it, or null when it was sent
   */
  sendMail(
    site: SiteConfig,
    mail: { readonly to: string; readonly subject: string; readonly html: string; readonly text: string },
  ): Promise<string | null>;
  /** Deletes the connector's data from WordPress's database. Called immediately before its files are removed. */
  forget(site: SiteConfig): Promise<void>;
  /** Aborts the commands under way and refuses new ones. */
  close(): void;
}

/**
 * Creates a client for the commands of docs/developer/connector-protocol.md.
 * @param options `facts`: the known facts of a site; they contain the address at which WordPress expects requests
 */
export function createConnectorClient(options: {
  clock: Clock;
  facts: (site: SiteConfig) => Pick<SiteFacts, 'homeUrl' | 'sessionCookies'> | null;
  /** Origin of the last page of the site that its connector signed. Used while no facts of the site are known. */
  lastPage?: (site: SiteConfig) => SiteOrigin | null;
  /** Whether WordPress is in maintenance mode, see `isInMaintenance`. Called when a response has no signature. */
  isInMaintenance?: (site: SiteConfig) => Promise<boolean>;
  /**
   * Called after a command failed, so that the site's state is checked. Not called for `hello`, `login-reports` and
   * `forget`.
   */
  onFailed?: (site: SiteConfig) => void;
  /** Called with the connector's signal on each response that it signed. */
  onSignal?: (site: SiteConfig, command: string, signal: Signal) => void;
  /** Called with the hash of the site's names and addresses whenever its events are fetched. */
  onNames?: (site: SiteConfig, names: string) => void;
  responseTimeoutMs?: number;
  /** Client address of guard's own commands. Default: this machine. */
  ownAddress?: string;
}): ConnectorClient {
  const { clock, facts } = options;
  const connections = new CommandConnections();
  /** One queue per web server, so that many sites on one server do not send it more commands. */
  const queues = new Map<string, CommandQueue>();
  const administrators = new KnownAdministrators(clock);
  const defaultMs = options.responseTimeoutMs ?? RESPONSE_TIMEOUT_MS;
  const onSignal = options.onSignal ?? (() => undefined);

  /** @returns the verified response */
  async function send(
    site: SiteConfig,
    name: string,
    content: object,
    visitor?: { readonly sender: Sender; readonly cookie?: string; readonly path?: string },
    timeoutMs = defaultMs,
    queued: CommandRequest | SessionRequest = { kind: 'command', slow: timeoutMs > defaultMs, waitMs: timeoutMs },
  ): Promise<CommandResponse> {
    const enqueue = (task: () => Promise<CommandResponse>): Promise<CommandResponse> =>
      getQueue(site).run(queued, task);
    const known = facts(site);
    const path = visitor?.path ?? toHomePath(site, known);
    const lastPage = known === null ? (options.lastPage?.(site) ?? null) : null;
    const named = toSiteOrigin(site, known, lastPage?.scheme);
    const requested: SiteOrigin[] = [];
    let sender: Sender;
    /**
     * The first of these origins that has not been tried. Null for none, or when the command must not be sent again.
     */
    const toUntriedOrigin = (...found: (SiteOrigin | null)[]): SiteOrigin | null =>
      visitor !== undefined || requested.length > MORE_ORIGINS
        ? null
        : (found.find((one) => one !== null && !requested.some((before) => isSameOrigin(one, before))) ?? null);
    // The last page may belong to any site of a network, so its host is used only where the site's own host fails.
    const fallback = name === 'hello' ? lastPage : null;
    const first = visitor?.sender ?? {
      ...(name === 'hello' ? named : (lastPage ?? named)),
      address: options.ownAddress ?? OWN_ADDRESS,
      requestId: randomBytes(8).toString('hex'),
    };
    sender = first.host === '' ? { ...first, host: named.host } : first;
    for (;;) {
      requested.push(sender);
      let other: SiteOrigin | null;
      try {
        const response = await enqueue(() => sendAs(sender, site, path, name, content, visitor?.cookie, timeoutMs));
        other = response.signal === undefined ? toUntriedOrigin(getRedirectOrigin(response, sender), fallback) : null;
        if (other === null) {
          onSignal(site, name, await verifyRunning(site, response, sender, first.host || named.host));
          return response;
        }
      } catch (error) {
        // It may be unknown whether the command was carried out. Only `hello`, which changes nothing, is sent again
        // then.
        other = error instanceof ConnectorError ? toUntriedOrigin(fallback) : null;
        if (other === null) throw error;
      }
      sender = { ...sender, ...other };
    }
  }

  /**
   * Verifies the response.
   * @returns the connector's signal
   * @throws ConnectorError, which does not report the connector as missing during maintenance
   */
  async function verifyRunning(
    site: SiteConfig,
    response: CommandResponse,
    sender: Sender,
    firstHost: string,
  ): Promise<Signal> {
    try {
      return verifyResponse(site, response, { ...sender, firstHost, isKnown: facts(site) !== null });
    } catch (error) {
      const isMissing = error instanceof ConnectorError && error.fault.kind === 'missing';
      if (isMissing && (await options.isInMaintenance?.(site)) === true) {
        throw unreachable('WordPress is in maintenance mode');
      }
      throw error;
    }
  }

  function getQueue({ upstream }: SiteConfig): CommandQueue {
    const queue = queues.get(upstream) ?? new CommandQueue();
    queues.set(upstream, queue);
    return queue;
  }

  /** Finds the user of a browser. Any client can cause this request, so it has a separate queue. */
  async function fetchSession(site: SiteConfig, content: object, visitor: BrowserIdentity): Promise<SessionResponse> {
    const { cookie, sender, isRegisteredUser, isWanted = () => true } = visitor;
    const address = parseVisitor(sender.address);
    const names = facts(site)?.sessionCookies ?? USUAL_SESSION_COOKIES;
    const proven = administrators.has(site.id, cookie, names);
    const queued: SessionRequest = {
      kind: 'session',
      priority: proven ? 'administrator' : isRegisteredUser === true ? 'member' : 'anonymous',
      client: address === null ? sender.address : toClientKey(address),
      isWanted,
    };
    const session = send(site, 'session', content, { cookie, sender }, defaultMs, queued);
    const response = parseResponse(sessionResponse, 'session', await reportFailure(site, session));
    administrators.update(site.id, cookie, names, response.user?.can_manage === true);
    return response;
  }

  async function sendAs(
    sender: Sender,
    site: SiteConfig,
    path: string,
    name: string,
    content: object,
    cookie: string | undefined,
    timeoutMs: number,
  ): Promise<CommandResponse> {
    const body = JSON.stringify(content);
    const time = Math.floor(clock() / 1000);
    const upstream = toUpstreamAddress(site.upstream);
    const url = `http://${toUpstreamAuthority(upstream)}${path}/index.php?rest_route=/security-optimizer-connector/v1/${name}`;
    const headers: Record<string, string> = {
      host: sender.host,
      ...toForwardedHeaders(sender),
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'Security Optimizer guard',
      [GUARD_HEADER]: guardHeader(site.secret, {
        time,
        requestId: sender.requestId,
        scheme: sender.scheme,
        address: sender.address,
      }),
      [COMMAND_HEADER]: commandHeader(site.secret, {
        command: name,
        time,
        nonce: randomBytes(16).toString('hex'),
        body,
      }),
    };
    if (cookie !== undefined) headers.cookie = cookie;
    return connections.exchange(url, headers, body, timeoutMs, 'path' in upstream ? upstream.path : undefined);
  }

  async function command<Schema extends z.ZodType>(
    site: SiteConfig,
    name: string,
    content: object,
    schema: Schema,
    visitor?: { readonly sender: Sender; readonly cookie?: string },
  ): Promise<z.output<Schema>> {
    return parseResponse(schema, name, await send(site, name, content, visitor));
  }

  function reportFailure<Result>(site: SiteConfig, result: Promise<Result>): Promise<Result> {
    // A full queue gives no information about WordPress.
    result.catch((error: unknown) => error instanceof ConnectorError && options.onFailed?.(site));
    return result;
  }

  return {
    hello: (site) => command(site, 'hello', {}, helloResponse),
    session: (site, { nonce, ...visitor }) => fetchSession(site, { nonce }, visitor),
    async policy(site, push) {
      const response = await reportFailure(site, command(site, 'policy', push, policyResponse));
      if (response.policy !== push.hash)
        throw unreachable('the connector stored another policy than the one it was sent');
      return response.notes;
    },
    loginData: (site) => reportFailure(site, command(site, 'login-data', {}, loginDataResponse)),
    team: async (site, group) => (await reportFailure(site, command(site, 'team', { group }, teamResponse))).users,
    async pathInUse(site, path) {
      const { used, by } = await reportFailure(site, command(site, 'path-in-use', { path }, pathInUseResponse));
      return used ? (by ?? 'the site') : null;
    },
    async renameUsers(site, users, caller) {
      const response = await reportFailure(site, send(site, 'rename-users', { users }, caller));
      if (response.status === 400) {
        const { fields } = parseResponse(renameRefusal, 'rename-users', { ...response, status: 200 });
        return { faults: fields, setCookies: [] };
      }
      parseResponse(renameResponse, 'rename-users', response);
      return { faults: null, setCookies: response.setCookies };
    },
    async endSessions(site, users, keep) {
      const body = {
        ...toSessionSelection(users),
        ...(keep && { keep_cookie: true }),
      };
      await reportFailure(site, command(site, 'end-sessions', body, endSessionsResponse, keep));
    },
    async issueSession(site, { sender, newFactor, sitePath, ...rest }) {
      const body = { ...rest, new_factor: newFactor };
      const visitor =
        sitePath === ''
          ? { sender }
          : { sender, path: new URL(sitePath, 'http://site.invalid/').pathname.replace(/\/+$/, '') };
      const response = await reportFailure(site, send(site, 'issue-session', body, visitor));
      const { redirect } = parseResponse(issueSessionResponse, 'issue-session', response);
      return { redirect, setCookies: response.setCookies };
    },
    // Does not call `onFailed`: the caller checks the site's state.
    async loginReports(site, requests) {
      const { reports } = await command(site, 'login-reports', { requests }, loginReportsResponse);
      return new Map(Object.entries(reports).map(([id, report]) => [id, report ?? 'unfinished']));
    },
    async user(site, id) {
      const response = await reportFailure(site, command(site, 'user', { user: id }, userResponse));
      if (response.id === 0 || !('login' in response)) return null;
      const { login, needs_factor: needsFactor, email, stamp } = response;
      return { id: response.id, login, needsFactor, email, stamp };
    },
    async identify(site, visitor) {
      const { user } = await fetchSession(site, { nonce: null, cookie_only: true }, visitor);
      return user && { id: user.id, login: user.login, administrator: user.can_manage };
    },
    send: (site, name, content, { visitor, timeoutMs } = {}) =>
      reportFailure(site, send(site, name, content, visitor, timeoutMs)),
    async events(site, query) {
      const batch = await reportFailure(site, command(site, 'events', query, eventsResponse));
      options.onNames?.(site, batch.names);
      return batch;
    },
    usersInfo: (site, query) => reportFailure(site, command(site, 'users-info', query, usersInfoResponse)),
    async sendMail(site, mail) {
      const response = await reportFailure(
        site,
        send(site, 'send-mail', mail, undefined, options.responseTimeoutMs ?? MAIL_TIMEOUT_MS),
      );
      if (response.status === 500)
        return parseResponse(sendMailRefusal, 'send-mail', { ...response, status: 200 }).message;
      parseResponse(sendMailResponse, 'send-mail', response);
      return null;
    },
    async forget(site) {
      await command(site, 'forget', {}, forgetResponse);
    },
    close() {
      connections.close();
      for (const queue of queues.values()) queue.close('guard is stopping');
    },
  };
}

/** The home path as WordPress writes it. Rules compare lower-case paths, but a web server may be case-sensitive. */
function toHomePath(site: SiteConfig, known: Pick<SiteFacts, 'homeUrl'> | null): string {
  return known ? new URL(known.homeUrl).pathname.replace(/\/+$/, '') : (site.home ?? '');
}

function toSessionSelection(users: Parameters<ConnectorClient['endSessions']>[1]): object {
  if (typeof users === 'string') return { [users]: true };
  return 'rolesWithoutFactor' in users ? { without_factor: true, roles: users.rolesWithoutFactor } : { users };
}

/**
 * Creates the session of a user who passed the second factor, in WordPress. Throws when WordPress did not create it.
 */
export interface SessionIssuer {
  issueSession(
    site: SiteConfig,
    options: {
      readonly user: number;
      readonly remember: boolean;
      readonly redirect: string;
      /** `redirect` is final, unless the user must set a new password. */
      readonly decided: boolean;
      /** Path of the site of a network that creates the session; empty for its main site. */
      readonly sitePath: string;
      readonly interim: boolean;
      /** The user's stamp, which must be unchanged; empty if unknown. */
      readonly stamp: string;
      /** The factor was set up in this login, so it proves no more than the password. */
      readonly newFactor: boolean;
      readonly sender: Sender;
    },
  ): Promise<{
    /** The URL to which WordPress redirects the user. */
    readonly redirect: string;
    /** Its `Set-Cookie` headers, sent to the browser unchanged. */
    readonly setCookies: readonly string[];
  }>;
}

/** Looks up users in WordPress. Every method throws when WordPress does not respond. */
export interface UserLookup {
  /** The signed-in user, by the cookies alone. Only for requests that change nothing but the visitor's own data. */
  identify(
    site: SiteConfig,
    visitor: BrowserIdentity,
  ): Promise<{ readonly id: number; readonly login: string; readonly administrator: boolean } | null>;
  /** A user by ID, or null; the stamp is empty when WordPress does not report it. */
  user(site: SiteConfig, id: number): Promise<{ readonly stamp: string } | null>;
}

/** A visitor's browser: its cookies and its sender. */
export interface BrowserIdentity {
  readonly cookie: string;
  readonly sender: Sender;
  /** Whether WordPress has recently confirmed that a user is signed in with this browser. */
  readonly isRegisteredUser?: boolean;
  /** False once no caller waits for the result. */
  isWanted?(): boolean;
}
