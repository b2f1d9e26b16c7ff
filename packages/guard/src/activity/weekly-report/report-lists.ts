import { plainText } from '../../lib/plain-text.js';
import type { Language } from '../../texts/language.js';
import { compareWords } from './compare-words.js';
import type { ReportFacts } from './report-facts.js';
import { changesOf, eventsOf } from './report-words.js';

export interface ReportList {
  readonly title: string;
  /** Names are addresses or paths, which are written from left to right in every language. */
  readonly mono: boolean;
  readonly rows: readonly { readonly name: string; readonly value: string }[];
  readonly foot: string | null;
}

/** Longest name of a page in a mail. */
const NAME_MAX = 60;
/** Kinds of changes that are named; the rest is summed up. */
const CHANGES_MAX = 6;

/** The lists of a report; one that has nothing to say is left out. Names that strangers chose are plain and short. */
export function reportLists(language: Language, facts: ReportFacts): ReportList[] {
  return [addressList(language, facts), pageList(language, facts), changeList(language, facts)].filter(
    (list) => list !== null,
  );
}

function addressList({ translate, counted }: Language, { addresses, now }: ReportFacts): ReportList | null {
  const wrong = eventsOf(now.events, 'login.failed');
  const locked = eventsOf(now.events, 'login.locked');
  const foot = [
    ...(wrong > 0
      ? [
          counted(
            '{count} wrong password for accounts of this site.',
            '{count} wrong passwords for accounts of this site.',
            wrong,
          ),
        ]
      : []),
    ...(locked > 0
      ? [
          counted(
            '{count} lock-out after too many failed logins.',
            '{count} lock-outs after too many failed logins.',
            locked,
          ),
        ]
      : []),
  ];
  if (addresses.length === 0 && foot.length === 0) return null;
  return {
    title: translate('Addresses that tried most'),
    mono: true,
    rows: addresses.map(({ value, count }) => ({
      name: plainText(value, NAME_MAX),
      value: counted('{count} failed login', '{count} failed logins', count),
    })),
    foot: foot.length === 0 ? null : foot.join(' '),
  };
}

function pageList({ translate, counted }: Language, { pages }: ReportFacts): ReportList | null {
  if (pages.length === 0) return null;
  return {
    title: translate('Pages visited most'),
    mono: true,
    rows: pages.map(({ value, count }) => ({
      name: short(value),
      value: counted('{count} visit', '{count} visits', count),
    })),
    foot: null,
  };
}

function changeList(language: Language, { now, before }: ReportFacts): ReportList | null {
  const { translate, counted, number } = language;
  const changes = changesOf(language, now.events);
  const total = sum(changes);
  const compared = before === null ? null : sum(changesOf(language, before.events));
  if (total === 0 && (compared ?? 0) === 0) return null;
  const rest = changes.slice(CHANGES_MAX);
  const rows = changes.slice(0, CHANGES_MAX).map(({ label, count }) => ({ name: label, value: number(count) }));
  const difference = compareWords(language, total, compared);
  return {
    title: translate('What your users changed'),
    mono: false,
    rows: rest.length === 0 ? rows : [...rows, { name: translate('Other changes'), value: number(sum(rest)) }],
    foot: [
      counted('{count} change in all.', '{count} changes in all.', total),
      ...(difference === '' ? [] : [`${difference}.`]),
    ].join(' '),
  };
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
