import type {
  remindTwoFactor,
  resetUserTwoFactor,
  sendLoginUrl,
  twoFactor,
  twoFactorRoles,
} from '@security-optimizer/contract/login/endpoints';
import { TEAM_MAILS_MAX } from '@security-optimizer/contract/login/limits';
import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import { toResponseValues } from '@security-optimizer/contract/settings/catalogue';
import type { CallHandlers, OptionPages } from '../feature.js';
import type { Clock } from '../lib/clock.js';
import { getAwayState, toLoginUrlOptions, toUsernamesData } from '../login/index.js';
import { createMailer } from '../mail/create-mailer.js';
import type { Services } from '../services.js';
import type { Actor } from '../settings/audit-store.js';
import { readSiteSettings, type SiteSettings } from '../settings/site-settings.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { LoginData, TeamMember } from '../wordpress/connector-responses.js';
import type { FactorStore } from './factor-store.js';
import { loginUrlNotice, mailTeam, twoFactorNotice } from './team-mails.js';
import {
  listEnrolled,
  resetTwoFactor,
  resetTwoFactorForUser,
  setTwoFactor,
  setTwoFactorRoles,
  toLoginUrl,
  toTwoFactorRoles,
  toTwoFactorSetupUrl,
  toTwoFactorUsers,
} from './two-factor-settings.js';

export type TwoFactorCalls =
  | typeof twoFactor
  | typeof twoFactorRoles
  | typeof resetUserTwoFactor
  | typeof remindTwoFactor
  | typeof sendLoginUrl;

/** The endpoints of the second factor, and the options of the page Login Security, which lists enrolled users. */
export function twoFactorEndpoints(
  { config, change, wordpress, sites, feed, clock, logger }: Services,
  factors: FactorStore,
  countLocked: (site: SiteId) => number,
  forgetDevices: (site: SiteId, user: number) => void,
): { readonly handlers: CallHandlers<TwoFactorCalls>; readonly pages: Pick<OptionPages, 'login'> } {
  const readSettings = (site: SiteId) => readSiteSettings(change.settings, site);
  const timeZone = (site: SiteId) => sites.timeZone(site);
  const homeUrl = (site: SiteId) => sites.get(site).facts?.homeUrl ?? null;
  const enrolled = (site: SiteId) => listEnrolled(factors, site);
  const { loginData } = wordpress;
  const options = { readSettings, loginData, listEnrolled: enrolled, countLocked, homeUrl, timeZone, clock };
  const mailer = createMailer(config.mail, wordpress);

  /** Mails a notice to these users, with the current login address. */
  async function mail(
    { site, actor }: { readonly site: SiteConfig; readonly actor: Actor },
    users: readonly TeamMember[],
    toNotice: typeof loginUrlNotice,
  ) {
    const [{ login }, loginData] = await Promise.all([readSettings(site.id), wordpress.loginData(site)]);
    const url = toLoginUrl(login.login_url, homeUrl(site.id), loginData);
    const deps = { mailer, language: sites.language(site.id), timeZone: timeZone(site.id), now: clock() };
    const { message, ...data } = await mailTeam(deps, { site, users, notice: toNotice(deps, { login: url, actor }) });
    return { data, message };
  }

  return {
    pages: { login: ({ site, actor }) => getLoginOptions(options, { site, actor }) },
    handlers: {
      async 'update:sg2fa'({ sg2fa: value }, { site, actor, visitor }) {
        const endOtherSessions = () => wordpress.endSessions(site, 'needs_factor', visitor);
        const loginData = await wordpress.loginData(site);
        const message = await setTwoFactor({ ...change, endOtherSessions }, { site, actor, value });
        const { login } = await readSettings(site.id);
        const two_factor_setup_url = toTwoFactorSetupUrl(login.login_url, homeUrl(site.id), loginData);
        return { data: { sg2fa: value, two_factor_setup_url }, message };
      },
      async 'update:two_factor_roles'({ two_factor_roles: roles }, { site, actor }) {
        const { options: two_factor_roles, message } = await setTwoFactorRoles(
          {
            ...change,
            loginData: wordpress.loginData,
            endSessionsWithoutFactor: (where, without) => wordpress.endSessions(where, { rolesWithoutFactor: without }),
          },
          { site, actor, roles },
        );
        return { data: { two_factor_roles }, message };
      },
      async remindTwoFactor(_input, { site, actor }) {
        const [users, done] = await Promise.all([wordpress.team(site, 'needs_factor'), enrolled(site.id)]);
        const missing = users.filter(({ id }) => id !== actor.id && !done.some(({ ID }) => ID === id));
        return mail({ site, actor }, missing, twoFactorNotice);
      },
      async sendLoginUrl(_input, { site, actor }) {
        return mail({ site, actor }, await wordpress.team(site, 'team'), loginUrlNotice);
      },
      async resetUserTwoFactor({ id: user }, { site, actor, visitor }) {
        const { enrolled: left, message } = await resetTwoFactorForUser(
          {
            listEnrolled: enrolled,
            reset: (reset) =>
              resetTwoFactor(
                {
                  store: factors,
                  // The caller's session is kept: WordPress identifies it by its cookie.
                  endSessions: (_site, userId) => wordpress.endSessions(site, [userId], visitor),
                  forgetDevices,
                  publish: feed.publish,
                  clock,
                  logger,
                },
                reset,
              ),
          },
          { site: site.id, user, actor },
        );
        return { data: { reset_2fa: left }, message };
      },
    },
  };
}

/** Sources of the options: WordPress and the store. */
interface LoginOptionsSources {
  readonly readSettings: (site: SiteId) => Promise<SiteSettings>;
  readonly loginData: (site: SiteConfig) => Promise<LoginData>;
  readonly listEnrolled: (site: SiteId) => Promise<LoginOptions['reset_2fa']>;
  /** Number of addresses that are locked now by failed logins. */
  readonly countLocked: (site: SiteId) => number;
  /** Home URL of the site in WordPress, or null while it is not known. */
  readonly homeUrl: (site: SiteId) => string | null;
  readonly timeZone: (site: SiteId) => string;
  readonly clock: Clock;
}

/**
 * Everything that the page Login Security shows.
 * @param actor the caller; the address is canonical
 * @throws StorageError, ConnectorError
 */
async function getLoginOptions(
  deps: LoginOptionsSources,
  { site, actor }: { readonly site: SiteConfig; readonly actor: Pick<Actor, 'id' | 'address'> },
): Promise<LoginOptions> {
  const [{ login }, wordpress, enrolled] = await Promise.all([
    deps.readSettings(site.id),
    deps.loginData(site),
    deps.listEnrolled(site.id),
  ]);
  return {
    ...toResponseValues('login', login),
    two_factor_roles: toTwoFactorRoles(login.two_factor_roles, wordpress),
    two_factor_users: toTwoFactorUsers(wordpress, enrolled, actor.id),
    reset_2fa: enrolled,
    locked_addresses: deps.countLocked(site.id),
    usernames_data: toUsernamesData(wordpress),
    login_access: [...login.login_access],
    login_url: toLoginUrlOptions(login.login_url, wordpress),
    team_size: wordpress.team !== null && wordpress.team <= TEAM_MAILS_MAX ? wordpress.team : null,
    away_mode: getAwayState(login.away_mode, deps.timeZone(site.id), deps.clock()),
    your_address: actor.address ?? '',
    two_factor_setup_url: toTwoFactorSetupUrl(login.login_url, deps.homeUrl(site.id), wordpress),
  };
}
