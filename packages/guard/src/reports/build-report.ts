import { activityKinds } from '@security-optimizer/contract/activity/event-kinds';
import { type LogView, toLogPath } from '@security-optimizer/contract/activity/log-address';
import { sumTraffic } from '../activity/index.js';
import type { Language } from '../i18n/language.js';
import { plainText, unlinkedText } from '../lib/plain-text.js';
import { toLocalTime } from '../lib/time-zone.js';
import type { Essential } from '../settings/essentials.js';
import type { ReportFacts, ReportPeriod, WeekTotals } from './report-facts.js';
import { describeLogins, toVerdict } from './verdict.js';

/**
 * A report in one language, ready to be rendered as HTML or text. All text of visitors and users is one short line of
 * plain text.
 */
export interface WeeklyReport {
  /** Of the language: BCP 47 tag and writing direction. */
  readonly tag: string;
  readonly direction: 'ltr' | 'rtl';
  readonly subject: string;
  readonly period: string;
  readonly headline: string;
  readonly summary: string;
  readonly figures: readonly ReportFigure[];
  readonly days: readonly ReportDay[];
  readonly lists: readonly ReportList[];
  /** What the owner should do, most urgent first: at most one matter to check, and the essentials that are not complete. */
  readonly tasks: readonly ReportTask[];
  /** What the reader should know about the figures. */
  readonly notes: readonly string[];
  readonly links: ReportLinks;
  readonly labels: ReportLabels;
}

export interface ReportTask {
  readonly title: string;
  readonly text: string;
  readonly button: string;
  readonly link: string | null;
  /** Whether the headline is about it. */
  readonly urgent: boolean;
  /** Whether the owner should check something or change a setting. */
  readonly kind: 'check' | 'set-up';
}

export interface ReportFigure {
  readonly value: string;
  readonly label: string;
  /** View of the log with the counted visits or logins; null when no view shows exactly these. */
  readonly link: string | null;
  /** Comparison with the week before; empty when that is unknown. */
  readonly compared: string;
}

export interface ReportDay {
  /** `Mon`. */
  readonly name: string;
  /** `Mon: 100 humans, 50 bots, 10 blocked`. */
  readonly words: string;
  readonly humans: number;
  readonly bots: number;
  readonly blocked: number;
}

/** Pages of wp-admin; null while the URL of the site is unknown. */
export interface ReportLinks {
  readonly log: string | null;
  readonly recipients: string | null;
}

/** Words that are the same in every report of a language. */
export interface ReportLabels {
  readonly days: string;
  readonly humans: string;
  readonly bots: string;
  readonly blocked: string;
  readonly why: string;
  readonly log: string;
  readonly recipients: string;
}

/** Facts of the site that do not depend on the week. */
export interface ReportSite {
  /** `example.com` or `example.com/blog`. */
  readonly name: string;
  readonly timeZone: string;
  readonly language: Language;
  readonly essentials: readonly Essential[];
  /** Returns a URL below wp-admin; null while the URL of the site is unknown. */
  readonly adminUrl: (path: string) => string | null;
}

/** Creates the report of a week. */
export function buildReport(facts: ReportFacts, site: ReportSite): WeeklyReport {
  const { language, timeZone } = site;
  const name = plainText(site.name, 100);
  const period = formatPeriod(language, facts.period, timeZone);
  const toLog = logLinks(site, facts.period);
  const essentials = [...site.essentials].sort((one, other) => urgency(one) - urgency(other));
  const { headline, summary, check, turnOn } = toVerdict(language, facts, { name, essentials });
  return {
    tag: language.tag,
    direction: language.direction,
    subject: language.translate('Weekly report for {site}, {period}', { site: name, period }),
    period,
    ...{ headline, summary },
    figures: toFigures(language, facts, toLog),
    days: toDays(language, facts, timeZone),
    lists: reportLists(language, facts, toLog, summary),
    tasks: [
      ...(check === null
        ? []
        : [
            {
              ...{ title: check.title, text: check.text, button: check.button, urgent: true, kind: 'check' as const },
              link: toLog({ tab: 'registered', filters: { activity: check.activity } }),
            },
          ]),
      ...toSetUpTask(language, essentials, site, turnOn),
    ],
    notes: toNotes(language, facts),
    links: {
      log: site.adminUrl(toLogPath({})),
      recipients: site.adminUrl(toTabPath({ tab: 'weekly-reports' })),
    },
    labels: toLabels(language, name),
  };
}

