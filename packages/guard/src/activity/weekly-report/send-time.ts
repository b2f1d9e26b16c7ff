import { createHash } from 'node:crypto';
import { firstInstant, localOf } from '../../login/time-zone.js';
import type { SiteId } from '../../site.js';

/** When reports are sent. Times are milliseconds since the Unix epoch. */

const MINUTE = 60_000;
const DAY = 24 * 3600_000;
const WEEK = 7 * DAY;
/** Mails come between 8 in the morning and 6 in the evening, on the wall clock of the site. */
const FIRST_MINUTE = 8 * 60;
const MINUTES = 10 * 60;
/** The Unix epoch was a Thursday; weeks are counted from the Monday before. */
const MONDAY_BEFORE_EPOCH = -3 * DAY;

/** A report that could not be sent in time is made up within a day. */
const MAKE_UP_MS = DAY;
/**
 * Two times of sending that are nearer than this belong to the same week: a site that changes its time zone moves its
 * time by up to 26 hours.
 */
export const SAME_WEEK_MS = WEEK / 2;

/**
 * The minute of the week at which a site's report is sent, counted from Monday 0:00 on the wall clock. It is made of
 * the site's id, so it stays the same, and many sites do not send at once.
 */
export function sendMinute(site: SiteId): number {
  const number = createHash('sha256').update(`weekly report\n${site}`).digest().readUIntBE(0, 6);
  const day = number % 7;
  return day * 24 * 60 + FIRST_MINUTE + (Math.floor(number / 7) % MINUTES);
}

/** The last time of sending that has come, at `now` itself too. */
export function lastSendTime(site: SiteId, timeZone: string, now: number): number {
  const local = localOf(timeZone, now);
  const monday = local - mod(local - MONDAY_BEFORE_EPOCH, WEEK);
  const wanted = monday + sendMinute(site) * MINUTE;
  // In the week of the clocks' change the wall clock alone does not say whether the time has come.
  for (const weeks of [1, 0, -1]) {
    const time = firstInstant(timeZone, wanted + weeks * WEEK);
    if (time <= now) return time;
  }
  return firstInstant(timeZone, wanted - 2 * WEEK);
}

/** The time of sending whose report is to be sent now, or null: too long ago. */
export function dueSendTime(site: SiteId, timeZone: string, now: number): number | null {
  const time = lastSendTime(site, timeZone, now);
  return now - time < MAKE_UP_MS ? time : null;
}

/** Rests before a failed mail is tried again. */
const RESTS = [10 * MINUTE, 60 * MINUTE, 6 * 60 * MINUTE, DAY] as const;
/** No rest is longer; a time that lies further ahead was set by a clock that was wrong. */
export const LONGEST_REST_MS = DAY;

/** When a mail that failed so many times is tried again, or null: no more. */
export function nextTry(tries: number, now: number): number | null {
  const rest = RESTS[tries - 1];
  return rest === undefined ? null : now + rest;
}

function mod(value: number, by: number): number {
  return ((value % by) + by) % by;
}
