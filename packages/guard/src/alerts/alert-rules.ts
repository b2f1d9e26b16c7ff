import {
  type AlertKind,
  alertKinds,
  PROGRAM_ALERTS_PER_HOUR,
  QUIET_FROM,
  QUIET_TO,
} from '@security-optimizer/contract/alerts/catalogue';
import { overlap, parseRange, type Range, rangeText } from '../lib/address-set.js';
import { toLocalTime } from '../lib/time-zone.js';

/** The rules of alerts: which alerts form one message, and when it is sent. Pure; times are milliseconds. */

const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Alerts within this time share a message, for example those of a plugin that is installed and activated. */
export const SETTLE_MS = 5 * SECOND;
/** After a message, the next one of the same hour waits until no alert was added for this time, ... */
export const CALM_MS = 30 * SECOND;
/** ... but at the latest this long after its first alert. So a flood is one message and one digest. */
export const CALM_LATEST_MS = 5 * MINUTE;
/** Programs get this many alerts in one round, ... */
export const PER_ROUND = 20;
/** ... and messages with several alerts at this interval. */
export const TOGETHER_MS = MINUTE;
/** A wave is reported once no lockout was added for this time, ... */
export const WAVE_SETTLE_MS = 60 * SECOND;
/** ... but at the latest this long after it became a wave. */
export const WAVE_LATEST_MS = 5 * MINUTE;

/** Thresholds of the catalogue. */
const WAVE = toThreshold('lockout-wave');
const OUTAGE = toThreshold('trouble');

function toThreshold(wanted: AlertKind): { readonly events: number; readonly ms: number } {
  const row: (typeof alertKinds)[number] | undefined = alertKinds.find(({ kind }) => kind === wanted);
  if (row === undefined || !('threshold' in row)) throw new Error(`The kind ${wanted} has no threshold.`);
  return { events: row.threshold.events, ms: row.threshold.minutes * MINUTE };
}

/** A time in which WordPress or the connector does not respond. */
export interface Outage {
  readonly since: number;
  /** Whether the outage has been reported. */
  readonly reported: boolean;
}

/** Returns the outage of a site that does not respond, and whether to report it now: once, after the threshold. */
export function followOutage(before: Outage | null, now: number): Outage & { readonly report: boolean } {
  const { since, reported } = before ?? { since: now, reported: false };
  const report = !reported && now - since >= OUTAGE.ms;
  return { since, reported: reported || report, report };
}

/** Guard stores that it runs at this interval. */
export const HEARTBEAT_MS = MINUTE;

/**
 * Returns the time in which guard did not run, or null when it was too short to be reported.
 * @param last when guard last stored that it runs; null before the first time
 */
export function findStop(last: number | null, now: number): { readonly from: number; readonly to: number } | null {
  return last === null || now - last < OUTAGE.ms + HEARTBEAT_MS ? null : { from: last, to: now };
}

/** An alert that could not be delivered for this long is given up. */
export const GIVE_UP_MS = DAY;

/** An alert that waits for its channel. */
export interface WaitingAlert {
  readonly kind: string;
  /** When the alert was queued. */
  readonly createdAt: number;
}

/** When a message is sent, and with which of the waiting alerts. */
export type MessagePlan<Alert> =
  | { readonly send: readonly Alert[] }
  /** Nothing is sent now; `until` is when to plan again. */
  | { readonly send: null; readonly until: number };

/**
 * Plans the next message to a person, by mail or Slack. A message contains all waiting alerts. In quiet hours it
 * contains the urgent ones alone.
 *
 * @param waiting oldest first, not empty
 * @param limits `sentAt`: when the alerts of the last hour were sent; those of one message have the same time
 */
export function planMessage<Alert extends WaitingAlert>(
  waiting: readonly Alert[],
  limits: {
    readonly perHour: number;
    readonly quietHours: boolean;
    readonly timeZone: string;
    readonly sentAt: readonly number[];
    readonly now: number;
  },
): MessagePlan<Alert> {
  const { perHour, quietHours, timeZone, now } = limits;
  const morning = quietHours ? endOfQuietHours(timeZone, now) : null;
  const ready = morning === null ? waiting : waiting.filter(({ kind }) => isUrgent(kind));
  const [oldest] = ready;
  const newest = ready.at(-1);
  if (oldest === undefined || newest === undefined) return { send: null, until: morning ?? now };
  const sent = [...new Set(listSentWithinHour(limits.sentAt, now))];
  const settled =
    sent.length === 0
      ? oldest.createdAt + SETTLE_MS
      : Math.min(newest.createdAt + CALM_MS, oldest.createdAt + CALM_LATEST_MS);
  // A time in the future was stored before the clock was set back.
  if (now < settled && newest.createdAt <= now) return { send: null, until: settled };
  // The last message of an hour is kept for an urgent alert.
  const limit = ready.some(({ kind }) => isUrgent(kind)) ? perHour : perHour - 1;
  const [first] = sent.slice(-limit);
  if (sent.length >= limit && first !== undefined) return { send: null, until: first + HOUR };
  return { send: ready };
}

/** What a program gets next. */
export type ProgramPlan<Alert> =
  /** Each of these alerts in a message of its own. */
  | { readonly send: 'each'; readonly alerts: readonly Alert[] }
  /** All waiting alerts in one message. */
  | { readonly send: 'together'; readonly alerts: readonly Alert[] }
  | { readonly send: null; readonly until: number };

