import { describe, expect, it } from 'vitest';
import { PASSWORD, type WebServerBasic } from '../../test/support/fake-wordpress.js';
import { form, type RequestOptions, startLoginGateway } from '../../test/support/login-gateway.js';
import { passingTime } from '../../test/support/passing-time.js';
import { eventually } from '../../test/support/scratch.js';
import { cataloguesFolder, createLanguages } from '../i18n/languages.js';
import { silentLogger } from '../lib/logger.js';
import { BasicCredentials } from './basic-credentials.js';

const LIMIT = 5;
const KEY = 'ck_shop:cs_secret';
const STAGING = 'staging:open';
const CLIENT = '192.0.2.1';
const basic = (credentials: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
});
type Request = [path: string, options: RequestOptions];
const cart = (credentials: string, more: RequestOptions = {}): Request => [
  '/wp-json/wc/store/v1/cart',
  { ...more, headers: { ...basic(credentials), ...more.headers } },
];
const addToCart = (credentials: string): Request => [
  '/wp-json/wc/store/v1/cart/add-item',
  { method: 'POST', body: 'id=5', headers: basic(credentials) },
];

/** WordPress checks Basic credentials in REST and XML-RPC only. */
async function site(options?: Parameters<typeof startLoginGateway>[1]) {
  const gateway = await startLoginGateway({ login_attempts: LIMIT }, options);
  gateway.wordpress.checksBasic = 'api';
  const failures = (key = CLIENT) => gateway.attempts.getEntry('site', key).failures;
  const probes = () => gateway.wordpress.reached.filter(({ note }) => note === 'probe').length;
  return { gateway, failures, probes };
}

/** A web server that requires its own credentials for the site. */
async function staging(webServer: Partial<WebServerBasic> = {}) {
  const parts = await site();
  parts.gateway.wordpress.webServer = { path: '/', credentials: STAGING, ...webServer };
  return parts;
}

/** An address that has failed too often at the login form. */
async function locked() {
  const parts = await site();
  for (let round = 0; round < LIMIT; round++) await parts.gateway.send('/wp-login.php', form(`wrong${round}`));
  return parts;
}

describe('a response with the connector’s signature that reports no password check', () => {
  it('is neutral: a hundred requests with a shop’s keys are no guesses and delay no other client', async () => {
    const queueLimits = {
      guessThreshold: 3,
      maxConcurrentWhileGuessed: 1,
      maxConcurrent: 1,
      pauseFactor: 1e6,
      maxPauseMs: 60_000,
      hungAfterMs: 60_000,
    };
    const { gateway, failures } = await site({ queueLimits });
    gateway.wordpress.pluginKeys.add(KEY);
    for (let round = 0; round < 100; round++) expect((await gateway.send(...cart(KEY))).status).toBe(200);
    expect(failures()).toBe(0);
    // With three guesses among them, the only permit would be unavailable for a minute.
    const member = await gateway.send('/wp-login.php', { ...form(PASSWORD), from: '192.0.2.7' });
    expect(member.status).toBe(200);
  });

  it('without the signature counts as a failure', async () => {
    const { gateway, failures } = await site();
    gateway.wordpress.pluginKeys.add(KEY);
    gateway.wordpress.bare = true;
    for (let round = 0; round < LIMIT; round++) await gateway.send(...cart(KEY));
    expect(failures()).toBe(LIMIT);
  });
});

/** How long a guess may wait in the queue before it is refused, milliseconds. */
const QUEUE_MS = 2000;

