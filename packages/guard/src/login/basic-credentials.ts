import { createHmac, randomBytes } from 'node:crypto';
import type { Exchange } from '../hooks.js';
import type { SiteId } from '../site.js';
import { FORGET_AFTER_MS } from './lockout-rule.js';

/**
 * The owner of the credentials in `Authorization: Basic`, as far as guard knows.
 * - `unknown`: WordPress may check them as a password.
 * - `plugin`: a plugin compares them itself and has accepted them several times, without a password check.
 * - `web-server`: the web server in front of WordPress requires them, and WordPress doesn't use them.
 */
export type CredentialsOwner = 'unknown' | 'plugin' | 'web-server';

/**
 * After this many such responses in a row, credentials count as a plugin's. The effort exceeds the benefit of one guess
 * that skips the queue.
 */
const PLUGIN_USES_MIN = 5;
/** How long the owner of credentials is remembered, milliseconds. */
const TTL_MS = 60 * 60_000;
/** How long it is remembered that credentials are not the web server's, milliseconds. */
const DENIED_MS = 60_000;
/**
 * How long it is remembered that credentials were wrong, milliseconds: until all failures of the address have expired.
 */
const REJECTED_TTL_MS = FORGET_AFTER_MS + 24 * 60 * 60_000;
/** Limit of entries of each kind, for all sites together. */
const ENTRIES_MAX = 5000;
/** Concurrent probes of one web server. Credentials beyond this limit count as WordPress's. */
const CONCURRENT_PROBES_MAX = 2;

interface PluginUse {
  readonly times: number;
  readonly until: number;
}

/**
 * Remembers the owner of credentials, by a hash under a key that only this process has. Bounded: the oldest entries are
 * dropped first. Nothing is stored.
 */
export class BasicCredentials {
  readonly #key = randomBytes(32);
  readonly #webServers = new Map<string, number>();
  readonly #denied = new Map<string, number>();
  readonly #pluginUses = new Map<string, PluginUse>();
  readonly #rejected = new Map<string, number>();
  readonly #probes = new Map<string, Promise<boolean>>();
  readonly #probeCounts = new Map<SiteId, number>();

