import type { Ebook, HardeningItem, Notification, overviewEndpoints } from '@security-optimizer/contract/overview';
import type { ProtectionFacts } from '../overview/protection-facts.js';
import type { ConsentAnswer } from '../overview/set-consent.js';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { HandlersOf } from './handlers.js';

/** The use cases behind the page Security Dashboard. */
export interface OverviewUseCases {
  readonly notifications: (site: SiteConfig) => Promise<Notification[]>;
  readonly hardening: (site: SiteConfig) => Promise<HardeningItem[]>;
  /** Null when the provider has none. */
  readonly ebook: Ebook | null;
  readonly rate: (site: SiteConfig) => Promise<{ readonly show: 0 | 1; readonly link: string }>;
  readonly dismissRate: (change: { readonly site: SiteConfig; readonly actor: Actor }) => Promise<void>;
  readonly protectionFacts: (site: SiteConfig) => Promise<ProtectionFacts>;
  readonly setConsent: (answer: ConsentAnswer) => Promise<void>;
}

/** Connects each call of the page Security Dashboard with its use case. */
export function createOverviewHandlers(useCases: OverviewUseCases): HandlersOf<(typeof overviewEndpoints)[number]> {
  return {
    notifications: async (_input, { site }) => ({ data: await useCases.notifications(site), message: '' }),
    hardening: async (_input, { site }) => ({ data: await useCases.hardening(site), message: '' }),
    ebook: async () => ({ data: useCases.ebook, message: '' }),
    async rate({ show }, { site, actor }) {
      if (show !== undefined) await useCases.dismissRate({ site, actor });
      return { data: await useCases.rate(site), message: '' };
    },
    protectionFacts: async (_input, { site }) => ({ data: await useCases.protectionFacts(site), message: '' }),
    async 'update:consent'({ siteground_data_consent, siteground_email_consent }, { site, actor }) {
      await useCases.setConsent({ site, actor, data: siteground_data_consent, email: siteground_email_consent });
      return { data: { show_data_field: 0, show_email_field: 0 }, message: 'Your choice is saved.' };
    },
  };
}
