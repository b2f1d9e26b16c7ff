import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { z } from 'zod';
import { readSessionCookie } from '../http/session-cookies.js';
import { ApiError } from '../lib/api-error.js';
import type { Clock } from '../lib/clock.js';
import { setBounded } from '../lib/collections.js';
import type { SessionCookieNames, SiteId } from '../site.js';
import { ConnectorError } from './connector-error.js';
import { SIGNAL_HEADER } from './signature.js';

/** Commands to one WordPress under way at the same time, not counting session requests. */
const COMMANDS = 6;
/** How many of them may be slow: mails, downloads of plugins. */
const SLOW_COMMANDS = 3;
/** Session requests under way at the same time. Any client can cause one with an invented cookie. */
const SESSIONS = 4;
/** How many of them registered users and anonymous clients may use together, and anonymous clients alone. */
const MEMBER_SESSIONS = 3;
const ANONYMOUS_SESSIONS = 2;
const ANONYMOUS_SESSIONS_PER_CLIENT = 1;

/** Limit of waiting commands. Only guard causes them, so this limit is a safety net. */
const COMMANDS_WAITING = 1000;
/** Limit of waiting session requests for each priority. */
const SESSIONS_WAITING = 64;
/** Limit of waiting session requests of one client for each priority. */
const SESSIONS_WAITING_PER_CLIENT = 16;
/** A session request that has waited this long is refused, milliseconds. */
const SESSION_WAIT_MS = 10_000;

/**
 * Priority of a session request: WordPress has recently confirmed that the browser belongs to an administrator, to any
 * registered user (`member`), or neither.
 */
export type SessionPriority = 'administrator' | 'member' | 'anonymous';

/** A command that guard sends for its own work. */
export interface CommandRequest {
  readonly kind: 'command';
  readonly slow: boolean;
  /** Longest wait, milliseconds. */
  readonly waitMs: number;
}

/** A request for the user of a browser's session. */
export interface SessionRequest {
  readonly kind: 'session';
  readonly priority: SessionPriority;
  /** The client to which the request is attributed; see `toClientKey`. */
  readonly client: string;
  /** False once no caller waits for the result. */
  isWanted(): boolean;
}

interface Waiting<Request> {
  readonly request: Request;
  /** The round of the request; see `#roundFor`. */
  readonly round: number;
  start(): void;
  refuse(error: Error): void;
}

/**
 * The queue of commands to one WordPress. Commands that guard itself needs (policies, sessions after a second factor,
 * events, jobs) have reserved connections that visitors can't use up. Session requests share a few other connections
 * and a short queue that has room for every client address. PHP has few workers, so a higher limit would only fill
 * PHP's own queue.
 */
export class CommandQueue {
  readonly #commands: Waiting<CommandRequest>[] = [];
  readonly #sessions: Waiting<SessionRequest>[] = [];
  readonly #underWay: Waiting<CommandRequest | SessionRequest>[] = [];
  /** The round of the session request that started last. */
  #round = 0;
  readonly #sessionWaitMs: number;

  constructor({ sessionWaitMs = SESSION_WAIT_MS } = {}) {
    this.#sessionWaitMs = sessionWaitMs;
  }

