import { ROLE_PATTERN } from '@security-optimizer/contract/login/limits';
import { awayScheduleSchema } from '@security-optimizer/contract/login/schemas';
import { type SettingValues, simpleDefaults } from '@security-optimizer/contract/settings/catalogue';
import { z } from 'zod';
import { defaultLoginSettings, type LoginSettings } from '../rules/login-policy.js';
import type { SiteId } from '../site.js';
import { StorageError } from '../storage/storage-error.js';
import type { SettingsStore, StoredSetting } from './settings-store.js';
import { pausedValues, simpleSchemas } from './simple-settings.js';

/** The settings of the Activity Log. */
export interface LogSettings extends SettingValues<'log'> {
  /** Recipients of the weekly report: lower-case addresses. */
  readonly notification_emails: readonly string[];
}

/** All settings of one site. */
export interface SiteSettings {
  readonly options: SettingValues<'options'>;
  readonly siteSecurity: SettingValues<'siteSecurity'>;
  readonly login: LoginSettings;
  readonly log: LogSettings;
  readonly alerts: SettingValues<'alerts'>;
  readonly postHack: SettingValues<'postHack'>;
  /** The owner's one-time choices. */
  readonly overview: SettingValues<'overview'>;
  /** End of a pause (`security-optimizer pause`), milliseconds since the Unix epoch; 0 when there is none. */
  readonly pausedUntil: number;
}

/** New values by the stored names of their settings. */
export type SettingChanges = Partial<
  SettingValues<'options' | 'siteSecurity' | 'alerts' | 'postHack' | 'overview'> &
    LoginSettings &
    LogSettings & { readonly paused_until: number }
>;

export const defaultLogSettings: LogSettings = Object.freeze({
  ...simpleDefaults('log'),
  notification_emails: Object.freeze([]),
});

export const defaultSiteSettings: SiteSettings = Object.freeze({
  options: simpleDefaults('options'),
  siteSecurity: simpleDefaults('siteSecurity'),
  login: defaultLoginSettings,
  log: defaultLogSettings,
  alerts: simpleDefaults('alerts'),
  postHack: simpleDefaults('postHack'),
  overview: simpleDefaults('overview'),
  pausedUntil: 0,
});

/** The schema of each stored value. A setting without a schema is a compile error. */
const schemas: {
  readonly [Group in Exclude<keyof SiteSettings, 'pausedUntil'>]: {
    readonly [Name in keyof SiteSettings[Group]]: z.core.$ZodType<SiteSettings[Group][Name]>;
  };
} = {
  options: simpleSchemas('options'),
  siteSecurity: simpleSchemas('siteSecurity'),
  login: {
    ...simpleSchemas('login'),
    login_access: z.array(z.string()),
    login_url: z.object({ type: z.enum(['default', 'custom']), login: z.string(), signup: z.string() }),
    two_factor_roles: z.array(z.string().regex(ROLE_PATTERN)),
    away_mode: awayScheduleSchema,
  },
  log: { ...simpleSchemas('log'), notification_emails: z.array(z.string()) },
  alerts: simpleSchemas('alerts'),
  postHack: simpleSchemas('postHack'),
  overview: simpleSchemas('overview'),
};

/**
 * Names of all settings that describe a site's protection, without the owner's one-time choices and without a pause.
 */
export const settingNames: readonly string[] = (
  ['options', 'siteSecurity', 'login', 'log', 'alerts', 'postHack'] as const
).flatMap((group) => Object.keys(schemas[group]));

/** A value of a setting of `settingNames`, or the allowed values. */
export function parseSettingValue(
  name: string,
  value: unknown,
): { readonly value: unknown } | { readonly allowed: string } {
  const schema = Object.assign({}, ...Object.values(schemas))[name] as z.core.$ZodType;
  const parsed = z.safeParse(schema, value);
  return parsed.success ? { value: parsed.data } : { allowed: describeAllowed(parsed.error) };
}

/** Settings that were read from the database, and the stored values that can't be used. */
interface ParsedSettings {
  /** Without the values that can't be used, which have their defaults here. */
  readonly settings: SiteSettings;
  /** The values that can't be used, by name, and what is allowed. */
  readonly unusable: ReadonlyMap<string, string>;
}

