import { defaultSecurityOptions } from '@security-optimizer/contract/protections';
import { AddressSet } from '../lib/address-set.js';
import { defaultLoginSettings } from '../login/login-settings.js';
import { defaultSitePaths, type SiteId } from '../site.js';
import { compilePolicy, type Policy } from './compile-policy.js';

/** The snapshots in force, one per site. A swap is atomic: a request sees the old one or the new one, never a mix. */
export class LivePolicy {
  readonly #policies = new Map<SiteId, Policy>();
  #onSwap: (site: SiteId) => void = () => {};
  /** Defaults of a fresh site are in force until a site's own settings are loaded. */
  readonly #initial = compilePolicy({
    options: defaultSecurityOptions,
    paths: defaultSitePaths,
    blocked: AddressSet.empty,
    login: defaultLoginSettings,
    timeZone: 'UTC',
  });

  get(site: SiteId): Policy {
    return this.#policies.get(site) ?? this.#initial;
  }

  swap(site: SiteId, policy: Policy): void {
    this.#policies.set(site, policy);
    this.#onSwap(site);
  }

  /** @param listener told whenever a site's snapshot has been replaced; there is one */
  onSwap(listener: (site: SiteId) => void): void {
    this.#onSwap = listener;
  }
}
