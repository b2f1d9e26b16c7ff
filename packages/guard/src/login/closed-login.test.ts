import { describe, expect, it } from 'vitest';
import { PASSWORD } from '../../test/support/fake-wordpress.js';
import { type RequestOptions, startLoginGateway } from '../../test/support/login-gateway.js';
import { cataloguesFolder, createLanguages } from '../i18n/languages.js';
import { silentLogger } from '../lib/logger.js';

const login: RequestOptions = { method: 'POST', body: `log=owner&pwd=${PASSWORD}` };
const member = { cookie: 'wordpress_logged_in_x=1' };

describe('Login Access', () => {
  const list = ['198.51.100.7', '203.0.113.0/28', '2001:db8:7::/48', '192.0.2.*'];

  it('refuses other addresses on every login route and in wp-admin', async () => {
    const gateway = await startLoginGateway({ login_access: list });
    const from = '198.51.100.8';
    const refused: [string, RequestOptions][] = [
      ['/wp-login.php', {}],
      ['/wp-login.php', login],
      ['/index.php/wp-login.php', {}],
      ['/wp-admin/', { headers: member }],
      ['/wp-admin/index.php', {}],
      ['/wp-admin/admin-ajax.php', { headers: member }],
      ['/xmlrpc.php', { method: 'POST', body: PASSWORD }],
      ['/wp-json/wp/v2/users/me', { headers: { authorization: 'Basic b3duZXI6cmlnaHQ=' } }],
    ];
    for (const [path, options] of refused)
      expect((await gateway.send(path, { ...options, from })).status, path).toBe(403);
    expect(gateway.wordpress.reached).toEqual([]);
  });

  it('leaves the public site open to other addresses, and has WordPress refuse passwords in it', async () => {
    const gateway = await startLoginGateway({ login_access: list });
    const from = '198.51.100.8';
    for (const path of ['/', '/wp-admin/admin-ajax.php', '/wp-admin/admin-post.php', '/wp-admin/css/forms.css']) {
      expect((await gateway.send(path, { from })).status, path).toBe(200);
    }
    await gateway.send('/shop/account', { ...login, from });
    await gateway.send('/wp-login.php?action=postpass', {
      method: 'POST',
      body: `action=login&log=owner&pwd=${PASSWORD}`,
      from,
    });
    expect(gateway.wordpress.checks).toEqual([]);
    expect(gateway.wordpress.refused).toBe(2);
  });

  for (const from of ['198.51.100.7', '203.0.113.15', '2001:db8:7:1::1', '::ffff:192.0.2.99']) {
    it(`admits ${from}`, async () => {
      const gateway = await startLoginGateway({ login_access: list });
      expect((await gateway.send('/wp-login.php', { ...login, from })).headers.join()).toContain(
        'wordpress_logged_in_x',
      );
    });
  }
});

