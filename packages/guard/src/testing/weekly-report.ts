import { localDaysFrom } from '../activity/local-days.js';
import type { ReportSite } from '../activity/weekly-report/build-report.js';
import type { ReportFacts } from '../activity/weekly-report/report-facts.js';
import { weekBefore } from '../activity/weekly-report/report-period.js';
import { english } from '../texts/language.js';

/** A week of a site in Berlin, and what its report is made of. */

export const REPORT_ZONE = 'Europe/Berlin';
/** Monday 16 November 2026, 9:00 in Berlin. Unix seconds. */
export const REPORT_AT = Date.UTC(2026, 10, 16, 8) / 1000;

export const reportSite: ReportSite = {
  name: 'example.com',
  timeZone: REPORT_ZONE,
  language: english,
  essentials: [
    { page: 'site-security', title: 'Disable XML-RPC', on: false },
    { page: 'login-settings', title: 'Limit Login Attempts', on: true },
    { page: 'login-settings', title: 'Custom Login URL', on: false },
  ],
  links: {
    log: 'https://example.com/wp-admin/admin.php?page=activity-log',
    recipients: 'https://example.com/wp-admin/admin.php?page=activity-log#weekly-reports',
    page: (name) => `https://example.com/wp-admin/admin.php?page=${name}`,
  },
};

export const reportFacts: ReportFacts = {
  period: weekBefore(REPORT_ZONE, REPORT_AT),
  now: {
    humans: 4292,
    bots: 2067,
    refused: 221,
    refusedLogins: 163,
    events: [
      { kind: 'login', count: 40 },
      { kind: 'login.failed', count: 12 },
      { kind: 'post.updated', count: 7 },
      { kind: 'user.created', count: 1 },
    ],
  },
  before: { humans: 4049, bots: 2109, refused: 218, refusedLogins: 151, events: [{ kind: 'post.updated', count: 3 }] },
  hours: [
    { hour: localDaysFrom(REPORT_ZONE, REPORT_AT, -7), humans: 100, bots: 50, blocked: 10 },
    { hour: localDaysFrom(REPORT_ZONE, REPORT_AT, -1) + 3600, humans: 4, bots: 0, blocked: 0 },
  ],
  addresses: [{ value: '203.0.113.24', count: 41 }],
  pages: [{ value: '/shop/', count: 300 }],
  dropped: 0,
};

/** Every part that a report can have, each as long as it can get, written by strangers where they can write. */
export const longestFacts: ReportFacts = {
  ...reportFacts,
  now: {
    humans: 9_999_999_999,
    bots: 9_999_999_999,
    refused: 9_999_999_999,
    refusedLogins: 999_999_999,
    events: [
      { kind: 'login.failed', count: 999_999_999 },
      { kind: 'login.locked', count: 999_999_999 },
      ...['post.updated', 'user.created', 'plugin.updated', 'theme.deleted', 'user.role', 'a', 'b', 'c'].map(
        (kind) => ({
          kind,
          count: 999_999_999,
        }),
      ),
    ],
  },
  hours: Array.from({ length: 7 }, (_, day) => ({
    hour: localDaysFrom(REPORT_ZONE, REPORT_AT, day - 7),
    ...{ humans: 999_999_999, bots: 999_999_999, blocked: 999_999_999 },
  })),
  addresses: Array.from({ length: 5 }, (_, at) => ({ value: `${'"&<'.repeat(400)}${at}`, count: 999_999_999 })),
  pages: Array.from({ length: 5 }, (_, at) => ({ value: `/${'"./'.repeat(400)}${at}`, count: 999_999_999 })),
  dropped: 999_999_999,
};
