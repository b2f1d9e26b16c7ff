import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectFocus, pressOn } from '../../browser/keyboard.js';
import { sendRequest } from '../../http/request.js';
import { logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { until } from '../../stacks/until.js';
import { createsSession, loginForm, mailbox, recover } from '../login/helpers.js';
import { expectLayout, ownerSuite } from '../login-owner/helpers.js';
import { behindProxy, visitFrom } from './helpers.js';

const ANNA = 'anna@example.com';
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';
const LIMIT = 3;
const WAVE = 50;

ownerSuite('alerts', (owner) => {
  const { stack } = owner;
  behindProxy(stack);
  const mails = mailbox(stack);
  let session: Session;
  let xssBefore: 0 | 1;
  /** The next mail to the recipient as text, and its subject. */
  const nextMail = async (seconds?: number) => {
    const mail = await mails.to(ANNA, seconds);
    mails.empty();
    // The subset of quoted-printable that WordPress's mailer uses.
    const text = mail.replace(/=\r?\n/g, '').replace(/=3D/g, '=');
    return { subject: /^Subject: (.*)$/m.exec(text)?.[1] ?? '', text };
  };

  beforeAll(async () => {
    session = await logIn(stack);
    xssBefore = (await readOptions(stack, session)).xss_protection;
    await setOptions(stack, session, { xss_protection: 1 });
    await owner.set('/notification-emails', { entries: [ANNA] });
    await owner.set('/limit-login-attempts', { login_attempts: LIMIT });
    await owner.page.goto(`${stack.url}/wp-admin/admin.php?page=activity-log#weekly-reports`);
    await owner.button(`Edit ${ANNA}`).waitFor();
  });
  afterAll(async () => {
    await recover(stack, 'unblock', '--all');
    await owner.set('/limit-login-attempts', { login_attempts: 5 });
    await owner.set('/notification-emails', { entries: [] });
    await setOptions(stack, session, { xss_protection: xssBefore });
  });

  it('are configured with the edit button by keyboard, and a test message reaches the recipients', async () => {
    const { page } = owner;
    const pencil = owner.button(`Edit ${ANNA}`);
    await pressOn(page, pencil, 'Enter');
    const dialog = await owner.dialog('Edit Notification Email');
    for (const kind of [
      /^An administrator on a new device/,
      /^Many lockouts at once/,
      /^A protection is switched off/,
    ]) {
      await pressOn(page, dialog.getByRole('checkbox', { name: kind }), 'Space');
    }
    await pressOn(page, dialog.getByRole('button', { name: 'Save' }), 'Enter');
    await dialog.waitFor({ state: 'detached' });
    await expectFocus(pencil);
    await page.getByText('Weekly report, 3 alerts:').waitFor();
    await pressOn(page, owner.button('Send a test: Mail'), 'Enter');
    await page.getByText('Sent to 1 address.').waitFor();
    expect((await nextMail()).subject).toContain('This is a test from');
    await expectLayout(page, 'alerts');
  });

  it('report a login on a new device, and not the next login on the same device', async () => {
    for (let count = 0; count < 2; count++) {
      const response = await sendRequest(
        stack,
        loginForm(stack.user, stack.password, { headers: { 'user-agent': FIREFOX } }),
      );
      expect(createsSession(response)).toBe(true);
    }
    const { text } = await nextMail();
    expect(text).toContain(`${stack.user} logged in on a new device`);
    expect(text).toContain('Firefox on Windows');
  });

  it('report who turned a protection off, and link to the log filtered by that event', async () => {
    const { page } = owner;
    await setOptions(stack, session, { xss_protection: 0 });
    // After a mail, the next one waits until no alert was added for half a minute.
    const { text } = await nextMail(90);
    expect(text).toContain('Advanced XSS Protection is switched off');
    expect(text).toContain(`By: ${stack.user}`);
    const link = /^See it in the log: (\S+)/m.exec(text)?.[1] ?? '';
    await page.goto(link);
    await page.getByRole('tab', { name: /^Registered/, selected: true }).waitFor();
    const rows = page.getByRole('tabpanel').getByRole('row');
    await until('the list holds the switch', async () =>
      (await rows.allTextContents()).some((row) => row.includes('Advanced XSS Protection')),
    );
  });

  it('combine a wave of lockouts in one mail', async () => {
    const addresses = Array.from({ length: WAVE }, (_, index) => `198.51.100.${index + 1}`);
    const lockOut = async (address: string) => {
      for (let turn = 0; turn <= LIMIT; turn++) {
        const { target, ...form } = loginForm('nobody', 'wrong');
        const { status } = await visitFrom(stack, address, target, form);
        expect(status, address).toBe(turn < LIMIT ? 200 : 429);
      }
    };
    for (let start = 0; start < WAVE; start += 10) {
      await Promise.all(addresses.slice(start, start + 10).map(lockOut));
    }
    const { text } = await nextMail(240);
    expect(text).toContain(`${WAVE} addresses were locked in 1 hour`);
    expect(text).toContain(`They tried ${WAVE * LIMIT} passwords`);
    expect(text).toContain('198.51.100.0/24');
  }, 400_000);
});
