import type { ReactNode } from 'react';
import { clockTime, dayAndTime, shortTimeLeft, timeLeft } from './time-words.js';
import { PLACES, renderVisitorPage, type VisitorPage } from './visitor-page.js';
import { escapeHtml } from './visitor-pages.js';

/** What the two pages of a closed login need. Times are milliseconds since the Unix epoch. */
export interface ClosedLogin {
  readonly host: string;
  /** Path of the site's home page. */
  readonly home: string;
  /** When it opens again, or null when that is not known. */
  readonly until: number | null;
  readonly now: number;
  /** The site's time zone, as WordPress stores it. */
  readonly timeZone: string;
}

const LEFT = '%%LEFT%%';
const WHEN = '%%WHEN%%';
const HOME = '%%HOME%%';

const TIMER = ['M10 5.1a6.2 6.2 0 1 0 0 12.4a6.2 6.2 0 1 0 0-12.4', 'M10 8v3.3l2.2 1.5', 'M8 2.5h4'];
const MOON = ['M16.6 12.1A7 7 0 1 1 8.1 3.3a5.6 5.6 0 0 0 8.5 8.8z'];

/** The three waiting times, and what stands below each while another one is on. */
const STEPS = [
  { time: '1 hour', later: '' },
  { time: '24 hours', later: 'If attempts go on' },
  { time: '7 days', later: 'After that' },
] as const;

/** For an address that failed too often. @param stage which of the three waiting times is on */
export function lockedPage(facts: ClosedLogin, stage: 1 | 2 | 3): string {
  const until = facts.until ?? facts.now;
  const when = clockTime(facts.timeZone, until, facts.now);
  return filled(`locked ${stage}`, () => locked(stage), facts, {
    left: shortTimeLeft(until - facts.now),
    when: /^\d/.test(when) ? `at ${when}` : `on ${when}`,
  });
}

/** While Away Mode is on. */
export function awayPage(facts: ClosedLogin): string {
  const { until, now, timeZone } = facts;
  if (until === null) return filled('away', () => away(false), facts, { left: '', when: '' });
  return filled('away until', () => away(true), facts, {
    left: timeLeft(until - now),
    when: dayAndTime(timeZone, until),
  });
}

function locked(stage: number): VisitorPage {
  return {
    title: 'Too many login attempts',
    heading: 'Too many login attempts',
    text: 'Logging in from your address is paused, to keep passwords from being guessed.',
    tone: 'warn',
    icon: TIMER,
    details: false,
    content: (
      <>
        <p className="so-left">
          <b>{LEFT}</b>
          <span>left. Try again {WHEN}.</span>
        </p>
        <ol className="so-steps">
          {STEPS.map(({ time, later }, index) => (
            <Step key={time} time={time} later={later} on={index + 1 === stage} past={index + 1 < stage} />
          ))}
        </ol>
        <HomeLink />
      </>
    ),
    foot: 'The rest of the site works as usual. Forgotten your password? Reset it after the pause.',
  };
}

function away(known: boolean): VisitorPage {
  return {
    title: 'Away',
    heading: 'The admin area is closed',
    text: 'Away Mode is on, so nobody can log in. This includes the site’s owner.',
    tone: 'info',
    icon: MOON,
    details: false,
    content: (
      <>
        {known ? <OpensAgain /> : null}
        <HomeLink />
      </>
    ),
    foot: 'Visitors can still see the site.',
  };
}

function Step(step: { time: string; later: string; on: boolean; past: boolean }): ReactNode {
  return (
    <li className={step.on ? 'is-on' : undefined} aria-current={step.on ? 'step' : undefined}>
      <b>{step.time}</b>
      {step.on ? 'Now' : step.past ? 'Over' : step.later}
    </li>
  );
}

function OpensAgain(): ReactNode {
  return (
    <dl className="so-dl">
      <div>
        <dt>Opens again</dt>
        <dd>
          <b>{WHEN}</b>
        </dd>
      </div>
      <div>
        <dt>Time left</dt>
        <dd>{LEFT}</dd>
      </div>
    </dl>
  );
}

function HomeLink(): ReactNode {
  return (
    <div className="so-front__btn">
      <a className="so-btn" href={HOME}>
        Go to the home page
      </a>
    </div>
  );
}

/** Rendered pages by name; what differs from visitor to visitor is filled in. */
const rendered = new Map<string, string>();

function filled(
  name: string,
  page: () => VisitorPage,
  facts: ClosedLogin,
  words: { readonly left: string; readonly when: string },
): string {
  let html = rendered.get(name);
  if (html === undefined) {
    html = renderVisitorPage(page());
    rendered.set(name, html);
  }
  const host = facts.host === '' ? 'This site' : facts.host;
  return html
    .replaceAll(PLACES.host, escapeHtml(host))
    .replaceAll(PLACES.initial, escapeHtml(host.slice(0, 1).toUpperCase()))
    .replaceAll(LEFT, words.left)
    .replaceAll(WHEN, words.when)
    .replaceAll(HOME, escapeHtml(facts.home));
}