describe('keys that a plugin has accepted several times', () => {
  /** One permit for all, which a guess holds for a minute. */
  const queueLimits = {
    guessThreshold: 0,
    maxConcurrentWhileGuessed: 1,
    pauseFactor: 1e6,
    maxPauseMs: 60_000,
    hungAfterMs: 60_000,
  };

  it('no longer wait for password checks of anonymous clients', async () => {
    const { pass } = passingTime();
    const { gateway } = await site({ queueLimits });
    gateway.wordpress.pluginKeys.add(KEY);
    for (let round = 0; round < 5; round++) await gateway.send(...cart(KEY));
    await gateway.send('/wp-login.php', { ...form('wrong'), from: '198.51.100.1' });
    expect((await gateway.send(...cart(KEY))).status).toBe(200);
    const other = gateway.send(...cart('other:key'));
    await eventually(() => gateway.attempts.waiting === 1);
    pass(QUEUE_MS);
    expect((await other).status).toBe(429);
  });

  it('wait again after a password was checked in a request with them', async () => {
    const { gateway } = await site({ queueLimits: { ...queueLimits, pauseFactor: 0 } });
    gateway.wordpress.pluginKeys.add(KEY);
    for (let round = 0; round < 5; round++) await gateway.send(...cart(KEY));
    gateway.wordpress.pluginKeys.delete(KEY);
    await gateway.send(...cart(KEY));
    expect(gateway.wordpress.checks).toEqual(['application-password']);
  });

  it.each([
    ['requests the front page before each guess', '/', {}],
    ['sends its own session with each guess', '/wp-json/', { cookie: 'wordpress_logged_in_x=1' }],
    ['sends a session under an unknown name', '/', { cookie: 'site_session=1; wordpress_logged_in_x=1' }],
  ])('do not let a client skip the queue that %s', async (_how, path, cookies) => {
    const { pass } = passingTime();
    const { gateway } = await site({ queueLimits });
    const guess = 'owner:guess';
    for (let round = 0; round < 20; round++) {
      await gateway.send(path === '/wp-json/' ? '/' : path, { headers: { ...basic(guess), ...cookies } });
    }
    await gateway.send('/wp-login.php', { ...form('wrong'), from: '198.51.100.1' });
    const before = gateway.wordpress.checks.length;
    const response = gateway.send(...cart(guess));
    await eventually(() => gateway.attempts.waiting === 1);
    pass(QUEUE_MS);
    expect((await response).status).toBe(429);
    expect(gateway.wordpress.checks).toHaveLength(before);
  });
});

describe('a locked address', () => {
  it.each([
    ['a style sheet', '/wp-content/themes/shop/style.css'],
    ['the front page', '/'],
    ['REST', '/wp-json/wp/v2/posts'],
    ['REST by its query', '/?rest_route=/wp/v2/posts'],
    ['admin-ajax', '/wp-admin/admin-ajax.php'],
  ])('gets %s with basic authentication: requests that need no login are not refused', async (_what, path) => {
    const { gateway } = await locked();
    const response = await gateway.send(path, { headers: basic('staging:open') });
    expect(response.status).not.toBe(429);
  });

  it('can send a form with basic authentication', async () => {
    const { gateway } = await locked();
    expect((await gateway.send('/', { method: 'POST', body: 'add-to-cart=5', headers: basic(STAGING) })).status).toBe(
      200,
    );
  });

  it('has no password checked in any of them: WordPress must refuse it, and gets the end of the lock', async () => {
    const { gateway } = await locked();
    const before = gateway.wordpress.checks.length;
    for (const password of [PASSWORD, 'wrong']) await gateway.send(...cart(`owner:${password}`));
    expect(gateway.wordpress.checks).toHaveLength(before);
    const until = Math.floor(gateway.attempts.getEntry('site', CLIENT).lockedUntil / 1000);
    expect(gateway.wordpress.reached.at(-1)?.context).toEqual({
      login: 'refuse',
      why: 'locked',
      until,
      message: 'Too many login attempts. Try again in 1 hour.',
    });
  });

  it('gets the message in the language of the site', async () => {
    const languages = createLanguages({ folder: cataloguesFolder, logger: silentLogger() });
    const gateway = await startLoginGateway({ login_attempts: LIMIT }, { language: languages('de_DE') });
    for (let round = 0; round < LIMIT; round++) await gateway.send('/wp-login.php', form(`wrong${round}`));
    await gateway.send('/shop/account', form(PASSWORD));
    expect(gateway.wordpress.reached.at(-1)?.context?.message).toMatch(/^Zu viele .*1 Stunde/);
  });

  it('gets Retry-After wherever its password was refused, and nowhere else', async () => {
    const { gateway } = await locked();
    for (const request of [cart(`owner:${PASSWORD}`), ['/shop/account', form(PASSWORD)] as Request]) {
      expect(Number((await gateway.send(...request)).header('retry-after'))).toBeGreaterThan(3590);
    }
    expect((await gateway.send('/')).header('retry-after')).toBeUndefined();
  });

  it('is refused at the gateway while the connector is away', async () => {
    const { gateway, probes } = await locked();
    gateway.wordpress.bare = true;
    gateway.advance(11_000);
    const before = gateway.wordpress.checks.length;
    for (let round = 0; round < 3; round++) expect((await gateway.send(...cart(`owner:${PASSWORD}`))).status).toBe(429);
    expect(gateway.wordpress.checks).toHaveLength(before);
    // WordPress would check the password of the probe.
    expect(probes()).toBe(0);
  });

  it('is refused from the first response that shows the connector away', async () => {
    const { gateway } = await locked();
    await gateway.send('/');
    gateway.wordpress.bare = true;
    const statuses: number[] = [];
    for (let round = 0; round < 4; round++) statuses.push((await gateway.send(...cart(`owner:${round}`))).status);
    expect(statuses).toEqual([200, 429, 429, 429]);
  });

  it('gets an XML-RPC fault there, with the status of a lock', async () => {
    const { gateway } = await locked();
    const response = await gateway.send('/xmlrpc.php', { method: 'POST', body: PASSWORD });
    expect(response.status).toBe(429);
    expect(response.header('content-type')).toBe('text/xml; charset=UTF-8');
    expect(response.body).toContain('<int>429</int>');
    expect(response.body).toContain('<string>Too many login attempts. Try again in 1 hour.</string>');
    expect(Number(response.header('retry-after'))).toBeGreaterThan(3590);
  });
});

