import type { CallHandlers, Feature, RunningFeature } from '../feature.js';
import type { Rounds } from '../lib/rounds.js';
import type { Services } from '../services.js';
import { listEssentials } from '../settings/essentials.js';
import { createPostHackCommands } from '../wordpress/connector-commands.js';
import type { OverviewCalls, OverviewSources } from './endpoints.js';
import { recordFirstStarts } from './first-start-store.js';
import { createTechnicalDataSender, postToProvider, toTechnicalData } from './technical-data.js';
import { sqlTechnicalDataSends } from './technical-data-store.js';

export { type FirstStartTables, firstStartMigrations } from './first-start-store.js';
export { type TechnicalDataTables, technicalDataMigrations } from './technical-data-store.js';

export interface Overview extends RunningFeature {
  loadEndpoints(): Promise<{ readonly handlers: CallHandlers<OverviewCalls> }>;
}

/** Records the first start of each site, and sends the technical data that owners agreed to share. */
export const securityOverview: Feature<Overview, OverviewSources> = {
  name: 'overview',
  async start(services, sources) {
    const { config, siteList, db, clock } = services;
    const started = new Map(await recordFirstStarts(db, siteList.servedIds, clock()));
    const { technicalDataUrl } = config.consent;
    const sender = technicalDataUrl === null ? null : createSender(services, technicalDataUrl);
    return {
      async loadEndpoints() {
        const { overviewEndpoints } = await import('./endpoints.js');
        return { handlers: overviewEndpoints(services, sources, started) };
      },
      async loadSite(site) {
        for (const [id, at] of await recordFirstStarts(db, [site], clock())) started.set(id, at);
      },
      onServing: () => sender?.start(),
      stop: () => sender?.stop(),
    };
  },
};

function createSender(services: Services, url: string): Rounds {
  const { siteList, db, sites, wordpress, clock, logger } = services;
  const commands = createPostHackCommands(wordpress);
  return createTechnicalDataSender({
    sites: siteList,
    isAgreed: (site) => sites.get(site).settings.overview.data_consent === 1,
    async collect(site) {
      const [hello, { plugins }] = await Promise.all([wordpress.hello(site), commands.plugins(site)]);
      return toTechnicalData({
        site,
        hello,
        plugins,
        // Only whether they are on is sent.
        essentials: listEssentials(sites.get(site.id).settings, true),
        server: { system: process.platform, processor: process.arch, node: process.versions.node },
      });
    },
    send: (data) => postToProvider(url, data),
    sends: sqlTechnicalDataSends(db),
    ...{ clock, logger },
  });
}
