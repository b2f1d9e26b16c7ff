import { removedFile, sampleCheckup, suspicious, unknownFiles } from '../../test/fake-site/checkup.js';
import { ok, refused } from '../../test/fake-site/replies.js';
import type { Group, PageExample } from '../example.js';
import { held } from '../stage/fake-site.js';
import type { UserActions } from '../stage/user-actions.js';
import { ended, job } from './remedies.js';
import { postHack } from './samples.js';

const UNKNOWN_COUNTS = { plugins: null, users: null, sessions: null };

function one(state: string, title: string, example: Partial<PageExample> = {}): PageExample {
  return { id: `post-hack-${state}`, title, page: 'POST_HACK_ACTIONS', site: (site) => postHack(site, []), ...example };
}

/** Opens the dialog about the first finding, whose button is named in the language of the page. */
async function removeFirst(user: UserActions): Promise<void> {
  await user.focus('button', 'Check again');
  await user.press('{Tab}{Tab}{Enter}');
  await user.settle();
}

export const postHackPage: Group = {
  id: 'page-post-hack',
  title: 'Page: Post-hack Actions',
  examples: [
    one('ready', 'before anything was started', { variants: ['phone', 'german'] }),
    one('nothing-known', 'nothing known beforehand', {
      site: (site) => postHack(site, [], UNKNOWN_COUNTS),
      area: '.so-card',
    }),
    one('progress', 'plugins being reinstalled', {
      area: '.so-main',
      site: (site) => postHack(site, [job()]),
      variants: ['phone', 'rtl'],
    }),
    one('done', 'plugins reinstalled', { site: (site) => postHack(site, [ended()]), area: '.so-run' }),
    one('stopped', 'stopped before its end', {
      area: '.so-run',
      site: (site) =>
        postHack(site, [ended({ state: 'stopped', error: 'WordPress could not be reached for an hour.' })]),
    }),
    one('loading', 'loading', { area: '.so-main', site: (site) => site.replies.set('/post-hack-jobs', held) }),
    one('not-loaded', 'not loaded', {
      area: '.so-main',
      site: (site) =>
        site.replies.set('/post-hack-jobs', () => refused(503, 'wordpress_down', 'WordPress does not answer.')),
    }),
    one('checkup', 'two things need a look', {
      site: (site) => postHack(site, [], null, suspicious()),
      variants: ['phone', 'rtl', 'german'],
    }),
    one('checkup-files', 'a finding with three fixes', {
      area: '.so-finding',
      site: (site) => postHack(site, [], null, suspicious({ findings: [unknownFiles] })),
      variants: ['phone'],
    }),
    one('checkup-removed', 'files were removed', {
      area: '.so-main section:first-of-type',
      site: (site) =>
        postHack(site, [], null, sampleCheckup({ removed: [removedFile('wp-content/uploads/2024/old/index.php')] })),
      act: (user) => user.expand('.so-removed'),
      variants: ['phone', 'rtl', 'german'],
    }),
    one('remove-administrator', 'asks before an administrator is removed', {
      site: (site) => postHack(site, [], null, suspicious()),
      act: removeFirst,
      variants: ['phone', 'rtl', 'german'],
    }),
    one('remove-file', 'asks before a file is removed', {
      site: (site) => postHack(site, [], null, suspicious()),
      act: (user) => user.click('button', 'Remove: A script in uploads'),
    }),
    one('remove-files', 'asks before files are removed', {
      site: (site) => postHack(site, [], null, suspicious({ findings: [unknownFiles] })),
      async act(user) {
        await removeFirst(user);
        await user.click('checkbox', 'wp-includes/b.php');
      },
      variants: ['phone', 'rtl', 'german'],
    }),
    one('checkup-running', 'checking; the result of before stays', {
      area: '.so-main section:first-of-type',
      site: (site) => postHack(site, [], null, { ...suspicious(), running: { done: 2, total: 4 } }),
    }),
    one('checkup-new', 'not checked yet', {
      area: '.so-main section:first-of-type',
      site: (site) => postHack(site, [], null, sampleCheckup({ latest: null, earlier: [] })),
    }),
    one('checkup-not-loaded', 'the checkup not loaded', {
      area: '.so-main section:first-of-type',
      site: (site) => {
        postHack(site, []);
        site.replies.set('/checkup', () => refused(503, 'storage_unavailable', 'The settings can’t be read.'));
      },
    }),
    one('logged-out', 'passwords reset, and logged out', {
      site: (site) => {
        postHack(site, []);
        site.replies.set('/force-password-reset', () =>
          ok({ job: job({ kind: 'force-password-reset', items: [], done: 0, total: 1023 }) }),
        );
      },
      async act(user) {
        await user.click('button', 'Force password reset');
        await user.settle();
        await user.press('{Tab}{Enter}');
      },
    }),
    one('reinstall', 'asks before plugins are reinstalled', { act: (user) => user.click('button', 'Reinstall all') }),
    one('reset', 'asks before passwords are reset', {
      act: (user) => user.click('button', 'Force password reset'),
      variants: ['phone', 'german'],
    }),
    one('log-out', 'asks before all are logged out', { act: (user) => user.click('button', 'Log out all users') }),
    one('start-failed', 'could not be started', {
      site: (site) => {
        postHack(site, []);
        site.replies.set('/logout-users', () => refused(503, 'wordpress_down', 'WordPress does not answer.'));
      },
      async act(user) {
        await user.click('button', 'Log out all users');
        await user.settle();
        await user.press('{Tab}{Enter}');
      },
    }),
  ],
};
