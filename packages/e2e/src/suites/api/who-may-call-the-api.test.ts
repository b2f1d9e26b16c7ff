import { siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { openGuardDatabase, silentLogger } from '@security-optimizer/guard/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openChromium, openWindow } from '../../browser/chromium.js';
import { clickSwitch, openSiteSecurity } from '../../browser/pages.js';
import { sendRaw } from '../../http/raw.js';
import {
  type ApiResponse,
  allOptions,
  authorised,
  callApi,
  logIn,
  readOptions,
  type Session,
  setOptions,
} from '../../http/session.js';
import { onUsualStack } from '../../stacks/stack.js';
import { usersByRole } from '../../stacks/wordpress.js';

/** The three ways in which WordPress's REST API can be addressed. */
const forms = {
  pretty: (route: string) => `/wp-json${route}`,
  'on the front page': (route: string) => `/?rest_route=${route}`,
  'on index.php': (route: string) => `/index.php?rest_route=${route}`,
} as const;

const V1 = '/security-optimizer/v1';
const toggle = { suffix: '/disable-feeds', field: 'disable_feed' } as const;
const CHANGE = '{"disable_feed":1}';

onUsualStack('access to the API', (stack) => {
  let owner: Session;
  const others: Record<string, Session> = {};
  const host = new URL(stack.url).host;

  beforeAll(async () => {
    owner = await logIn(stack);
    for (const [role, login] of Object.entries(usersByRole)) others[role] = await logIn(stack, login);
    await setOptions(stack, owner, allOptions(0));
  });

  function expectRefusal(response: ApiResponse, status: number, code: string): void {
    expect(response.body).toMatchObject({ data: null, status, code });
    expect(response.http).toBe(status);
    expect(response.body.message).toBeTruthy();
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  }

  async function expectNothingStored(): Promise<void> {
    expect(await readOptions(stack, owner)).toEqual(allOptions(0));
  }

  describe.each(Object.entries(forms))('addressed %s', (_name, form) => {
    const path = form(V1 + toggle.suffix);

    it.each<[string, () => Record<string, string>, string]>([
      ['without a session', () => ({}), 'rest_cookie_invalid_nonce'],
      ['without a nonce', () => ({ cookie: owner.cookie }), 'rest_cookie_invalid_nonce'],
      ['with a stale nonce', () => ({ cookie: owner.cookie, 'x-wp-nonce': '0123456789' }), 'rest_cookie_invalid_nonce'],
      ['with an empty nonce', () => ({ cookie: owner.cookie, 'x-wp-nonce': '' }), 'rest_cookie_invalid_nonce'],
      [
        'with the nonce of another user',
        () => ({ cookie: owner.cookie, 'x-wp-nonce': others.editor?.nonce ?? '' }),
        'rest_cookie_invalid_nonce',
      ],
      ['with a nonce but without cookies', () => ({ 'x-wp-nonce': owner.nonce }), 'rest_cookie_invalid_nonce'],
      [
        'with a forged cookie',
        () => ({ cookie: owner.cookie.replace(/%7C[^%]+/g, '%7C9999999999'), 'x-wp-nonce': owner.nonce }),
        'rest_cookie_invalid_nonce',
      ],
      ['as an editor', () => authorised(others.editor as Session), 'rest_forbidden'],
      ['as an author', () => authorised(others.author as Session), 'rest_forbidden'],
      ['as a subscriber', () => authorised(others.subscriber as Session), 'rest_forbidden'],
      ['from another site', () => ({ ...authorised(owner), origin: 'https://attacker.example.com' }), 'cross_site'],
      ['with the origin null', () => ({ ...authorised(owner), origin: 'null' }), 'cross_site'],
      ['from another port of this host', () => ({ ...authorised(owner), origin: 'http://127.0.0.1:1' }), 'cross_site'],
      [
        'from another site by fetch metadata',
        () => ({ ...authorised(owner), 'sec-fetch-site': 'cross-site' }),
        'cross_site',
      ],
    ])('refuses a change %s', async (_how, headers, code) => {
      expectRefusal(await callApi(stack, { path, body: CHANGE, headers: headers() }), 403, code);
      await expectNothingStored();
    });

    it.each<[string, () => Record<string, string>]>([
      ['without a session', () => ({})],
      ['as an editor', () => authorised(others.editor as Session)],
      ['as a subscriber', () => authorised(others.subscriber as Session)],
    ])('does not read the options %s', async (_how, headers) => {
      const response = await callApi(stack, {
        path: form(`${V1}/fetch-options`),
        body: '{"page":"security"}',
        headers: headers(),
      });
      expect(response.http).toBe(403);
      expect(response.body.data).toBeNull();
    });

    it.each([
      ['two', '{"disable_feed":2}'],
      ['a text', '{"disable_feed":"x"}'],
      ['an empty text', '{"disable_feed":""}'],
      ['null', '{"disable_feed":null}'],
      ['a list', '{"disable_feed":[1]}'],
      ['an object', '{"disable_feed":{"a":1}}'],
      ['a fraction', '{"disable_feed":0.5}'],
      ['a boolean as text', '{"disable_feed":"true"}'],
      ['no field', '{}'],
      ['another field', '{"xss_protection":1}'],
      ['the field in capitals', '{"DISABLE_FEED":1}'],
      ['nothing at all', undefined],
    ])('refuses %s and names the field', async (_what, body) => {
      const response = await callApi(stack, {
        path,
        headers: authorised(owner),
        ...(body === undefined ? {} : { body }),
      });
      expectRefusal(response, 400, 'invalid_input');
      expect(response.body.fields).toHaveProperty('disable_feed');
      await expectNothingStored();
    });

    it.each([
      ['half an object', '{"disable_feed":1'],
      ['a word', 'on'],
      ['two objects', '{"disable_feed":1}{"disable_feed":1}'],
      ['a form', 'disable_feed=1'],
      ['bytes that are not UTF-8', '{"disable_feed":1,"x":"\xff\xfe"}'],
    ])('refuses %s as broken JSON', async (_what, body) => {
      expectRefusal(await callApi(stack, { path, body, headers: authorised(owner) }), 400, 'invalid_json');
      await expectNothingStored();
    });

    it.each(['[]', '1', '"x"', 'null', 'true'])('refuses %s, which is not an object', async (body) => {
      expectRefusal(await callApi(stack, { path, body, headers: authorised(owner) }), 400, 'invalid_input');
    });

    it('refuses an unknown page', async () => {
      for (const body of ['{"page":"nothing"}', '{"page":1}', '{}']) {
        const response = await callApi(stack, { path: form(`${V1}/fetch-options`), body, headers: authorised(owner) });
        expectRefusal(response, 400, 'invalid_input');
        expect(response.body.fields).toHaveProperty('page');
      }
    });

    it('has no other routes', async () => {
      for (const route of ['/nothing', '/disable-feeds/x', '/', '']) {
        const response = await callApi(stack, { path: form(V1 + route), body: CHANGE, headers: authorised(owner) });
        expectRefusal(response, 404, 'rest_no_route');
      }
    });

    it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('does not accept %s for a change', async (method) => {
      const response = await callApi(stack, { path, method, body: CHANGE, headers: authorised(owner) });
      expectRefusal(response, 404, 'rest_no_route');
      await expectNothingStored();
    });

    it.each([
      ['1', 1],
      ['"1"', 1],
      ['true', 1],
      ['0', 0],
      ['"0"', 0],
      ['false', 0],
    ])('accepts %s, and accepts it again', async (json, value) => {
      for (const _turn of [1, 2]) {
        const response = await callApi(stack, { path, body: `{"disable_feed":${json}}`, headers: authorised(owner) });
        expect(response.http).toBe(200);
        expect(response.body).toMatchObject({ data: { disable_feed: value }, status: 200 });
      }
      expect((await readOptions(stack, owner)).disable_feed).toBe(value);
    });

    it('accepts JSON with any content type, and a trailing slash', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
        const headers = { ...authorised(owner), 'content-type': type };
        const response = await callApi(stack, { path: `${path}/`, body: '{"disable_feed":0}', headers });
        expect(response.body.status).toBe(200);
      }
    });
  });

  it('refuses a body of 10 MB without waiting for it, and closes the connection if the client still sends it', async () => {
    const length = 10 * 1024 * 1024;
    const head = Object.entries({ host, connection: 'close', 'content-length': String(length), ...authorised(owner) })
      .map(([name, value]) => `${name}: ${value}`)
      .join('\r\n');
    // The body is not sent at first.
    for (const body of ['', '{"disable_feed":1}', `{"disable_feed":1,"x":"${'a'.repeat(length - 25)}"}`]) {
      const response = await sendRaw(
        stack.port,
        `POST /wp-json${V1}${toggle.suffix} HTTP/1.1\r\n${head}\r\n\r\n${body}`,
      );
      expect(response.status).toBe(413);
      expect(JSON.parse(response.body)).toMatchObject({ data: null, code: 'body_too_large', status: 413 });
    }
    await expectNothingStored();
  });

  it('hides the commands of the connector from all clients', async () => {
    for (const form of Object.values(forms)) {
      for (const command of ['hello', 'session', 'policy']) {
        const path = form(`/security-optimizer-connector/v1/${command}`);
        const response = await callApi(stack, { path, body: '{}', headers: authorised(owner) });
        expect(response.http).toBe(404);
        expect(response.body.code).toBe('rest_no_route');
      }
    }
  });

  it('records who changed which setting, its old and new value, and the address', async () => {
    await setOptions(stack, owner, allOptions(1));
    await setOptions(stack, owner, allOptions(0));
    const db = await openGuardDatabase({ url: 'sqlite:guard.sqlite', dataDir: stack.guardDir, logger: silentLogger() });
    try {
      const rows = await db
        .selectFrom('audit')
        .selectAll()
        .orderBy('at', 'desc')
        .orderBy('id', 'desc')
        .limit(14)
        .execute();
      for (const { field } of siteSecurityToggles) {
        const changes = rows.filter(({ name }) => name === field);
        expect(changes.map(({ before, after }) => `${before} to ${after}`).sort()).toEqual(['0 to 1', '1 to 0']);
        for (const change of changes) {
          expect(change).toMatchObject({ actor_id: 1, actor_login: stack.user, address: '127.0.0.1' });
          expect(Math.abs(Date.now() - change.at)).toBeLessThan(60_000);
        }
      }
    } finally {
      await db.destroy();
    }
  });

  describe('when the nonce of the open page has expired', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await openChromium();
    });
    afterAll(() => browser?.close());

    it('does not interrupt the owner', async () => {
      const window = await openWindow(browser, stack, owner);
      const page = await window.newPage();
      const container = /&quot;wp_nonce&quot;:&quot;[0-9a-f]+&quot;/;
      await page.route('**/admin.php?page=site-security', async (route) => {
        const response = await route.fetch();
        const html = await response.text();
        if (!container.test(html)) throw new Error('The page holds no nonce.');
        await route.fulfill({
          response,
          body: html.replace(container, '&quot;wp_nonce&quot;:&quot;0123456789&quot;'),
        });
      });
      const refused: string[] = [];
      page.on('response', (response) => {
        if (response.status() === 403) refused.push(response.url());
      });
      await openSiteSecurity(page, stack);
      expect(refused.length).toBeGreaterThan(0);
      const feeds = siteSecurityToggles[4];
      await clickSwitch(page, feeds, 'on', feeds.messages.on);
      expect((await readOptions(stack, owner)).disable_feed).toBe(1);
      expect(await page.getByRole('alert').count()).toBe(0);
    });
  });
});
