import { QUIET_FROM, QUIET_TO, WAVE_LOCKOUTS } from '@security-optimizer/contract/alerts/schemas';
import { overlap, parseRange, type Range, rangeText } from '../lib/address-set.js';
import { toLocalTime } from '../lib/time-zone.js';

/** The rules of alerts: what belongs together, what waits, and for how long. Pure; times are milliseconds. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Alerts that come so soon one after another share a message: a plugin is installed and activated, for example. */
export const SETTLE_MS = 5 * SECOND;
/** A wave of lockouts is reported once none came for so long, with those that came meanwhile, ... */
export const WAVE_SETTLE_MS = 60 * SECOND;
/** ... but at most so long after it had become one. */
export const WAVE_LATEST_MS = 5 * MINUTE;
/** A site that does not answer for so long is in trouble; a restart of the web server takes less. */
export const TROUBLE_AFTER_MS = 3 * MINUTE;
/** A time in which WordPress or the connector does not answer. */
export interface Outage {
  readonly since: number;
  /** Nobody need be told any more. */
  readonly reported: boolean;
}

/** The outage of a site that does not answer now, and whether somebody is to be told: once, when it has lasted. */
export function followOutage(before: Outage | null, now: number): Outage & { readonly report: boolean } {
  const { since, reported } = before ?? { since: now, reported: false };
  const report = !reported && now - since >= TROUBLE_AFTER_MS;
  return { since, reported: reported || report, report };
}

/** An alert that could not be delivered for so long is given up. */
export const GIVE_UP_MS = DAY;

/** An alert that waits for its channel. */
export interface WaitingAlert {
  readonly kind: string;
  /** When it came. */
  readonly createdAt: number;
}

/** When a message goes out, and with which of the waiting alerts. */
export type MessagePlan<Alert> =
  | { readonly send: readonly Alert[] }
  /** Nothing now; `until` is when to look again. */
  | { readonly send: null; readonly until: number };

/**
 * Decides on the messages of a person: by mail or Slack. Everything that waits goes out in one message; a new
 * administrator does not wait for the morning.
 *
 * @param waiting oldest first, not empty
 * @param sentAt when the messages of the last hour went out
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
  if (oldest === undefined) return { send: null, until: morning ?? now };
  const settled = oldest.createdAt + SETTLE_MS;
  // A time in the future was written before the clock was set back.
  if (now < settled && oldest.createdAt <= now) return { send: null, until: settled };
  const sent = limits.sentAt.filter((at) => at > now - HOUR && at <= now).sort((a, b) => a - b);
  const [first] = sent.slice(-perHour);
  if (sent.length >= perHour && first !== undefined) return { send: null, until: first + HOUR };
  return { send: ready };
}

/** What is told at once, day and night. */
export function isUrgent(kind: string): boolean {
  return kind === 'new-administrator';
}

/** When the quiet hours end that run now, or null: none do. */
export function endOfQuietHours(timeZone: string, now: number): number | null {
  const minute = Math.floor((toLocalTime(timeZone, now) % DAY) / MINUTE);
  if (minute < QUIET_FROM && minute >= QUIET_TO) return null;
  const left = minute >= QUIET_FROM ? DAY / MINUTE - minute + QUIET_TO : QUIET_TO - minute;
  // Where the clock is changed in that night, the next look corrects it.
  return now - (now % MINUTE) + left * MINUTE;
}

const BACKOFF_MS = [30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE] as const;

/** When a channel that failed so many times in a row is tried again. */
export function toNextTry(failures: number, now: number): number {
  return now + (BACKOFF_MS[failures - 1] ?? HOUR);
}

/** One lockout, as it is kept until it belongs to a wave or is too old. */
export interface Lockout {
  readonly uid: string;
  readonly at: number;
  /** An address, or the /64 of an IPv6 address. */
  readonly address: string;
  readonly failures: number;
}

/** Lockouts that are told of together. */
export interface Wave {
  readonly from: number;
  readonly to: number;
  readonly lockouts: readonly Lockout[];
}

/**
 * The wave that is to be reported now, or null. One attack is one wave: for an hour after a report there is no other.
 * @param lockouts those that no wave was reported of, oldest first
 * @param lastReport when the last wave was reported, or null
 */
export function findWave(lockouts: readonly Lockout[], lastReport: number | null, now: number): Wave | null {
  if (lastReport !== null && lastReport <= now && now - lastReport < HOUR) return null;
  // The first lockout of ten within one hour begins the wave.
  const start = lockouts.findIndex(({ at }, index) => {
    const last = lockouts[index + WAVE_LOCKOUTS - 1];
    return last !== undefined && last.at - at <= HOUR;
  });
  if (start === -1) return null;
  const first = lockouts[start] as Lockout;
  const tenth = lockouts[start + WAVE_LOCKOUTS - 1] as Lockout;
  const inWave = lockouts.slice(start).filter(({ at }) => at - first.at <= HOUR);
  const to = (inWave[inWave.length - 1] as Lockout).at;
  const isSettled = now - to >= WAVE_SETTLE_MS || now - tenth.at >= WAVE_LATEST_MS || to > now;
  return isSettled ? { from: first.at, to, lockouts: inWave } : null;
}

/** Prefix lengths of networks that are worth naming, smallest network first; those of one customer or provider. */
const PREFIXES = { v4: [24, 16], v6: [64, 48, 32] } as const;

/** The smallest network that all these addresses belong to, as CIDR range; null when there is none. */
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

/** Whether an address, or the network of one, lies in a network. */
export function isInside(address: string, network: Range): boolean {
  const range = parseRange(address);
  return range !== null && overlap(range, network);
}

/** The network that a login came from, large enough for a phone that changes its address: a /16, of IPv6 a /32. */
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

/** Browser and system of a User-Agent, without versions: both change with every update. Null: neither is known. */
export function toDevice(agent: string): { readonly browser: string; readonly system: string } | null {
  const find = (list: typeof BROWSERS) => list.find(([pattern]) => pattern.test(agent))?.[1];
  const browser = find(BROWSERS);
  const system = find(SYSTEMS);
  return browser === undefined || system === undefined ? null : { browser, system };
}
