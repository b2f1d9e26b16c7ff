import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from '../../browser/accessibility.js';
import { expectFocus, pressOn, typeAnew } from '../../browser/keyboard.js';
import { watchPage } from '../../browser/page-errors.js';
import { until } from '../../stacks/until.js';
import { mailbox } from '../login/helpers.js';
import { expectLayout, ownerSuite, screenshots } from '../login-owner/helpers.js';

const WEEKLY_REPORTS = '/wp-admin/admin.php?page=activity-log#weekly-reports';
const FIVE = ['anna', 'ben', 'carla', 'dora', 'emil'].map((name) => `${name}@example.com`);

ownerSuite('weekly reports', (owner) => {
  const { stack } = owner;
  const recipients = () => owner.page.getByRole('table', { name: 'Recipients' }).locator('tbody tr bdi');
  const listed = (expected: readonly string[]) =>
    until(`${expected.length} recipients are listed`, async () => {
      return (await recipients().allTextContents()).join() === expected.join();
    });
  const field = () => owner.page.getByRole('textbox', { name: 'Add e-mail addresses' });
  const create = async (text: string) => {
    await field().focus();
    await typeAnew(owner.page, text);
    await pressOn(owner.page, owner.button('Create'), 'Enter');
  };

  beforeAll(async () => {
    await owner.set('/notification-emails', { entries: [] });
    await owner.page.goto(`${stack.url}${WEEKLY_REPORTS}`);
    await field().waitFor();
  });
  afterAll(() => owner.set('/notification-emails', { entries: [] }));

  it('have recipients that can be added, rejected, changed and removed by keyboard', async () => {
    const { page } = owner;
    const watched = watchPage(page, stack.url);
    await create('Anna@Example.com');
    await listed(['anna@example.com']);
    await create('anna@example.com');
    await page.getByRole('alert').getByText('anna@example.com').waitFor();
    await expectFocus(field());
    // Moves to the entry and removes it.
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    await create('ben@example.com');
    await listed(['anna@example.com', 'ben@example.com']);

    await pressOn(page, owner.button('Edit ben@example.com'), 'Enter');
    const edit = await owner.dialog('Edit Notification Email');
    await expectAccessible(page, '.so-dialog');
    await expectFocus(edit.getByRole('textbox'));
    await typeAnew(page, 'dora@example.com');
    await page.keyboard.press('Enter');
    await edit.waitFor({ state: 'detached' });
    await listed(['anna@example.com', 'dora@example.com']);

    await pressOn(page, owner.button('Delete anna@example.com'), 'Enter');
    const remove = page.getByRole('alertdialog', { name: 'Delete Notification Email' });
    await expectFocus(remove.getByRole('button', { name: 'Cancel' }));
    await pressOn(page, remove.getByRole('button', { name: 'Delete' }), 'Enter');
    await remove.waitFor({ state: 'detached' });
    await listed(['dora@example.com']);
    expect(watched.stop()).toEqual([]);
  });

  it('show when the list of recipients is full', async () => {
    const { page } = owner;
    await create(FIVE.filter((email) => email !== 'dora@example.com').join(' '));
    await page.getByText('All 5 places are taken. Delete one to add another.').waitFor();
    await page.getByText('5 of 5 used').waitFor();
    expect(await recipients().count()).toBe(5);
    expect(await field().isDisabled()).toBe(true);
    await expectLayout(page, 'weekly-reports');
  });

  it('have a preview in a sandboxed frame, from narrow to wide', async () => {
    const { page } = owner;
    await pressOn(page, owner.button('See an example'), 'Enter');
    const dialog = page.getByRole('dialog', { name: /^Weekly report for 127\.0\.0\.1/ });
    const mail = dialog.frameLocator('iframe');
    await mail.getByRole('heading', { name: /127\.0\.0\.1/ }).waitFor();
    for (const words of ['Visits by humans', 'Failed logins', 'Day by day']) {
      expect(await mail.getByText(words, { exact: true }).count(), words).toBe(1);
    }
    const html = await dialog.locator('iframe').getAttribute('srcdoc');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    const program = await owner.browser.newPage({ javaScriptEnabled: false });
    await program.setContent(html ?? '');
    for (const [width, scheme] of [
      [600, 'light'],
      [360, 'dark'],
    ] as const) {
      await program.setViewportSize({ width, height: 800 });
      await program.emulateMedia({ colorScheme: scheme });
      const card = await program.locator('.card').boundingBox();
      expect([card?.width, card?.x]).toEqual([width - 24, 12]);
      await program.screenshot({ path: join(screenshots, `weekly-report-${width}-${scheme}.png`), fullPage: true });
    }
    await program.close();
  });

  it('reach the recipient of a test mail, as text and as HTML', async () => {
    const { page } = owner;
    const mails = mailbox(stack);
    // The page itself waits for the message, which is shown for a few seconds only.
    const [said] = await Promise.all([
      page.waitForFunction(() => {
        const texts = [...document.querySelectorAll('.so-toast [role="status"] p')].map(
          (each) => each.textContent ?? '',
        );
        return texts.find((text) => text.startsWith('A test report is on its way to '));
      }),
      pressOn(page, owner.button('Send me a test'), 'Enter'),
    ]);
    const address = (await said.jsonValue())?.replace(/^.* to |\.$/g, '') ?? '';
    const mail = await mails.to(address);
    expect(mail).toMatch(/^Content-Type: multipart\/alternative/m);
    expect(mail).toMatch(/^Content-Type: text\/plain[\s\S]*^Content-Type: text\/html/m);
  });
});
