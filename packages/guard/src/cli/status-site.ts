import type { Config } from '../config/config.js';
import { systemClock } from '../lib/clock.js';
import type { SocketAddress } from '../lib/socket-address.js';
import { toKnownTimeZone } from '../lib/time-zone.js';
import { version } from '../lib/version.js';
import { toConnectorPolicy } from '../settings/connector-policy.js';
import { getEffectiveSettings } from '../settings/site-settings.js';
import type { SiteConfig, SiteFacts, SiteId } from '../site.js';
import { toReason } from '../sites/load-sites.js';
import { createConnectorClient } from '../wordpress/connector-client.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import type { HelloResponse } from '../wordpress/connector-responses.js';
import { missingTraffic, readGuardedTraffic } from '../wordpress/guarded-traffic.js';
import { hashPolicy } from '../wordpress/signature.js';
import { RESPONSE_TIMEOUT_MS } from './patience.js';
import { CHECKED_PAGES, describeRedirectLoop, FIRST_PAGE, findRedirectLoop } from './redirect-loop.js';
import { findNewRelease } from './releases.js';
import type { StoredState } from './stored-state.js';
import { toUpstreamServerWarnings, type UpstreamServer } from './upstream-server.js';
import { inspectUpstreamServer, VISITOR } from './upstream-server-visits.js';

/** HTTP status of a web server that refuses an address. */
const FORBIDDEN = 403;

/** State of one site. */
export interface SiteStatus {
  readonly id: string;
  readonly hosts: readonly string[];
  readonly upstream: string;
  /** Whether WordPress's web server answers. */
  readonly wordpress: 'reachable' | 'unreachable';
  readonly connector: 'ok' | 'version_differs' | 'missing' | 'other_secret' | 'redirected' | 'unknown';
  readonly connectorVersion: string | null;
  /** Why the connector does not carry out commands, as a sentence; null when it does. */
  readonly connectorFault: string | null;
  /** Public address of the site, as WordPress last reported it; null when it never did. */
  readonly homeUrl: string | null;
  /** Address of the first page, when the upstream web server redirects visitors from it to itself; else null. */
  readonly redirectLoop: string | null;
  /** Whether WordPress enforces the stored policy; null when it is not known. */
  readonly policyInSync: boolean | null;
  /** When guard last wrote its key into this WordPress again, as ISO 8601 text. */
  readonly keyRestoredAt: string | null;
  /** The stored settings that guard can't use, and what is allowed; null when there are none. */
  readonly unusableSettings: string | null;
  /**
   * Until when all protections are paused (`security-optimizer pause`), as ISO 8601 text; null when nothing is paused.
   */
  readonly pausedUntil: string | null;
  /**
   * The site's time zone when guard's table lacks it or has other rules for it, so that the site's clock is used; else
   * null.
   */
  readonly unknownTimeZone: string | null;
  /** Whether WordPress answers requests that did not come through guard. */
  readonly directRequests: 'allowed' | 'refused';
  /** Whether the upstream web server sees each visitor's address or guard's; null when it is not known. */
  readonly visitors: 'seen' | 'hidden' | null;
  /** Pages for the machine alone that every visitor can read. */
  readonly openPages: UpstreamServer['openPages'];
  /**
   * Host and port where a page cache answers direct requests of other machines, although WordPress refuses them; else
   * null.
   */
  readonly cachePastGuard: UpstreamServer['cachePastGuard'];
  /** Visits of the last 24 hours that the Activity Log did not record; null when it is not known. */
  readonly droppedVisits: number | null;
}

/** What `status` found about a site. */
export interface ExaminedSite {
  readonly site: Omit<SiteStatus, 'droppedVisits'>;
  /** Sentences without the name of the site. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

export interface ExamineOptions {
  readonly config: Pick<Config, 'consent' | 'dataDir'>;
  /** What guard has stored about the site. */
  readonly stored: StoredState;
  /** Address of a guard that serves the site, else null. */
  readonly guard: SocketAddress | null;
  /** Whether to look for pages of the machine and for a page cache, and at the redirect of the login page. */
  readonly withPages: boolean;
  /** How long WordPress may take to answer, milliseconds; null to leave it out, as its web server answers for no site. */
  readonly timeoutMs: number | null;
}

