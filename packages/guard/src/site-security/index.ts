import type { CallHandlers, Feature, OptionPages, RunningFeature } from '../feature.js';
import type { SiteSecurityCalls } from './endpoints.js';

export interface SiteSecurity extends RunningFeature {
  loadEndpoints(): Promise<{
    readonly handlers: CallHandlers<SiteSecurityCalls>;
    readonly pages: Pick<OptionPages, 'security'>;
  }>;
}

/** Registers only endpoints: its protections are rules of the snapshot and classes of the connector. */
export const siteSecurity: Feature<SiteSecurity> = {
  name: 'site-security',
  start: (services) => ({
    async loadEndpoints() {
      const { siteSecurityEndpoints } = await import('./endpoints.js');
      return siteSecurityEndpoints(services);
    },
  }),
};
