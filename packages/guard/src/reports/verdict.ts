import { GUESSES } from '../activity/index.js';
import type { Language } from '../i18n/language.js';
import { plainText, unlinkedText } from '../lib/plain-text.js';
import type { Essential } from '../settings/essentials.js';
import type { LoginFacts, ReportFacts } from './report-facts.js';

/**
 * The conclusion of a week: the headline of its report, and the one thing to do about it. A headline is calm only if no
 * fact of the week needs an owner's attention.
 */
export interface Verdict {
  readonly headline: string;
  readonly summary: string;
  /** What only the owner can check; null when there is nothing to check. */
  readonly check: Check | null;
  /** The setting that the headline asks to turn on, or null. */
  readonly turnOn: Essential | null;
}

export interface Check {
  readonly title: string;
  readonly text: string;
  readonly button: string;
  /** Events that the log shows behind the button. */
  readonly activity: 'login' | 'user.created' | 'user.role';
}

/** What needs an owner's attention, most urgent first. */
type Concern = 'intrusion' | 'administrators' | 'guesses' | 'more-blocked' | 'not-recorded';

/** From this number of failed logins on, a week without any lockout counts as a week of guessed passwords, too. */
const MANY_GUESSES = 100;
/** Blocked visits are more than usual from this factor and this difference on. */
const MORE_TIMES = 1.25;
const MORE_AT_LEAST = 20;
/** Up to this number of blocked visits a week is quiet. */
const QUIET = 500;

/** Maximum length of a name in a sentence, and maximum number of names. */
const NAME_MAX = 60;
const NAMES_MAX = 3;

type WeekFacts = Pick<ReportFacts, 'now' | 'before' | 'logins' | 'administrators' | 'dropped'>;

/** Returns what needs an owner's attention in the facts of a week, most urgent first. */
function findConcerns({ now, before, logins, administrators, dropped }: WeekFacts): Concern[] {
  const more = (is: number, was: number) => is >= was * MORE_TIMES && is - was >= MORE_AT_LEAST;
  const all: [Concern, boolean][] = [
    ['intrusion', findIntruders(logins).length > 0],
    ['administrators', administrators.length > 0],
    [
      'guesses',
      logins.locked > 0 ||
        now.failedLogins >= MANY_GUESSES ||
        (before !== null && more(now.failedLogins, before.failedLogins)),
    ],
    ['more-blocked', before !== null && more(now.refused, before.refused)],
    ['not-recorded', dropped > 0],
  ];
  return all.flatMap(([concern, applies]) => (applies ? [concern] : []));
}

function findIntruders({ succeeded }: LoginFacts): NonNullable<LoginFacts['succeeded']> {
  return (succeeded ?? []).filter(({ failed }) => failed >= GUESSES);
}

/**
 * Returns the headline of a report, and its explanation.
 * @param essentials the most effective ones first
 */
export function toVerdict(
  language: Language,
  facts: WeekFacts,
  site: { readonly name: string; readonly essentials: readonly Essential[] },
): Verdict {
  const { translate, counted } = language;
  const { now } = facts;
  const name = { site: site.name };
  const concerns = findConcerns(facts);
  const [concern] = concerns;
  const calm = translate('You don’t need to do anything urgent.');
  const refused = describeRefused(language, facts);
  const guesses = [translate('Passwords were guessed.'), describeLogins(language, facts.logins)];
  const of = (
    headline: string,
    sentences: readonly string[],
    { check = null, turnOn = null }: Partial<Pick<Verdict, 'check' | 'turnOn'>> = {},
  ): Verdict => ({ headline, summary: sentences.filter((sentence) => sentence !== '').join(' '), check, turnOn });
  const open = (page: Essential['page'] | null) =>
    site.essentials.find((essential) => !essential.on && (page === null || essential.page === page));
  const recommend = (turnOn: Essential, sentences: readonly string[]) =>
    of(translate('Turn on “{setting}” for {site}', { ...name, setting: translate(turnOn.title) }), sentences, {
      turnOn,
    });

  switch (concern) {
    case 'intrusion': {
      const count = findIntruders(facts.logins).length;
      return of(
        counted('Check a login to {site}', 'Check {count} logins to {site}', count, name),
        [describeLogins(language, facts.logins)],
        { check: checkLogins(language, facts.logins) },
      );
    }
    case 'administrators':
      return of(
        counted(
          'Check the new administrator of {site}',
          'Check the {count} new administrators of {site}',
          facts.administrators.length,
          name,
        ),
        [
          translate('Administrators can change everything on the site.'),
          ...(concerns.includes('guesses') ? guesses : []),
          refused,
        ],
        { check: checkAdministrators(language, facts) },
      );
    case 'guesses': {
      const setting = open('login-settings');
      const guessed =
        facts.logins.succeeded?.length === 0
          ? translate('Passwords were guessed at {site}, nobody got in', name)
          : translate('Passwords were guessed at {site}', name);
      return setting === undefined
        ? of(guessed, [describeLogins(language, facts.logins), refused, calm])
        : recommend(setting, [...guesses, refused]);
    }
    case 'more-blocked': {
      const setting = open(null);
      const compared = describeBefore(language, facts);
      return setting === undefined
        ? of(translate('A busier week than usual for {site}', name), [refused, compared, calm])
        : recommend(setting, [refused, compared]);
    }
    case 'not-recorded':
      return of(translate('More visits than could be counted for {site}', name), [refused]);
    default:
  }
  if (now.humans + now.bots + now.refused + now.failedLogins === 0 && now.events.length === 0) {
    return of(translate('Nothing was recorded for {site}', name), [
      translate('No visits, no logins and no changes were seen.'),
    ]);
  }
  return now.refused < QUIET
    ? of(translate('A quiet week for {site}', name), [refused, calm])
    : of(translate('An ordinary week for {site}', name), [refused, calm]);
}

