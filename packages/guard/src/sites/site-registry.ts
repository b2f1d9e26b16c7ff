import { english, type Language } from '../i18n/language.js';
import type { Address } from '../lib/address.js';
import { AddressSet } from '../lib/address-set.js';
import type { Clock } from '../lib/clock.js';
import { TimedAddresses } from '../lib/timed-addresses.js';
import type { SnapshotInput } from '../rules/rule.js';
import { type LiveSnapshots, SnapshotCache } from '../rules/snapshot.js';
import {
  defaultSiteSettings,
  type EffectiveSettings,
  getEffectiveSettings,
  type SiteSettings,
} from '../settings/site-settings.js';
import { defaultSitePaths, type SiteFacts, type SiteId } from '../site.js';

/** The data that a site's snapshot is compiled from. */
export interface SiteState {
  readonly settings: SiteSettings;
  readonly facts: SiteFacts | null;
  /** Addresses that are blocked permanently. */
  readonly blocked: AddressSet;
  /** Addresses that are blocked until a time. */
  readonly blockedUntil: TimedAddresses;
  /** Ids of users who may not log in. */
  readonly blockedUsers: ReadonlySet<number>;
}

/** Node fires longer timers at once; a timer that fires too early is set again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const initialSite: SiteState = {
  settings: defaultSiteSettings,
  facts: null,
  blocked: AddressSet.empty,
  blockedUntil: TimedAddresses.empty,
  blockedUsers: new Set(),
};

/** Holds the data of each site's snapshot, and swaps in a new snapshot when the data changes. */
export class SiteRegistry {
  readonly #snapshots: LiveSnapshots;
  readonly #getHome: (site: SiteId) => string;
  readonly #clock: Clock;
  readonly #languageFor: (locale: string) => Language;
  readonly #sites = new Map<SiteId, SiteState>();
  readonly #withSettings = new Set<SiteId>();
  readonly #cache = new SnapshotCache();
  /** Timers of current pauses, by site. */
  readonly #pauses = new Map<SiteId, NodeJS.Timeout>();
  readonly #throttledUsers = new Map<SiteId, readonly number[]>();
  #onResumed: (site: SiteId) => void = () => {};
  #onChanged: (site: SiteId) => void = () => {};

  /**
   * @param getHome URL path of a site's home, used until the connector has reported it
   * @param languageFor finds the language of a WordPress locale
   */
  constructor(
    snapshots: LiveSnapshots,
    getHome: (site: SiteId) => string,
    clock: Clock,
    languageFor: (locale: string) => Language = () => english,
  ) {
    this.#snapshots = snapshots;
    this.#getHome = getHome;
    this.#clock = clock;
    this.#languageFor = languageFor;
  }

  get(site: SiteId): SiteState {
    return this.#sites.get(site) ?? initialSite;
  }

