import type { Traffic, TrafficBar } from '@security-optimizer/contract/activity/schemas';
import type { Checkup } from '@security-optimizer/contract/post-hack/checkup';
import { defaultSecurityOptions } from '@security-optimizer/contract/settings/protections';
import { type DateFormats, getDateFormats } from '../../src/i18n/date-formats.js';
import { deed, LOG_NOW, visit, words } from '../../test/fake-site/activity-log.js';
import { sampleCheckup } from '../../test/fake-site/checkup.js';
import { ok } from '../../test/fake-site/replies.js';
import type { SiteState } from '../../test/fake-site/responses.js';

export const nothing = (): void => undefined;

/** A text with the length of long translations and names. */
export const LONG = 'Eingeschränkte Zugriffsberechtigungsverwaltungseinstellungen für alle Benutzerinnen und Benutzer';
/** A word that cannot be broken at a space. */
export const UNBROKEN = 'a-host-name-that-is-much-longer-than-its-column.subdomain.of.a.very.long.domain.example.net';

/** The day of the sample data. */
export const TODAY = '2026-11-21';

export const english24: DateFormats = getDateFormats('en-GB');
export const english12: DateFormats = getDateFormats('en-US');

const DAY = 86_400;
const HOUR = 3600;
/** Midnight of the sample day, Unix seconds. */
const MIDNIGHT = LOG_NOW - (LOG_NOW % DAY);

/** Totals of the last 14 days, or of the hours of one. The figures are arbitrary but fixed. */
export function sampleTraffic(hours = 0): Traffic {
  const count = hours > 0 ? hours : 14;
  const length = hours > 0 ? HOUR : DAY;
  const start = hours > 0 ? MIDNIGHT : MIDNIGHT - 13 * DAY;
  const bars = Array.from(
    { length: count },
    (_, index): TrafficBar => ({
      from: start + index * length,
      to: start + (index + 1) * length,
      humans: 180 + ((index * 71) % 160),
      bots: 90 + ((index * 37) % 70),
      blocked: (index * 29) % 90,
    }),
  );
  const sum = (name: 'humans' | 'bots' | 'blocked'): number => bars.reduce((all, bar) => all + bar[name], 0);
  return { bars, step: hours > 0 ? 'hour' : 'day', humans: sum('humans'), bots: sum('bots'), blocked: sum('blocked') };
}

/** A busy site: rows of every kind, 48 pages of them, and two weeks of traffic. */
export function busy(site: SiteState): void {
  const { log } = site;
  log.unknown = [
    ...log.unknown,
    visit(97, { ip: '198.51.100.7', page_visited: '/contact/', ts: '2026-11-21 14:27', ts_unix: LOG_NOW - 300 }),
    visit(96, {
      ip: '2001:db8:77::9',
      code: 302,
      page_visited: '/wp-admin/',
      ts: '2026-11-21 14:12',
      ts_unix: LOG_NOW - 1200,
    }),
  ];
  log.registered = [
    ...log.registered,
    deed(48, { user: 'customer-31', words: words('login.failed', ''), activity: 'Failed login' }),
    deed(47, {
      user: 'Scheduled task',
      visitor_id: 0,
      origin: 'cron',
      words: words('plugin.updated', 'Contact form'),
      activity: 'Updated plugin “Contact form”',
    }),
  ];
  log.traffic = [...sampleTraffic().bars];
}

/** The same, with the days that the dashboard requests. */
export function busyWeek(site: SiteState): void {
  busy(site);
  site.log.traffic = sampleTraffic().bars.slice(-7);
}

/** More rows than fit on a page. */
export function severalPages(site: SiteState): void {
  busy(site);
  site.log.pageRows = 3;
}

/** Sets the essentials of both pages, and the cards of the dashboard accordingly. */
function essentials(site: SiteState, security: 0 | 1, login: 0 | 1): void {
  site.options = { ...defaultSecurityOptions };
  for (const name of Object.keys(site.options)) if (name !== 'delete_readme') site.options[name] = security;
  site.login.sg2fa = login;
  site.login.disable_usernames = login;
  site.login.login_attempts = site.login.login_attempts.map((item) => ({
    ...item,
    selected: item.value === (login === 1 ? 5 : 0) ? 1 : 0,
  }));
  site.login.login_url = site.login.login_url.map((item) => ({
    ...item,
    selected: item.type === (login === 1 ? 'custom' : 'default') ? 1 : 0,
  }));
  const [first, second] = site.overview.hardening;
  if (first === undefined || second === undefined) return;
  site.overview.hardening = [
    { ...first, on: security * 6, text: 'Close the doors that WordPress leaves open.' },
    { ...second, on: login * 4, text: 'Make stolen and guessed passwords useless.' },
  ];
}

export function atRisk(site: SiteState): void {
  busyWeek(site);
  essentials(site, 0, 0);
  site.overview.facts = { blocked: 0, block_list: 0, failed_logins: 41 };
}

export function allSet(site: SiteState): void {
  busyWeek(site);
  essentials(site, 1, 1);
  site.overview.facts = { blocked: 1318, block_list: 6, failed_logins: 3 };
}

/** Only the log: the visits of a new site. */
export function emptyLog(site: SiteState): void {
  Object.assign(site.log, { unknown: [], registered: [], blocked: [], traffic: null, emails: [] });
}

/** The facts of a visitor's dialog, all of them known. */
export function knownVisitor(site: SiteState, change: Record<string, unknown> = {}): void {
  busy(site);
  Object.assign(site.log.status, {
    hostname: 'host-24.example.net',
    visits_today: 87,
    visits_hours: [2, 4, 8, 3, 0, 1, 12, 20, 18, 4, 6, 9],
    first_seen: LOG_NOW - 12 * DAY,
    last_seen: LOG_NOW - 60,
    ...change,
  });
}

/** Replies of the page Post-hack Actions. */
export function postHack(
  site: SiteState,
  jobs: readonly object[],
  facts: object | null = null,
  checkup: Checkup = sampleCheckup(),
): void {
  const known = facts ?? { plugins: 12, users: 1023, sessions: 4 };
  site.replies.set('/post-hack-jobs', () => ok({ jobs, facts: known }));
  site.replies.set('/checkup', () => ok(checkup));
}