/** Converts stored values to settings, with defaults for those that were never stored. */
export function parseStoredSettings(stored: ReadonlyMap<string, StoredSetting>): ParsedSettings {
  const unusable = new Map<string, string>();
  const paused = stored.get('paused_until')?.value;
  if (stored.has('paused_until') && typeof paused !== 'number') unusable.set('paused_until', 'a number');
  const group = <Name extends keyof typeof schemas>(name: Name): SiteSettings[Name] => {
    const values = Object.entries(defaultSiteSettings[name]).map(([field, value]) => {
      const setting = stored.get(field);
      if (setting === undefined) return [field, value];
      const schema = (schemas[name] as Record<string, z.core.$ZodType>)[field] as z.core.$ZodType;
      const parsed = z.safeParse(schema, setting.value);
      if (parsed.success) return [field, parsed.data];
      unusable.set(field, describeAllowed(parsed.error));
      return [field, value];
    });
    return Object.fromEntries(values);
  };
  const settings = {
    options: group('options'),
    siteSecurity: group('siteSecurity'),
    login: group('login'),
    log: group('log'),
    alerts: group('alerts'),
    postHack: group('postHack'),
    overview: group('overview'),
    pausedUntil: typeof paused === 'number' ? paused : 0,
  };
  return { settings, unusable };
}

function describeAllowed(error: z.core.$ZodError): string {
  return z
    .prettifyError(error)
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('✖ ', '');
}

/** Stored values of a site can't be used. The database itself can. */
export class UnusableSettingsError extends StorageError {
  /** @param detail names the values, and what is allowed */
  constructor(detail: string) {
    super('corrupt', detail);
  }
}

/**
 * Converts stored values to settings, with defaults for those that were never stored.
 * @throws UnusableSettingsError for a stored value of another form; a default in its place could be weaker
 */
export function toSiteSettings(stored: ReadonlyMap<string, StoredSetting>): SiteSettings {
  const { settings, unusable } = parseStoredSettings(stored);
  if (unusable.size > 0) throw new UnusableSettingsError(describeUnusable(unusable));
  return settings;
}

/** Names the stored values that can't be used, and what is allowed. */
function describeUnusable(unusable: ParsedSettings['unusable']): string {
  const values = [...unusable].map(([name, allowed]) => `the stored value of ${name} can’t be used: ${allowed}`);
  return values.join('; ');
}

/** The settings of many sites. */
export interface StoredSites {
  /** Without the sites that have no stored setting. */
  readonly settings: ReadonlyMap<SiteId, SiteSettings>;
  /** Sites with a stored value that can't be used, each with the values and what is allowed. */
  readonly unusable: ReadonlyMap<SiteId, string>;
}

/**
 * Reads the settings of many sites with one query. A value that can't be used concerns only its site.
 * @throws StorageError
 */
export async function readAllSettings(
  store: Pick<SettingsStore, 'readAll'>,
  sites: Iterable<SiteId>,
): Promise<StoredSites> {
  const settings = new Map<SiteId, SiteSettings>();
  const unusable = new Map<SiteId, string>();
  for (const [site, stored] of await store.readAll(sites)) {
    const parsed = parseStoredSettings(stored);
    if (parsed.unusable.size === 0) settings.set(site, parsed.settings);
    else unusable.set(site, describeUnusable(parsed.unusable));
  }
  return { settings, unusable };
}

/**
 * Reads the settings of a site, including defaults.
 * @throws StorageError
 */
export async function readSiteSettings(settings: Pick<SettingsStore, 'read'>, site: SiteId): Promise<SiteSettings> {
  return toSiteSettings(await settings.read(site));
}

export function applyChanges(settings: SiteSettings, changes: SettingChanges): SiteSettings {
  const { options, siteSecurity, login, log, alerts, postHack, overview, pausedUntil } = settings;
  const pick = <Group extends object>(group: Group): Group =>
    Object.fromEntries(
      Object.entries(group).map(([name, value]) => [name, (changes as Record<string, unknown>)[name] ?? value]),
    ) as Group;
  return {
    options: pick(options),
    siteSecurity: pick(siteSecurity),
    login: pick(login),
    log: pick(log),
    alerts: pick(alerts),
    postHack: pick(postHack),
    overview: pick(overview),
    pausedUntil: changes.paused_until ?? pausedUntil,
  };
}

/** Returns the value of the setting with this name. */
export function getSettingValue(settings: SiteSettings, name: string): unknown {
  if (name === 'paused_until') return settings.pausedUntil;
  const { pausedUntil: _, ...groups } = settings;
  return (Object.assign({}, ...Object.values(groups)) as Record<string, unknown>)[name];
}

/** The settings that are enforced. */
export type EffectiveSettings = SiteSettings & { readonly paused?: true };

/** Returns the settings that are enforced now. During a pause every protection is off, but the log continues. */
export function getEffectiveSettings(settings: SiteSettings, nowMs: number): EffectiveSettings {
  if (settings.pausedUntil <= nowMs) return settings;
  return {
    ...settings,
    options: { ...settings.options, ...pausedValues('options') },
    login: { ...defaultLoginSettings, ...pausedValues('login') },
    paused: true,
  };
}
