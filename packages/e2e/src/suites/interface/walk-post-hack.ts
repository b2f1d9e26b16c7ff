import type { Walker } from './walker.js';

/** Post-hack Actions: the confirmation of each action, its progress, and the findings of a checkup. */
export async function walkPostHack(walker: Walker): Promise<void> {
  const { page } = walker;
  const actions = ['Reinstall all', 'Force password reset', 'Log out all users'] as const;
  await walker.open('post-hack-actions', walker.button('Reinstall all'));
  await walker.checkScreen('Post-hack Actions');
  for (const action of actions) await walker.opens(walker.button(action), walker.dialog(action, 'alertdialog'), action);

  const checkButton = walker.button('Check now').or(walker.button('Check again'));
  await walker.press(checkButton);
  await page.locator('.so-checks').waitFor({ timeout: 120_000 });
  await checkButton.waitFor({ timeout: 120_000 });
  await walker.checkScreen('what was found');

  // No plugin is really reinstalled here; the suite of the action does that.
  const item = (name: string, state: string, more: object = {}) => ({
    ...{ id: name, name, version: '1.2.3', state, reason: '', files: [] },
    ...more,
  });
  const job = {
    ...{ id: 'a', kind: 'reinstall-plugins', started: 1, ended: null, actor: 'owner', error: '', summary: [] },
    state: 'running',
    done: 3,
    total: 5,
    items: [
      item('Akismet', 'done', { files: ['akismet/a-file-with-a-rather-long-name-that-nobody-knows.php'] }),
      item('Contact-form', 'failed', {
        reason: 'The download was damaged or changed. The old copy is still in place.',
      }),
      item('Paid-gallery', 'skipped', { reason: 'Not a free plugin of the plugin directory.' }),
      item('Event-calendar', 'running'),
      item('Image-optimiser', 'waiting'),
    ],
  };
  const withJob = (real: { data: object }) => ({ ...real, data: { ...real.data, jobs: [job] } });
  await walker.answering('/post-hack-jobs', withJob, async () => {
    await walker.open('post-hack-actions', page.getByRole('progressbar'));
    await walker.checkScreen('an action under way');
  });
  await walker.failing(null, async () => {
    await walker.open('post-hack-actions', walker.button('Try again'));
    await walker.checkScreen('Post-hack Actions, nothing to be read');
  });
}
