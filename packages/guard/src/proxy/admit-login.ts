import type { IncomingMessage, ServerResponse } from 'node:http';
import { addressKey } from '../login/address-key.js';
import type { LoginAttempts, Ticket } from '../login/attempts.js';
import { deviceKey, type KnownDevice, knownDevice } from '../login/device-cookie.js';
import { lockStage } from '../login/lockout-rule.js';
import { checksPassword } from '../login/login-policy.js';
import type { Claim } from '../login/login-slots.js';
import { hidesOrigin, isFromOtherSite, otherSitesKey } from '../login/other-site.js';
import type { SecondFactorDoor } from '../login/two-factor/second-factor-door.js';
import type { LoginContext, RefuseReason } from '../wordpress/login-headers.js';
import type { Pass } from './examine.js';
import type { Closed } from './refuse-login.js';
import { shownPath } from './shown-path.js';
import { takeTurn } from './take-turn.js';

export interface AdmissionDeps {
  readonly attempts: LoginAttempts;
  readonly door: Pick<SecondFactorDoor, 'trustedUsers'>;
  readonly clock: () => number;
  /** Longest time in line for a password check, milliseconds. */
  readonly waitMs: number;
}

/** How a request goes on to WordPress. */
export interface Admitted {
  /** What WordPress must be told, or null. */
  readonly context: LoginContext | null;
  readonly ticket: Ticket | null;
  readonly certain: boolean;
  readonly device: KnownDevice | null;
  /** What failures in it are kept under, beside the device's. */
  readonly key: string;
}

export interface Admission {
  admitted(admitted: Admitted): void;
  /** The login is closed to this address; or, with null, too many checks of it wait already. */
  refused(closed: Closed | null): void;
  /** The visitor went away while waiting in line. */
  left(): void;
}

/**
 * Decides whether passwords in a request may be checked. Every request to PHP may hold one, so each takes a slot of its
 * address while it is under way; without one WordPress is ordered to refuse every check in it. Only a request that
 * holds a password for certain waits for a slot, and then for its turn among all strangers of the site, unless the
 * device has logged in before; everything else is decided at once.
 *
 * What a page of another site made the browser send is counted by itself, so that nobody locks out who opens a page. In
 * the login form and in XML-RPC, which no such page can read an answer of, its passwords are not checked at all, unless
 * it may be a form of the site that hides where it is.
 */
export function admitLogin(
  deps: AdmissionDeps,
  pass: Pass,
  request: IncomingMessage,
  response: ServerResponse,
  admission: Admission,
): void {
  const { site, policy, facts, road, address } = pass;
  const { limit } = policy.login;
  const siteId = site.config.id;
  const certain = checksPassword(facts, road);
  const foreign = limit !== 0 && isFromOtherSite(request.headers, pass.host, site.config.hosts);
  const device = !foreign && mayCarryPassword(facts) ? honouredDevice(deps, pass, request) : null;
  const own = addressKey(address);
  const key = foreign ? otherSitesKey(own) : own;
  const ownForm = road === 'login' && hidesOrigin(request.headers);
  const order = foreign && certain && !facts.hasBasic && !ownForm ? 'other-site' : null;
  const go = (ticket: Ticket | null, why: RefuseReason | null): void => {
    admission.admitted({ ticket, certain, device, key, context: contextOf(deps, pass, request, why, device) });
  };

  const closed = policy.login.away(facts.now).away ? 'away' : policy.login.mayLogIn(address) ? null : 'access';
  const locked = [own, key].find((each) => deps.attempts.isLocked(siteId, each, limit, facts.now));
  if (limit === 0) go(null, closed);
  else if (locked !== undefined) {
    const page = locked === own && road === 'login' && asksForForm(facts.query.all('action').at(-1));
    if (certain || page) admission.refused(lockOf(deps, pass, locked));
    else go(null, closed ?? 'locked');
  } else if (closed !== null) go(null, closed);
  else {
    const ticket = deps.attempts.take(siteId, key, limit, claimOf(facts, road), facts.now);
    const check = (granted: Ticket): void => {
      // As many at once as the browser may fail itself: its cookie takes no crowd of addresses past the line.
      const mine =
        device && certain ? deps.attempts.take(siteId, deviceKey(device), limit, 'certain', facts.now) : null;
      if (!certain) go(granted, null);
      else if (mine !== null) go(together(granted, mine), null);
      else {
        takeTurn(deps, { site: siteId, key, ticket: granted, request, response }, facts.now + deps.waitMs, {
          granted: (turn) => go(turn, order),
          expired: () => turnedAway(deps, pass, key, admission),
          left: () => admission.left(),
        });
      }
    };
    if (ticket !== null) check(ticket);
    else if (!certain) go(null, 'busy');
    else standInLine(deps, pass, key, response, check, admission);
  }
}

