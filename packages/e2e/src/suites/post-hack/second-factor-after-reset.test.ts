import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RawResponse } from '../../http/raw.js';
import { logIn } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { usersByRole } from '../../stacks/wordpress.js';
import { change, createsSession, FormBrowser, recover, SECOND_FACTOR, totpCode, totpStep } from '../login/helpers.js';
import { callAction, choosePassword, restorePasswords } from './helpers.js';

onUnlikeStacks('the second factor after a forced reset', (stack) => {
  const { editor } = usersByRole;
  let key: string;
  let step = 0;
  const newBrowser = () => new FormBrowser(stack, '127.0.46.1', 'A browser');
  /** A browser after the right password, and the page of the second factor. */
  const startLogin = async (login: string) => {
    const browser = newBrowser();
    const response = await browser.logIn(login);
    expect(response.headers.location).toContain('action=second-factor');
    return { browser, page: await browser.get(SECOND_FACTOR) };
  };
  const setUp = async (login: string): Promise<RawResponse> => {
    const { browser, page } = await startLogin(login);
    key = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.body)?.[1] ?? '';
    step = totpStep();
    const shown = await browser.send(page, 'enrol', { code: totpCode(key, step) });
    return browser.send(shown, 'continue', { saved: '1' });
  };
  const mails = (login: string) =>
    readdirSync(join(stack.dir, 'mail'))
      .map((name) => readFileSync(join(stack.dir, 'mail', name), 'utf8'))
      .filter((text) => text.includes(`To: ${login}@example.com`) && text.includes('action=rp')).length;

  beforeAll(async () => {
    await recover(stack, 'unblock', '--all');
    const owner = await logIn(stack);
    await change(stack, owner, '/2fa', { sg2fa: 1 });
    expect(createsSession(await setUp(editor))).toBe(true);
    const before = mails(editor);
    const reset = await callAction(stack, owner, '/force-password-reset');
    expect(reset.body).toMatchObject({ status: 200, data: { job: { error: '' } } });
    // The mail contains a new link, which would replace one that is in use.
    await until('the editor has the mail', () => mails(editor) > before, 30);
  });
  afterAll(async () => {
    await restorePasswords(stack);
    for (const login of [stack.user, editor]) await recover(stack, 'two-factor', 'reset', login).catch(() => undefined);
    await recover(stack, 'unblock', '--all');
    const { browser, page } = await startLogin(stack.user);
    const newKey = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.body)?.[1] ?? '';
    const shown = await browser.send(page, 'enrol', { code: totpCode(newKey) });
    await browser.send(shown, 'continue', { saved: '1' });
    const nonce = (await browser.get('/wp-admin/admin-ajax.php?action=rest-nonce')).body.trim();
    await change(stack, { login: stack.user, cookie: browser.cookie, nonce }, '/2fa', { sg2fa: 0 });
    await recover(stack, 'two-factor', 'reset', stack.user);
  });

  it('redirects from the old password to the page for a new one, without a session', async () => {
    const { browser, page } = await startLogin(editor);
    const passed = await browser.send(page, 'code', { code: totpCode(key, ++step) });
    expect(createsSession(passed)).toBe(false);
    const { pathname, search } = new URL(passed.headers.location ?? '', stack.url);
    expect(search).toContain('action=rp&key=');
    expect((await browser.get('/wp-admin/')).status).toBe(302);

    expect((await choosePassword(stack, pathname + search, stack.password)).body).toContain('This was your password');
    expect((await choosePassword(stack, pathname + search, 'a-brand-new-Passw0rd')).body).toContain('has been reset');
    const old = await newBrowser().logIn(editor);
    expect(old.headers.location ?? '').not.toContain('second-factor');
    expect(createsSession(old)).toBe(false);
    const chosen = await newBrowser().logIn(editor, 'a-brand-new-Passw0rd');
    expect(chosen.headers.location).toContain('action=second-factor');
  });

  it('does not count when it was set up with the old password alone', async () => {
    const done = await setUp(stack.user);
    expect(createsSession(done)).toBe(false);
    expect(done.headers.location).toContain('action=lostpassword');
    expect(done.headers.location).not.toContain('key=');
  });
});
