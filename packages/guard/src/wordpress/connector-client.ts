import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { parseAddress } from '../lib/address.js';
import type { Clock } from '../lib/clock.js';
import { addressKey } from '../login/address-key.js';
import type { SessionIssuer, SessionOfVisitor } from '../login/two-factor/session-issuer.js';
import type { PolicyNotes } from '../settings/change-settings.js';
import type { SiteConfig, SiteFacts } from '../site.js';
import { CommandQueue, type CommandTurn, type SessionTurn } from './command-queue.js';
import {
  endSessionsAnswer,
  eventsAnswer,
  type FoundUser,
  forgetAnswer,
  type HelloAnswer,
  helloAnswer,
  issueSessionAnswer,
  type LoginData,
  loginDataAnswer,
  loginReportsAnswer,
  type OutboxBatch,
  pathInUseAnswer,
  policyAnswer,
  type RenameFault,
  renameAnswer,
  renameRefusal,
  type SessionAnswer,
  sendMailAnswer,
  sendMailRefusal,
  sessionAnswer,
  type UsersInfo,
  userAnswer,
  usersInfoAnswer,
} from './connector-answers.js';
import { ConnectorError } from './connector-error.js';
import { type Answer, CommandConnections, hostToAsk, parseAnswer, unreachable } from './connector-exchange.js';
import type { LoginReport } from './login-headers.js';
import { ProvenAdministrators } from './proven-administrators.js';
import type { Sender, Visitor } from './sender.js';
import { COMMAND_HEADER, commandHeader, GUARD_HEADER, guardHeader, keyId, readSignal } from './signature.js';

/** PHP in WebAssembly on a slow machine needs seconds for its first page. */
const ANSWER_TIMEOUT_MS = 20_000;
/** Plugins that send mails wait for servers elsewhere. */
const MAIL_TIMEOUT_MS = 60_000;

/**
 * Commands to the connector of any site. Every method throws ConnectorError when the command was not carried out;
 * `session` and `whoIs` also ApiError too_many_calls or wordpress_busy when there was no room for the question.
 */
export interface ConnectorClient extends SessionIssuer, SessionOfVisitor {
  hello(site: SiteConfig): Promise<HelloAnswer>;
  /** Who sent this cookie and nonce? */
  session(site: SiteConfig, ask: Visitor & { readonly nonce: string | null }): Promise<SessionAnswer>;
  /** Hands over a policy; resolves once it is stored. @param push `healing`: WordPress ran another one by itself */
  policy(
    site: SiteConfig,
    push: { readonly hash: string; readonly policy: object; readonly healing?: boolean },
  ): Promise<PolicyNotes>;
  /** Users, administrators with a common username, and where WordPress itself would log in and sign up. */
  loginData(site: SiteConfig): Promise<LoginData>;
  /** What uses a path of the site, for example `a page`, or null. */
  pathInUse(site: SiteConfig, path: string): Promise<string | null>;
  /**
   * Renames all or none. Faults by user ID, or null when all were renamed; the cookies go on to the caller, whose
   * session holds the old name when the caller was renamed too.
   */
  renameUsers(
    site: SiteConfig,
    users: readonly { readonly ID: number; readonly user_login: string }[],
    caller: Visitor,
  ): Promise<{
    readonly faults: Readonly<Record<string, RenameFault>> | null;
    readonly setCookies: readonly string[];
  }>;
  /**
   * Ends the sessions of these users, of all who need a second factor, or of those of them who have one that was made
   * without.
   * @param keep whose own session stays
   */
  endSessions(
    site: SiteConfig,
    users: readonly number[] | 'needs_factor' | 'without_factor',
    keep?: Visitor,
  ): Promise<void>;
  /** What came of the password checks in these requests. Requests without any are left out. */
  loginReports(site: SiteConfig, requests: readonly string[]): Promise<ReadonlyMap<string, LoginReport | 'unfinished'>>;
  /** A user by ID, or null; `email` and `stamp` are empty when WordPress does not tell them. */
  user(site: SiteConfig, id: number): Promise<FoundUser | null>;
  /**
   * Any other command; see post-hack-commands.ts. Whatever the connector answered comes back, verified.
   * @param options `visitor`: whose browser it is for; `timeoutMs`: how long it may take, 20 s otherwise
   */
  send(
    site: SiteConfig,
    name: string,
    content: object,
    options?: { readonly visitor?: Visitor; readonly timeoutMs?: number },
  ): Promise<Answer>;
  /** The oldest events of the outbox; those named by `ack` are deleted first. */
  events(site: SiteConfig, ask: { readonly ack: readonly string[]; readonly limit: number }): Promise<OutboxBatch>;
  /** Users by ID or by a part of their login, and how many administrators there are. */
  usersInfo(
    site: SiteConfig,
    ask: { readonly users: readonly number[] } | { readonly search: string; readonly limit: number },
  ): Promise<UsersInfo>;
  /** Sends a mail as WordPress sends its own. @returns why WordPress could not send it, or null when it was sent */
  sendMail(
    site: SiteConfig,
    mail: { readonly to: string; readonly subject: string; readonly html: string; readonly text: string },
  ): Promise<string | null>;
  /** Takes everything of the connector out of WordPress's database, right before its files are removed. */
  forget(site: SiteConfig): Promise<void>;
  /** Ends commands that are under way; nothing is sent any more. */
  close(): void;
}

