import type {
  customLoginUrl,
  disableAdminUsername,
  fetchAwayMode,
  loginAccess,
  setAwayMode as setAwayModeCall,
} from '@security-optimizer/contract/login/endpoints';
import type { AwayState } from '@security-optimizer/contract/login/schemas';
import type { CallHandlers } from '../feature.js';
import type { Services } from '../services.js';
import { readSiteSettings } from '../settings/site-settings.js';
import { defaultSitePaths, type SiteId } from '../site.js';
import { getAwayState, setAwayMode } from './away-mode.js';
import { type NewName, setDisableUsernames } from './common-usernames.js';
import { setCustomLoginUrl } from './custom-login-url.js';
import { setLoginAccess } from './set-login-access.js';

export type LoginCalls =
  | typeof loginAccess
  | typeof customLoginUrl
  | typeof disableAdminUsername
  | typeof fetchAwayMode
  | typeof setAwayModeCall;

/** The endpoints of the page Login Security, except those of the second factor. */
export function loginEndpoints(
  { change, wordpress, sites, sessions, audit, clock }: Services,
  onRenamed: (site: SiteId, user: NewName) => Promise<void>,
): CallHandlers<LoginCalls> {
  const timeZone = (site: SiteId) => sites.timeZone(site);
  return {
    async 'update:login_access'({ entries, confirm }, { site, actor, visitor }) {
      const seenAddress = visitor.sender.address;
      const { list, message } = await setLoginAccess(change, {
        site,
        actor,
        seenAddress,
        entries,
        confirm: confirm === 1,
      });
      return { data: { login_access: [...list] }, message };
    },
    async 'update:login_url'({ type, login, signup }, { site, actor }) {
      const { options, message } = await setCustomLoginUrl(
        {
          ...change,
          loginData: wordpress.loginData,
          pathInUse: wordpress.pathInUse,
          paths: (id) => sites.get(id).facts?.paths ?? defaultSitePaths,
        },
        { site, actor, type, login: login ?? '', signup: signup ?? '' },
      );
      return { data: { login_url: options }, message };
    },
    async 'update:disable_usernames'({ disable_usernames, admin_names = [] }, { site, actor, visitor }) {
      // Names without the switch are sent by the dialog, which opens while the switch is being turned on.
      const value = disable_usernames ?? 1;
      const { usernames, setCookies, message } = await setDisableUsernames(
        {
          ...change,
          loginData: wordpress.loginData,
          renameUsers: (where, users) => wordpress.renameUsers(where, users, visitor),
          audit: audit.add,
          async onRenamed(id, user) {
            sessions.clear(id);
            await onRenamed(id, user);
          },
        },
        { site, actor, value, names: admin_names },
      );
      return {
        data: { disable_usernames: value, ...(usernames && { usernames_data: usernames }) },
        message,
        setCookies,
      };
    },
    async fetchAwayMode(_input, { site: { id } }) {
      const { login } = await readSiteSettings(change.settings, id);
      return { data: toAwayResponse(getAwayState(login.away_mode, timeZone(id), clock())), message: '' };
    },
    async 'update:away_mode'(input, { site, actor }) {
      const { state, message } = await setAwayMode({ ...change, timeZone }, { site, actor, input });
      return { data: toAwayResponse(state), message };
    },
  };
}

function toAwayResponse(state: AwayState) {
  return { ...state.schedule, away_mode: state };
}
