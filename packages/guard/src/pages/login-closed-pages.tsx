import type { ReactNode } from 'react';
import { type Language, perLanguage } from '../i18n/language.js';
import {
  formatClockTime,
  formatDayAndTime,
  formatShortTimeLeft,
  formatTimeLeft,
  formatUnits,
  isSameDay,
} from '../i18n/time-labels.js';
import { renderVisitorPage, type VisitorPage, withParts } from './visitor-page.js';
import { escapeHtml, withHost } from './visitor-pages.js';

/** The values of the two pages of a closed login. Times are milliseconds since the Unix epoch. */
export interface ClosedLogin {
  readonly host: string;
  /** Path of the site's home page. */
  readonly home: string;
  /** When the login opens again, or null when that is unknown. */
  readonly until: number | null;
  readonly now: number;
  /** The site's time zone, as WordPress stores it. */
  readonly timeZone: string;
}

const LEFT = '%%LEFT%%';
const WHEN = '%%WHEN%%';
const HOME = '%%HOME%%';

/** The three waiting times, and the text below each one that is not active. */
const STEPS = [
  { count: 1, unit: 'hour', later: '' },
  { count: 24, unit: 'hour', later: 'If attempts go on' },
  { count: 7, unit: 'day', later: 'After that' },
] as const;

/**
 * Returns the sentence that says how long an address is locked.
 * @param ms time left, milliseconds
 */
export function toLockedSentence(language: Language, ms: number): string {
  return language.translate('Too many login attempts. Try again in {time}.', { time: formatTimeLeft(language, ms) });
}

/**
 * Returns the page for a locked address.
 * @param stage the current waiting time
 */
export function lockedPage(language: Language, facts: ClosedLogin, stage: 1 | 2 | 3): string {
  const { now, timeZone } = facts;
  const until = facts.until ?? now;
  const today = isSameDay(timeZone, until, now);
  return filled(language, `locked ${stage} ${today}`, () => locked(language, stage, today), facts, {
    left: formatShortTimeLeft(language, until - now),
    when: today ? formatClockTime(language, timeZone, until) : formatDayAndTime(language, timeZone, until),
  });
}

/** Returns the page while Away Mode is on. */
export function awayPage(language: Language, facts: ClosedLogin): string {
  const { until, now, timeZone } = facts;
  if (until === null) return filled(language, 'away', () => away(language, false), facts, { left: '', when: '' });
  return filled(language, 'away until', () => away(language, true), facts, {
    left: formatTimeLeft(language, until - now),
    when: formatDayAndTime(language, timeZone, until),
  });
}

function locked(language: Language, stage: number, today: boolean): VisitorPage {
  const { translate } = language;
  const time = WHEN;
  const left = today
    ? translate('{left} left. Try again at {time}.', { time })
    : translate('{left} left. Try again on {time}.', { time });
  return {
    title: 'Too many login attempts',
    heading: 'Too many login attempts',
    text: 'Logging in from your address is paused, to keep passwords from being guessed.',
    tone: 'warn',
    icon: 'timer',
    details: false,
    content: (
      <>
        <p className="so-left">
          {withParts(left, { left: <b>{LEFT}</b> }, (text) => (
            <span>{text.trim()}</span>
          ))}
        </p>
        <ol className="so-steps">
          {STEPS.map(({ count, unit, later }, index) => (
            <Step
              key={count}
              time={formatUnits(language, count, unit)}
              below={index + 1 === stage ? translate('Now') : index + 1 < stage ? translate('Over') : translate(later)}
              on={index + 1 === stage}
            />
          ))}
        </ol>
        <HomeLink label={translate('Go to the home page')} />
      </>
    ),
    foot: 'The rest of the site works as usual. Forgotten your password? Reset it after the pause.',
  };
}

function away(language: Language, isUntilKnown: boolean): VisitorPage {
  const { translate } = language;
  return {
    title: 'Away',
    heading: 'The admin area is closed',
    text: 'Away Mode is on, so nobody can log in. This includes the site’s owner.',
    tone: 'info',
    icon: 'moon',
    details: false,
    content: (
      <>
        {isUntilKnown ? (
          <dl className="so-dl">
            <div>
              <dt>{translate('Opens again')}</dt>
              <dd>
                <b>{WHEN}</b>
              </dd>
            </div>
            <div>
              <dt>{translate('Time left')}</dt>
              <dd>{LEFT}</dd>
            </div>
          </dl>
        ) : null}
        <HomeLink label={translate('Go to the home page')} />
      </>
    ),
    foot: 'Visitors can still see the site.',
  };
}

function Step(step: { time: string; below: string; on: boolean }): ReactNode {
  return (
    <li className={step.on ? 'is-on' : undefined} aria-current={step.on ? 'step' : undefined}>
      <b>{step.time}</b>
      {step.below}
    </li>
  );
}

function HomeLink({ label }: { label: string }): ReactNode {
  return (
    <div className="so-front__btn">
      <a className="so-btn" href={HOME}>
        {label}
      </a>
    </div>
  );
}

/** Rendered pages by name; values that differ between visitors are filled in per visitor. */
const rendered = perLanguage(() => new Map<string, string>());

function filled(
  language: Language,
  name: string,
  page: () => VisitorPage,
  facts: ClosedLogin,
  text: { readonly left: string; readonly when: string },
): string {
  const pages = rendered(language);
  let html = pages.get(name);
  if (html === undefined) {
    html = renderVisitorPage(language, page());
    pages.set(name, html);
  }
  return withHost(language, html, facts.host)
    .replaceAll(LEFT, escapeHtml(text.left))
    .replaceAll(WHEN, escapeHtml(text.when))
    .replaceAll(HOME, escapeHtml(facts.home));
}
