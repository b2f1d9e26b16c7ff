import { localOf } from '../login/time-zone.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Time left, short, rounded up: `58 min`, `23 hours`, `7 days`. */
export function shortTimeLeft(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / MINUTE));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.ceil(minutes / 60);
  return hours < 48 ? counted(hours, 'hour') : counted(Math.ceil(hours / 24), 'day');
}

/** Time left in its two largest units: `1 day 9 hours`, `3 hours 20 minutes`, `12 minutes`. */
export function timeLeft(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms / MINUTE)) * MINUTE;
  const days = Math.floor(whole / DAY);
  const hours = Math.floor((whole % DAY) / HOUR);
  const minutes = Math.floor((whole % HOUR) / MINUTE);
  if (days > 0) return joined(counted(days, 'day'), hours, 'hour');
  return hours > 0 ? joined(counted(hours, 'hour'), minutes, 'minute') : counted(minutes, 'minute');
}

/** A moment on the site's wall clock, short: `15:31` today, `Tuesday 24 November, 15:31` on another day. */
export function clockTime(timeZone: string, at: number, now: number): string {
  const local = localOf(timeZone, at);
  const sameDay = Math.floor(local / DAY) === Math.floor(localOf(timeZone, now) / DAY);
  return sameDay ? TIME.format(local) : dayAndTime(timeZone, at);
}

/** A moment on the site's wall clock: `Monday 23 November, 00:00`. */
export function dayAndTime(timeZone: string, at: number): string {
  const local = localOf(timeZone, at);
  return `${DATE.format(local).replace(',', '')}, ${TIME.format(local)}`;
}

const TIME = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const DATE = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', weekday: 'long', day: 'numeric', month: 'long' });

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function joined(first: string, count: number, unit: string): string {
  return count === 0 ? first : `${first} ${counted(count, unit)}`;
}
