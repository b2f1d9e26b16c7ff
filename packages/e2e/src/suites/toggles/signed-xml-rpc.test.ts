import { createHash, createHmac } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRequest, type TypedRequest } from '../../http/request.js';
import { authorised, callApi, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { listSpellings, toSpelledRequest } from '../../http/spellings.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import { change, recover, sendFrom } from '../login/helpers.js';

const FROM = '127.0.55.1';
const KEY = 'a-key-that-only-the-plugin-knows';

/** Simulates a plugin that receives signed requests: it checks an HMAC, and removes all other filters. */
const toFakePlugin = (id: string) => `<?php
/* Plugin Name: Stand-in ${id} */
class Stand_In_${id} {
  public static function test_connection() {
    $get  = wp_unslash( $_GET );
    $hash = base64_encode( sha1( file_get_contents( 'php://input' ), true ) );
    $text = implode( "\n", array( $get['token'], $get['timestamp'], $get['nonce'], $get['body-hash'] ) );
    $mac  = base64_encode( hash_hmac( 'sha1', $text, '${KEY}', true ) );
    return hash_equals( $mac, $get['signature'] ) && hash_equals( $hash, $get['body-hash'] )
      ? 'connected as ${id}' : new IXR_Error( 401, 'The signature is wrong.' );
  }
  public static function log_in( $args ) {
    $user = wp_authenticate( $args[0], $args[1] );
    $hash = get_user_by( 'login', $args[0] );
    $plain = $hash && wp_check_password( $args[1], $hash->user_pass, $hash->ID );
    return is_wp_error( $user ) && ! $plain ? 'nobody' : 'let in';
  }
  public static function other() { return 'another plugin'; }
}
add_action( 'plugins_loaded', function () {
  if ( ! defined( 'XMLRPC_REQUEST' ) || ! isset( $_GET['for'] ) || '${id}' !== $_GET['for'] ) { return; }
  // What such plugins do, so that other plugins can't stand in their way.
  remove_all_filters( 'xmlrpc_methods' );
  remove_all_filters( 'authenticate' );
  add_filter( 'authenticate', 'wp_authenticate_username_password', 20, 3 );
  add_filter( 'pre_option_enable_xmlrpc', '__return_true' );
  add_filter( 'xmlrpc_methods', function ( $methods ) {
    $methods['${id}.testConnection'] = array( 'Stand_In_${id}', 'test_connection' );
    $methods['${id}.logIn'] = array( 'Stand_In_${id}', 'log_in' );
    $methods['${id}.core'] = 'this:sayHello';
    $methods['other.method'] = array( 'Stand_In_${id}', 'other' );
    return $methods;
  } );
} );`;

const call = (method: string, ...params: string[]) =>
  `<?xml version="1.0"?><methodCall><methodName>${method}</methodName><params>${params
    .map((value) => `<param><value><string>${value}</string></value></param>`)
    .join('')}</params></methodCall>`;

/** A call as the plugin's servers send it; with another key, as from an attacker. */
function signed(body: string, { id = 'jetpack', key = KEY } = {}): TypedRequest & { readonly query: string } {
  const [token, timestamp, nonce] = ['$c12SH$jz(fgtwR!H10uhx:1:0', String(Math.floor(Date.now() / 1000)), 'pR7kQz2'];
  const hash = createHash('sha1').update(body).digest('base64');
  const signature = createHmac('sha1', key).update([token, timestamp, nonce, hash].join('\n')).digest('base64');
  const values = { for: id, token, timestamp, nonce, 'body-hash': hash, signature };
  const query = Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  // Jetpack's servers repeat the signature in a header.
  const header = Object.entries({ token, timestamp, nonce, 'body-hash': hash, signature })
    .map(([name, value]) => `${name}="${value}"`)
    .join(' ');
  const headers = { 'content-type': 'text/xml', authorization: `X_JETPACK ${header}` };
  return { method: 'POST', target: `/xmlrpc.php?${query}`, body, headers, query };
}

onUnlikeStacks('signed XML-RPC requests, while XML-RPC is off', (stack) => {
  const plugins = join(dirname(muPlugins(stack)), 'plugins');
  const other = join(muPlugins(stack), 'names-itself.php');
  const { host } = new URL(stack.url);
  let owner: Session;
  let xmlRpcBefore: 0 | 1;
  /** Activates or deactivates the plugin in wp-admin. Guard learns of it with the response. */
  async function activate(active: boolean) {
    const page = await sendRequest(stack, { target: '/wp-admin/plugins.php', headers: { cookie: owner.cookie } });
    const action = active ? 'activate' : 'deactivate';
    const link = new RegExp(`href="(plugins\\.php\\?action=${action}&amp;plugin=jetpack%2Fjetpack\\.php[^"]+)"`).exec(
      page.body,
    )?.[1];
    const target = `/wp-admin/${(link ?? 'no-link').replaceAll('&amp;', '&')}`;
    expect((await sendRequest(stack, { target, headers: { cookie: owner.cookie } })).status).toBe(302);
  }
  const state = async () =>
    (
      await callApi(stack, {
        method: 'GET',
        path: '/wp-json/security-optimizer/v1/signed-xml-rpc',
        headers: authorised(owner),
      })
    ).body.data as { signed_xml_rpc: 0 | 1; plugins: { id: string; name: string }[] };

  beforeAll(async () => {
    mkdirSync(join(plugins, 'jetpack'), { recursive: true });
    writeFileSync(join(plugins, 'jetpack/jetpack.php'), toFakePlugin('jetpack'));
    owner = await logIn(stack);
    xmlRpcBefore = (await readOptions(stack, owner)).disable_xml_rpc;
    await setOptions(stack, owner, { disable_xml_rpc: 1 });
  });
  afterAll(async () => {
    await runInWordPress(
      stack,
      `require_once ABSPATH . 'wp-admin/includes/plugin.php'; deactivate_plugins( 'jetpack/jetpack.php' );`,
    );
    rmSync(join(plugins, 'jetpack'), { recursive: true, force: true });
    rmSync(other, { force: true });
    await change(stack, owner, '/signed-xml-rpc', { signed_xml_rpc: 1 });
    await setOptions(stack, owner, { disable_xml_rpc: xmlRpcBefore });
    await recover(stack, 'unblock', '--all');
  });

  it('are refused while the plugin is not active', async () => {
    expect(await state()).toEqual({ signed_xml_rpc: 1, plugins: [] });
    expect((await sendRequest(stack, signed(call('jetpack.testConnection')))).status).toBe(403);
  });

  describe('once the plugin is active', () => {
    beforeAll(async () => {
      await activate(true);
      await until('guard knows the plugin', async () => (await state()).plugins.length === 1);
    });

    it('reach the plugin, without a setting by the owner', async () => {
      expect(await state()).toEqual({ signed_xml_rpc: 1, plugins: [{ id: 'jetpack', name: 'Jetpack' }] });
      const response = await sendRequest(stack, signed(call('jetpack.testConnection')));
      expect([response.status, response.body]).toEqual([200, expect.stringContaining('connected as jetpack')]);
    });

    it('reach the signature check of the plugin when they are forged', async () => {
      const response = await sendRequest(stack, signed(call('jetpack.testConnection'), { key: 'guessed' }));
      expect(response.body).toContain('The signature is wrong.');
    });

    it.each([
      'wp.getUsersBlogs',
      'wp.getOptions',
      'metaWeblog.getUsersBlogs',
      'blogger.getUsersBlogs',
      'mt.supportedMethods',
      'pingback.ping',
      'demo.sayHello',
      'system.listMethods',
      'system.multicall',
      'system.getCapabilities',
      'other.method',
      'jetpack.core',
    ])('reach nothing else: %s does not exist', async (method) => {
      for (const key of [KEY, 'guessed']) {
        const response = await sendRequest(stack, signed(call(method, stack.user, stack.password), { key }));
        expect(response.body).toContain(`requested method ${method} does not exist`);
        expect(response.body).not.toMatch(/Hello!|blogid|isAdmin|another plugin/);
      }
    });

    it('have no password checked, right or wrong, and lock nobody out', async () => {
      for (const password of [stack.password, ...Array.from({ length: 12 }, (_, i) => `wrong-${i}`)]) {
        const response = await sendFrom(
          stack,
          FROM,
          signed(call('jetpack.logIn', stack.user, password), { key: 'guessed' }),
        );
        expect(response.body).toContain('nobody');
      }
      expect((await sendFrom(stack, FROM, { target: '/wp-login.php' })).status).toBe(200);
    });

    it('don’t make xmlrpc.php list its methods', async () => {
      const request = signed('');
      const response = await sendRequest(stack, { ...request, target: `${request.target}&rsd` });
      expect(response.status).toBe(403);
      expect(response.body).not.toContain('<rsd');
    });

    it.each(listSpellings('/xmlrpc.php'))('open nothing else with the spelling $how', async (spelling) => {
      const request = signed(call('system.listMethods'));
      const [path = '', rest] = spelling.target.split('?');
      const target = `${path}?${request.query}${rest === undefined ? '' : `&${rest}`}`;
      const response = await sendRequest(stack, toSpelledRequest({ ...spelling, target }, host, request));
      expect(response.body).not.toMatch(/multicall|getUsersBlogs|<rsd/);
      // With one character less it is not a signed request.
      const short = { ...spelling, target: target.replace('&signature=', '&signatur=') };
      expect([400, 403, 404]).toContain((await sendRequest(stack, toSpelledRequest(short, host, request))).status);
    });

    it('are the only exception: plain calls, GET and HTTP credentials are still refused', async () => {
      const request = signed(call('jetpack.testConnection'));
      const basic = `Basic ${Buffer.from(`${stack.user}:${stack.password}`).toString('base64')}`;
      for (const plain of [
        { method: 'POST', target: '/xmlrpc.php', body: call('jetpack.testConnection') },
        { method: 'POST', target: '/xmlrpc.php?for=jetpack', body: call('jetpack.testConnection') },
        { target: request.target },
        { ...request, headers: { ...request.headers, authorization: basic } },
        { ...request, headers: { ...request.headers, authorization: `${request.headers?.authorization}, ${basic}` } },
      ]) {
        expect((await sendRequest(stack, plain)).status).toBe(403);
      }
    });

    it('are refused once the owner chooses so, and the change is logged', async () => {
      await change(stack, owner, '/signed-xml-rpc', { signed_xml_rpc: 0 });
      expect((await sendRequest(stack, signed(call('jetpack.testConnection')))).status).toBe(403);
      await change(stack, owner, '/signed-xml-rpc', { signed_xml_rpc: 1 });
      expect((await sendRequest(stack, signed(call('jetpack.testConnection')))).body).toContain('connected as jetpack');
      await until('it stands in the log', async () => {
        const log = await callApi(stack, {
          path: '/wp-json/security-optimizer/v1/activity-registered',
          body: '{}',
          headers: authorised(owner),
        });
        return JSON.stringify(log.body.data).includes('Signed requests by XML-RPC while it is off');
      });
    });

    it('are refused by WordPress itself as soon as the plugin is deactivated, whatever guard knows', async () => {
      await runInWordPress(
        stack,
        `update_option( 'active_plugins', array_diff( get_option( 'active_plugins' ), array( 'jetpack/jetpack.php' ) ) );`,
      );
      expect((await state()).plugins).toHaveLength(1);
      expect((await sendRequest(stack, signed(call('jetpack.testConnection')))).status).toBe(403);
      await runInWordPress(
        stack,
        `update_option( 'active_plugins', array_merge( get_option( 'active_plugins' ), array( 'jetpack/jetpack.php' ) ) );`,
      );
    });
  });

  it('of another plugin pass with the filter, with its own methods only', async () => {
    const entry = (
      id: string,
      methods: string,
    ) => `array( 'id' => '${id}', 'name' => 'Shop link', 'query' => array( 'for' => '${id}' ),
      'parameters' => array( 'token' => 'text', 'timestamp' => 'digits', 'nonce' => 'text', 'body-hash' => 'base64', 'signature' => 'base64' ),
      'methods' => array( '${methods}' ) )`;
    writeFileSync(
      other,
      `${toFakePlugin('shop')}
add_filter( 'security_optimizer_signed_xml_rpc', function ( $plugins ) {
  return array_merge( $plugins, array( ${entry('shop', 'shop.')}, ${entry('open', 'wp.')} ) );
} );`,
    );
    await activate(false);
    await until('guard knows it', async () => (await state()).plugins.map(({ id }) => id).join() === 'shop');
    expect((await sendRequest(stack, signed(call('shop.testConnection'), { id: 'shop' }))).body).toContain(
      'connected as shop',
    );
    expect((await sendRequest(stack, signed(call('wp.getUsersBlogs'), { id: 'shop' }))).body).toContain(
      'does not exist',
    );
    // Methods of WordPress itself are ignored.
    expect((await sendRequest(stack, signed(call('wp.getUsersBlogs'), { id: 'open' }))).status).toBe(403);
    expect((await sendRequest(stack, signed(call('jetpack.testConnection')))).status).toBe(403);
  });
});