const NOT_ASKED = {
  hello: new ConnectorError({
    kind: 'unreachable',
    cause: 'this site was not asked, because its web server answered for none of the sites before it',
  }),
  isAddressSeen: null,
} as const;

/** Examines a site from outside, whether guard runs or not. */
export async function examineSiteStatus(site: SiteConfig, options: ExamineOptions): Promise<ExaminedSite> {
  const { config, stored, guard, withPages, timeoutMs } = options;
  const problems: string[] = [];
  const warnings: string[] = [];
  const { hello, isAddressSeen } = timeoutMs === null ? NOT_ASKED : await sendHello(site, stored.facts, timeoutMs);
  const isFault = hello instanceof ConnectorError;
  const connector = toConnectorState(hello);
  let policyInSync: boolean | null = null;
  if (isFault) problems.push(toConnectorProblem(site, hello));
  else {
    if (connector === 'version_differs') {
      problems.push(`The connector plugin has version ${hello.connector}, guard ${version}. Attach the site again.`);
    }
    const expected = toPolicyHash(stored, config.consent);
    policyInSync = expected === null ? null : hello.policy === expected;
    if (policyInSync === false) {
      problems.push('WordPress does not run the stored policy yet. A running guard pushes it by itself.');
    }
  }
  const homeUrl = isFault ? (stored.facts?.homeUrl ?? null) : hello.home;
  const pages = withPages ? CHECKED_PAGES : [FIRST_PAGE];
  const redirectLoop =
    homeUrl === null || connector === 'unknown' ? null : await findRedirectLoop(site, homeUrl, pages);
  if (redirectLoop !== null) {
    const { message, advice } = describeRedirectLoop(redirectLoop);
    problems.push(`${message} ${advice}`);
  }
  if (stored.unusable !== null) {
    const after = 'Guard goes on with the last settings that it could read; after a restart visitors get 503.';
    problems.push(`${toReason(stored.unusable)}. ${after}`);
  }
  const pausedUntil = toPausedUntil(stored.settings);
  if (pausedUntil !== null) {
    problems.push(`Everything is paused until ${pausedUntil}. End it with \`security-optimizer resume\`.`);
  }
  const release = site.wordpressDir && (await findNewRelease(config.dataDir, site.id, site.wordpressDir));
  if (release) problems.push(release);

  if (!site.requireGuard) {
    const next = await requireGuardNext(config.dataDir, site.id);
    warnings.push(`direct requests are allowed, so visitors can go past guard. ${next}`);
  }
  const unknownTimeZone = isFault ? null : findUnknownTimeZone(hello);
  if (unknownTimeZone !== null) {
    warnings.push(
      `guard’s table of time zones lacks ${unknownTimeZone}, or has other rules for it, so guard goes by the site’s own clock. Update Node.js.`,
    );
  }
  const upstream: UpstreamServer =
    isFault || !withPages
      ? { isAddressSeen, openPages: [], cachePastGuard: null }
      : await inspectUpstreamServer(site, new URL(hello.home), { guard, isAddressSeen, now: systemClock });
  warnings.push(...toUpstreamServerWarnings(upstream, site.upstream));
  return {
    site: {
      id: site.id,
      hosts: site.hosts,
      upstream: site.upstream,
      wordpress: connector === 'unknown' ? 'unreachable' : 'reachable',
      connector,
      connectorVersion: isFault ? null : hello.connector,
      connectorFault: isFault ? hello.detail : null,
      homeUrl,
      redirectLoop,
      policyInSync,
      keyRestoredAt: stored.keyRestoredAt === null ? null : new Date(stored.keyRestoredAt).toISOString(),
      unusableSettings: stored.unusable,
      pausedUntil,
      unknownTimeZone,
      directRequests: site.requireGuard ? 'refused' : 'allowed',
      visitors: isAddressSeen === null ? null : isAddressSeen ? 'seen' : 'hidden',
      openPages: upstream.openPages,
      cachePastGuard: upstream.cachePastGuard,
    },
    problems,
    warnings,
  };
}

