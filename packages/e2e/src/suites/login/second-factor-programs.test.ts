import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '@security-optimizer/guard/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RawResponse } from '../../http/raw.js';
import { form, type TypedRequest } from '../../http/request.js';
import { logIn, type Session } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { muPlugins, usersByRole } from '../../stacks/wordpress.js';
import {
  change,
  createsSession,
  EnrolledUsers,
  loginForm,
  recover,
  SECOND_FACTOR,
  sendCode,
  sendFrom,
} from './helpers.js';
import { ALLOWED, PLUGIN } from './redirect-plugin.js';

const FROM = '127.0.87.1';
const LIMIT = 3;

onUnlikeStacks('a login by JavaScript of a page, with a second factor', (stack) => {
  const { editor, subscriber } = usersByRole;
  const plugin = join(muPlugins(stack), 'second-factor-programs.php');
  const users = new EnrolledUsers(stack, FROM);
  let owner: Session;

  const send = (target: string, headers: Readonly<Record<string, string>>) => (login: string) =>
    form(target, new URLSearchParams({ action: 'popup_login', u: login, p: stack.password }).toString(), headers);
  const AJAX = '/wp-admin/admin-ajax.php';
  const SCRIPT = { 'x-requested-with': 'XMLHttpRequest' } as const;
  const popUp = send(AJAX, { accept: 'application/json', ...SCRIPT, referer: `${stack.url}/sample-page/` });
  const membersForm = (login: string, headers: Readonly<Record<string, string>>) =>
    form('/', new URLSearchParams({ members_login: login, members_password: stack.password }).toString(), headers);
  const ways: readonly (readonly [string, (login: string) => TypedRequest])[] = [
    ['admin-ajax', popUp],
    ['admin-ajax without a word about the answer', send(AJAX, {})],
    ['the REST API', send('/wp-json/popup/v1/login', SCRIPT)],
    ['the REST API in a query', send('/?rest_route=/popup/v1/login', { origin: stack.url })],
    ['a form of the page, for JSON', (login) => membersForm(login, { accept: 'application/json' })],
    [
      'a form of the page, with fetch',
      (login) => membersForm(login, { accept: '*/*', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }),
    ],
  ];
  const parseBody = ({ body }: RawResponse) =>
    JSON.parse(body) as Record<string, unknown> & { message: string; url: string };
  const url = `${stack.url}${SECOND_FACTOR}`;
  const beginsChallenge = ({ head }: RawResponse) => /^set-cookie: sf_challenge=/im.test(head);

  beforeAll(async () => {
    writeFileSync(plugin, PLUGIN);
    owner = await logIn(stack);
    await change(stack, owner, '/2fa', { sg2fa: 1 });
    await change(stack, owner, '/limit-login-attempts', { login_attempts: LIMIT });
    await users.enrol(editor);
  });
  afterAll(async () => {
    await change(stack, owner, '/2fa', { sg2fa: 0 });
    await users.reset();
    await recover(stack, 'unblock', '--all');
    await change(stack, owner, '/limit-login-attempts', { login_attempts: 5 });
    rmSync(plugin, { force: true });
  });

  it.each(ways)('by %s receives the URL of the next page in JSON, and continues there', async (_way, request) => {
    const browser = users.browser();
    const response = await browser.request(request(editor));
    expect([response.status, createsSession(response), beginsChallenge(response)]).toEqual([401, false, true]);
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(response.headers['cache-control']).toContain('no-store');
    const { message } = parseBody(response);
    expect(message).toContain('needs a second factor');
    expect(parseBody(response)).toEqual({
      ...{ success: false, code: 'two_factor_required', message, status: 401, url },
      data: { status: 401, message, url },
    });
    expect((await browser.get(SECOND_FACTOR)).body).toContain('name="code"');
    const done = await sendCode(browser, users.next().code);
    expect([done.status, createsSession(done)]).toEqual([303, true]);
    if (request === popUp) expect(done.headers.location).toBe(`${stack.url}/sample-page/`);
  });

  it('continues as usual when no factor is needed', async () => {
    const response = await users.browser().request(popUp(subscriber));
    expect([response.status, parseBody(response).success, createsSession(response)]).toEqual([200, true, true]);
  });

  it('is redirected to the page when a person reads the response', async () => {
    const response = await users.browser().request(send(AJAX, { 'sec-fetch-mode': 'navigate' })(editor));
    expect([response.status, response.headers.location]).toEqual([303, SECOND_FACTOR]);
  });

  it('never counts as a failure, however often no code follows', async () => {
    for (let turn = 0; turn < LIMIT + 2; turn++) expect((await sendFrom(stack, FROM, popUp(editor))).status).toBe(401);
    expect(createsSession(await sendFrom(stack, FROM, loginForm(subscriber, stack.password)))).toBe(true);
  });

  it('can be read by a page of an allowed origin, and by no other', async () => {
    const from = async (origin: string) =>
      (await sendFrom(stack, FROM, send(AJAX, { ...SCRIPT, origin })(editor))).headers['access-control-allow-origin'];
    expect(await from(`https://${ALLOWED.app}`)).toBe(`https://${ALLOWED.app}`);
    expect(await from('https://evil.example')).toBeUndefined();
  });

  it('is refused with a message outside a browser, which can’t continue', async () => {
    const response = await sendFrom(stack, FROM, send('/wp-json/popup/v1/login', {})(editor));
    expect([response.status, beginsChallenge(response)]).toEqual([403, false]);
    expect(parseBody(response)).toMatchObject({ code: 'two_factor_required' });
  });

  it('gets an error in JSON when guard does not work', async () => {
    const database = openSqlite(join(stack.guardDir, 'guard.sqlite'), { busyTimeoutMs: 30_000 });
    const rename = (from: string, to: string) => database.exec(`ALTER TABLE ${from} RENAME TO ${to}`);
    rename('second_factor_challenges', 'out_of_order');
    try {
      const response = await sendFrom(stack, FROM, popUp(editor));
      expect([response.status, createsSession(response), beginsChallenge(response)]).toEqual([503, false, false]);
      expect(parseBody(response)).toMatchObject({ success: false, code: 'two_factor_unavailable', status: 503 });
    } finally {
      rename('out_of_order', 'second_factor_challenges');
      database.close();
    }
    expect((await sendFrom(stack, FROM, popUp(editor))).status).toBe(401);
  });
});
