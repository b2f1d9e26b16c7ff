import { describe, expect, it } from 'vitest';
import { english } from '../i18n/language.js';
import { formatClockTime, formatDayAndTime, formatShortTimeLeft, formatTimeLeft } from '../i18n/time-labels.js';
import { awayPage, lockedPage } from './login-closed-pages.js';
import { renderVisitorPage } from './visitor-page.js';
import { visitorPages } from './visitor-pages.js';
import { contentStyles, visitorStyles } from './visitor-styles.js';

const NOW = Date.UTC(2026, 10, 21, 13, 33);
const HOUR = 3600_000;
const facts = { host: 'example.com', home: '/blog/', now: NOW, timeZone: 'Europe/Berlin' };

describe('the page of a locked address', () => {
  it('contains the remaining time and the end, by the site’s clock', () => {
    const page = lockedPage(english, { ...facts, until: NOW + 58 * 60_000 }, 1);
    expect(page).toContain('<b>58 min</b><span>left. Try again at 15:31.</span>');
    expect(page).toContain('href="/blog/"');
    expect(page).not.toContain('%%');
  });

  it('names the day when the lockout ends on another one by the site’s clock', () => {
    const endsAt = (until: number) =>
      lockedPage(english, { ...facts, now: Date.UTC(2026, 10, 21, 22, 50), until }, 1).match(/left\. [^<]*/)?.[0];
    expect(endsAt(Date.UTC(2026, 10, 21, 22, 59))).toBe('left. Try again at 23:59.');
    expect(endsAt(Date.UTC(2026, 10, 21, 23, 50))).toBe('left. Try again on Sunday 22 November, 00:50.');
  });

  it('marks the current one of the three waiting times', () => {
    const steps = (stage: 1 | 2 | 3) =>
      [...lockedPage(english, { ...facts, until: NOW + HOUR }, stage).matchAll(/<li[^>]*><b>[^<]*<\/b>([^<]*)/g)].map(
        ([, text]) => text,
      );
    expect(steps(1)).toEqual(['Now', 'If attempts go on', 'After that']);
    expect(steps(2)).toEqual(['Over', 'Now', 'After that']);
    expect(steps(3)).toEqual(['Over', 'Over', 'Now']);
  });

  it('is inert whatever the Host header is', () => {
    expect(lockedPage(english, { ...facts, host: '<script>$&', until: NOW + HOUR }, 1)).not.toContain('<script>');
  });
});

describe('the page of Away Mode', () => {
  it('says when the admin area opens again', () => {
    const page = awayPage(english, { ...facts, until: Date.UTC(2026, 10, 22, 23) });
    expect(page).toContain('<dd><b>Monday 23 November, 00:00</b></dd>');
    expect(page).toContain('<dd>1 day 9 hours</dd>');
  });

  it('omits the time when it is unknown', () => {
    expect(awayPage(english, { ...facts, until: null })).not.toContain('Opens again');
  });
});

describe('formatted times', () => {
  it('are rounded up, never to zero', () => {
    expect(
      [0, 1, 59, 60, 61, 47 * 60, 48 * 60, 167 * 60].map((minutes) => formatShortTimeLeft(english, minutes * 60_000)),
    ).toEqual(['1 min', '1 min', '59 min', '1 hour', '2 hours', '47 hours', '2 days', '7 days']);
    expect([1, 60, 61, 24 * 60, 25 * 60].map((minutes) => formatTimeLeft(english, minutes * 60_000))).toEqual([
      '1 minute',
      '1 hour',
      '1 hour 1 minute',
      '1 day',
      '1 day 1 hour',
    ]);
  });

  it('name the day when it is another one, in zones with a name and with an offset', () => {
    expect(formatClockTime(english, 'UTC', NOW)).toBe('13:33');
    expect(lockedPage(english, { ...facts, until: NOW + 24 * HOUR }, 2)).toContain(
      '<b>24 hours</b><span>left. Try again on Sunday 22 November, 14:33.</span>',
    );
    expect(formatDayAndTime(english, '+05:30', NOW)).toBe('Saturday 21 November, 19:03');
  });
});

describe('the styles of a page', () => {
  const styled = (css: string): Set<string> =>
    new Set([...css.matchAll(/\.(so-[\w-]+|is-on)/g)].map(([, name]) => name as string));
  const all = styled(visitorStyles + contentStyles);
  const pages = {
    blocked: renderVisitorPage(english, visitorPages.blocked),
    'login-busy': renderVisitorPage(english, visitorPages['login-busy']),
    locked: lockedPage(english, { ...facts, until: NOW + HOUR }, 2),
    away: awayPage(english, { ...facts, until: NOW + HOUR }),
  };

  it.each(Object.entries(pages))('are complete: %s', (_, page) => {
    const [head = '', body = ''] = page.split('<body>');
    const used = [...body.matchAll(/class="([^"]+)"/g)].flatMap(([, names]) => (names as string).split(' '));
    expect(used.filter((name) => all.has(name) && !styled(head).has(name))).toEqual([]);
    expect(used).toContain('so-front__card');
  });

  it('are fewer on the page that is sent most often', () => {
    expect(pages.blocked).not.toContain('.so-steps');
  });
});
