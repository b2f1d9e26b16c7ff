import { ok, refused } from '../../test/replies.js';
import type { Group, PageExample } from '../example.js';
import { held } from '../stage/fake-fetch.js';
import { checkup, ended, job } from './sample-jobs.js';
import { postHack } from './sample-site.js';

const NOTHING_KNOWN = { plugins: null, users: null, sessions: null };

function one(state: string, title: string, example: Partial<PageExample> = {}): PageExample {
  return { id: `post-hack-${state}`, title, page: 'POST_HACK_ACTIONS', site: (site) => postHack(site, []), ...example };
}

export const postHackPage: Group = {
  id: 'page-post-hack',
  title: 'Page: Post-hack Actions',
  examples: [
    one('ready', 'before anything was started', { looks: ['phone', 'german'] }),
    one('nothing-known', 'nothing known beforehand', {
      site: (site) => postHack(site, [], NOTHING_KNOWN),
      area: '.so-card',
    }),
    one('progress', 'plugins being reinstalled', {
      area: '.so-main',
      site: (site) => postHack(site, [job()]),
      looks: ['phone', 'rtl'],
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
    one('checkup', 'traces that were found', {
      area: '.so-main section:last-of-type',
      site: (site) => {
        postHack(site, []);
        site.replies.set('/checkup', () => ok({ parts: checkup }));
      },
      act: (hands) => hands.click('button', 'Look for traces'),
      looks: ['phone'],
    }),
    one('looking', 'looking for traces', {
      area: '.so-main section:last-of-type',
      site: (site) => {
        postHack(site, []);
        site.replies.set('/checkup', held);
      },
      act: (hands) => hands.click('button', 'Look for traces'),
    }),
    one('reinstall', 'asks before plugins are reinstalled', { act: (hands) => hands.click('button', 'Reinstall all') }),
    one('reset', 'asks before passwords are reset', {
      act: (hands) => hands.click('button', 'Force password reset'),
      looks: ['phone', 'german'],
    }),
    one('log-out', 'asks before all are logged out', { act: (hands) => hands.click('button', 'Log out all users') }),
    one('start-failed', 'could not be started', {
      site: (site) => {
        postHack(site, []);
        site.replies.set('/logout-users', () => refused(503, 'wordpress_down', 'WordPress does not answer.'));
      },
      async act(hands) {
        await hands.click('button', 'Log out all users');
        await hands.rest();
        await hands.press('{Tab}{Enter}');
      },
    }),
  ],
};
