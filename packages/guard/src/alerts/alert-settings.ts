import {
  type AlertChannel,
  type AlertKind,
  alertChannels,
  alertKinds,
  SYSLOG_FRAMINGS,
  SYSLOG_PROTOCOLS,
} from '@security-optimizer/contract/alerts/catalogue';
import { ALERT_KINDS } from '@security-optimizer/contract/alerts/schemas';
import { z } from 'zod';
import type { Logger } from '../lib/logger.js';
import type { SiteId } from '../site.js';
import type { AlertQueue } from './alert-queue.js';
import { GIVE_UP_MS, MINUTE } from './alert-rules.js';

/** Kinds that an owner can choose. */
export const OFFERED_KINDS: readonly AlertKind[] = alertKinds
  .filter((row) => !('withoutSource' in row))
  .map(({ kind }) => kind);

/** Channels other than mail, as the queue names them. */
export const CHANNELS: readonly AlertChannel[] = alertChannels.map(({ channel }) => channel);

/** Whether a channel is read by programs. Mail and Slack are read by people. */
export function isForPrograms(channel: string): channel is 'webhook' | 'syslog' {
  return alertChannels.some((row) => row.channel === channel && row.readBy === 'programs');
}

const gets = z.object({ report: z.boolean(), kinds: z.array(z.enum(ALERT_KINDS)) });

const settingsSchema = z.object({
  /** By e-mail address. A recipient without an entry gets the weekly report and no alerts. */
  recipients: z.record(z.string(), gets),
  /** Former recipients of alerts, when they were removed (milliseconds), and what they got. They are told so. */
  left: z.record(z.string(), gets.extend({ at: z.number() })).default({}),
  /** `secret` is in the format of Standard Webhooks, `whsec_…`. Neither the secret nor the addresses are logged. */
  webhook: z.object({ url: z.string(), secret: z.string() }).nullable(),
  slack: z.object({ url: z.string() }).nullable(),
  syslog: z
    .object({
      host: z.string(),
      port: z.number(),
      protocol: z.enum(SYSLOG_PROTOCOLS),
      framing: z.enum(SYSLOG_FRAMINGS),
    })
    .nullable(),
});

/** The recipients and channels of one site. The limit and the quiet hours are simple settings. */
export type AlertSettings = z.output<typeof settingsSchema>;

export const defaultAlertSettings: AlertSettings = {
  recipients: {},
  left: {},
  webhook: null,
  slack: null,
  syslog: null,
};

/** The alert settings of all sites, in memory because each security event reads them, and in the database. */
export interface AlertSettingsStore {
  /** Loads the settings of all sites. Throws StorageError. Those of a site that can't be used are logged. */
  load(): Promise<void>;
  /** For a site whose stored settings can't be used: every recipient of the weekly report gets all alerts. */
  get(site: SiteId): AlertSettings;
  /** The sites with settings. */
  list(): readonly SiteId[];
  /** Stores settings, then applies them. Throws StorageError. */
  set(site: SiteId, settings: AlertSettings): Promise<void>;
}

/** @param deps `emails`: the recipients of the weekly report */
export function createAlertSettings(
  queue: Pick<AlertQueue, 'readSettings' | 'writeSettings'>,
  deps: { readonly emails: (site: SiteId) => readonly string[]; readonly logger: Logger },
): AlertSettingsStore {
  const bySite = new Map<SiteId, AlertSettings>();
  const unusable = new Set<SiteId>();
  return {
    async load() {
      for (const [site, value] of await queue.readSettings()) {
        const settings = parse(value);
        if ('mistakes' in settings) {
          unusable.add(site);
          deps.logger.error(
            { event: 'alert-settings-unusable', site, mistakes: settings.mistakes },
            'The stored alert settings can’t be used: recipients of the weekly report get every alert, and no other channel gets one. Save the settings of alerts again.',
          );
        } else bySite.set(site, settings);
      }
    },
    get(site) {
      if (unusable.has(site)) return { ...defaultAlertSettings, recipients: toAllAlerts(deps.emails(site)) };
      return bySite.get(site) ?? defaultAlertSettings;
    },
    list: () => [...bySite.keys(), ...unusable],
    async set(site, settings) {
      await queue.writeSettings(site, JSON.stringify(settings));
      bySite.set(site, settings);
      unusable.delete(site);
    },
  };
}