/** Says that `requireGuard` is not in force where WordPress runs without the connector. */
function toConnectorProblem({ id, requireGuard }: SiteConfig, { fault, detail }: ConnectorError): string {
  if (fault.kind !== 'missing' || fault.notSetUp === true || fault.host !== undefined) return detail;
  const open = requireGuard
    ? ' Therefore it also answers visitors who come past guard, although the site requires guard.'
    : '';
  return `${detail}${open} \`security-optimizer doctor ${id}\` names the cause; \`attach\` installs it again.`;
}

function toConnectorState(hello: HelloResponse | ConnectorError): SiteStatus['connector'] {
  if (!(hello instanceof ConnectorError)) return hello.connector === version ? 'ok' : 'version_differs';
  const { fault } = hello;
  if (fault.kind !== 'unreachable') return fault.kind;
  return fault.redirect === undefined ? 'unknown' : 'redirected';
}

/** Hash of the policy that WordPress should run; null when the settings can't be read. */
function toPolicyHash({ settings, throttled, blocked }: StoredState, consent: Config['consent']): string | null {
  if (settings === null) return null;
  const now = systemClock();
  const users = settings.pausedUntil <= now ? blocked : [];
  return hashPolicy(toConnectorPolicy(getEffectiveSettings(settings, now), consent, throttled, users));
}

function toPausedUntil(settings: StoredState['settings']): string | null {
  return settings !== null && settings.pausedUntil > systemClock()
    ? new Date(settings.pausedUntil).toISOString()
    : null;
}

/** What to do next for a site that does not require guard yet, in one or two sentences. */
export async function requireGuardNext(dataDir: string, site: SiteId): Promise<string> {
  const missing = missingTraffic(await readGuardedTraffic(dataDir, site), systemClock());
  return missing === null
    ? 'They come through guard now: run `security-optimizer attach` with --require-guard.'
    : `${missing} Run \`security-optimizer attach\` with --require-guard when they come through guard.`;
}

/**
 * Asks the connector for its state, as guard does for a visitor: then its response also tells whether the web server
 * sees the visitor's address. Where the web server refuses that visitor, asks again as guard does for itself.
 *
 * @returns `isAddressSeen`: null when it is not known
 */
export async function sendHello(
  site: SiteConfig,
  facts: Pick<SiteFacts, 'homeUrl'> | null,
  timeoutMs = RESPONSE_TIMEOUT_MS,
): Promise<{ readonly hello: HelloResponse | ConnectorError; readonly isAddressSeen: boolean | null }> {
  const first = await sendHelloFrom(VISITOR, site, facts, timeoutMs);
  if (!(first instanceof ConnectorError)) return { hello: first, isAddressSeen: first.address_seen };
  const { fault } = first;
  // The web server may refuse visitors from elsewhere. WordPress was not reached where the status is another one.
  const isRefused = fault.kind === 'missing' || (fault.kind === 'unreachable' && fault.status === FORBIDDEN);
  return { hello: isRefused ? await sendHelloFrom(undefined, site, facts, timeoutMs) : first, isAddressSeen: null };
}

/** @param address client address; guard's own when it is left out */
async function sendHelloFrom(
  address: string | undefined,
  site: SiteConfig,
  facts: Pick<SiteFacts, 'homeUrl'> | null,
  timeoutMs: number,
): Promise<HelloResponse | ConnectorError> {
  const client = createConnectorClient({
    clock: systemClock,
    facts: () => facts,
    responseTimeoutMs: timeoutMs,
    ...(address !== undefined && { ownAddress: address }),
  });
  try {
    return await client.hello(site);
  } catch (error) {
    if (error instanceof ConnectorError) return error;
    throw error;
  } finally {
    client.close();
  }
}

/** The site's time zone when guard's table lacks it or has other rules for it; else null. */
function findUnknownTimeZone({ timezone, clock }: HelloResponse): string | null {
  return clock === null || toKnownTimeZone(timezone, clock) === timezone ? null : timezone;
}
