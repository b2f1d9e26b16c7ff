import { lastWeeklyTime, spreadMinute, WEEK_MS } from '../lib/time-zone.js';
import type { SiteId } from '../site.js';

/** When reports are sent. Times are milliseconds since the Unix epoch. */

const MINUTE = 60_000;
const DAY = 24 * 3600_000;
/** Mails come between 8 in the morning and 6 in the evening, on the wall clock of the site. */
const FIRST_MINUTE = 8 * 60;
const MINUTES = 10 * 60;
/** A report that could not be sent in time is made up within a day. */
const MAKE_UP_MS = DAY;
/**
 * Two times of sending that are nearer than this belong to the same week: a site that changes its time zone moves its
 * time by up to 26 hours.
 */
export const SAME_WEEK_MS = WEEK_MS / 2;

/**
 * The minute of the week at which a site's report is sent, counted from Monday 0:00 on the wall clock. It is made of
 * the site's id, so it stays the same, and many sites do not send at once.
 */
export function sendMinute(site: SiteId): number {
  return spreadMinute(`weekly report\n${site}`, { first: FIRST_MINUTE, minutes: MINUTES });
}

/** The last time of sending that has come, at `now` itself too. */
export function lastSendTime(site: SiteId, timeZone: string, now: number): number {
  return lastWeeklyTime(sendMinute(site), timeZone, now);
}

/** The time of sending whose report is to be sent now, or null: too long ago. */
export function getDueSendTime(site: SiteId, timeZone: string, now: number): number | null {
  const time = lastSendTime(site, timeZone, now);
  return now - time < MAKE_UP_MS ? time : null;
}

/** Rests before a failed mail is tried again. */
const RETRY_DELAYS = [10 * MINUTE, 60 * MINUTE, 6 * 60 * MINUTE, DAY] as const;
/** No rest is longer; a time that lies further ahead was set by a clock that was wrong. */
export const MAX_RETRY_DELAY_MS = DAY;

/** When a mail that failed so many times is tried again, or null: no more. */
export function toNextTry(tries: number, now: number): number | null {
  const rest = RETRY_DELAYS[tries - 1];
  return rest === undefined ? null : now + rest;
}