/** Silence would be the worse mistake. */
function toAllAlerts(emails: readonly string[]): AlertSettings['recipients'] {
  return Object.fromEntries(emails.map((email) => [email, { report: true, kinds: [...OFFERED_KINDS] }]));
}

function parse(value: string): AlertSettings | { readonly mistakes: string } {
  let json: unknown;
  try {
    json = JSON.parse(value);
  } catch {
    // The error’s message contains a part of the text, which may be a secret.
    return { mistakes: 'no JSON' };
  }
  const parsed = settingsSchema.safeParse(json);
  return parsed.success ? parsed.data : { mistakes: z.prettifyError(parsed.error).replaceAll(/\s*\n\s*/g, ' ') };
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

/**
 * Returns the settings after recipients were removed or added. Choices are deleted with their address: if it is added
 * again later, it begins without alerts. If it is back within two minutes, the removal was undone, and the choices are
 * back, too. An address that replaces another one in its place takes over its choices.
 * @param before the recipients of the tab Weekly Reports before the change
 * @returns null if nothing changes; `renamed` if an address was replaced; `restored`: addresses that are back
 */
export function withRecipients(
  settings: AlertSettings,
  before: readonly string[],
  emails: readonly string[],
  now: number,
): {
  readonly settings: AlertSettings;
  readonly renamed: { readonly from: string; readonly to: string } | null;
  readonly restored: readonly string[];
} | null {
  const differing = before.flatMap((from, index) => {
    const to = emails[index];
    return to === undefined || to === from ? [] : [{ from, to }];
  });
  const [only] = differing;
  const isReplaced = before.length === emails.length && differing.length === 1;
  const renamed = isReplaced && only !== undefined && !before.includes(only.to) ? only : null;
  const removed = Object.keys(settings.recipients).filter((email) => !emails.includes(email));
  const former = Object.entries(settings.left);
  const restored = former.filter(([email, { at }]) => emails.includes(email) && Math.abs(now - at) <= UNDO_MS);
  const left = former.filter((entry) => !restored.includes(entry) && now - entry[1].at <= LEFT_MS);
  if (removed.length === 0 && left.length === former.length) return null;
  const recipients = Object.fromEntries(
    Object.entries(settings.recipients).flatMap(([email, gets]) => {
      if (emails.includes(email)) return [[email, gets] as const];
      return renamed?.from === email ? [[renamed.to, gets] as const] : [];
    }),
  );
  const leaving = removed.flatMap((email) => {
    const got = settings.recipients[email];
    return got === undefined || got.kinds.length === 0 ? [] : [[email, { ...got, at: now }] as const];
  });
  const back = restored.map(([email, { report, kinds }]) => [email, { report, kinds }] as const);
  return {
    settings: {
      ...settings,
      recipients: { ...recipients, ...Object.fromEntries(back.filter(([email]) => !Object.hasOwn(recipients, email))) },
      left: Object.fromEntries([...left, ...leaving]),
    },
    renamed: renamed !== null && removed.includes(renamed.from) ? renamed : null,
    restored: restored.map(([email]) => email),
  };
}

/** How long a former recipient is told that he gets no more alerts: as long as an alert is tried. */
const LEFT_MS = GIVE_UP_MS;
/** A recipient who is back within this time was removed by mistake. */
const UNDO_MS = 2 * MINUTE;

/** Former recipients who are still told so. */
export function listFormerEmails({ left }: AlertSettings, now: number): string[] {
  return Object.entries(left).flatMap(([email, { at }]) => (now - at > LEFT_MS ? [] : [email]));
}

/** Recipients who get at least one kind of alert. */
export function listAlertedEmails(settings: AlertSettings, emails: readonly string[]): string[] {
  return emails.filter((email) => getRecipientAlerts(settings, email).kinds.length > 0);
}
