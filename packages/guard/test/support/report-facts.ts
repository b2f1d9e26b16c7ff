import { english } from '../../src/i18n/language.js';
import { localDaysFrom } from '../../src/lib/time-zone.js';
import type { ReportSite } from '../../src/reports/build-report.js';
import { getLastWeek, type ReportFacts } from '../../src/reports/report-facts.js';

/** A week of a site in Berlin, and the facts of its report. */

export const REPORT_ZONE = 'Europe/Berlin';
/** Monday 16 November 2026, 9:00 in Berlin. Unix seconds. */
export const REPORT_AT = Date.UTC(2026, 10, 16, 8) / 1000;

export const reportSite: ReportSite = {
  name: 'example.com',
  timeZone: REPORT_ZONE,
  language: english,
  essentials: [
    { page: 'site-security', title: 'Disable XML-RPC', on: false, complete: false },
    { page: 'login-settings', title: 'Limit Login Attempts', on: true, complete: true },
    { page: 'login-settings', title: 'Custom Login URL', on: false, complete: false },
  ],
  adminUrl: (path) => `https://example.com/wp-admin/${path}`,
};

export const reportFacts: ReportFacts = {
  period: getLastWeek(REPORT_ZONE, REPORT_AT),
  now: {
    humans: 4292,
    bots: 2067,
    refused: 221,
    failedLogins: 91,
    events: [
      { kind: 'login', count: 40 },
      { kind: 'login.failed', count: 12 },
      { kind: 'post.updated', count: 7 },
      { kind: 'user.created', count: 1 },
    ],
  },
  before: { humans: 4049, bots: 2109, refused: 218, failedLogins: 84, events: [{ kind: 'post.updated', count: 3 }] },
  logins: { attempts: 91, addresses: 4, locked: 0, succeeded: [] },
  administrators: [],
  hours: [
    { hour: localDaysFrom(REPORT_ZONE, REPORT_AT, -7), humans: 100, bots: 50, blocked: 10 },
    { hour: localDaysFrom(REPORT_ZONE, REPORT_AT, -1) + 3600, humans: 4, bots: 0, blocked: 0 },
  ],
  addresses: [{ value: '203.0.113.24', count: 41 }],
  pages: [{ value: '/shop/', count: 300 }],
  dropped: 0,
};

/**
 * Every part that a report can have, each with its greatest length, written by anonymous clients where they can write.
 */
export const longestFacts: ReportFacts = {
  ...reportFacts,
  now: {
    humans: 9_999_999_999,
    bots: 9_999_999_999,
    refused: 9_999_999_999,
    failedLogins: 999_999_999,
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
  logins: {
    attempts: 999_999_999,
    addresses: 999_999_999,
    locked: 999_999_999,
    succeeded: Array.from({ length: 5 }, (_, at) => ({ address: `${'"&<'.repeat(20)}${at}`, failed: 999_999_999 })),
  },
  administrators: Array.from({ length: 20 }, (_, at) => ({ login: `${'"&<'.repeat(20)}${at}`, kind: 'user.created' })),
  hours: Array.from({ length: 7 }, (_, day) => ({
    hour: localDaysFrom(REPORT_ZONE, REPORT_AT, day - 7),
    ...{ humans: 999_999_999, bots: 999_999_999, blocked: 999_999_999 },
  })),
  addresses: Array.from({ length: 5 }, (_, at) => ({ value: `${'"&<'.repeat(400)}${at}`, count: 999_999_999 })),
  pages: Array.from({ length: 5 }, (_, at) => ({ value: `/${'"./'.repeat(400)}${at}`, count: 999_999_999 })),
  dropped: 999_999_999,
};