/** Returns the URL of a view of the log that shows the days of a report. */
type LogLinks = (view: Partial<LogView>) => string | null;

/** The tab is in the fragment, too, where older dashboards read it. */
function toTabPath(view: Partial<LogView>): string {
  return `${toLogPath(view)}${view.tab === undefined ? '' : `#${view.tab}`}`;
}

function logLinks({ adminUrl }: ReportSite, { edges }: ReportPeriod): LogLinks {
  // The last day is included as a whole.
  const days = { from: String(edges[0]), to: String((edges.at(-1) as number) - 1) };
  return (view) => adminUrl(toTabPath({ ...view, filters: { ...days, ...view.filters } }));
}

/** The most effective essentials, as the dashboard suggests them; all others follow in their own order. */
const MOST_URGENT = [
  ...['Two-factor Authentication', 'Disable Common Usernames', 'Limit Login Attempts', 'Custom Login URL'],
  ...['Disable XML-RPC', 'Lock and Protect System Folders'],
];

function urgency({ title }: Essential): number {
  const at = MOST_URGENT.indexOf(title);
  return at === -1 ? MOST_URGENT.length : at;
}

function toFigures(language: Language, { now, before }: ReportFacts, toLog: LogLinks): ReportFigure[] {
  const { translate, number } = language;
  const figure = (label: string, of: (week: WeekTotals) => number, link: string | null): ReportFigure => ({
    value: number(of(now)),
    label,
    link,
    compared: formatComparison(language, of(now), before === null ? null : of(before)),
  });
  return [
    figure(translate('Visits by humans'), ({ humans }) => humans, toLog({ preset: 'humans' })),
    figure(translate('Visits by bots'), ({ bots }) => bots, toLog({ preset: 'bots' })),
    figure(translate('Failed logins'), ({ failedLogins }) => failedLogins, toLog({ preset: 'failed-logins' })),
    figure(translate('Blocked visits'), ({ refused }) => refused, toLog({ preset: 'blocked' })),
  ];
}

function toDays(language: Language, { period: { edges }, hours }: ReportFacts, timeZone: string): ReportDay[] {
  return sumTraffic({ step: 'day', edges }, hours).bars.map(({ from, humans, bots, blocked }) => {
    const name = formatWeekday(language, timeZone, from);
    const words = language.translate('{day}: {humans} humans, {bots} bots, {blocked} blocked', {
      ...{ day: name, humans, bots, blocked },
    });
    return { name, words, humans, bots, blocked };
  });
}

function toSetUpTask(
  { translate, counted }: Language,
  essentials: readonly Essential[],
  { adminUrl }: ReportSite,
  turnOn: Essential | null,
): ReportTask[] {
  const open = essentials.filter(({ complete }) => !complete);
  const [first] = open;
  if (first === undefined) return [];
  const total = { total: essentials.length };
  return [
    {
      title: open.some(({ on }) => on)
        ? counted(
            '{count} of {total} essentials is not complete',
            '{count} of {total} essentials are off or not complete',
            open.length,
            total,
          )
        : counted(
            '{count} of {total} essentials is still off',
            '{count} of {total} essentials are still off',
            open.length,
            total,
          ),
      text: open.map(({ title }) => translate(title)).join(', '),
      button: translate('Finish the set-up'),
      link: adminUrl(`admin.php?page=${(turnOn ?? first).page}`),
      urgent: turnOn !== null,
      kind: 'set-up',
    },
  ];
}

