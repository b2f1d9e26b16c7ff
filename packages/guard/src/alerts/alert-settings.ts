import { ALERT_KINDS, type AlertKind } from '@security-optimizer/contract/alerts/schemas';
import { z } from 'zod';
import type { SiteId } from '../site.js';
import { StorageError } from '../storage/storage-error.js';
import type { AlertQueue } from './alert-queue.js';

/** Kinds that no feature reports yet. They are not offered. */
const WITHOUT_SOURCE: ReadonlySet<AlertKind> = new Set(['vulnerability-found']);

/** Kinds that an owner can choose. */
export const OFFERED_KINDS: readonly AlertKind[] = ALERT_KINDS.filter((kind) => !WITHOUT_SOURCE.has(kind));

/** Channels other than mail, as the queue names them. */
export const CHANNELS = ['webhook', 'slack', 'syslog'] as const;
export type Channel = (typeof CHANNELS)[number];

const settingsSchema = z.object({
  /** By e-mail address. A recipient without an entry gets the weekly report and no alerts. */
  recipients: z.record(z.string(), z.object({ report: z.boolean(), kinds: z.array(z.enum(ALERT_KINDS)) })),
  /** `secret` is in the format of Standard Webhooks, `whsec_…`. Neither the secret nor the addresses are logged. */
  webhook: z.object({ url: z.string(), secret: z.string() }).nullable(),
  slack: z.object({ url: z.string() }).nullable(),
  syslog: z
    .object({
      host: z.string(),
      port: z.number(),
      protocol: z.enum(['udp', 'tcp']),
      framing: z.enum(['octets', 'lf']),
    })
    .nullable(),
});

/** The recipients and channels of one site. The limit and the quiet hours are simple settings. */
export type AlertSettings = z.output<typeof settingsSchema>;

export const defaultAlertSettings: AlertSettings = {
  recipients: {},
  webhook: null,
  slack: null,
  syslog: null,
};

/** The alert settings of all sites, in memory because each security event reads them, and in the database. */
export interface AlertSettingsStore {
  /** Loads the settings of all sites. Throws StorageError. */
  load(): Promise<void>;
  get(site: SiteId): AlertSettings;
  /** Stores settings, then applies them. Throws StorageError. */
  set(site: SiteId, settings: AlertSettings): Promise<void>;
}

export function createAlertSettings(queue: Pick<AlertQueue, 'readSettings' | 'writeSettings'>): AlertSettingsStore {
  const bySite = new Map<SiteId, AlertSettings>();
  return {
    async load() {
      for (const [site, value] of await queue.readSettings()) bySite.set(site, parse(site, value));
    },
    get: (site) => bySite.get(site) ?? defaultAlertSettings,
    async set(site, settings) {
      await queue.writeSettings(site, JSON.stringify(settings));
      bySite.set(site, settings);
    },
  };
}

function parse(site: SiteId, value: string): AlertSettings {
  let json: unknown = null;
  try {
    json = JSON.parse(value);
  } catch {
    // Reported below, like any other unknown format.
  }
  const parsed = settingsSchema.safeParse(json);
  if (!parsed.success) throw new StorageError('corrupt', `The stored alert settings of ${site} have an unknown form.`);
  return parsed.data;
}

/** Returns what a recipient of the tab Weekly Reports gets. */
export function getRecipientAlerts({ recipients }: AlertSettings, email: string): AlertSettings['recipients'][string] {
  return Object.hasOwn(recipients, email)
    ? (recipients[email] as AlertSettings['recipients'][string])
    : { report: true, kinds: [] };
}

/**
 * Returns the channels that get an alert, as the queue names them.
 * @param emails recipients of the tab Weekly Reports; an address that was removed there gets nothing
 */
export function listChannelsFor(kind: AlertKind, settings: AlertSettings, emails: readonly string[]): string[] {
  return [...CHANNELS.filter((channel) => settings[channel] !== null), ...listEmailsFor(kind, settings, emails)];
}

/** Recipients of the tab Weekly Reports who get a kind of alert. */
export function listEmailsFor(kind: AlertKind, settings: AlertSettings, emails: readonly string[]): string[] {
  return emails.filter((email) => getRecipientAlerts(settings, email).kinds.includes(kind));
}

/** Recipients who get at least one kind of alert. */
export function listAlertedEmails(settings: AlertSettings, emails: readonly string[]): string[] {
  return emails.filter((email) => getRecipientAlerts(settings, email).kinds.length > 0);
}
