import { join } from 'node:path';
import type { CallHandlers, Feature, OptionPages, RunningFeature } from '../feature.js';
import type { LoginSecurity } from '../login/index.js';
import { defaultSitePaths, type SiteConfig, type SiteId } from '../site.js';
import { listSitesWithRows } from '../storage/database.js';
import { ConnectorError } from '../wordpress/connector-error.js';
import { createChallengeStore } from './challenges.js';
import { createFactorTriesStore } from './check-code.js';
import type { TwoFactorCalls } from './endpoints.js';
import { createFactorStore, deleteBrowsers } from './factor-store.js';
import { recordLogin } from './handle-submit.js';
import { createTwoFactorHooks } from './request-hooks.js';
import { createTrustedDeviceStore, TrustedDevices } from './trusted-devices.js';
import { createTwoFactorFlow } from './two-factor-flow.js';

export { createFactorStore } from './factor-store.js';
export { secondFactorMigrations, type TwoFactorTables } from './tables.js';
export { listEnrolled, resetTwoFactor } from './two-factor-settings.js';

/** The running second factor. */
export interface TwoFactor extends RunningFeature {
  /**
   * Ids of users who have set up a second factor.
   * @throws StorageError
   */
  enrolledUsers(site: SiteId): Promise<readonly number[]>;
  /**
   * Whether everybody who needs a second factor has one; also true while WordPress does not respond.
   * @throws StorageError
   */
  isComplete(site: SiteConfig): Promise<boolean>;
  /**
   * Stops trusting all browsers of a site, and ends logins that wait for a code.
   * @throws StorageError
   */
  forgetBrowsers(site: SiteId): Promise<void>;
  loadEndpoints(): Promise<{
    readonly handlers: CallHandlers<TwoFactorCalls>;
    readonly pages: Pick<OptionPages, 'login'>;
  }>;
}

/** Trusted devices are loaded before the start resolves. */
export const twoFactorAuthentication: Feature<TwoFactor, { readonly login: LoginSecurity }> = {
  name: 'two-factor',
  async start(services, { login }) {
    const { config, siteList, db, wordpress, sites, feed, clock, logger } = services;
    const factors = createFactorStore(db);
    const toPaths = ({ id }: SiteConfig) => sites.get(id).facts?.paths ?? defaultSitePaths;
    const flow = createTwoFactorFlow({
      factors,
      challenges: createChallengeStore(db),
      tries: createFactorTriesStore(db),
      audit: services.audit,
      devices: new TrustedDevices(createTrustedDeviceStore(db)),
      issuer: wordpress,
      users: wordpress,
      keyFile: join(config.dataDir, 'two-factor.key'),
      recordLogin: (request, success) => recordLogin(login.attempts, toPaths(request.site).home, request, success),
      adminPath: (site) => toPaths(site).admin,
      clock,
      logger,
    });
    login.onRenamed((site, { ID, user_login }) => factors.rename({ site, userId: ID }, user_login));
    const withDevices = await listSitesWithRows(db, 'second_factor_devices');
    for (const { id } of siteList) if (withDevices.has(id)) await flow.reload(id);
    // A reset by the command line or another process changes the site's version.
    feed.subscribe((site) => void flow.reload(site));

    const { onPage, ...secondFactor } = createTwoFactorHooks(flow);
    login.setSecondFactor(secondFactor);

    const enrolledUsers = async (site: SiteId) => (await factors.listEnabled(site)).map(({ userId }) => userId);

    return {
      hooks: { onPage },
      loadSite: flow.reload,
      enrolledUsers,
      async isComplete(site) {
        const [listed, enrolled] = await Promise.all([
          wordpress.loginData(site).then(
            ({ factor_users }) => factor_users,
            (error: unknown) => {
              if (error instanceof ConnectorError) return null;
              throw error;
            },
          ),
          enrolledUsers(site.id),
        ]);
        return listed === null || listed.users.every(({ id }) => enrolled.includes(id));
      },
      async forgetBrowsers(site) {
        const version = await deleteBrowsers(db, site);
        await flow.reload(site);
        feed.publish({ site, version });
      },
      async loadEndpoints() {
        const { twoFactorEndpoints } = await import('./endpoints.js');
        const countLocked = (site: SiteId) => login.lockedAddresses(site).length;
        return twoFactorEndpoints(services, factors, countLocked, flow.forgetDevices);
      },
    };
  },
};