function describeRefused({ translate, counted }: Language, { now }: WeekFacts): string {
  if (now.refused === 0) return translate('Nothing had to be blocked.');
  return counted(
    '{count} visit or login attempt was blocked.',
    '{count} visits and login attempts were blocked.',
    now.refused,
  );
}

function describeBefore({ translate }: Language, { before }: WeekFacts): string {
  if (before === null) return '';
  if (before.refused === 0) return translate('There were none the week before.');
  return translate('The week before there were {number}.', { number: before.refused });
}

/**
 * Describes the failed logins of a week in one sentence: `21 attempts from 3 addresses, 3 locked, nobody got in.`
 * @returns empty without failed logins
 */
export function describeLogins({ translate, counted }: Language, logins: LoginFacts): string {
  const { attempts, locked, succeeded } = logins;
  if (attempts === 0) return '';
  const addresses = counted('{count} address', '{count} addresses', logins.addresses);
  const parts = [
    counted('{count} attempt from {addresses}', '{count} attempts from {addresses}', attempts, { addresses }),
    ...(locked > 0 ? [counted('{count} locked', '{count} locked', locked)] : []),
    ...(succeeded === null ? [] : [describeSuccessfulLogins({ translate, counted }, succeeded.length)]),
  ];
  return `${parts.join(', ')}.`;
}

function describeSuccessfulLogins(
  { translate, counted }: Pick<Language, 'translate' | 'counted'>,
  count: number,
): string {
  return count === 0
    ? translate('nobody got in')
    : counted('{count} address logged in as well', '{count} addresses logged in as well', count);
}

function checkLogins({ translate, counted }: Language, logins: LoginFacts): Check {
  const [first] = findIntruders(logins);
  return {
    title: counted('Was this login yours?', 'Were these logins yours?', findIntruders(logins).length),
    text: counted(
      '{address} logged in after {count} wrong password. If none of you did that, block the user and set a new password.',
      '{address} logged in after {count} wrong passwords. If none of you did that, block the user and set a new password.',
      first?.failed ?? 0,
      { address: plainText(first?.address ?? '', NAME_MAX) },
    ),
    button: translate('See who logged in'),
    activity: 'login',
  };
}

function checkAdministrators(language: Language, { administrators }: WeekFacts): Check {
  const { translate, counted } = language;
  const count = administrators.length;
  return {
    title: counted('Do you know the new administrator?', 'Do you know the new administrators?', count),
    text: translate('{logins}. If you don’t, delete the account and run the checkup on the page Post-hack Actions.', {
      logins: describeNames(
        language,
        administrators.map(({ login }) => login),
      ),
    }),
    button: translate('See who was added'),
    activity: administrators[0]?.kind ?? 'user.created',
  };
}

function describeNames({ translate, number }: Language, names: readonly string[]): string {
  const list = names
    .slice(0, NAMES_MAX)
    .map((name) => unlinkedText(name, NAME_MAX))
    .join(', ');
  const more = names.length - NAMES_MAX;
  return more > 0 ? translate('{list} and {count} more', { list, count: number(more) }) : list;
}