/**
 * Plans the next messages to a program, by webhook or system log: each alert at once, and many alerts together.
 *
 * @param waiting oldest first, not empty
 * @param sentAt when the alerts of the last hour were sent
 */
export function planProgram<Alert extends WaitingAlert>(
  waiting: readonly Alert[],
  sentAt: readonly number[],
  now: number,
): ProgramPlan<Alert> {
  const sent = listSentWithinHour(sentAt, now);
  const left = PROGRAM_ALERTS_PER_HOUR - sent.length;
  if (left > 0) return { send: 'each', alerts: waiting.slice(0, Math.min(left, PER_ROUND)) };
  const next = (sent.at(-1) ?? 0) + TOGETHER_MS;
  return now < next ? { send: null, until: next } : { send: 'together', alerts: waiting };
}

/** Oldest first. */
function listSentWithinHour(sentAt: readonly number[], now: number): readonly number[] {
  return sentAt.filter((at) => at > now - HOUR && at <= now).sort((a, b) => a - b);
}

/** Kinds that are sent in quiet hours, too, and that are the last to go when too many alerts wait. */
export const URGENT: ReadonlySet<string> = new Set(alertKinds.filter((row) => 'urgent' in row).map(({ kind }) => kind));

export function isUrgent(kind: string): boolean {
  return URGENT.has(kind);
}

/** Returns when the current quiet hours end, or null outside of quiet hours. */
export function endOfQuietHours(timeZone: string, now: number): number | null {
  const minute = Math.floor((toLocalTime(timeZone, now) % DAY) / MINUTE);
  if (minute < QUIET_FROM && minute >= QUIET_TO) return null;
  const left = minute >= QUIET_FROM ? DAY / MINUTE - minute + QUIET_TO : QUIET_TO - minute;
  // If daylight saving time begins or ends in that night, the next plan corrects the result.
  return now - (now % MINUTE) + left * MINUTE;
}

const BACKOFF_MS = [30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE] as const;

/** Returns when a channel is tried again after this number of consecutive failures. */
export function toNextTry(failures: number, now: number): number {
  return now + (BACKOFF_MS[failures - 1] ?? HOUR);
}

/** One lockout, stored until it belongs to a wave or is too old. */
export interface Lockout {
  readonly uid: string;
  readonly at: number;
  /** An address, or the /64 of an IPv6 address. */
  readonly address: string;
  readonly failures: number;
}

/** Lockouts that are reported together. */
export interface Wave {
  readonly from: number;
  readonly to: number;
  readonly lockouts: readonly Lockout[];
}

/**
 * Returns the wave to report now, or null. One attack is one wave: no other wave is reported for an hour after a
 * report.
 * @param lockouts the lockouts that no reported wave contains, oldest first
 * @param lastReport when the last wave was reported, or null
 */
export function findWave(lockouts: readonly Lockout[], lastReport: number | null, now: number): Wave | null {
  if (lastReport !== null && lastReport <= now && now - lastReport < HOUR) return null;
  // The first of so many lockouts within one hour begins the wave.
  const start = lockouts.findIndex(({ at }, index) => {
    const last = lockouts[index + WAVE.events - 1];
    return last !== undefined && last.at - at <= WAVE.ms;
  });
  if (start === -1) return null;
  const first = lockouts[start] as Lockout;
  const enough = lockouts[start + WAVE.events - 1] as Lockout;
  const inWave = lockouts.slice(start).filter(({ at }) => at - first.at <= WAVE.ms);
  const to = (inWave[inWave.length - 1] as Lockout).at;
  const isSettled = now - to >= WAVE_SETTLE_MS || now - enough.at >= WAVE_LATEST_MS || to > now;
  return isSettled ? { from: first.at, to, lockouts: inWave } : null;
}

/** Prefix lengths of the networks of one customer or provider, smallest network first. */
const PREFIXES = { v4: [24, 16], v6: [64, 48, 32] } as const;

/** Returns the smallest network that contains all these addresses, as a CIDR range; null when there is none. */
export function findCommonNetwork(addresses: readonly string[]): string | null {
  const [first] = addresses;
  if (first === undefined) return null;
  const plain = first.replace(/\/\d+$/, '');
  for (const prefix of plain.includes(':') ? PREFIXES.v6 : PREFIXES.v4) {
    const network = parseRange(`${plain}/${prefix}`);
    if (network !== null && addresses.every((address) => isInside(address, network))) return rangeText(network);
  }
  return null;
}

/** Whether a network contains an address or range. */
export function isInside(address: string, network: Range): boolean {
  const range = parseRange(address);
  return range !== null && overlap(range, network);
}

/** Returns the network of a login: a /16, or a /32 of IPv6, large enough for a phone whose address changes. */
export function toNetwork(address: string): string {
  const range = parseRange(`${address}/${address.includes(':') ? 32 : 16}`);
  return range === null ? address : rangeText(range);
}

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
];

/** Returns browser and system of a User-Agent, without versions, which change with every update. Null: both unknown. */
export function toDevice(agent: string): { readonly browser: string; readonly system: string } | null {
  const find = (list: typeof BROWSERS) => list.find(([pattern]) => pattern.test(agent))?.[1];
  const browser = find(BROWSERS);
  const system = find(SYSTEMS);
  return browser === undefined || system === undefined ? null : { browser, system };
}
