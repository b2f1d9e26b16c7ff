import type { LoginUseCases } from './api/login-handlers.js';
import { awayStateOf } from './login/away-state.js';
import { fetchLoginOptions, setupUrl } from './login/fetch-login-options.js';
import { resetUserSecondFactor } from './login/reset-user-second-factor.js';
import { setAwayMode } from './login/set-away-mode.js';
import { setCustomLoginUrl } from './login/set-custom-login-url.js';
import { setDisableUsernames } from './login/set-disable-usernames.js';
import { setLoginAccess } from './login/set-login-access.js';
import { setLoginAttempts } from './login/set-login-attempts.js';
import { setSecondFactor } from './login/set-second-factor.js';
import { setTwoFactorAppPasswords } from './login/set-two-factor-app-passwords.js';
import type { RunningSecondFactorDoor } from './login/two-factor/create-second-factor-door.js';
import { listEnrolled } from './login/two-factor/list-enrolled.js';
import { resetSecondFactor } from './login/two-factor/reset-second-factor.js';
import type { ChangeDeps } from './settings/change-settings.js';
import { fetchSiteSettings } from './settings/site-settings.js';
import { defaultSitePaths, type SiteConfig, type SiteId } from './site.js';
import type { LiveSites } from './site-security/live-sites.js';
import { sqlAuditStore } from './storage/audit-store.js';
import type { Database } from './storage/database.js';
import { sqlSecondFactorStore } from './storage/second-factor-store.js';
import type { ConnectorClient } from './wordpress/connector-client.js';
import type { Sessions } from './wordpress/session.js';

/** The part of the composition root that belongs to Login Security: its use cases, bound to storage and WordPress. */
export function composeLogin(parts: {
  readonly db: Database;
  readonly change: ChangeDeps;
  readonly client: ConnectorClient;
  readonly sites: LiveSites;
  readonly configured: readonly SiteConfig[];
  readonly sessions: Sessions;
  readonly door: Pick<RunningSecondFactorDoor, 'forgetDevices'>;
}): LoginUseCases {
  const { db, change, client, sites, configured, sessions, door } = parts;
  const { clock, logger, publish } = change;
  const factors = sqlSecondFactorStore(db);
  const audit = sqlAuditStore(db);
  const readSettings = (site: SiteId) => fetchSiteSettings(change.settings, site);
  const timeZone = (site: SiteId) => sites.timeZone(site);
  const homeUrl = (site: SiteId) => sites.get(site).facts?.homeUrl ?? null;
  const enrolled = (site: SiteId) => listEnrolled(factors, site);
  const siteOf = (id: SiteId): SiteConfig => {
    const site = configured.find((entry) => entry.id === id);
    if (!site) throw new Error(`No site has the id ${id}.`);
    return site;
  };

  return {
    fetchLoginOptions: (ask) =>
      fetchLoginOptions(
        { readSettings, loginData: client.loginData, listEnrolled: enrolled, homeUrl, timeZone, clock },
        ask,
      ),
    setLoginAttempts: (wanted) => setLoginAttempts(change, wanted),
    setLoginAccess: (wanted) => setLoginAccess(change, wanted),
    setCustomLoginUrl: (wanted) =>
      setCustomLoginUrl(
        {
          ...change,
          loginData: client.loginData,
          pathInUse: client.pathInUse,
          paths: (site) => sites.get(site).facts?.paths ?? defaultSitePaths,
        },
        wanted,
      ),
    setDisableUsernames: ({ visitor, ...wanted }) =>
      setDisableUsernames(
        {
          ...change,
          loginData: client.loginData,
          renameUsers: (site, users) => client.renameUsers(site, users, visitor),
          audit: audit.add,
          async onRenamed(site, { ID, user_login }) {
            sessions.forget(site);
            await factors.rename({ site, userId: ID }, user_login);
          },
        },
        wanted,
      ),
    async setSecondFactor({ visitor, ...wanted }) {
      const endOtherSessions = (site: SiteConfig) => client.endSessions(site, 'needs_factor', visitor);
      const wordpress = await client.loginData(wanted.site);
      const message = await setSecondFactor({ ...change, endOtherSessions }, wanted);
      const { login } = await readSettings(wanted.site.id);
      return { setupUrl: setupUrl({ homeUrl }, wanted.site, login.login_url, wordpress), message };
    },
    setTwoFactorAppPasswords: (wanted) => setTwoFactorAppPasswords(change, wanted),
    resetUserSecondFactor: ({ site, user, actor, visitor }) =>
      resetUserSecondFactor(
        {
          listEnrolled: enrolled,
          reset: (reset) =>
            resetSecondFactor(
              {
                store: factors,
                // Who resets the own factor goes on in the session at hand; WordPress knows whose cookie it is.
                endSessions: (id, userId) => client.endSessions(siteOf(id), [userId], visitor),
                forgetDevices: door.forgetDevices,
                publish,
                clock,
                logger,
              },
              reset,
            ),
        },
        { site: site.id, user, actor },
      ),
    fetchAwayMode: async ({ id }) => awayStateOf((await readSettings(id)).login.away_mode, timeZone(id), clock()),
    setAwayMode: (wanted) => setAwayMode({ ...change, timeZone }, wanted),
  };
}
