import { AddressSet } from '../lib/address-set.js';
import type { Clock } from '../lib/clock.js';
import type { LivePolicy } from '../policy/live-policy.js';
import { SharedPolicies } from '../policy/shared-policies.js';
import {
  defaultSiteSettings,
  type SettingsInForce,
  type SiteSettings,
  settingsInForce,
} from '../settings/site-settings.js';
import { defaultSitePaths, type SiteFacts, type SiteId } from '../site.js';
import { english, type Language } from '../texts/language.js';

/** Everything that a site's snapshot is made of. */
export interface LiveSite {
  readonly settings: SiteSettings;
  readonly facts: SiteFacts | null;
  readonly blocked: AddressSet;
  /** Ids of users who may not log in. */
  readonly blockedUsers: ReadonlySet<number>;
}

/** Longer timers run out at once in Node; one that ends too early is set again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const fresh: LiveSite = {
  settings: defaultSiteSettings,
  facts: null,
  blocked: AddressSet.empty,
  blockedUsers: new Set(),
};

/** Keeps what each site's snapshot is made of, and swaps in a new snapshot when a part changes. */
export class LiveSites {
  readonly #live: LivePolicy;
  readonly #homes: ReadonlyMap<SiteId, string>;
  readonly #clock: Clock;
  readonly #languageFor: (locale: string) => Language;
  readonly #sites = new Map<SiteId, LiveSite>();
  readonly #policies = new SharedPolicies();
  /** Pauses under way, by site. */
  readonly #pauses = new Map<SiteId, NodeJS.Timeout>();
  #onResumed: (site: SiteId) => void = () => {};

  /**
   * @param homes URL path of each site's home, used until the connector has told it
   * @param languageFor the language of a locale as WordPress names it
   */
  constructor(
    live: LivePolicy,
    homes: ReadonlyMap<SiteId, string>,
    clock: Clock,
    languageFor: (locale: string) => Language = () => english,
  ) {
    this.#live = live;
    this.#homes = homes;
    this.#clock = clock;
    this.#languageFor = languageFor;
  }

  get(site: SiteId): LiveSite {
    return this.#sites.get(site) ?? fresh;
  }

  /** The settings that are enforced at a site now. */
  inForce(site: SiteId): SettingsInForce {
    return settingsInForce(this.get(site).settings, this.#clock());
  }

  /** Users whom WordPress keeps out: none during a pause. @param settings those that are to be in force */
  blockedUsers(site: SiteId, settings = this.get(site).settings): readonly number[] {
    return settings.pausedUntil > this.#clock() ? [] : [...this.get(site).blockedUsers].sort((a, b) => a - b);
  }

  timeZone(site: SiteId): string {
    return this.get(site).facts?.timeZone ?? 'UTC';
  }

  /** What guard's own pages and mails of the site are written in; English until the connector has told its locale. */
  language(site: SiteId): Language {
    return this.#languageFor(this.get(site).facts?.locale ?? 'en_US');
  }

  set(site: SiteId, change: Partial<LiveSite>): void {
    this.#sites.set(site, { ...this.get(site), ...change });
    this.#swap(site);
    this.#waitForResume(site);
  }

  /** @param listener told when a pause has run out and the site's own settings are in force again */
  onResumed(listener: (site: SiteId) => void): void {
    this.#onResumed = listener;
  }

  /** Forgets running pauses; nothing is swapped any more by itself. */
  stop(): void {
    for (const timer of this.#pauses.values()) clearTimeout(timer);
    this.#pauses.clear();
  }

  #swap(site: SiteId): void {
    const { facts, blocked, settings } = this.get(site);
    const { options, login } = this.inForce(site);
    const paths = facts?.paths ?? defaultPathsAt((this.#homes.get(site) ?? '').toLowerCase());
    const paused = settings.pausedUntil > this.#clock();
    const input = {
      options,
      paths,
      blocked: paused ? AddressSet.empty : blocked,
      login,
      timeZone: this.timeZone(site),
      multisite: facts?.multisite ?? false,
      language: this.language(site),
    };
    this.#live.swap(site, this.#policies.compile(input));
  }

  #waitForResume(site: SiteId): void {
    clearTimeout(this.#pauses.get(site));
    this.#pauses.delete(site);
    const left = this.get(site).settings.pausedUntil - this.#clock();
    if (left <= 0) return;
    const resume = () => {
      // The timer counts running time, the pause the clock's: one that was moved back waits on.
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