/**
 * Speaks the commands of docs/connector-protocol.md.
 * @param facts what is known about a site, for the address under which WordPress expects to be called
 */
export function connectorClient(options: {
  clock: Clock;
  facts: (site: SiteConfig) => SiteFacts | null;
  /** Told of each command for a visitor or a change that failed, so that the site's state is looked at anew. */
  onFailed?: (site: SiteConfig) => void;
  answerTimeoutMs?: number;
}): ConnectorClient {
  const { clock, facts } = options;
  const connections = new CommandConnections();
  /** By WordPress's web server: what many sites share is not asked more because they are many. */
  const queues = new Map<string, CommandQueue>();
  const administrators = new ProvenAdministrators(clock);
  const usualMs = options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;

  /** @returns the verified answer */
  async function send(
    site: SiteConfig,
    name: string,
    content: object,
    visitor?: { readonly sender: Sender; readonly cookie?: string },
    timeoutMs = usualMs,
    turn: CommandTurn | SessionTurn = { kind: 'command', slow: timeoutMs > usualMs, waitMs: timeoutMs },
  ): Promise<Answer> {
    const inTurn = (task: () => Promise<Answer>): Promise<Answer> => queueOf(site).run(turn, task);
    const known = facts(site);
    const sender = visitor?.sender ?? ownSender(site, known);
    const path = homePath(site, known);
    const answer = await inTurn(() => sendAs(sender, site, path, name, content, visitor?.cookie, timeoutMs));
    const host = visitor === undefined ? hostToAsk(answer, sender.host) : null;
    if (host === null) {
      verify(site, answer, sender.requestId);
      return answer;
    }
    const there = { ...sender, host };
    const second = await inTurn(() => sendAs(there, site, path, name, content, undefined, timeoutMs));
    verify(site, second, there.requestId);
    return second;
  }

  function queueOf({ upstream }: SiteConfig): CommandQueue {
    const queue = queues.get(upstream) ?? new CommandQueue();
    queues.set(upstream, queue);
    return queue;
  }

  /** Who has this browser? Anybody can make guard ask, so it waits in a line of its own. */
  async function askSession(site: SiteConfig, content: object, visitor: Visitor): Promise<SessionAnswer> {
    const { cookie, sender, isMember, isWanted = () => true } = visitor;
    const address = parseAddress(sender.address);
    const proven = administrators.has(site.id, cookie);
    const turn: SessionTurn = {
      kind: 'session',
      standing: proven ? 'administrator' : isMember === true ? 'member' : 'anonymous',
      client: address === null ? sender.address : addressKey(address),
      isWanted,
    };
    const asked = send(site, 'session', content, { cookie, sender }, usualMs, turn);
    const answer = parseAnswer(sessionAnswer, 'session', await noticed(site, asked));
    administrators.note(site.id, cookie, answer.user?.can_manage === true);
    return answer;
  }

  async function sendAs(
    sender: Sender,
    site: SiteConfig,
    path: string,
    name: string,
    content: object,
    cookie: string | undefined,
    timeoutMs: number,
  ): Promise<Answer> {
    const body = JSON.stringify(content);
    const time = Math.floor(clock() / 1000);
    const url = `${site.upstream}${path}/index.php?rest_route=/security-optimizer-connector/v1/${name}`;
    const headers: Record<string, string> = {
      host: sender.host,
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
    return connections.exchange(url, headers, body, timeoutMs);
  }

  async function command<Schema extends z.ZodType>(
    site: SiteConfig,
    name: string,
    content: object,
    schema: Schema,
    visitor?: { readonly sender: Sender; readonly cookie?: string },
  ): Promise<z.output<Schema>> {
    return parseAnswer(schema, name, await send(site, name, content, visitor));
  }

  function noticed<Result>(site: SiteConfig, result: Promise<Result>): Promise<Result> {
    // Who found the line full says nothing about WordPress.
    result.catch((error: unknown) => error instanceof ConnectorError && options.onFailed?.(site));
    return result;
  }

  return {
    hello: (site) => command(site, 'hello', {}, helloAnswer),
    session: (site, { nonce, ...visitor }) => askSession(site, { nonce }, visitor),
    async policy(site, push) {
      const answer = await noticed(site, command(site, 'policy', push, policyAnswer));
      if (answer.policy !== push.hash)
        throw unreachable('the connector stored another policy than the one it was sent');
      return answer.notes;
    },
    loginData: (site) => noticed(site, command(site, 'login-data', {}, loginDataAnswer)),
    async pathInUse(site, path) {
      const { used, by } = await noticed(site, command(site, 'path-in-use', { path }, pathInUseAnswer));
      return used ? (by ?? 'the site') : null;
    },
    async renameUsers(site, users, caller) {
      const answer = await noticed(site, send(site, 'rename-users', { users }, caller));
      if (answer.status === 400) {
        const { fields } = parseAnswer(renameRefusal, 'rename-users', { ...answer, status: 200 });
        return { faults: fields, setCookies: [] };
      }
      parseAnswer(renameAnswer, 'rename-users', answer);
      return { faults: null, setCookies: answer.setCookies };
    },
    async endSessions(site, users, keep) {
      const body = {
        ...(typeof users === 'string' ? { [users]: true } : { users }),
        ...(keep && { keep_cookie: true }),
      };
      await noticed(site, command(site, 'end-sessions', body, endSessionsAnswer, keep));
    },
    async issueSession(site, { sender, newFactor, ...rest }) {
      const body = { ...rest, new_factor: newFactor };
      const answer = await noticed(site, send(site, 'issue-session', body, { sender }));
      const { redirect } = parseAnswer(issueSessionAnswer, 'issue-session', answer);
      return { redirect, setCookies: answer.setCookies };
    },
    // Not noticed: whoever asks looks at the site's state by itself.
    async loginReports(site, requests) {
      const { reports } = await command(site, 'login-reports', { requests }, loginReportsAnswer);
      return new Map(Object.entries(reports).map(([id, report]) => [id, report ?? 'unfinished']));
    },
    async user(site, id) {
      const answer = await noticed(site, command(site, 'user', { user: id }, userAnswer));
      if (answer.id === 0 || !('login' in answer)) return null;
      const { login, needs_factor: needsFactor, email, stamp } = answer;
      return { id: answer.id, login, needsFactor, email, stamp };
    },
    async whoIs(site, visitor) {
      const { user } = await askSession(site, { nonce: null, cookie_only: true }, visitor);
      return user && { id: user.id, login: user.login, administrator: user.can_manage };
    },
    send: (site, name, content, { visitor, timeoutMs } = {}) =>
      noticed(site, send(site, name, content, visitor, timeoutMs)),
    // Not noticed: nobody waits for it, and the drain asks again by itself.
    events: (site, ask) => command(site, 'events', ask, eventsAnswer),
    usersInfo: (site, ask) => noticed(site, command(site, 'users-info', ask, usersInfoAnswer)),
    async sendMail(site, mail) {
      const answer = await noticed(
        site,
        send(site, 'send-mail', mail, undefined, options.answerTimeoutMs ?? MAIL_TIMEOUT_MS),
      );
      if (answer.status === 500) return parseAnswer(sendMailRefusal, 'send-mail', { ...answer, status: 200 }).message;
      parseAnswer(sendMailAnswer, 'send-mail', answer);
      return null;
    },
    async forget(site) {
      await command(site, 'forget', {}, forgetAnswer);
    },
    close() {
      connections.close();
      for (const queue of queues.values()) queue.close('guard is stopping');
    },
  };
}

/** The path as WordPress writes it: rules compare lower-case paths, a web server may not. */
function homePath(site: SiteConfig, known: SiteFacts | null): string {
  return known ? new URL(known.homeUrl).pathname.replace(/\/+$/, '') : (site.home ?? '');
}

/** Guard itself, under the address that WordPress knows as its own, so that no redirect to it gets in the way. */
function ownSender(site: SiteConfig, known: SiteFacts | null): Sender {
  const home = known ? new URL(known.homeUrl) : null;
  return {
    host: home?.host ?? site.hosts.find((host) => host !== '*') ?? new URL(site.upstream).host,
    scheme: home?.protocol === 'https:' ? 'https' : 'http',
    address: '127.0.0.1',
    requestId: randomBytes(8).toString('hex'),
  };
}

function verify(site: SiteConfig, { status, signal: value }: Answer, requestId: string): void {
  const signal = readSignal(site.secret, value, requestId);
  switch (signal.kind) {
    case 'ok':
      return;
    case 'other_secret':
      throw new ConnectorError({ kind: 'other_secret', keyId: signal.keyId });
    case 'missing':
      // A web server whose PHP is down answers by itself; that says nothing about the connector.
      if (status >= 500) throw unreachable(`it answered with HTTP status ${status}`);
      throw new ConnectorError({ kind: 'missing' });
    case 'invalid':
      throw unreachable(
        value === `1 ${keyId(site.secret)}`
          ? 'the connector did not accept the signature; compare the clocks of both machines'
          : 'its answer is not signed for this request',
      );
  }
}
