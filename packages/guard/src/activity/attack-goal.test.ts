import { describe, expect, it } from 'vitest';
import { attackGoal, type JudgedRequest } from './attack-goal.js';

const judge = (target: string, more: Partial<JudgedRequest> = {}) =>
  attackGoal({ target, rule: null, status: 200, method: 'GET', failedLogins: 0, isKnownCrawler: false, ...more });

describe('the goal of a request', () => {
  it.each([
    ['/wp-login.php', 'login-limit', 'passwords'],
    ['/xmlrpc.php', 'xml-rpc', 'passwords'],
    ['/wp-content/uploads/a.php', 'system-folders', 'holes'],
    ['/wp-content/debug.log', 'system-folders', 'files'],
    ['/.env', 'system-folders', 'files'],
    ['/wp-config.php.bak', 'system-folders', 'files'],
    ['/readme.html', 'readme', 'holes'],
    ['/?author=1', 'blocked-visitor', 'users'],
    ['/wp-comments-post.php', 'blocked-visitor', 'spam'],
    ['/?s=union+select+1', 'blocked-visitor', 'holes'],
    ['/', 'blocked-visitor', 'overload'],
    ['/a%2fb', 'ambiguous:path', 'holes'],
  ])('%s refused by %s is %s', (target, rule, goal) => {
    expect(judge(target, { rule, status: 403 })).toBe(goal);
  });

  it('is passwords for every wrong one, whatever the target', () => {
    expect(judge('/my-account/', { failedLogins: 1, method: 'POST' })).toBe('passwords');
  });

  it('is null for requests of people and search engines', () => {
    expect(judge('/')).toBeNull();
    expect(judge('/no-such-page', { status: 404 })).toBeNull();
    expect(judge('/wp-login.php')).toBeNull();
    expect(judge('/robots.txt', { status: 404 })).toBeNull();
    expect(judge('/.well-known/security.txt', { status: 404 })).toBeNull();
    expect(judge('/old.php', { status: 404, isKnownCrawler: true })).toBeNull();
    expect(judge('/backup.zip', { status: 500 })).toBeNull();
  });

  it('is found for a scan that no rule refused, by targets that nobody links to', () => {
    expect(judge('/backup.zip', { status: 404 })).toBe('files');
    expect(judge('/shell.php', { status: 404 })).toBe('holes');
    expect(judge('/wp-json/wp/v2/users')).toBe('users');
  });
});
