import { toLogPath } from '@security-optimizer/contract/activity/log-address';
import { formatClockTime, formatDayAndTime, isSameDay } from '../i18n/time-labels.js';
import type { NoticeFact } from '../mail/notice-mail.js';
import type { AlertSite } from './alert-text.js';

/** The links and the periods in the texts of alerts. */

/**
 * Returns the URL of the Activity Log with filters. The tab is in the fragment, too, where older dashboards read it.
 * @returns null while the URL of the site is unknown
 */
export function toLogUrl(
  site: Pick<AlertSite, 'page'>,
  filter: {
    readonly tab: 'unknown' | 'registered' | 'weekly-reports';
    /** Id of an event kind. */
    readonly activity?: string;
    /** Milliseconds since the Unix epoch. A period of less than 23 hours is exact; of a longer one, days count. */
    readonly from?: number;
    readonly to?: number;
    /** Text of the search field: an address or a range. */
    readonly search?: string;
  },
): string | null {
  const { tab, activity, from, to, search = '' } = filter;
  const filters = {
    ...(from === undefined ? {} : { from: String(Math.floor(from / 1000)) }),
    ...(to === undefined ? {} : { to: String(Math.floor(to / 1000) + 1) }),
    ...(activity === undefined ? {} : { activity }),
  };
  return site.page(`${toLogPath({ tab, filters, search })}#${tab}`);
}

/** Returns the URL of the page with the switch of a protection. */
export function toProtectionPage(protection: string, { page }: Pick<AlertSite, 'page'>): string | null {
  const login = ['Login Access', 'Custom Login URL', 'Limit Login Attempts', 'Disable Common Usernames'];
  if (protection === 'All protections') return null;
  if (protection === 'Weekly checkup') return page(toOwnPage('post-hack-actions'));
  if (protection === 'Activity log') return page(`${toOwnPage('activity-log')}#log-settings`);
  const isLogin = login.includes(protection) || protection.startsWith('Two-factor');
  return page(toOwnPage(isLogin ? 'login-settings' : 'site-security'));
}

/** Returns a page of this product, relative to wp-admin. */
export function toOwnPage(slug: string): string {
  return `admin.php?page=${slug}`;
}

/** A fact that names the beginning and the end of something, milliseconds since the Unix epoch. */
export function toPeriod({ language, timeZone }: AlertSite, from: number, to: number): NoticeFact {
  const { translate } = language;
  const clock = (at: number) =>
    isSameDay(timeZone, from, to) ? formatClockTime(language, timeZone, at) : formatDayAndTime(language, timeZone, at);
  if (clock(from) === clock(to)) return { name: translate('When'), value: formatDayAndTime(language, timeZone, from) };
  return { name: translate('Between'), value: translate('{from} and {to}', { from: clock(from), to: clock(to) }) };
}