function together(first: Ticket, second: Ticket): Ticket {
  return {
    release(right) {
      first.release(right);
      second.release(right);
    },
  };
}

function turnedAway(deps: AdmissionDeps, pass: Pass, key: string, admission: Admission): void {
  const locked = deps.attempts.isLocked(pass.site.config.id, key, pass.policy.login.limit, deps.clock());
  admission.refused(locked ? lockOf(deps, pass, key) : null);
}

function standInLine(
  deps: AdmissionDeps,
  pass: Pass,
  key: string,
  response: ServerResponse,
  go: (ticket: Ticket) => void,
  admission: Admission,
): void {
  const { site, policy, facts } = pass;
  const { limit } = policy.login;
  const siteId = site.config.id;
  const waiter = {
    granted(ticket: Ticket): void {
      response.removeListener('close', gone);
      go(ticket);
    },
    expired(): void {
      response.removeListener('close', gone);
      turnedAway(deps, pass, key, admission);
    },
  };
  const leave = deps.attempts.wait(siteId, key, limit, waiter, facts.now + deps.waitMs);
  const gone = (): void => {
    leave?.();
    admission.left();
  };
  if (leave === null) waiter.expired();
  else response.once('close', gone);
}

/** The login form itself, as against log-out or the link of a mail. */
function asksForForm(action: string | undefined): boolean {
  return action === undefined || action === '' || action === 'login';
}

function lockOf(deps: AdmissionDeps, { site, policy }: Pass, key: string): Closed {
  const entry = deps.attempts.entry(site.config.id, key);
  return { kind: 'locked', until: entry.lockedUntil, stage: lockStage(entry, policy.login.limit) };
}

/** How likely a request holds a password. */
export function claimOf(facts: Pass['facts'], road: Pass['road']): Claim {
  if (checksPassword(facts, road)) return 'certain';
  return mayCarryPassword(facts) ? 'possible' : 'view';
}

function mayCarryPassword(facts: Pass['facts']): boolean {
  return facts.hasAuthorization || (facts.method !== 'GET' && facts.method !== 'HEAD');
}

/** The device of this request, unless it has failed too often itself. */
function honouredDevice(deps: AdmissionDeps, pass: Pass, request: IncomingMessage): KnownDevice | null {
  const { id, secret } = pass.site.config;
  const device = knownDevice(secret, request.headers.cookie, pass.facts.now);
  if (device === null) return null;
  return deps.attempts.isLocked(id, deviceKey(device), pass.policy.login.limit, pass.facts.now) ? null : device;
}

function contextOf(
  deps: AdmissionDeps,
  pass: Pass,
  request: IncomingMessage,
  why: RefuseReason | null,
  device: KnownDevice | null,
): LoginContext | null {
  const { facts, road, uri, decoy, site, policy } = pass;
  const users = mayCarryPassword(facts) ? deps.door.trustedUsers(site.config, request.headers.cookie) : [];
  const trusted = users.slice(0, USERS_MAX);
  // What stands for a missing page says by itself what was asked for.
  const path = uri === null || decoy?.reversible === true ? undefined : shownPath(uri);
  const door = policy.login.custom && (road === 'login' || road === 'signup') ? road : null;
  if (why === null && path === undefined && door === null && device === null && trusted.length === 0) return null;
  return {
    ...(why === null ? {} : { login: 'refuse', why }),
    ...(path === undefined ? {} : { path }),
    ...(door === null ? {} : { door }),
    ...(device === null ? {} : { devices: device.users }),
    ...(trusted.length === 0 ? {} : { trusted }),
  };
}

/** Users of one browser that WordPress is told of. */
const USERS_MAX = 32;