describe('while Away Mode is on', () => {
  /** Always away: every weekday. */
  const away = {
    away_mode: {
      type: 'weekly',
      weekly: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
    },
  } as const;

  it('no user can log in or open wp-admin, on any route', async () => {
    const gateway = await startLoginGateway(away);
    const closed: [string, RequestOptions][] = [
      ['/wp-login.php', {}],
      ['/wp-login.php', login],
      ['/wp-login.php?action=second-factor', {}],
      ['/wp-admin/', { headers: member }],
      ['/xmlrpc.php', { method: 'POST', body: PASSWORD }],
      ['/?rest_route=/wp/v2/posts', { headers: { authorization: 'Basic b3duZXI6cmlnaHQ=' } }],
    ];
    for (const [path, options] of closed) expect((await gateway.send(path, options)).status, path).toBe(403);
    expect(gateway.wordpress.reached).toEqual([]);
    expect(gateway.twoFactorCalls).toEqual([]);
  });

  const writes: [string, RequestOptions][] = [
    ['/wp-admin/admin-ajax.php', { method: 'POST', body: 'action=x', headers: member }],
    ['/wp-admin/admin-ajax.php?action=x', { headers: member }],
    ['/wp-admin/admin-post.php', { method: 'POST', body: 'action=x', headers: member }],
    ['/wp-json/wc/store/v1/cart/add-item', { method: 'POST', body: 'id=1', headers: member }],
    ['/wp-json/batch/v1', { method: 'POST', body: '{}', headers: member }],
    ['/?rest_route=/wp/v2/comments', { method: 'POST', body: 'a=b', headers: member }],
    ['/wp-json/wp/v2/posts/1?_method=DELETE', { headers: member }],
    ['/wp-json/wp/v2/posts/1', { headers: { ...member, 'x-http-method-override': 'DELETE' } }],
    ['/wp-json/wp/v2/posts/1', { method: 'DELETE', headers: { authorization: 'Bearer x' } }],
  ];

  it('members use AJAX and the REST API as usual', async () => {
    const gateway = await startLoginGateway(away);
    for (const [path, options] of writes) {
      const response = await gateway.send(path, options);
      expect([response.status === 403, gateway.wordpress.reached.at(-1)?.url], path).toEqual([false, path]);
      expect(gateway.wordpress.reached.at(-1)?.context, path).toMatchObject({ login: 'refuse', why: 'away' });
    }
    // The connector has signed each of these responses, so one probe was enough.
    expect(gateway.probedSites).toEqual(['site']);
    gateway.advance(10_000);
    await gateway.send('/wp-admin/admin-ajax.php', { method: 'POST', body: 'action=x', headers: member });
    expect(gateway.probedSites).toEqual(['site', 'site']);
  });

  it('staff can change nothing, at no address, get the usual refusal, and are logged', async () => {
    const gateway = await startLoginGateway(away);
    gateway.wordpress.staff = true;
    const anywhere: [string, RequestOptions] = ['/?edit=1', { method: 'POST', body: 'title=x', headers: member }];
    const bySession = [...writes, anywhere].filter(
      ([, { method, headers }]) => method === 'POST' && headers === member,
    );
    for (const [path, options] of bySession) {
      const response = await gateway.send(path, options);
      expect(response.status, path).toBe(403);
      expect(response.body, path).toContain('The admin area is closed. It opens again on ');
      expect(Number(response.header('retry-after')), path).toBeGreaterThan(0);
    }
    expect(gateway.visits).toEqual(bySession.map(([path]) => `403 ${path} away-mode`));
    const form = { method: 'POST', body: 'rest_route=/wp/v2/posts&title=x', headers: member };
    expect(JSON.parse((await gateway.send('/', form)).body)).toMatchObject({
      code: 'away_mode',
      data: { status: 403 },
    });
  });

  for (const [fault, set] of [
    ['is missing', { bare: true }],
    ['is of an older version', { old: true }],
  ] as const) {
    it(`no user with a session can change anything where the connector ${fault}`, async () => {
      const gateway = await startLoginGateway(away);
      Object.assign(gateway.wordpress, set);
      for (const [path, options] of writes) expect((await gateway.send(path, options)).status, path).toBe(403);
      expect(gateway.wordpress.reached).toEqual([]);
      // Requests with invented cookies cause one probe in total.
      expect(gateway.probedSites).toEqual(['site']);
      expect(gateway.visits).toEqual(writes.map(([path]) => `403 ${path} away-mode`));
    });
  }

  it('the first response without the connector’s signature is withheld, and forwarding stops', async () => {
    const gateway = await startLoginGateway(away);
    const [path, options] = writes[3] as [string, RequestOptions];
    expect((await gateway.send(path, options)).body).toBe('ok');
    gateway.wordpress.bare = true;
    expect(JSON.parse((await gateway.send(path, options)).body)).toMatchObject({ code: 'away_mode' });
    expect((await gateway.send(path, options)).status).toBe(403);
    expect(gateway.wordpress.reached).toHaveLength(2);
  });

  it('an error of the web server is forwarded, and causes a new probe of the connector', async () => {
    const gateway = await startLoginGateway(away);
    const [path, options] = writes[3] as [string, RequestOptions];
    await gateway.send(path, options);
    gateway.wordpress.unsignedStatus = 502;
    expect((await gateway.send(path, options)).status).toBe(502);
    gateway.wordpress.unsignedStatus = null;
    expect((await gateway.send(path, options)).status).toBe(200);
    expect(gateway.probedSites).toEqual(['site', 'site']);
  });

  it('a path that some program reads as AJAX does not bypass the check', async () => {
    const gateway = await startLoginGateway(away);
    const path = '/wp-admin%252fadmin-ajax.php';
    expect((await gateway.send(path, { method: 'POST', body: 'action=x', headers: member })).status).toBe(400);
    expect(gateway.wordpress.reached).toEqual([]);
  });

  it('a WebSocket handshake that changes data is refused unchecked', async () => {
    const gateway = await startLoginGateway(away);
    gateway.wordpress.bare = true;
    const upgrade = { ...member, connection: 'upgrade', upgrade: 'websocket' };
    const response = await gateway.send('/wp-json/wp/v2/posts/1?_method=DELETE', { headers: upgrade });
    expect([response.status, gateway.wordpress.reached]).toEqual([403, []]);
  });

  it('guard’s API and password checks are closed to everyone, with and without a session', async () => {
    const gateway = await startLoginGateway(away);
    const changes: [string, RequestOptions][] = [
      ['/wp-json/security-optimizer/v1/away-mode', { method: 'POST', body: '{}', headers: member }],
      ['/?rest_route=/security-optimizer/v1/away-mode', { method: 'POST', body: '{}', headers: member }],
      ['/wp-admin/admin-ajax.php', { headers: { authorization: 'Basic b3duZXI6cmlnaHQ=' } }],
      ['/wp-json/wp/v2/posts', { method: 'POST', body: '{}', headers: { ...member, authorization: 'Basic eDp5' } }],
    ];
    for (const [path, options] of changes) {
      const response = await gateway.send(path, options);
      expect(response.status, path).toBe(403);
    }
    expect(gateway.wordpress.reached).toEqual([]);
  });

  it('programs get JSON, and browsers a page', async () => {
    const gateway = await startLoginGateway(away);
    gateway.wordpress.staff = true;
    const json = await gateway.send('/wp-json/wp/v2/posts/1', { method: 'DELETE', headers: member });
    expect(JSON.parse(json.body)).toMatchObject({ code: 'away_mode', status: 403, data: { status: 403 } });
    const page = await gateway.send('/wp-admin/', { headers: { ...member, accept: 'text/html' } });
    expect(page.header('content-type')).toBe('text/html; charset=utf-8');
    expect(page.body).toContain('The admin area is closed');
    expect(page.body).toContain('Opens again');
    expect(Number(page.header('retry-after'))).toBeGreaterThan(0);
  });

  it('both responses are in the site’s language', async () => {
    const languages = createLanguages({ folder: cataloguesFolder, logger: silentLogger() });
    const gateway = await startLoginGateway(away, { language: languages('de_DE') });
    const page = await gateway.send('/wp-admin/', { headers: { ...member, accept: 'text/html' } });
    expect(page.body).toContain('<h1>Der Verwaltungsbereich ist geschlossen</h1>');
    expect(page.body).toMatch(/<dt>Öffnet wieder<\/dt><dd><b>\p{L}+, \d+\. \p{L}+, \d\d:\d\d Uhr<\/b>/u);
    gateway.wordpress.staff = true;
    const json = await gateway.send('/wp-json/wp/v2/posts/1', { method: 'DELETE', headers: member });
    expect(JSON.parse(json.body).message).toMatch(/^Der Verwaltungsbereich ist geschlossen\. Er öffnet wieder am /);
  });

  it('the public site is unchanged, and WordPress refuses passwords in its forms', async () => {
    const gateway = await startLoginGateway(away);
    expect((await gateway.send('/', { headers: member })).body).toBe('a page');
    expect((await gateway.send('/wp-json/wp/v2/posts', { headers: member })).status).toBe(200);
    expect((await gateway.send('/wp-admin/admin-ajax.php', { method: 'POST', body: 'action=x' })).status).toBe(200);
    const reader = { method: 'POST', body: 'post_password=x', headers: { cookie: 'wordpress_test_cookie=1' } };
    expect((await gateway.send('/wp-login.php?action=postpass', reader)).status).toBe(200);
    await gateway.send('/shop/account', login);
    expect(gateway.wordpress.checks).toEqual([]);
    expect(gateway.wordpress.reached.at(-1)?.context).toMatchObject({ login: 'refuse', why: 'away' });
  });

  it('an anonymous client at a hidden page still gets the 404 page', async () => {
    const gateway = await startLoginGateway({ ...away, login_url: { type: 'custom', login: 'my-door', signup: '' } });
    gateway.wordpress.custom = true;
    expect((await gateway.send('/wp-login.php')).status).toBe(404);
    expect((await gateway.send('/wp-admin/')).status).toBe(404);
    expect((await gateway.send('/my-door')).status).toBe(403);
  });

  it('an invented session cookie reveals nothing of a hidden admin area; a login-page cookie shows that it is closed', async () => {
    const gateway = await startLoginGateway({ login_url: { type: 'custom', login: 'my-door', signup: '' } });
    gateway.wordpress.custom = true;
    const { headers } = await gateway.send('/my-door');
    const mark = /visit_mark=[^;]+/.exec(headers.join('\n'))?.[0];
    gateway.settings(away);
    const send = (path: string, cookie: string) => gateway.send(path, { headers: { cookie, accept: 'text/html' } });
    const response = await send('/wp-admin/users.php', member.cookie);
    expect(response.status).toBe(404);
    expect(response.body).toBe('nothing at /wp-admin/users.php');
    expect((await send('/wp-admin/users.php', `${member.cookie}; ${mark}`)).body).toContain('The admin area is closed');
  });

  it('the login closes and opens on schedule', async () => {
    const gateway = await startLoginGateway();
    const hour = (ahead: number) => `${String((new Date().getUTCHours() + ahead) % 24).padStart(2, '0')}:00`;
    gateway.settings({ away_mode: { type: 'daily', from_hour: hour(2), to_hour: hour(4) } });
    expect((await gateway.send('/wp-login.php')).status).toBe(200);
    gateway.advance(2 * 3600_000);
    expect((await gateway.send('/wp-login.php')).status).toBe(403);
    gateway.advance(2 * 3600_000);
    expect((await gateway.send('/wp-login.php')).status).toBe(200);
  });
});
