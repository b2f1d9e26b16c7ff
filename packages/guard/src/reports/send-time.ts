import { lastWeeklyTime, spreadMinute, WEEK_MS } from '../lib/time-zone.js';
import type { SiteId } from '../site.js';

/** When reports are sent. Times are milliseconds since the Unix epoch. */

const MINUTE = 60_000;
const DAY = 24 * 3600_000;
/** Mails are sent between 8 in the morning and 6 in the evening, by the wall clock of the site. */
const FIRST_MINUTE = 8 * 60;
const MINUTES = 10 * 60;
/** A report that was missed is sent within a day. */
const CATCH_UP_MS = DAY;
/**
 * Two times of sending that are closer than this belong to the same week: a change of the site's time zone moves its
 * time by up to 26 hours.
 */
export const SAME_WEEK_MS = WEEK_MS / 2;

/**
 * Returns the minute of the week at which a site's report is sent, counted from Monday 0:00 by the wall clock. It is
 * derived from the site's id, so that it never changes, and so that many sites do not send at once.
 */
export function sendMinute(site: SiteId): number {
  return spreadMinute(`weekly report\n${site}`, { first: FIRST_MINUTE, minutes: MINUTES });
}

/** Returns the last time of sending at or before `now`. */
export function lastSendTime(site: SiteId, timeZone: string, now: number): number {
  return lastWeeklyTime(sendMinute(site), timeZone, now);
}

/** Returns the time of sending whose report is due, or null when it was too long ago. */
export function getDueSendTime(site: SiteId, timeZone: string, now: number): number | null {
  const time = lastSendTime(site, timeZone, now);
  return now - time < CATCH_UP_MS ? time : null;
}

/** Pauses before a failed mail is tried again. */
const RETRY_DELAYS = [10 * MINUTE, 60 * MINUTE, 6 * 60 * MINUTE, DAY] as const;
/** The longest pause. A later time was computed before the clock was set back. */
export const MAX_RETRY_DELAY_MS = DAY;

/** Returns when a mail that failed this many times is tried again, or null when it is given up. */
export function toNextTry(tries: number, now: number): number | null {
  const rest = RETRY_DELAYS[tries - 1];
  return rest === undefined ? null : now + rest;
}