function toNotes({ translate, counted }: Language, { dropped, now, before }: ReportFacts): string[] {
  const known = before !== null || now.humans + now.bots + now.refused === 0;
  return [
    ...(dropped > 0
      ? [
          counted(
            '{count} visit came faster than it could be written down and is not counted.',
            '{count} visits came faster than they could be written down and are not counted.',
            dropped,
          ),
        ]
      : []),
    ...(known ? [] : [translate('From next week on, figures are compared with those of the week before.')]),
  ];
}

function toLabels({ translate }: Language, site: string): ReportLabels {
  return {
    days: translate('Day by day'),
    humans: translate('Humans'),
    bots: translate('Bots'),
    blocked: translate('Blocked'),
    why: translate('You get this report because your address is on the list for {site}.', { site }),
    log: translate('Open the activity log'),
    recipients: translate('Change the recipients'),
  };
}

/** Formats the days of a period: `9 – 15 November`, `28 December 2026 – 3 January 2027`. */
export function formatPeriod(language: Language, { edges, soFar }: ReportPeriod, timeZone: string): string {
  const days = new Intl.DateTimeFormat(language.dates, { day: 'numeric', month: 'long', timeZone: 'UTC' });
  const first = wallClock(timeZone, edges[0] as number);
  const last = wallClock(timeZone, (edges.at(-1) as number) - 1);
  const period = days
    .formatRange(first, last)
    // Every language puts a dash between the days, but only some put spaces around it, which keep full stops apart.
    .replace(/\s*–\s*/, ' – ')
    // Italian ranges contain `09`, though a single day is `9`.
    .replace(/\b0(?=\d)/g, '');
  return soFar ? language.translate('{period} so far', { period }) : period;
}

/**
 * Formats the weekday of a day that begins at a time: `Mon`.
 * @param at Unix seconds
 */
function formatWeekday({ dates }: Language, timeZone: string, at: number): string {
  return wallClock(timeZone, at).toLocaleDateString(dates, { weekday: 'short', timeZone: 'UTC' });
}

/**
 * Converts a time to the wall clock of the site, as a date with that time in UTC.
 * @param at Unix seconds
 */
function wallClock(timeZone: string, at: number): Date {
  return new Date(toLocalTime(timeZone, at * 1000));
}

/** For smaller numbers, a percentage says less than the number itself. */
const SHARES_FROM = 100;
/** From this factor on, a percentage is hard to imagine. */
const MANY_TIMES = 10;

/**
 * Compares a figure with that of the week before.
 * @param before null when that week is unknown
 * @returns words; empty when there is nothing to compare with
 */
export function formatComparison(language: Language, now: number, before: number | null): string {
  if (before === null) return '';
  if (now === before) return language.translate('Same as last week');
  if (before < SHARES_FROM) return formatDifference(language, now - before);
  if (now >= before * MANY_TIMES) {
    return language.translate('{times} times as many as last week', { times: Math.round(now / before) });
  }
  const share = Math.round((Math.abs(now - before) / before) * 100);
  if (share === 0) return language.translate('About the same as last week');
  return now > before
    ? language.translate('{share}% more than last week', { share })
    : language.translate('{share}% fewer than last week', { share });
}

function formatDifference({ counted }: Language, difference: number): string {
  return difference > 0
    ? counted('{count} more than last week', '{count} more than last week', difference)
    : counted('{count} fewer than last week', '{count} fewer than last week', -difference);
}

/** Events that are not changes by a user: logins, log-outs and actions of the product itself. */
const NO_CHANGE = /^(?:log(?:in|out)(?:$|\.)|factor\.(?:failed|back-up-code)$)/;
const labels: ReadonlyMap<string, string> = new Map(activityKinds.map(({ id, label }) => [id, label]));

