import { describe, expect, it } from 'vitest';
import {
  hasSessionCookie,
  readSessionCookie,
  startsSession,
  toSessionCookieNames,
  USUAL_SESSION_COOKIES,
} from './session-cookies.js';

const chosen = toSessionCookieNames({ session: 'member_pass', others: ['staff', 'staff_sec'] });

describe('names of session cookies', () => {
  it('are not stored as the site’s own when they begin like WordPress’s, so that such sites share compiled data', () => {
    for (const hash of ['0a1b', 'ffff', 'shop']) {
      const names = { session: `wordpress_logged_in_${hash}`, others: [`wordpress_${hash}`, `wordpress_sec_${hash}`] };
      expect(toSessionCookieNames(names)).toBe(USUAL_SESSION_COOKIES);
    }
    expect(chosen).toEqual({ session: 'member_pass', all: ['member_pass', 'staff', 'staff_sec'] });
  });

  it('may be changed for only some of the three', () => {
    const onlySession = toSessionCookieNames({ session: 'pass', others: ['wordpress_a', 'wordpress_sec_a'] });
    expect(onlySession).toEqual({ session: 'pass', all: ['pass'] });
    const onlyStaff = toSessionCookieNames({ session: 'wordpress_logged_in_a', others: ['staff', ''] });
    expect(onlyStaff).toEqual({ session: null, all: ['staff'] });
    // A session cookie whose name begins like another cookie of WordPress.
    const odd = toSessionCookieNames({ session: 'wordpress_pass', others: [] });
    expect(readSessionCookie('a=b; wordpress_pass=u|1', odd)).toBe('wordpress_pass=u|1');
    expect(hasSessionCookie('wordpress_pass=u', odd)).toBe(true);
  });
});

describe('the session cookie', () => {
  it('is found by the site’s name before WordPress’s', () => {
    expect(readSessionCookie('a=1; member_pass=owner|1|x; b=2', chosen)).toBe('member_pass=owner|1|x');
    expect(readSessionCookie('wordpress_logged_in_a=old; member_pass=new', chosen)).toBe('member_pass=new');
    expect(readSessionCookie('wordpress_logged_in_a=old', chosen)).toBe('wordpress_logged_in_a=old');
    expect(readSessionCookie('wordpress_logged_in_a=x', USUAL_SESSION_COOKIES)).toBe('wordpress_logged_in_a=x');
    expect(readSessionCookie('staff=x; member_passes=y', chosen)).toBeNull();
    expect(readSessionCookie(`member_pass=${'x'.repeat(600)}`, chosen)).toBeNull();
  });

  it('starts with a response that sets it', () => {
    expect(startsSession('member_pass=owner; path=/; HttpOnly', chosen)).toBe(true);
    expect(startsSession('wordpress_logged_in_a=owner; path=/', chosen)).toBe(true);
    expect(startsSession(' wordpress_logged_in_a=owner', USUAL_SESSION_COOKIES)).toBe(true);
    expect(startsSession('member_pass=owner', USUAL_SESSION_COOKIES)).toBe(false);
    expect(startsSession('member_passport=1', chosen)).toBe(false);
    expect(startsSession('staff=owner', chosen)).toBe(false);
  });
});