describe('behind basic authentication of the web server', () => {
  it.each([
    ['a GET', cart],
    ['a POST', addToCart],
  ])('its credentials in requests by %s are not logins: none of them is counted', async (_how, call) => {
    const { gateway, failures } = await staging();
    for (let round = 0; round < LIMIT * 3; round++) expect((await gateway.send(...call(STAGING))).status).toBe(200);
    expect(failures()).toBe(0);
    expect((await gateway.send('/style.css', { headers: basic(STAGING) })).status).not.toBe(429);
  });

  it('many requests at once cause one probe of the web server, and are not counted either', async () => {
    const { gateway, failures } = await staging();
    await Promise.all(Array.from({ length: 40 }, () => gateway.send(...cart(STAGING))));
    expect(failures()).toBe(0);
    expect((await gateway.send('/', { headers: basic(STAGING) })).status).toBe(200);
  });

  it('WordPress is informed that they are the web server’s, once that is known', async () => {
    const { gateway } = await staging();
    await gateway.send(...cart(STAGING));
    const checks = gateway.wordpress.checks.length;
    await gateway.send(...cart(STAGING));
    expect(gateway.wordpress.reached.at(-1)?.context).toEqual({ basic: 'web-server' });
    expect(gateway.wordpress.checks).toHaveLength(checks);
  });

  it('a locked address keeps access with them as an anonymous visitor, from its first request', async () => {
    const { gateway } = await staging();
    const headers = basic(STAGING);
    for (let round = 0; round < LIMIT; round++)
      await gateway.send('/wp-login.php', { ...form(`wrong${round}`), headers });
    expect((await gateway.send('/wp-login.php', { ...form(PASSWORD), headers })).status).toBe(429);
    const response = await gateway.send(...cart(STAGING));
    expect([response.status, response.header('retry-after')]).toEqual([200, undefined]);
    expect(gateway.wordpress.reached.at(-1)?.context).toMatchObject({ why: 'locked', basic: 'web-server' });
  });

  it('guesses at the login form and in XML-RPC are all counted', async () => {
    const { gateway, failures } = await staging();
    await gateway.send(...cart(STAGING));
    gateway.wordpress.checks.length = 0;
    const headers = basic(STAGING);
    for (let round = 0; round < LIMIT * 2; round++) {
      await gateway.send('/wp-login.php', { ...form(`wrong${round}`), headers });
      await gateway.send('/xmlrpc.php', { method: 'POST', body: `wrong${round}`, headers });
    }
    expect(gateway.wordpress.checks).toHaveLength(LIMIT);
    expect(failures()).toBe(LIMIT);
  });

  it('the result expires after a while', async () => {
    const { gateway } = await staging();
    await gateway.send(...cart(STAGING));
    await gateway.send(...cart(STAGING));
    expect(gateway.wordpress.reached.at(-1)?.context).toEqual({ basic: 'web-server' });
    gateway.advance(61 * 60_000);
    await gateway.send(...cart(STAGING));
    expect(gateway.wordpress.reached.filter(({ note }) => note === '').at(-1)?.context).toBeNull();
  });
});

