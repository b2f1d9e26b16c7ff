import { plainText } from '../../lib/plain-text.js';
import type { Essential } from '../../overview/essentials.js';
import { sumTraffic } from '../traffic.js';
import { compareWords, count, countOf } from './compare-words.js';
import type { ReportFacts, WeekSums } from './report-facts.js';
import { changesOf, eventsOf, periodWords, verdictOf, weekdayOf } from './report-words.js';

/** A report in words, ready to be written as HTML or text. Everything that strangers wrote is one plain, short line. */
export interface WeeklyReport {
  readonly subject: string;
  readonly site: string;
  readonly period: string;
  readonly headline: string;
  readonly summary: string;
  readonly figures: readonly ReportFigure[];
  readonly days: readonly ReportDay[];
  readonly lists: readonly ReportList[];
  /** Essentials that are off, or null when all are on. */
  readonly open: { readonly title: string; readonly names: string } | null;
  /** What the reader has to know about the figures. */
  readonly notes: readonly string[];
  readonly links: ReportLinks;
}

export interface ReportFigure {
  readonly value: string;
  readonly label: string;
  /** How it stands to the week before; empty when nothing is known of that. */
  readonly compared: string;
}

export interface ReportDay {
  /** `Mon`. */
  readonly name: string;
  readonly humans: number;
  readonly bots: number;
  readonly blocked: number;
}

export interface ReportList {
  readonly title: string;
  /** Names are addresses or paths. */
  readonly mono: boolean;
  readonly rows: readonly { readonly name: string; readonly value: string }[];
  readonly foot: string | null;
}

/** Pages of wp-admin; null while the address of the site is not known. */
export interface ReportLinks {
  readonly log: string | null;
  readonly recipients: string | null;
  readonly setUp: string | null;
}

/** What belongs to the site rather than to its week. */
export interface ReportSite {
  /** `example.com` or `example.com/blog`. */
  readonly name: string;
  readonly timeZone: string;
  readonly essentials: readonly Essential[];
  readonly links: Omit<ReportLinks, 'setUp'> & { page(name: Essential['page']): string | null };
}

/** Longest name of a page in a mail. */
const NAME_MAX = 60;
/** Kinds of changes that are named; the rest is summed up. */
const CHANGES_MAX = 6;

/** Makes the report of a week. */
export function buildReport(facts: ReportFacts, site: ReportSite): WeeklyReport {
  const { period } = facts;
  const name = plainText(site.name, 100);
  const words = periodWords(period, site.timeZone);
  const open = site.essentials.filter(({ on }) => !on);
  const { log, recipients } = site.links;
  return {
    subject: `Weekly report for ${name}, ${words}`,
    site: name,
    period: words,
    ...verdictOf(facts, name),
    figures: figuresOf(facts.now, facts.before),
    days: daysOf(facts, site.timeZone),
    lists: [addressList(facts), pageList(facts), changeList(facts)].filter((list) => list !== null),
    open:
      open.length === 0
        ? null
        : {
            title: `${open.length} of ${site.essentials.length} essentials ${open.length === 1 ? 'is' : 'are'} still off`,
            names: open.map(({ title }) => title).join(', '),
          },
    notes: notesOf(facts),
    links: { log, recipients, setUp: open[0] === undefined ? null : site.links.page(open[0].page) },
  };
}

function figuresOf(now: WeekSums, before: WeekSums | null): ReportFigure[] {
  const figure = (label: string, of: (week: WeekSums) => number): ReportFigure => ({
    value: count(of(now)),
    label,
    compared: compareWords(of(now), before === null ? null : of(before)),
  });
  return [
    figure('Visits by humans', ({ humans }) => humans),
    figure('Visits by bots', ({ bots }) => bots),
    figure('Blocked logins', ({ refusedLogins }) => refusedLogins),
    figure('Blocked visits', ({ refused, refusedLogins }) => Math.max(0, refused - refusedLogins)),
  ];
}

function daysOf({ period: { edges }, hours }: ReportFacts, timeZone: string): ReportDay[] {
  return sumTraffic({ step: 'day', edges }, hours).bars.map(({ from, humans, bots, blocked }) => ({
    name: weekdayOf(timeZone, from),
    ...{ humans, bots, blocked },
  }));
}

function addressList({ addresses, now }: ReportFacts): ReportList | null {
  const wrong = eventsOf(now.events, 'login.failed');
  const locked = eventsOf(now.events, 'login.locked');
  const foot = [
    wrong > 0 ? `${countOf(wrong, 'wrong password', 'wrong passwords')} for accounts of this site.` : '',
    locked > 0 ? `${countOf(locked, 'lock-out', 'lock-outs')} after too many failed logins.` : '',
  ].filter((text) => text !== '');
  if (addresses.length === 0 && foot.length === 0) return null;
  return {
    title: 'Addresses that tried most',
    mono: true,
    rows: addresses.map(({ value, count: times }) => ({
      name: plainText(value, NAME_MAX),
      value: countOf(times, 'failed login', 'failed logins'),
    })),
    foot: foot.length === 0 ? null : foot.join(' '),
  };
}

function pageList({ pages }: ReportFacts): ReportList | null {
  if (pages.length === 0) return null;
  return {
    title: 'Pages visited most',
    mono: true,
    rows: pages.map(({ value, count: times }) => ({ name: short(value), value: countOf(times, 'visit', 'visits') })),
    foot: null,
  };
}

function changeList({ now, before }: ReportFacts): ReportList | null {
  const changes = changesOf(now.events);
  const total = sum(changes);
  const compared = before === null ? null : sum(changesOf(before.events));
  if (total === 0 && (compared ?? 0) === 0) return null;
  const rest = changes.slice(CHANGES_MAX);
  const rows = changes.slice(0, CHANGES_MAX).map(({ label, count: times }) => ({ name: label, value: count(times) }));
  return {
    title: 'What your users changed',
    mono: false,
    rows: rest.length === 0 ? rows : [...rows, { name: 'Other changes', value: count(sum(rest)) }],
    foot: [`${countOf(total, 'change', 'changes')} in all`, compareWords(total, compared)]
      .filter((words) => words !== '')
      .map((words) => `${words}.`)
      .join(' '),
  };
}

function notesOf({ dropped, now, before }: ReportFacts): string[] {
  const known = before !== null || now.humans + now.bots + now.refused === 0;
  return [
    ...(dropped > 0
      ? [`${countOf(dropped, 'visit', 'visits')} came faster than they could be written down and are not counted.`]
      : []),
    ...(known ? [] : ['From next week on, figures are compared with those of the week before.']),
  ];
}

/**
 * A path that a stranger chose, whole or with three dots where it was cut. Mail programs make links of whatever looks
 * like one; a space without width behind each of these signs keeps them from it, and lets long paths break.
 */
function short(path: string): string {
  const whole = plainText(path, NAME_MAX + 1);
  const text = whole.length > NAME_MAX ? `${plainText(path, NAME_MAX - 1)}…` : whole;
  return text.replace(/[/.:@]/g, '$&\u200b');
}

function sum(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((total, row) => total + row.count, 0);
}