  /** Returns the settings that are enforced at a site now. */
  getEffectiveSettings(site: SiteId): EffectiveSettings {
    return getEffectiveSettings(this.get(site).settings, this.#clock());
  }

  /** Whether the owner has blocked an address, by itself or in a range, and the block has not ended. */
  isBlocked(site: SiteId, address: Address): boolean {
    const { blocked, blockedUntil } = this.get(site);
    return blocked.has(address) || (blockedUntil.size > 0 && blockedUntil.has(address, this.#clock()));
  }

  /**
   * Lists users that WordPress must refuse; none during a pause.
   * @param settings the settings that will be in force
   */
  blockedUsers(site: SiteId, settings = this.get(site).settings): readonly number[] {
    return settings.pausedUntil > this.#clock() ? [] : [...this.get(site).blockedUsers].sort((a, b) => a - b);
  }

  /** Lists users whose password checks are spaced for anonymous clients, ascending by id. */
  throttledUsers(site: SiteId): readonly number[] {
    return this.#throttledUsers.get(site) ?? [];
  }

  setThrottledUsers(site: SiteId, users: readonly number[]): void {
    this.#throttledUsers.set(site, users);
  }

  timeZone(site: SiteId): string {
    return this.get(site).facts?.timeZone ?? 'UTC';
  }

  /** The language of guard's own pages and mails for the site; English until the connector has reported the locale. */
  language(site: SiteId): Language {
    return this.#languageFor(this.get(site).facts?.locale ?? 'en_US');
  }

  /**
   * Whether the settings of a site were read. Until then, and for a site with stored settings that can't be used, `get`
   * returns defaults, which must not be enforced.
   */
  hasSettings(site: SiteId): boolean {
    return this.#withSettings.has(site);
  }

  set(site: SiteId, change: Partial<SiteState>): void {
    if (change.settings !== undefined) this.#withSettings.add(site);
    this.#sites.set(site, { ...this.get(site), ...change });
    this.#swap(site);
    this.#waitForResume(site);
  }

  /** Deletes the state of a site that is no longer configured. */
  delete(site: SiteId): void {
    clearTimeout(this.#pauses.get(site));
    this.#pauses.delete(site);
    this.#throttledUsers.delete(site);
    this.#sites.delete(site);
    this.#withSettings.delete(site);
    this.#snapshots.delete(site);
    this.#onChanged(site);
  }

  /**
   * Adds a listener.
   * @param listener called when a pause has ended and the site's settings are in force again
   */
  onResumed(listener: (site: SiteId) => void): void {
    this.#onResumed = listener;
  }

  /**
   * Sets the only listener.
   * @param listener called when the data of a site's snapshot have changed, or its state was deleted
   */
  onChanged(listener: (site: SiteId) => void): void {
    this.#onChanged = listener;
  }

  /** Stops the timers of pauses. After that, the end of a pause swaps no snapshot. */
  stop(): void {
    for (const timer of this.#pauses.values()) clearTimeout(timer);
    this.#pauses.clear();
  }

  #swap(site: SiteId): void {
    this.#snapshots.swap(site, this.#cache.compile(this.getSnapshotInput(site)));
    this.#onChanged(site);
  }

  /** Returns what the snapshot of a site is compiled from now. */
  getSnapshotInput(site: SiteId): SnapshotInput {
    const { facts, blocked, blockedUntil, settings } = this.get(site);
    const { options, siteSecurity, login } = this.getEffectiveSettings(site);
    const paused = settings.pausedUntil > this.#clock();
    return {
      options,
      paths: facts?.paths ?? defaultPathsAt(this.#getHome(site).toLowerCase()),
      blocked: paused ? AddressSet.empty : blocked,
      blockedUntil: paused ? TimedAddresses.empty : blockedUntil,
      login,
      timeZone: this.timeZone(site),
      ...(facts?.sessionCookies !== undefined && { sessionCookies: facts.sessionCookies }),
      multisite: facts?.multisite ?? false,
      signedXmlRpc: siteSecurity.signed_xml_rpc === 1 ? (facts?.signedXmlRpc ?? []) : [],
      language: this.language(site),
    };
  }

  #waitForResume(site: SiteId): void {
    clearTimeout(this.#pauses.get(site));
    this.#pauses.delete(site);
    const left = this.get(site).settings.pausedUntil - this.#clock();
    if (left <= 0) return;
    const resume = () => {
      // The timer is monotonic, while the pause follows the wall clock. If that was set back, wait again.
      if (this.get(site).settings.pausedUntil > this.#clock()) return this.#waitForResume(site);
      this.#pauses.delete(site);
      this.#swap(site);
      this.#onResumed(site);
    };
    this.#pauses.set(site, setTimeout(resume, Math.min(left, LONGEST_TIMER_MS)));
  }
}

function defaultPathsAt(home: string) {
  const { admin, includes, content, uploads, rest } = defaultSitePaths;
  return {
    home,
    admin: home + admin,
    includes: home + includes,
    content: home + content,
    uploads: home + uploads,
    rest,
  };
}