describe('one wrong application password', () => {
  it('counts once for an address, however often a program sends it', async () => {
    const { gateway, failures } = await site();
    for (let round = 0; round < LIMIT * 4; round++) await gateway.send(...cart('owner:an old one'));
    expect(failures()).toBe(1);
    expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(200);
  });

  it('counts once when it is sent many times at once', async () => {
    const { gateway, failures } = await site();
    gateway.wordpress.checkMs = 10;
    await Promise.all(Array.from({ length: 20 }, () => gateway.send(...cart('owner:an old one'))));
    expect(failures()).toBe(1);
  });

  it('counts for each address that sends it, each name and each password', async () => {
    const { gateway, failures } = await site();
    const from = '198.51.100.7';
    for (const credentials of ['owner:one', 'owner:two', 'editor:one', 'owner:one', 'editor:one']) {
      await gateway.send(...cart(credentials));
    }
    await gateway.send(...cart('owner:one', { from }));
    expect([failures(), failures(from)]).toEqual([3, 1]);
  });

  it('does not hide a guess at the login form in the same request', async () => {
    const { gateway, failures } = await site();
    await gateway.send(...cart('owner:an old one'));
    for (let round = 0; round < LIMIT - 1; round++) {
      await gateway.send('/wp-login.php', { ...form(`wrong${round}`), headers: basic('owner:an old one') });
    }
    expect(failures()).toBe(LIMIT);
    expect((await gateway.send('/wp-login.php', form(PASSWORD))).status).toBe(429);
  });

  it('counts again after the failures of the address have expired', () => {
    const credentials = new BasicCredentials();
    const [name, now] = ['site\nowner', Date.UTC(2026, 10, 27)];
    expect(credentials.recordRejection(name, CLIENT, now)).toBe(false);
    expect(credentials.recordRejection(name, CLIENT, now + 60_000)).toBe(true);
    expect(credentials.recordRejection(name, '198.51.100.7', now + 60_000)).toBe(false);
    expect(credentials.recordRejection(name, CLIENT, now + 400 * 24 * 60 * 60_000)).toBe(false);
    // After a clock far ahead is set back, a guess still counts.
    expect(credentials.recordRejection(name, CLIENT, now)).toBe(false);
  });
});

/** Configurations in which guesses might be mistaken for credentials of the web server. */
const traps: Record<string, { webServer: Partial<WebServerBasic> | null; guess(password: string): Request }> = {
  'a web server without basic authentication': { webServer: null, guess: (password) => cart(`owner:${password}`) },
  'one that requires credentials below one folder only': {
    webServer: { path: '/private' },
    guess: (password) => cart(`owner:${password}`),
  },
  'one that accepts any credentials': {
    webServer: { credentials: 'any' },
    guess: (password) => cart(`owner:${password}`),
  },
  'one that requires credentials for some methods only': {
    webServer: { methods: ['GET', 'HEAD'] },
    guess: (password) => addToCart(`owner:${password}`),
  },
  'one that accepts a cookie instead': {
    webServer: { cookie: 'let-me-in=1' },
    guess: (password) => cart(`owner:${password}`, { headers: { cookie: 'let-me-in=1' } }),
  },
};

describe('guesses by basic authentication are all counted', () => {
  for (const [name, { webServer, guess }] of Object.entries(traps)) {
    it(`behind ${name}`, async () => {
      const { gateway, failures } = webServer === null ? await site() : await staging(webServer);
      gateway.wordpress.checkMs = 10;
      await Promise.all(Array.from({ length: 50 }, (_, round) => gateway.send(...guess(`guess${round}`))));
      for (let round = 0; round < LIMIT; round++) await gateway.send(...guess('once more'));
      expect(failures()).toBe(LIMIT);
      expect(gateway.wordpress.checks).toHaveLength(LIMIT);
    });
  }

  it('when the probe for the owner of the credentials gets no response', async () => {
    const { gateway, failures } = await site();
    gateway.wordpress.probesHang = true;
    await Promise.all(Array.from({ length: LIMIT }, (_, round) => gateway.send(...cart(`owner:${round}`))));
    await eventually(() => failures() === LIMIT);
  });

  it('with two such headers in one request, of which the web server may read another one than WordPress', async () => {
    const { gateway, failures } = await staging({ credentials: 'any' });
    const authorization = [basic(STAGING).authorization, basic('owner:guess').authorization] as unknown as string;
    for (let round = 0; round < LIMIT; round++) await gateway.send('/wp-json/', { headers: { authorization } });
    expect(failures()).toBe(LIMIT);
  });

  it('with one probe for each pair of name and password', async () => {
    const { gateway, probes } = await site();
    for (let round = 0; round < LIMIT - 1; round++) await gateway.send(...cart('owner:guess'));
    expect(probes()).toBe(1);
  });
});
