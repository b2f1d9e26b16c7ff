import {
  defaultSecurityOptions,
  type SecurityOptions,
  siteSecurityToggles,
} from '@security-optimizer/contract/protections';
import { defaultLogSettings, type LogSettings, logSettingsOf } from '../activity/log-settings.js';
import { defaultLoginSettings, type LoginSettings } from '../login/login-settings.js';
import { loginSettingsOf } from '../login/login-settings-of.js';
import { defaultOverviewSettings, type OverviewSettings, overviewSettingsOf } from '../overview/overview-settings.js';
import type { SiteId } from '../site.js';
import { securityOptionsOf } from '../site-security/security-options.js';
import type { SettingsStore, StoredSetting } from '../storage/settings-store.js';
import { StorageError } from '../storage/storage-error.js';

/** Everything that is stored as a setting of one site. */
export interface SiteSettings {
  readonly options: SecurityOptions;
  readonly login: LoginSettings;
  readonly log: LogSettings;
  readonly overview: OverviewSettings;
  /** Until then everything is off (`security-optimizer pause`), milliseconds since the Unix epoch; 0 when it is not. */
  readonly pausedUntil: number;
}

/** New values by the names under which they are stored. */
export type SettingChanges = Partial<
  SecurityOptions & LoginSettings & LogSettings & OverviewSettings & { readonly paused_until: number }
>;

export const defaultSiteSettings: SiteSettings = Object.freeze({
  options: defaultSecurityOptions,
  login: defaultLoginSettings,
  log: defaultLogSettings,
  overview: defaultOverviewSettings,
  pausedUntil: 0,
});

/** What is stored, defaults filled in. Throws StorageError. */
export function siteSettingsOf(stored: ReadonlyMap<string, StoredSetting>): SiteSettings {
  const paused = stored.get('paused_until')?.value ?? 0;
  if (typeof paused !== 'number') throw new StorageError('corrupt', 'The stored value of paused_until is no number.');
  return {
    options: securityOptionsOf(stored),
    login: loginSettingsOf(stored),
    log: logSettingsOf(stored),
    overview: overviewSettingsOf(stored),
    pausedUntil: paused,
  };
}

/** The settings of many sites, read in one go; a site that is missing never changed one. Throws StorageError. */
export async function fetchAllSettings(
  settings: Pick<SettingsStore, 'readAll'>,
  sites: Iterable<SiteId>,
): Promise<ReadonlyMap<SiteId, SiteSettings>> {
  const found = new Map<SiteId, SiteSettings>();
  for (const [site, stored] of await settings.readAll(sites)) found.set(site, siteSettingsOf(stored));
  return found;
}

/** The settings of a site as they are stored, defaults filled in. Throws StorageError. */
export async function fetchSiteSettings(settings: Pick<SettingsStore, 'read'>, site: SiteId): Promise<SiteSettings> {
  return siteSettingsOf(await settings.read(site));
}

export function withChanges(settings: SiteSettings, changes: SettingChanges): SiteSettings {
  const { options, login, log, overview, pausedUntil } = settings;
  const pick = <Group extends object>(group: Group): Group =>
    Object.fromEntries(
      Object.entries(group).map(([name, value]) => [name, (changes as Record<string, unknown>)[name] ?? value]),
    ) as Group;
  return {
    options: pick(options),
    login: pick(login),
    log: pick(log),
    overview: pick(overview),
    pausedUntil: changes.paused_until ?? pausedUntil,
  };
}

/** The value that a name stands for. */
export function settingNamed(settings: SiteSettings, name: string): unknown {
  if (name === 'paused_until') return settings.pausedUntil;
  return ({ ...settings.options, ...settings.login, ...settings.log, ...settings.overview } as Record<string, unknown>)[
    name
  ];
}

const allOff: Pick<SiteSettings, 'options' | 'login'> = {
  options: Object.fromEntries(siteSecurityToggles.map(({ field }) => [field, 0])) as SecurityOptions,
  login: { ...defaultLoginSettings, login_attempts: 0, disable_usernames: 0 },
};

/** Settings as they are enforced. */
export type SettingsInForce = SiteSettings & { readonly paused?: true };

/** The settings that are to be enforced now: every protection is off during a pause; the log goes on. */
export function settingsInForce(settings: SiteSettings, nowMs: number): SettingsInForce {
  return settings.pausedUntil > nowMs ? { ...settings, ...allOff, paused: true } : settings;
}
