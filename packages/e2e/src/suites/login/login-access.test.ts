import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restBasic, usersBlogs } from '../../attacks/requests.js';
import { form, sendRequest, type TypedRequest } from '../../http/request.js';
import { authorised, callApi, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { onUsualStack } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import {
  change,
  createsSession,
  loginForm,
  recover,
  SHOP_PLUGIN,
  sendFrom,
  shopForm,
  toComparable,
} from './helpers.js';

/** One row of each kind; the tests themselves come from 127.0.0.1. */
const LIST = ['127.0.0.1', '127.0.34.1', '127.0.34.16/28', '127.0.35.*', '127.0.36.10 - 127.0.36.20'];
const INSIDE = ['127.0.34.1', '127.0.34.16', '127.0.34.31', '127.0.35.200', '127.0.36.10', '127.0.36.20'];
const OUTSIDE = ['127.0.34.2', '127.0.34.15', '127.0.34.32', '127.0.36.9', '127.0.36.21', '127.0.37.1'];
const ANONYMOUS = '127.0.37.1';
const SLUG = 'inner-door';
const NOWHERE = 'inner-doox';

onUsualStack('Login Access', (stack) => {
  const plugin = join(muPlugins(stack), 'shop-form.php');
  let owner: Session;
  let xmlRpcBefore: 0 | 1;
  let programKey = '';

  beforeAll(async () => {
    writeFileSync(plugin, `<?php\n${SHOP_PLUGIN}`);
    owner = await logIn(stack);
    programKey = await runInWordPress(
      stack,
      `echo WP_Application_Passwords::create_new_application_password( 1, array( 'name' => 'access' ) )[0];`,
    );
    xmlRpcBefore = (await readOptions(stack, owner)).disable_xml_rpc;
    await setOptions(stack, owner, { disable_xml_rpc: 0 });
    await change(stack, owner, '/login-access', { entries: LIST });
  });
  afterAll(async () => {
    await recover(stack, 'login-access', 'clear');
    await change(stack, owner, '/custom-login-url', { type: 'default', login: '', signup: '' });
    await until('everyone may log in', async () => (await sendFrom(stack, ANONYMOUS, login())).status === 200);
    await setOptions(stack, owner, { disable_xml_rpc: xmlRpcBefore });
    await runInWordPress(stack, 'WP_Application_Passwords::delete_all_application_passwords( 1 );');
    rmSync(plugin, { force: true });
  });

  const login = (): TypedRequest => ({ target: '/wp-login.php' });
  const signIn = () => loginForm(stack.user, stack.password);
  const shop = () => shopForm(stack.user, stack.password);

  it.each(INSIDE)('lets %s in', async (from) => {
    expect(createsSession(await sendFrom(stack, from, signIn()))).toBe(true);
  });

  it.each(OUTSIDE)('refuses %s, with the right password and with a session', async (from) => {
    const responses = [
      await sendFrom(stack, from, login()),
      await sendFrom(stack, from, signIn()),
      await sendFrom(stack, from, { target: '/wp-admin/', headers: { cookie: owner.cookie } }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(responses.some(createsSession)).toBe(false);
  });

  it('closes every login route and wp-admin to all other addresses', async () => {
    const cookie = owner.cookie;
    const routes: [string, TypedRequest][] = [
      ['lost password', { target: '/wp-login.php?action=lostpassword' }],
      ['the login by path info', { target: '/index.php/wp-login.php' }],
      ['XML-RPC', usersBlogs(stack.user, stack.password)],
      ['REST by password', restBasic(stack.user, stack.password)],
      ['REST by application password', restBasic(stack.user, programKey)],
      ['XML-RPC by application password', usersBlogs(stack.user, programKey)],
      ['a page of wp-admin', { target: '/wp-admin/users.php', headers: { cookie } }],
      ['AJAX of wp-admin', { target: '/wp-admin/admin-ajax.php?action=rest-nonce', headers: { cookie } }],
    ];
    for (const [route, request] of routes) {
      const response = await sendFrom(stack, ANONYMOUS, request);
      expect(response.status, route).toBe(403);
      expect(response.body, route).not.toMatch(/blogid|"id":1/);
    }
    // A form of a plugin is a public page: WordPress refuses the password in it.
    expect((await sendFrom(stack, ANONYMOUS, shop())).body).toBe('Not logged in');
    expect((await sendFrom(stack, '127.0.34.1', shop())).body).toBe('Logged in');
    expect((await sendFrom(stack, '127.0.34.1', restBasic(stack.user, programKey))).body).toContain('"id":1');
  });

  it('does not affect the site, AJAX and forms for visitors', async () => {
    const requests: [TypedRequest, number][] = [
      [{ target: '/' }, 200],
      [{ target: '/wp-json/wp/v2/posts' }, 200],
      [{ target: '/wp-admin/admin-ajax.php?action=nothing' }, 400],
      [form('/wp-admin/admin-post.php', 'a=b'), 200],
      [form('/wp-login.php?action=postpass', 'post_password=x', { referer: `${stack.url}/` }), 302],
      [{ target: '/wp-admin/css/forms.min.css' }, 200],
    ];
    for (const [request, status] of requests) {
      expect([request.target, (await sendFrom(stack, ANONYMOUS, request)).status]).toEqual([request.target, status]);
    }
  });

  it('rejects rows that are not addresses, by their position, and keeps the list', async () => {
    const response = await send({ entries: ['127.0.0.1', 'my-house', '10.1.*.*', '2001:db8::/129'] });
    expect(response.http).toBe(400);
    expect(Object.keys(response.body.fields ?? {})).toEqual(['1', '3']);
    expect((await sendFrom(stack, ANONYMOUS, login())).status).toBe(403);
  });

  it('does not let the owner lock out their own address by accident; the command line undoes it', async () => {
    const refused = await send({ entries: ['127.0.34.1'] });
    expect([refused.http, refused.body.code]).toEqual([409, 'would_shut_you_out']);
    expect((await sendRequest(stack, { target: '/wp-admin/', headers: { cookie: owner.cookie } })).status).toBe(200);
    expect((await send({ entries: ['127.0.34.1'], confirm: true })).http).toBe(200);
    expect((await sendRequest(stack, { target: '/wp-admin/', headers: { cookie: owner.cookie } })).status).toBe(403);
    expect(await recover(stack, 'login-access', 'clear')).toContain('list is empty');
    const admin = { target: '/wp-admin/', headers: { cookie: owner.cookie } };
    await until('the owner is back', async () => (await sendRequest(stack, admin)).status === 200);
    await change(stack, owner, '/login-access', LIST);
  });

  describe('with a custom login URL', () => {
    beforeAll(() => change(stack, owner, '/custom-login-url', { type: 'custom', login: SLUG, signup: 'inner-entry' }));

    it('answers anonymous clients at the URL as at any missing page', async () => {
      for (const [more, headers] of [
        ['', {}],
        ['/', {}],
        ['?action=lostpassword', { cookie: owner.cookie }],
      ] as const) {
        const at = await sendFrom(stack, ANONYMOUS, { target: `/${SLUG}${more}`, headers });
        const missing = await sendFrom(stack, ANONYMOUS, { target: `/${NOWHERE}${more}`, headers });
        expect(toComparable(at)).toEqual(JSON.parse(JSON.stringify(toComparable(missing)).replaceAll(NOWHERE, SLUG)));
        expect([404, 301]).toContain(at.status);
      }
      const posted = await sendFrom(stack, ANONYMOUS, loginForm(stack.user, stack.password, { path: `/${SLUG}` }));
      expect([posted.status, createsSession(posted)]).toEqual([404, false]);
      const admin = { target: '/wp-admin/', headers: { cookie: owner.cookie } };
      expect((await sendFrom(stack, ANONYMOUS, admin)).status).toBe(404);
    });

    it('lets listed addresses log in there', async () => {
      const response = await sendFrom(
        stack,
        '127.0.36.15',
        loginForm(stack.user, stack.password, { path: `/${SLUG}` }),
      );
      expect(createsSession(response)).toBe(true);
    });
  });

  function send(body: object) {
    return callApi(stack, {
      path: '/wp-json/security-optimizer/v1/login-access',
      body: JSON.stringify(body),
      headers: authorised(owner),
    });
  }
});
