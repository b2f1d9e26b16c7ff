import type { PageId } from '@security-optimizer/contract/pages';
import { type SecurityField, siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { useQuery } from '@tanstack/react-query';
import { useQueryData } from '../../api/queries.js';
import { useSite } from '../../api/site-context.js';
import { __, sprintf } from '../../i18n/translate.js';
import { Meter } from '../../ui/meter.js';
import { usePending } from './change-setting.js';
import {
  activitySettings,
  type LoginSettings,
  loginSettings,
  postHackSource,
  securitySettings,
  settingsQuery,
} from './settings-query.js';

export interface EssentialsCount {
  readonly on: number;
  /** Number of essentials with a known state. */
  readonly total: number;
}

type Values = Readonly<Partial<Record<SecurityField, 0 | 1>>>;

/** Counts the essentials of Site Security whose value is known. */
export function countSecurityEssentials(values: Values): EssentialsCount {
  const known = siteSecurityToggles.filter(({ essential, field }) => essential && values[field] !== undefined);
  return { on: known.filter(({ field }) => values[field] === 1).length, total: known.length };
}

/** Counts the essentials of Login Security: custom login URL, second factor, common usernames, limited attempts. */
export function countLoginEssentials(settings: LoginSettings): EssentialsCount {
  const { login_url, sg2fa, disable_usernames } = settings;
  const states = [
    login_url && isCustomLoginUrl(settings),
    sg2fa && !isTwoFactorWaiting(settings),
    disable_usernames,
    settings.login_attempts && selectedAttempts(settings) > 0,
  ].filter((state) => state !== undefined);
  return { on: states.filter(Boolean).length, total: states.length };
}

/** Whether two-factor authentication is on, but not set up by all who need it, as far as known. */
export function isTwoFactorWaiting({ sg2fa, two_factor_users: users }: LoginSettings): boolean {
  return sg2fa === 1 && !!users && users.set_up < users.total;
}

/** How many of the users who need two-factor authentication have set it up. */
export function setUpText({ two_factor_users: users }: LoginSettings): string {
  return sprintf(
    /* translators: 1: people who have set up two-factor, 2: all who need it */
    __('%1$d of %2$d set up', 'security-optimizer'),
    users?.set_up ?? 0,
    users?.total ?? 0,
  );
}

/** Whether the login URL is a custom one. */
export function isCustomLoginUrl({ login_url = [] }: LoginSettings): boolean {
  return login_url.some(({ type, selected }) => type === 'custom' && Number(selected) === 1);
}

/** Failed logins until an address is locked out; 0 if the limit is off. */
export function selectedAttempts({ login_attempts = [] }: LoginSettings): number {
  return login_attempts.find(({ selected }) => Number(selected) === 1)?.value ?? 0;
}

/** Number of essentials: six of Site Security, four of Login Security. */
export const ESSENTIALS_COUNT = 10;

/** Keys of the settings that each page fetches itself. */
const OWN_SETTINGS: Partial<Record<PageId, readonly string[]>> = {
  SITE_SECURITY: securitySettings.key,
  LOGIN_SETTINGS: loginSettings.key,
  ACTIVITY_LOG: activitySettings.key,
  POST_HACK_ACTIONS: postHackSource.key,
};

const NO_SETTINGS = ['settings'];

/**
 * The essentials of the whole site: undefined while they load, null if not all are known. Pending changes count, as in
 * the rows. The page fetches its own settings; this hook fetches the others afterwards, without reporting failures.
 */
export function useEssentials(page: PageId): EssentialsCount | null | undefined {
  const { api } = useSite();
  const own = OWN_SETTINGS[page] ?? null;
  // Only observed here; the page fetches them.
  const first = useQueryData<unknown>(own ?? NO_SETTINGS);

  const isDue = (key: readonly string[]): boolean => own !== key && first !== undefined;
  const { data: security, isError: noSecurity } = useQuery({
    ...settingsQuery(securitySettings, api, true),
    enabled: isDue(securitySettings.key),
  });
  const { data: login, isError: noLogin } = useQuery({
    ...settingsQuery(loginSettings, api, true),
    enabled: isDue(loginSettings.key),
  });
  const pending = { security: usePending(securitySettings), login: usePending(loginSettings) };
  if (security === undefined || login === undefined) return noSecurity || noLogin ? null : undefined;
  const one = countSecurityEssentials({ ...security, ...pending.security });
  const two = countLoginEssentials({ ...login, ...pending.login });
  const total = one.total + two.total;
  return total === ESSENTIALS_COUNT ? { on: one.on + two.on, total } : null;
}

export interface Verdict {
  readonly text: string;
  /** Colour of the ring. */
  readonly state: 'ok' | 'warn' | 'danger';
}

/** Returns the verdict for a number of essentials out of ten. */
export function getVerdict({ on, total }: EssentialsCount): Verdict {
  if (on === total) return { text: __('Fully protected', 'security-optimizer'), state: 'ok' };
  if (on >= 7) return { text: __('Well protected', 'security-optimizer'), state: 'ok' };
  if (on >= 4) return { text: __('Partly protected', 'security-optimizer'), state: 'warn' };
  return { text: __('At risk', 'security-optimizer'), state: 'danger' };
}

/** Number of essentials of a section that are on. */
export function EssentialsMeter({ on, total }: EssentialsCount) {
  return <Meter on={on} total={total} label={essentialsText({ on, total })} />;
}

export function essentialsText({ on, total }: EssentialsCount): string {
  return sprintf(
    /* translators: 1: essentials that are on, 2: all essentials */
    __('%1$d of %2$d essentials on', 'security-optimizer'),
    on,
    total,
  );
}
