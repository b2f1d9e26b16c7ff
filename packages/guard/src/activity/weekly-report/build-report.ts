import { plainText } from '../../lib/plain-text.js';
import type { Essential } from '../../overview/essentials.js';
import type { Language } from '../../texts/language.js';
import { sumTraffic } from '../traffic.js';
import { compareWords } from './compare-words.js';
import { periodWords, weekdayOf } from './report-dates.js';
import type { ReportFacts, WeekSums } from './report-facts.js';
import { type ReportList, reportLists } from './report-lists.js';
import { verdictOf } from './report-words.js';

/**
 * A report in the words of a language, ready to be written as HTML or text. Everything that strangers wrote is one
 * plain, short line.
 */
export interface WeeklyReport {
  /** Of its language: BCP 47, and where its lines begin. */
  readonly tag: string;
  readonly direction: 'ltr' | 'rtl';
  readonly subject: string;
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
  readonly labels: ReportLabels;
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
  /** `Mon: 100 humans, 50 bots, 10 blocked`. */
  readonly words: string;
  readonly humans: number;
  readonly bots: number;
  readonly blocked: number;
}

/** Pages of wp-admin; null while the address of the site is not known. */
export interface ReportLinks {
  readonly log: string | null;
  readonly recipients: string | null;
  readonly setUp: string | null;
}

/** Words that are the same in every report of a language. */
export interface ReportLabels {
  readonly days: string;
  readonly humans: string;
  readonly bots: string;
  readonly blocked: string;
  readonly setUp: string;
  readonly why: string;
  readonly log: string;
  readonly recipients: string;
}

/** What belongs to the site rather than to its week. */
export interface ReportSite {
  /** `example.com` or `example.com/blog`. */
  readonly name: string;
  readonly timeZone: string;
  readonly language: Language;
  readonly essentials: readonly Essential[];
  readonly links: Omit<ReportLinks, 'setUp'> & { page(name: Essential['page']): string | null };
}

/** Makes the report of a week. */
export function buildReport(facts: ReportFacts, site: ReportSite): WeeklyReport {
  const { language, timeZone } = site;
  const name = plainText(site.name, 100);
  const period = periodWords(language, facts.period, timeZone);
  const firstOpen = site.essentials.find(({ on }) => !on);
  const { log, recipients } = site.links;
  return {
    tag: language.tag,
    direction: language.direction,
    subject: language.translate('Weekly report for {site}, {period}', { site: name, period }),
    period,
    ...verdictOf(language, facts, name),
    figures: figuresOf(language, facts.now, facts.before),
    days: daysOf(language, facts, timeZone),
    lists: reportLists(language, facts),
    open: openOf(language, site.essentials),
    notes: notesOf(language, facts),
    links: { log, recipients, setUp: firstOpen === undefined ? null : site.links.page(firstOpen.page) },
    labels: labelsOf(language, name),
  };
}

function figuresOf(language: Language, now: WeekSums, before: WeekSums | null): ReportFigure[] {
  const { translate, number } = language;
  const figure = (label: string, of: (week: WeekSums) => number): ReportFigure => ({
    value: number(of(now)),
    label,
    compared: compareWords(language, of(now), before === null ? null : of(before)),
  });
  return [
    figure(translate('Visits by humans'), ({ humans }) => humans),
    figure(translate('Visits by bots'), ({ bots }) => bots),
    figure(translate('Blocked logins'), ({ refusedLogins }) => refusedLogins),
    figure(translate('Blocked visits'), ({ refused, refusedLogins }) => Math.max(0, refused - refusedLogins)),
  ];
}

function daysOf(language: Language, { period: { edges }, hours }: ReportFacts, timeZone: string): ReportDay[] {
  return sumTraffic({ step: 'day', edges }, hours).bars.map(({ from, humans, bots, blocked }) => {
    const name = weekdayOf(language, timeZone, from);
    const words = language.translate('{day}: {humans} humans, {bots} bots, {blocked} blocked', {
      ...{ day: name, humans, bots, blocked },
    });
    return { name, words, humans, bots, blocked };
  });
}

function openOf({ translate, counted }: Language, essentials: readonly Essential[]): WeeklyReport['open'] {
  const open = essentials.filter(({ on }) => !on);
  if (open.length === 0) return null;
  return {
    title: counted(
      '{count} of {total} essentials is still off',
      '{count} of {total} essentials are still off',
      open.length,
      { total: essentials.length },
    ),
    names: open.map(({ title }) => translate(title)).join(', '),
  };
}

function notesOf({ translate, counted }: Language, { dropped, now, before }: ReportFacts): string[] {
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

function labelsOf({ translate }: Language, site: string): ReportLabels {
  return {
    days: translate('Day by day'),
    humans: translate('Humans'),
    bots: translate('Bots'),
    blocked: translate('Blocked'),
    setUp: translate('Finish the set-up'),
    why: translate('You get this report because your address is on the list for {site}.', { site }),
    log: translate('Open the activity log'),
    recipients: translate('Change the recipients'),
  };
}