  /**
   * Runs a task when the queue permits it.
   * @throws ApiError too_many_calls or wordpress_busy for a session request; ConnectorError for a command; any error of
   *   the task
   */
  async run<Result>(request: CommandRequest | SessionRequest, task: () => Promise<Result>): Promise<Result> {
    const started = await (request.kind === 'command' ? this.#enqueueCommand(request) : this.#enqueueSession(request));
    try {
      return await task();
    } finally {
      this.#underWay.splice(this.#underWay.indexOf(started), 1);
      this.#startNext();
    }
  }

  /** Refuses all waiting requests. */
  close(cause: string): void {
    for (const waiting of [...this.#commands, ...this.#sessions]) waiting.refuse(unreachable(cause));
  }

  #enqueueCommand(request: CommandRequest): Promise<Waiting<CommandRequest>> {
    if (this.#commands.length >= COMMANDS_WAITING) throw unreachable(BUSY);
    return this.#wait(this.#commands, request, request.waitMs, () => unreachable(BUSY));
  }

  #enqueueSession(request: SessionRequest): Promise<Waiting<SessionRequest>> {
    this.#dropUnwanted();
    const waiting = this.#sessions.filter((entry) => entry.request.priority === request.priority);
    const counts = new Map<string, number>();
    for (const { client } of waiting.map((entry) => entry.request)) counts.set(client, (counts.get(client) ?? 0) + 1);
    const own = counts.get(request.client) ?? 0;
    if (own >= SESSIONS_WAITING_PER_CLIENT) throw new ApiError('too_many_calls');
    if (waiting.length >= SESSIONS_WAITING) {
      // The client with the most waiting requests loses one, so that a few addresses can't fill the queue.
      const max = Math.max(...counts.values());
      if (max <= own + 1) throw new ApiError('wordpress_busy');
      waiting.findLast((entry) => counts.get(entry.request.client) === max)?.refuse(new ApiError('too_many_calls'));
    }
    return this.#wait(this.#sessions, request, this.#sessionWaitMs, () => new ApiError('wordpress_busy'));
  }

  #wait<Request extends CommandRequest | SessionRequest>(
    queue: Waiting<Request>[],
    request: Request,
    ms: number,
    late: () => Error,
  ): Promise<Waiting<Request>> {
    return new Promise((resolve, reject) => {
      const dequeue = (): void => {
        clearTimeout(timer);
        queue.splice(queue.indexOf(entry), 1);
      };
      const entry: Waiting<Request> = {
        request,
        round: request.kind === 'session' ? this.#roundFor(request) : 0,
        start: () => {
          dequeue();
          this.#round = Math.max(this.#round, entry.round);
          this.#underWay.push(entry);
          resolve(entry);
        },
        refuse(error) {
          dequeue();
          reject(error);
        },
      };
      const timer = setTimeout(() => entry.refuse(late()), ms);
      queue.push(entry);
      this.#startNext();
    });
  }

  #startNext(): void {
    for (let next = this.#nextCommand(); next; next = this.#nextCommand()) next.start();
    this.#dropUnwanted();
    for (let next = this.#nextSession(); next; next = this.#nextSession()) next.start();
  }

  /** Drops requests whose clients have disconnected. */
  #dropUnwanted(): void {
    for (const entry of [...this.#sessions])
      if (!entry.request.isWanted()) entry.refuse(new ApiError('wordpress_busy'));
  }

  #nextCommand(): Waiting<CommandRequest> | undefined {
    const commands = filterByKind(this.#underWay, 'command');
    if (commands.length >= COMMANDS) return undefined;
    const canSendSlow = commands.filter((request) => request.slow).length < SLOW_COMMANDS;
    return this.#commands.find(({ request }) => canSendSlow || !request.slow);
  }

  /** By priority, then by round, then in order of arrival. */
  #nextSession(): Waiting<SessionRequest> | undefined {
    const sessions = filterByKind(this.#underWay, 'session');
    if (sessions.length >= SESSIONS) return undefined;
    const mayStart = (request: SessionRequest): boolean => {
      const sameRank = sessions.filter((other) => RANK[other.priority] >= RANK[request.priority]);
      if (sameRank.length >= CONCURRENT_MAX[request.priority]) return false;
      if (request.priority !== 'anonymous') return true;
      return sameRank.filter(({ client }) => client === request.client).length < ANONYMOUS_SESSIONS_PER_CLIENT;
    };
    let best: Waiting<SessionRequest> | undefined;
    for (const entry of this.#sessions) {
      if (!mayStart(entry.request)) continue;
      const order = best === undefined ? -1 : getRank(entry) - getRank(best) || entry.round - best.round;
      if (order < 0) best = entry;
    }
    return best;
  }

  /** Gives each client one request per round, so that a client with many requests does not delay the others. */
  #roundFor({ client }: SessionRequest): number {
    const own = [...this.#sessions, ...this.#underWay].filter(
      ({ request }) => request.kind === 'session' && request.client === client,
    );
    return Math.max(this.#round, ...own.map(({ round }) => round + 1));
  }
}

function filterByKind<Kind extends 'command' | 'session'>(
  entries: readonly Waiting<CommandRequest | SessionRequest>[],
  kind: Kind,
) {
  return entries
    .map(({ request }) => request)
    .filter((request): request is Extract<CommandRequest | SessionRequest, { kind: Kind }> => request.kind === kind);
}

const getRank = ({ request }: Waiting<SessionRequest>): number => RANK[request.priority];
const RANK: Readonly<Record<SessionPriority, number>> = { administrator: 0, member: 1, anonymous: 2 };
const CONCURRENT_MAX: Readonly<Record<SessionPriority, number>> = {
  administrator: SESSIONS,
  member: MEMBER_SESSIONS,
  anonymous: ANONYMOUS_SESSIONS,
};
const BUSY = 'too many commands wait for it';

/** How long a confirmed administrator's browser keeps its priority, milliseconds. */
const KNOWN_MS = 3600_000;
const MAX_KNOWN = 1000;

/**
 * Browsers that WordPress has recently confirmed to belong to an administrator. They have priority in the queue; their
 * permissions are checked again on each request. Keys are hashes, so that no cookie stays in memory.
 */
export class KnownAdministrators {
  readonly #until = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(site: SiteId, cookie: string, names: SessionCookieNames): boolean {
    return (this.#until.get(toKey(site, cookie, names)) ?? 0) > this.#clock();
  }

  /** Records whether WordPress confirmed the browser as an administrator's. */
  update(site: SiteId, cookie: string, names: SessionCookieNames, isAdministrator: boolean): void {
    const key = toKey(site, cookie, names);
    this.#until.delete(key);
    if (isAdministrator) setBounded(this.#until, key, this.#clock() + KNOWN_MS, MAX_KNOWN);
  }
}

/** Uses the session cookie only, since a browser's other cookies change between requests. */
function toKey(site: SiteId, cookie: string, names: SessionCookieNames): string {
  const session = readSessionCookie(cookie, names) ?? cookie;
  return createHash('sha256')
    .update(JSON.stringify([site, session]))
    .digest('base64');
}

const CONNECT_TIMEOUT_MS = 3000;
/** Largest response that is read, bytes. A list of a thousand names takes less than 100,000. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/** A response to a command, not yet verified. */
export interface CommandResponse {
  readonly status: number;
  readonly signal: string | undefined;
  /** Target of a redirect; undefined for other responses. */
  readonly location: string | undefined;
  readonly text: string;
  /** Values of `Set-Cookie`, in order. */
  readonly setCookies: readonly string[];
}

/**
 * Connections for commands, one for each command. PHP servers close idle connections at any time. A command that failed
 * on such a connection could not be distinguished from one that was carried out. `CommandQueue` limits the number of
 * connections at the same time.
 */
export class CommandConnections {
  readonly #agent = new Agent({ keepAlive: false });
  /** Aborts the commands under way; the cause is in plain English. */
  readonly #running = new Set<(cause: string) => void>();
  #closed = false;

  /**
   * Sends a command and reads its response.
   *
   * @param body null for a request that is not a command and changes nothing
   * @param socketPath Unix socket to connect to, in place of the URL's host
   * @throws ConnectorError
   */
  async exchange(
    url: string,
    headers: Record<string, string>,
    body: string | null,
    timeoutMs: number,
    socketPath?: string,
  ): Promise<CommandResponse> {
    if (this.#closed) throw unreachable('guard is stopping');
    const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const sent = request(url, {
      ...(socketPath !== undefined && { socketPath }),
      method: body === null ? 'GET' : 'POST',
      agent: this.#agent,
      headers: { ...headers, ...length },
    });
    const ended = new AbortController();
    let connected = false;
    sent.once('socket', (socket) => socket.once('connect', () => (connected = true)));
    const end = (cause: string): void => {
      ended.abort(unreachable(cause, undefined, connected));
      sent.destroy();
    };
    this.#running.add(end);
    const late = setTimeout(end, timeoutMs, 'no answer within the time allowed');
    limitConnecting(sent, end);
    // `once` or reading the response throws the first error. Later errors add nothing, but unhandled they would end the
    // process.
    sent.on('error', () => {});
    try {
      sent.end(body ?? undefined);
      const [response] = (await once(sent, 'response', { signal: ended.signal })) as [IncomingMessage];
      return await read(response);
    } catch (error) {
      const why: unknown = ended.signal.aborted ? ended.signal.reason : error;
      throw why instanceof ConnectorError ? why : unreachable(describeCause(why), why, connected);
    } finally {
      clearTimeout(late);
      this.#running.delete(end);
      sent.destroy();
    }
  }

  /** Aborts the commands under way and refuses new ones. */
  close(): void {
    this.#closed = true;
    for (const end of this.#running) end('guard is stopping');
    this.#agent.destroy();
  }
}

function limitConnecting(sent: ClientRequest, end: (cause: string) => void): void {
  sent.once('socket', (socket) => {
    if (!socket.connecting) return;
    const late = setTimeout(end, CONNECT_TIMEOUT_MS, 'no connection within the time allowed');
    socket.once('connect', () => clearTimeout(late));
    socket.once('close', () => clearTimeout(late));
  });
}

async function read(response: IncomingMessage): Promise<CommandResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Throwing inside the loop destroys the stream.
    if (bytes > MAX_RESPONSE_BYTES) throw unreachable('its answer is too large');
    chunks.push(chunk);
  }
  const signal = response.headers[SIGNAL_HEADER.toLowerCase()];
  return {
    status: response.statusCode as number,
    signal: Array.isArray(signal) ? signal[0] : signal,
    location: response.headers.location,
    text: Buffer.concat(chunks).toString('utf8'),
    setCookies: response.headers['set-cookie'] ?? [],
  };
}

/**
 * Creates the error for a command that WordPress did not carry out, or that it may have carried out (`mayBeDone`).
 * `cause` is in plain English.
 */
export function unreachable(cause: string, error?: unknown, mayBeDone = false): ConnectorError {
  return new ConnectorError({ kind: 'unreachable', cause }, { cause: error, mayBeDone });
}

const causeByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed in the middle',
  ENOTFOUND: 'its host name is unknown',
  ENOENT: 'its socket file is missing',
  EACCES: 'guard may not connect to its socket file',
  EHOSTUNREACH: 'no way to its host',
};

function describeCause(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return (code && causeByCode[code]) ?? message ?? 'unknown network error';
}

/**
 * Checks the response to a command against its schema.
 * @throws ConnectorError for any status but 200
 */
export function parseResponse<Schema extends z.ZodType>(
  schema: Schema,
  command: string,
  { status, text }: CommandResponse,
): z.output<Schema> {
  // The response is signed, so it was sent by a connector that does not have this command.
  if (status === 404) {
    const cause = `the connector does not know the command ${command}; attach the site again`;
    throw new ConnectorError({ kind: 'unreachable', cause, outdated: true });
  }
  if (status !== 200) throw unreachable(`the connector answered the command ${command} with HTTP status ${status}`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw unreachable(`the answer to the command ${command} is not JSON`, cause);
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw unreachable(`the answer to the command ${command} has an unknown form`, parsed.error);
  return parsed.data;
}