  /**
   * A fingerprint of a request's credentials, which doesn't reveal them.
   * @returns null when there are none, or several: in that case the web server may read others than WordPress
   */
  toFingerprint(site: SiteId, rawHeaders: readonly string[]): string | null {
    const value = readBasicCredentials(rawHeaders);
    return value === null ? null : createHmac('sha256', this.#key).update(`${site}\n${value}`).digest('base64');
  }

  getOwner(name: string, now: number): CredentialsOwner {
    if (isUnexpired(this.#webServers.get(name), now)) return 'web-server';
    const use = this.#pluginUses.get(name);
    return use !== undefined && use.times >= PLUGIN_USES_MIN && isUnexpired(use.until, now) ? 'plugin' : 'unknown';
  }

  /** Records that the connector confirms a signed-in user by these credentials alone, without a password check. */
  recordPluginUse(name: string, now: number): void {
    const use = this.#pluginUses.get(name);
    const times = use !== undefined && isUnexpired(use.until, now) ? use.times + 1 : 1;
    remember(this.#pluginUses, name, { times, until: now + TTL_MS });
  }

  /**
   * Records that a password was checked, or a check was refused, in a request with these credentials: no plugin has
   * accepted them.
   */
  forgetPluginUse(name: string): void {
    this.#pluginUses.delete(name);
  }

  /**
   * Records that WordPress rejected the credentials. A client that repeats the same name and password gains no
   * information: the user of a proxy in front of guard may send them, or a program with an old password.
   *
   * @param key the key under which failures are counted
   * @returns whether they were rejected before, under the same key
   */
  recordRejection(name: string, key: string, now: number): boolean {
    const entry = `${key}\n${name}`;
    const wasRejected = isUnexpired(this.#rejected.get(entry), now, REJECTED_TTL_MS);
    remember(this.#rejected, entry, now + REJECTED_TTL_MS);
    return wasRejected;
  }

  /**
   * Finds out whether the credentials are the web server's. Requests with the same credentials share the result.
   *
   * @param check resolves whether the web server refuses other credentials in their place; may reject
   * @param clock read when the result has arrived
   */
  async belongToWebServer(
    site: SiteId,
    name: string,
    check: () => Promise<boolean>,
    clock: () => number,
  ): Promise<boolean> {
    const now = clock();
    if (isUnexpired(this.#webServers.get(name), now)) return true;
    if (isUnexpired(this.#denied.get(name), now)) return false;
    const pending = this.#probes.get(name);
    if (pending !== undefined) return pending;
    const probeCount = this.#probeCounts.get(site) ?? 0;
    if (probeCount >= CONCURRENT_PROBES_MAX) return false;
    this.#probeCounts.set(site, probeCount + 1);
    const response = check().then(
      (isWebServers) => {
        if (isWebServers) remember(this.#webServers, name, clock() + TTL_MS);
        else remember(this.#denied, name, clock() + DENIED_MS);
        return isWebServers;
      },
      // The owner is unknown: the next request may probe again.
      () => false,
    );
    this.#probes.set(name, response);
    try {
      return await response;
    } finally {
      this.#probes.delete(name);
      const left = (this.#probeCounts.get(site) ?? 1) - 1;
      if (left === 0) this.#probeCounts.delete(site);
      else this.#probeCounts.set(site, left);
    }
  }
}

/** The credentials in the `Authorization: Basic` header of one request. */
export interface RequestCredentials {
  /** The owner of the credentials, as far as is known now. */
  owner(): CredentialsOwner;
  /** Finds out whether the web server checks the credentials. Never rejects. */
  areWebServers(): Promise<boolean>;
  /**
   * WordPress rejected the credentials.
   * @param key the key under which failures are counted
   * @returns whether WordPress had rejected them before
   */
  recordRejection(key: string): boolean;
  /**
   * The connector confirms that the credentials alone authenticated a registered user, and that no password was
   * checked.
   */
  recordPluginUse(): void;
  /** A password in the request was checked, or its check was refused. */
  forgetPluginUse(): void;
}

/** The Basic credentials of a request. Null without any that guard can identify. */
export function createRequestCredentials(
  { basicCredentials, clock }: { readonly basicCredentials: BasicCredentials; readonly clock: () => number },
  exchange: Exchange,
): RequestCredentials | null {
  const { allowed, request } = exchange;
  // A request for a decoy can't be a login.
  if (!allowed.facts.hasBasic || allowed.decoy !== null) return null;
  const { id } = allowed.site.config;
  const name = basicCredentials.toFingerprint(id, request.rawHeaders);
  if (name === null) return null;
  return {
    owner: () => basicCredentials.getOwner(name, clock()),
    areWebServers: () => basicCredentials.belongToWebServer(id, name, () => areCheckedByWebServer(exchange), clock),
    recordRejection: (key) => basicCredentials.recordRejection(name, key, clock()),
    recordPluginUse: () => basicCredentials.recordPluginUse(name, clock()),
    forgetPluginUse: () => basicCredentials.forgetPluginUse(name),
  };
}

/**
 * Finds out whether the web server itself checks the credentials of a request, by sending another password for the same
 * user name. If the web server refuses that (401 with a challenge, and without the connector's signature), it had
 * checked the original password before WordPress got the request. A wrong password is sent rather than none, because a
 * server that accepts any credentials checks nothing. Rejects when no response arrives in time.
 */
async function areCheckedByWebServer(exchange: Exchange): Promise<boolean> {
  const { status, isSigned, headers } = await exchange.probe(withOtherPassword(exchange.request.rawHeaders));
  return status === 401 && !isSigned && challengesBasic(headers);
}

/** Name and password of a request with exactly one `Authorization: Basic` header, as they were sent; null otherwise. */
function readBasicCredentials(rawHeaders: readonly string[]): string | null {
  let found: string | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length !== 13 || name.toLowerCase() !== 'authorization') continue;
    const value = /^basic +([a-z0-9+/_-]+=*)$/i.exec(rawHeaders[i + 1] as string)?.[1];
    if (found !== null || value === undefined) return null;
    found = value;
  }
  return found;
}

function withOtherPassword(rawHeaders: readonly string[]): string[] {
  const name = Buffer.from(readBasicCredentials(rawHeaders) ?? '', 'base64')
    .toString('latin1')
    .split(':', 1)[0] as string;
  const other = Buffer.from(`${name}:${randomBytes(18).toString('hex')}`, 'latin1').toString('base64');
  return rawHeaders.map((value, i) => {
    const isCredentials = i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'authorization';
    return isCredentials ? `Basic ${other}` : value;
  });
}

function challengesBasic(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]?.toLowerCase() === 'www-authenticate' && /(?:^|[\s,])basic(?:\s|$)/i.test(headers[i + 1] ?? '')) {
      return true;
    }
  }
  return false;
}

/** Whether a record is still valid. A time too far ahead was recorded by a clock that has been set back since. */
function isUnexpired(until: number | undefined, now: number, ms = TTL_MS): boolean {
  return until !== undefined && until > now && until <= now + ms;
}

function remember<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name);
  map.set(name, value);
  if (map.size <= ENTRIES_MAX) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