/** Returns changes by users, most frequent first, with the labels of the Activity Log's filter. */
function toChanges(
  { translate }: Language,
  events: WeekTotals['events'],
): { readonly kind: string | null; readonly label: string; readonly count: number }[] {
  return events
    .filter(({ kind }) => !NO_CHANGE.test(kind))
    .map(({ kind, count }) => {
      const known = labels.get(kind);
      return known === undefined
        ? { kind: null, label: translate('Other changes'), count }
        : { kind, label: translate(known), count };
    });
}

export interface ReportList {
  readonly title: string;
  /** Whether names are addresses or paths, which are written from left to right in every language. */
  readonly mono: boolean;
  readonly rows: readonly { readonly name: string; readonly value: string; readonly link: string | null }[];
  readonly footer: string | null;
}

/** Paths that a link of a mail may contain, because visitors choose them. */
const PLAIN_PATH = /^\/[\w/-]{0,150}$/;
/** Maximum length of a page's name in a mail. */
const NAME_MAX = 60;
/** Kinds of changes that are listed; all others are added up. */
const CHANGES_MAX = 6;

/** Returns the lists of a report; empty ones are omitted. Text of visitors and users is plain and short. */
function reportLists(language: Language, facts: ReportFacts, toLog: LogLinks, summary: string): ReportList[] {
  return [
    addressList(language, facts, toLog, summary),
    pageList(language, facts, toLog),
    changeList(language, facts, toLog),
  ].filter((list) => list !== null);
}

function addressList(
  language: Language,
  { addresses, logins }: ReportFacts,
  toLog: LogLinks,
  summary: string,
): ReportList | null {
  const { translate, counted } = language;
  const sentence = describeLogins(language, logins);
  const footer = summary.includes(sentence) ? '' : sentence;
  if (addresses.length === 0 && footer === '') return null;
  return {
    title: translate('Addresses that tried most'),
    mono: true,
    rows: addresses.map(({ value, count }) => ({
      name: plainText(value, NAME_MAX),
      value: counted('{count} failed login', '{count} failed logins', count),
      link: toLog({ preset: 'failed-logins', filters: { ip: value } }),
    })),
    footer: footer === '' ? null : footer,
  };
}

function pageList({ translate, counted }: Language, { pages }: ReportFacts, toLog: LogLinks): ReportList | null {
  if (pages.length === 0) return null;
  return {
    title: translate('Pages visited most'),
    mono: true,
    rows: pages.map(({ value, count }) => ({
      name: unlinkedText(value, NAME_MAX),
      value: counted('{count} visit', '{count} visits', count),
      link: PLAIN_PATH.test(value) ? toLog({ search: `"${value}"` }) : null,
    })),
    footer: null,
  };
}

function changeList(language: Language, { now, before }: ReportFacts, toLog: LogLinks): ReportList | null {
  const { translate, counted, number } = language;
  const changes = toChanges(language, now.events);
  const total = sum(changes);
  const compared = before === null ? null : sum(toChanges(language, before.events));
  if (total === 0 && (compared ?? 0) === 0) return null;
  const rest = changes.slice(CHANGES_MAX);
  const rows = changes.slice(0, CHANGES_MAX).map(({ kind, label, count }) => ({
    name: label,
    value: number(count),
    link: kind === null ? null : toLog({ tab: 'registered', filters: { activity: kind } }),
  }));
  const difference = formatComparison(language, total, compared);
  return {
    title: translate('What your users changed'),
    mono: false,
    rows:
      rest.length === 0 ? rows : [...rows, { name: translate('Other changes'), value: number(sum(rest)), link: null }],
    footer: [
      counted('{count} change in all.', '{count} changes in all.', total),
      ...(difference === '' ? [] : [`${difference}.`]),
    ].join(' '),
  };
}

function sum(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((total, row) => total + row.count, 0);
}
