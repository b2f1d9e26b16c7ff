import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { restBasic } from '../../attacks/requests.js';
import type { RawResponse } from '../../http/raw.js';
import { form, type TypedRequest } from '../../http/request.js';
import { logIn, type Session } from '../../http/session.js';
import { onEveryStack, type Stack } from '../../stacks/stack.js';
import { muPlugins, runInWordPress, startWordPress, stopWordPress } from '../../stacks/wordpress.js';
import { change, createsSession, loginForm, recover, sendFrom } from '../login/helpers.js';
import { guideBlocks, replaceAll } from './helpers.js';

const LIMIT = 5;
const STAGING = ['staging', 'open-sesame'] as const;
const OWNER_OF_PROGRAM = 'a-program-owner';

/** A request that adds something to a cart. */
const PLUGIN = `<?php
add_filter( 'wp_is_application_passwords_available', '__return_true' );
add_action( 'rest_api_init', function () {
  register_rest_route( 'basket/v1', '/items', array(
    'methods'             => array( 'GET', 'POST' ),
    'permission_callback' => '__return_true',
    'callback'            => function () { return array( 'items' => 1, 'user' => get_current_user_id() ); },
  ) );
} );
`;

/** The guide's lines: guard's own requests carry a header that guard strips from requests of visitors. */
const [AUTH_CONFIG = '', ...BASIC] = guideBlocks('A password of the web server', 'nginx').join('').trim().split('\n');

/** nginx requires basic authentication below a path while `work` runs. */
async function behindPassword(stack: Stack, path: string, work: () => Promise<void>): Promise<void> {
  const file = join(stack.dir, 'nginx.conf');
  const passwords = join(stack.dir, 'passwords');
  const before = readFileSync(file, 'utf8');
  const basic = replaceAll(BASIC.join(' '), { '/etc/nginx/staging.htpasswd': `"${passwords}"` });
  writeFileSync(passwords, `${STAGING[0]}:{PLAIN}${STAGING[1]}\n`);
  const config = before.replace('  server {\n', `  ${AUTH_CONFIG}\n  server {\n    ${path === '/' ? basic : ''}\n`);
  const folder = `location ${path} { ${basic} try_files $uri $uri/ /index.php?$args; }\n    location / {`;
  writeFileSync(file, path === '/' ? config : config.replace('location / {', folder));
  const again = async () => {
    await stopWordPress(stack);
    await startWordPress(stack);
  };
  await again();
  try {
    await work();
  } finally {
    writeFileSync(file, before);
    rmSync(passwords);
    await again();
  }
}

onEveryStack('a site behind basic authentication of its web server', (stack) => {
  const plugin = join(muPlugins(stack), 'basket.php');
  let owner: Session;
  let last = 0;
  const newAddress = () => `127.0.45.${++last}`;
  const { headers: staging = {} } = restBasic(...STAGING);
  const withPassword = (request: TypedRequest): TypedRequest => ({
    ...request,
    headers: { ...staging, ...request.headers },
  });
  const items = '/wp-json/basket/v1/items';
  const guess = (turn: number | string): TypedRequest => restBasic(OWNER_OF_PROGRAM, `guess${turn}`);

  beforeAll(async () => {
    writeFileSync(plugin, PLUGIN);
    await runInWordPress(
      stack,
      `$id = wp_insert_user( array( 'user_login' => '${OWNER_OF_PROGRAM}', 'user_pass' => '${stack.password}', 'user_email' => '${OWNER_OF_PROGRAM}@example.com', 'role' => 'subscriber' ) );
      WP_Application_Passwords::create_new_application_password( $id, array( 'name' => 'phone' ) );`,
    );
    owner = await logIn(stack);
    await change(stack, owner, '/limit-login-attempts', { login_attempts: LIMIT });
  });
  afterEach(() => recover(stack, 'unblock', '--all'));
  afterAll(async () => {
    rmSync(plugin, { force: true });
    await runInWordPress(
      stack,
      `require_once ABSPATH . 'wp-admin/includes/user.php'; wp_delete_user( get_user_by( 'login', '${OWNER_OF_PROGRAM}' )->ID );`,
    );
  });

  // PHP's own web server has no basic authentication.
  describe.skipIf(stack.kind === 'embedded')('with basic authentication in nginx', () => {
    it('serves its visitors: a hundred requests of a cart lock nobody out, and every page and style is served', async () => {
      await behindPassword(stack, '/', async () => {
        const from = newAddress();
        const sendRequest = (request: TypedRequest) => sendFrom(stack, from, withPassword(request));
        expect((await sendFrom(stack, from, { target: '/' })).status).toBe(401);
        const calls: RawResponse[] = [];
        for (let turn = 0; turn < 10; turn++)
          calls.push(await sendRequest({ target: items }), await sendRequest(form(items, 'id=5')));
        calls.push(...(await Promise.all(Array.from({ length: 80 }, () => sendRequest(form(items, 'id=5'))))));
        expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]));
        expect((await sendRequest({ target: '/wp-includes/css/buttons.min.css' })).status).toBe(200);
        expect((await sendRequest({ target: '/' })).status).toBe(200);
        expect(createsSession(await sendRequest(loginForm(OWNER_OF_PROGRAM, stack.password)))).toBe(true);
      });
    });

    it('serves an address that is locked out, except for its login', async () => {
      await behindPassword(stack, '/', async () => {
        const from = newAddress();
        const sendRequest = (request: TypedRequest) => sendFrom(stack, from, withPassword(request));
        for (let turn = 0; turn < LIMIT; turn++) await sendRequest(loginForm(OWNER_OF_PROGRAM, `wrong${turn}`));
        expect((await sendRequest(loginForm(OWNER_OF_PROGRAM, stack.password))).status).toBe(429);
        for (const request of [{ target: items }, form(items, 'id=5'), { target: '/' }]) {
          expect((await sendRequest(request)).status).toBe(200);
        }
        expect((await sendRequest({ target: '/wp-includes/css/buttons.min.css' })).status).toBe(200);
      });
    });

    it('is protected as usual: guesses at its login are counted', async () => {
      await behindPassword(stack, '/', async () => {
        const from = newAddress();
        const sendRequest = (request: TypedRequest) => sendFrom(stack, from, withPassword(request));
        await sendRequest({ target: items });
        for (let turn = 0; turn < LIMIT; turn++) await sendRequest(loginForm(OWNER_OF_PROGRAM, `wrong${turn}`));
        expect((await sendRequest(loginForm(OWNER_OF_PROGRAM, stack.password))).status).toBe(429);
      });
    });

    it('counts every guess outside the folder that it protects', async () => {
      await behindPassword(stack, '/private', async () => {
        const from = newAddress();
        expect((await sendFrom(stack, from, { target: '/private/' })).status).toBe(401);
        for (let turn = 0; turn < LIMIT; turn++) await sendFrom(stack, from, guess(turn));
        expect((await sendFrom(stack, from, loginForm(OWNER_OF_PROGRAM, stack.password))).status).toBe(429);
      });
    });
  });

  it('counts every guess with basic authentication, one by one and in parallel, when it protects nothing', async () => {
    for (const atOnce of [false, true]) {
      const from = newAddress();
      const turns = Array.from({ length: LIMIT * 3 }, (_, turn) => turn);
      if (atOnce) await Promise.all(turns.map((turn) => sendFrom(stack, from, guess(turn))));
      else for (const turn of turns) await sendFrom(stack, from, guess(turn));
      expect((await sendFrom(stack, from, loginForm(OWNER_OF_PROGRAM, stack.password))).status).toBe(429);
    }
  });
});
