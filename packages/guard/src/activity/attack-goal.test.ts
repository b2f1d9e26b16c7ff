import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attackGoal, attackTarget, type JudgedRequest } from './attack-goal.js';

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
    expect(judge('/sitemap.xml.gz', { status: 404 })).toBeNull();
    expect(judge('/blog/index.php/2026/old-post/', { status: 404 })).toBeNull();
    // With plain permalinks this is the page of an author, to which themes link.
    expect(judge('/?author=1')).toBeNull();
  });

  it('is found for a scan that no rule refused, by targets that nobody links to', () => {
    expect(judge('/backup.zip', { status: 404 })).toBe('files');
    expect(judge('/site.tar.gz', { status: 404 })).toBe('files');
    expect(judge('/shell.php', { status: 404 })).toBe('holes');
    expect(judge('/old/index.php', { status: 404 })).toBe('holes');
    expect(judge('/wp-json/wp/v2/users')).toBe('users');
    expect(judge('/?author=1', { status: 301 })).toBe('users');
    expect(judge('/?author=9', { status: 404 })).toBe('users');
    expect(judge('/shop/?page=2&author=1')).toBe('users');
  });
});

describe('the target of an attack', () => {
  it.each([
    ['/wp-login.php?redirect_to=x', '/wp-login.php'],
    ['//xmlrpc.php', '/xmlrpc.php'],
    ['///blog/xmlrpc.php/anything?x=1', '/blog/xmlrpc.php'],
    ['/wp-content/plugins/example-forms/upload/3.php', '/wp-content/plugins/example-forms/'],
    ['/shop/wp-content/themes/example/style.css?v=1', '/shop/wp-content/themes/example/'],
    ['/wp-content/uploads/2026/11/shell.php', '/wp-content/uploads/'],
    ['/wp-includes/ID3/x.php', '/wp-includes/'],
    ['/wp-content/plugins/hello.php', '/wp-content/plugins/hello.php'],
    ['/?author=12', '/?author='],
    ['/blog/?author=3&x=1', '/blog/?author='],
    ['/?p=1&author=3', '/'],
    ['/?author=', '/'],
    ['/.env', '/.env'],
    ['/', '/'],
    ['', ''],
  ])('of %s is %s', (target, expected) => {
    expect(attackTarget(target)).toBe(expected);
  });

  it('is part of every target that counts for it, so that a search for it finds them', () => {
    const part = fc.constantFrom(
      '/',
      '//',
      'wp-content',
      'plugins',
      'themes',
      'uploads',
      'a',
      'x.php',
      '?author=1',
      '%2f',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const target = `/${parts.join('')}`;
        expect(target).toContain(attackTarget(target));
      }),
    );
  });
});
