import { describe, expect, it } from 'vitest';
import { PASSWORD } from '../../test/support/fake-wordpress.js';
import { type ClientResponse, form, type RequestOptions, startLoginGateway } from '../../test/support/login-gateway.js';
import { cataloguesFolder, createLanguages } from '../i18n/languages.js';
import { silentLogger } from '../lib/logger.js';

const ALWAYS = {
  type: 'weekly',
  weekly: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
} as const;

/** How guard recognizes a program that reads the response. */
const PROGRAMS: readonly (readonly [how: string, headers: Record<string, string>])[] = [
  ['what it accepts', { accept: 'application/json' }],
  ['X-Requested-With', { accept: '*/*', 'x-requested-with': 'XMLHttpRequest' }],
  ['Fetch Metadata', { accept: '*/*', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
];
const NAVIGATION = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

const read = (response: ClientResponse) => {
  expect(response.header('content-type')).toMatch(/^application\/json/);
  return JSON.parse(response.body) as { code: string; message: string; data: { status: number } };
};
const getContentType = (response: ClientResponse) => response.header('content-type')?.split(';')[0];

async function locked(language?: Parameters<typeof startLoginGateway>[1]) {
  const gateway = await startLoginGateway({ login_attempts: 3 }, language);
  for (let round = 0; round < 3; round++) await gateway.send('/wp-login.php', form(`wrong${round}`));
  return gateway;
}

describe.each(PROGRAMS)('a program that is recognized by %s', (_how, headers) => {
  it('receives a lockout in JSON, with the time of the next attempt', async () => {
    const gateway = await locked();
    const response = await gateway.send('/wp-login.php', { ...form(PASSWORD), headers });
    expect(response.status).toBe(429);
    expect(read(response)).toEqual({
      code: 'too_many_login_attempts',
      message: 'Too many login attempts. Try again in 1 hour.',
      status: 429,
      data: { status: 429, until: Math.floor(gateway.attempts.getEntry('site', '192.0.2.1').lockedUntil / 1000) },
    });
    expect(Number(response.header('retry-after'))).toBeGreaterThan(3590);
  });

  it('receives Away Mode in JSON', async () => {
    const gateway = await startLoginGateway({ away_mode: ALWAYS });
    const response = await gateway.send('/wp-login.php', { ...form(PASSWORD), headers });
    expect([response.status, read(response).code]).toEqual([403, 'away_mode']);
    expect(read(response).message).toContain('The admin area is closed.');
  });

  it('receives a refusal by Login Access in JSON, without details', async () => {
    const gateway = await startLoginGateway({ login_access: ['198.51.100.7'] });
    const response = await gateway.send('/wp-admin/', { headers });
    expect(response.status).toBe(403);
    expect(read(response)).toMatchObject({ data: { status: 403, reference: expect.stringMatching(/^\w{4}-\w{4}$/) } });
    expect(read(response).message).toContain('example.com');
    expect(response.body).not.toMatch(/optimizer|guard|wordpress|rule|192\.0\.2\.1/i);
    expect(gateway.visits).toHaveLength(1);
  });
});

describe('a person who views the response in a browser', () => {
  it.each([
    ['a lock', locked],
    ['Away Mode', () => startLoginGateway({ away_mode: ALWAYS })],
    ['Login Access', () => startLoginGateway({ login_access: ['198.51.100.7'] })],
  ])('gets a page about %s, even when the browser prefers JSON', async (_why, start) => {
    const gateway = await start();
    for (const headers of [NAVIGATION, { accept: 'text/html' }]) {
      expect(getContentType(await gateway.send('/wp-login.php', { ...form(PASSWORD), headers }))).toBe('text/html');
    }
  });

  it('gets a page at the REST API and admin-ajax.php, too', async () => {
    const gateway = await startLoginGateway({ login_access: ['198.51.100.7'] });
    const basic = { authorization: `Basic ${btoa(`owner:${PASSWORD}`)}` };
    const refused: [string, RequestOptions][] = [
      ['/wp-json/wp/v2/users/me', { headers: basic }],
      ['/wp-admin/admin-ajax.php', { headers: { cookie: 'wordpress_logged_in_x=1' } }],
    ];
    for (const [path, options] of refused) {
      const send = (headers: Record<string, string>) =>
        gateway.send(path, { ...options, headers: { ...options.headers, ...headers } });
      expect([path, getContentType(await send(NAVIGATION))]).toEqual([path, 'text/html']);
      expect([path, getContentType(await send({}))]).toEqual([path, 'application/json']);
    }
  });
});

describe('other programs', () => {
  it('get an XML-RPC fault at xmlrpc.php, whatever they accept', async () => {
    const gateway = await locked();
    for (const headers of [{}, { accept: 'application/json' }, { 'x-requested-with': 'XMLHttpRequest' }]) {
      const response = await gateway.send('/xmlrpc.php', { method: 'POST', body: PASSWORD, headers });
      expect([response.status, getContentType(response)]).toEqual([429, 'text/xml']);
    }
  });

  it('get one line of plain text when they do not say what they accept', async () => {
    const gateway = await startLoginGateway({ login_access: ['198.51.100.7'] });
    const response = await gateway.send('/wp-admin/', { headers: { accept: '*/*' } });
    expect([response.status, getContentType(response), response.body]).toEqual([403, 'text/plain', 'Not allowed\n']);
  });

  it('read JSON in the language of the site', async () => {
    const language = createLanguages({ folder: cataloguesFolder, logger: silentLogger() })('de_DE');
    const gateway = await locked({ language });
    const response = await gateway.send('/wp-login.php', {
      ...form(PASSWORD),
      headers: { accept: 'application/json' },
    });
    expect(read(response).message).toMatch(/^Zu viele .*1 Stunde/);
  });
});

describe('a locked address', () => {
  it.each([['lostpassword'], ['retrievepassword'], ['rp'], ['resetpass'], ['register'], ['postpass']])(
    'may send the form of the action %s, and WordPress must check no password in it',
    async (action) => {
      const gateway = await locked();
      const before = gateway.wordpress.checks.length;
      const body = new URLSearchParams({ user_login: 'owner' }).toString();
      const response = await gateway.send(`/wp-login.php?action=${action}`, { method: 'POST', body });
      expect(response.status).toBe(200);
      expect(gateway.wordpress.reached.at(-1)?.context).toMatchObject({ login: 'refuse', why: 'locked' });
      // The body may name another action than the address.
      await gateway.send(`/wp-login.php?action=${action}`, {
        method: 'POST',
        body: `action=login&log=owner&pwd=${PASSWORD}`,
      });
      expect(gateway.wordpress.checks).toHaveLength(before);
    },
  );

  it.each(['', '?action=login', '?action=lostpassword&action=login', '?action=second-factor-x'])(
    'can’t log in at the address /wp-login.php%s',
    async (query) => {
      const gateway = await locked();
      const before = gateway.wordpress.reached.length;
      expect((await gateway.send(`/wp-login.php${query}`, form(PASSWORD))).status).toBe(429);
      expect(gateway.wordpress.reached).toHaveLength(before);
    },
  );

  it('may send a form when the last of several actions allows it, as PHP reads them', async () => {
    const gateway = await locked();
    const body = new URLSearchParams({ user_login: 'owner' }).toString();
    const response = await gateway.send('/wp-login.php?action=login&action=lostpassword', { method: 'POST', body });
    expect(response.status).toBe(200);
  });

  it('gets no password checked by a form whose action WordPress may read as a login', async () => {
    const gateway = await locked();
    const before = gateway.wordpress.checks.length;
    for (const query of ['?action[]=lostpassword', '?action=login&action=rp', '?action=rp%00', '?action=RP']) {
      await gateway.send(`/wp-login.php${query}`, form(PASSWORD));
    }
    expect(gateway.wordpress.checks).toHaveLength(before);
  });
});
