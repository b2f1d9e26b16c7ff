import { refused } from '../../test/replies.js';
import type { SiteState } from '../../test/site-answers.js';
import type { Group, PageExample } from '../example.js';
import { held } from '../stage/fake-fetch.js';
import type { Hands } from '../stage/hands.js';
import { busy, emptyLog, knownVisitor, severalPages } from './sample-site.js';

/** What differs from one state to another: the header does not. */
const MAIN = '.so-main';

const down = () => refused(503, 'wordpress_down', 'WordPress does not answer.');

function one(tab: string, state: string, title: string, example: Partial<PageExample> = {}): PageExample {
  return {
    id: `log-${tab}-${state}`,
    title,
    page: 'ACTIVITY_LOG',
    hash: tab,
    site: busy,
    ...(state === 'ready' ? {} : { area: MAIN }),
    ...example,
  };
}

async function choose(hands: Hands, subject: string, entry: string): Promise<void> {
  await hands.click('button', `Actions for ${subject}`);
  await hands.click('menuitem', entry);
}

function holding(suffix: string): Partial<PageExample> {
  return {
    site(site: SiteState) {
      busy(site);
      site.replies.set(suffix, held);
    },
  };
}

function failing(suffix: string): Partial<PageExample> {
  return {
    site(site: SiteState) {
      busy(site);
      site.replies.set(suffix, down);
    },
  };
}

export const logPage: Group = {
  id: 'page-log',
  title: 'Page: Activity Log',
  examples: [
    one('unknown', 'ready', 'Unknown', { looks: ['middle', 'phone', 'rtl'] }),
    one('unknown', 'loading', 'Unknown, loading', { ...holding('/activity-unknown'), looks: ['phone'] }),
    one('unknown', 'empty', 'Unknown, nothing yet', { site: emptyLog, looks: ['phone'] }),
    one('unknown', 'failed', 'Unknown, not loaded', failing('/activity-unknown')),
    one('unknown', 'more', 'Unknown, more than a page', { site: severalPages, area: '.so-card__foot' }),
    one('unknown', 'menu', 'Unknown, the menu of a row', {
      act: (hands) => hands.click('button', 'Actions for 203.0.113.24'),
      looks: ['phone'],
    }),
    one('unknown', 'filter', 'Unknown, the filter', {
      act: (hands) => hands.click('button', 'Filter'),
      looks: ['phone', 'rtl'],
    }),
    one('unknown', 'filtered', 'Unknown, filtered', {
      async act(hands) {
        await hands.click('button', 'Filter');
        await hands.click('combobox', 'Visitor');
        await hands.press('{ArrowDown}{Enter}');
        await hands.click('button', 'Apply');
        await hands.rest();
      },
    }),
    one('unknown', 'off', 'Unknown, the log is off', {
      area: '.so-cardnote',
      site(site) {
        busy(site);
        site.log.options.disable_activity_log = 1;
      },
    }),
    one('registered', 'ready', 'Registered', { looks: ['middle', 'phone', 'german'] }),
    one('registered', 'empty', 'Registered, nothing yet', { site: emptyLog }),
    one('blocked', 'ready', 'Blocked', { looks: ['middle', 'phone'] }),
    one('blocked', 'empty', 'Blocked, nobody', { site: emptyLog }),
    one('blocked', 'pending', 'Blocked, being unblocked', {
      ...holding('/block-ip/1'),
      area: '[data-row="b1"]',
      act: (hands) => hands.click('button', 'Unblock 203.0.113.24'),
    }),
    one('blocked', 'failed', 'Blocked, not unblocked', {
      ...failing('/block-ip/1'),
      area: '[data-row="b1"]',
      act: (hands) => hands.click('button', 'Unblock 203.0.113.24'),
    }),
    one('weekly-reports', 'ready', 'Weekly Reports', { looks: ['phone', 'rtl'] }),
    one('weekly-reports', 'empty', 'Weekly Reports, nobody yet', { site: emptyLog }),
    one('weekly-reports', 'full', 'Weekly Reports, five recipients', {
      site(site) {
        site.log.emails = ['owner', 'agency', 'editor-1', 'editor-2', 'editor-3'].map((name) => `${name}@example.com`);
      },
    }),
    one('weekly-reports', 'bad', 'Weekly Reports, a bad address', {
      async act(hands) {
        await hands.type('Add e-mail addresses', 'office(at)example.com');
        await hands.click('button', 'Create');
      },
    }),
    one('log-settings', 'ready', 'Log Settings', { looks: ['phone', 'german'] }),
    one('log-settings', 'open', 'Log Settings, choosing the days', {
      area: '.so-app',
      looks: ['phone'],
      act: (hands) => hands.click('combobox', 'Days to keep'),
    }),
    one('log-settings', 'off', 'Log Settings, off', {
      site(site) {
        site.log.options.disable_activity_log = 1;
      },
    }),
    one('log-settings', 'loading', 'Log Settings, loading', holding('/fetch-options')),
    one('log-settings', 'failed', 'Log Settings, not loaded', failing('/fetch-options')),
  ],
};

export const logDialogs: Group = {
  id: 'log-dialogs',
  title: 'Dialogs of the Activity Log',
  examples: [
    one('unknown', 'manage', 'Manage IP Traffic', {
      site: knownVisitor,
      act: (hands) => choose(hands, '203.0.113.24', 'Manage IP Traffic'),
      looks: ['phone'],
    }),
    one('unknown', 'manage-plain', 'Manage IP Traffic, little known', {
      act: (hands) => choose(hands, '203.0.113.24', 'Manage IP Traffic'),
    }),
    one('unknown', 'manage-blocked', 'Manage IP Traffic, blocked', {
      site: (site) => knownVisitor(site, { block: 1 }),
      act: (hands) => choose(hands, '203.0.113.24', 'Manage IP Traffic'),
    }),
    one('unknown', 'manage-ipv6', 'Manage IP Traffic, an IPv6 address', {
      site: (site) => knownVisitor(site, { name: '2001:db8:5:6::7', network: '2001:db8:5:6::/64' }),
      act: (hands) => choose(hands, '203.0.113.24', 'Manage IP Traffic'),
      looks: ['phone'],
    }),
    one('unknown', 'manage-loading', 'Manage IP Traffic, loading', {
      ...holding('/get-visitor-status/1'),
      act: (hands) => choose(hands, '203.0.113.24', 'Manage IP Traffic'),
    }),
    one('unknown', 'manage-failed', 'Manage IP Traffic, not loaded', {
      ...failing('/get-visitor-status/1'),
      act: (hands) => choose(hands, '203.0.113.24', 'Manage IP Traffic'),
    }),
    one('registered', 'manage', 'Manage User Traffic', {
      site: (site) => knownVisitor(site, { type: 'user', name: 'customer-31', hostname: '', roles: ['Customer'] }),
      act: (hands) => choose(hands, 'customer-31', 'Manage User Traffic'),
    }),
    one('weekly-reports', 'edit', 'change an address', {
      act: (hands) => hands.click('button', 'Edit agency@example.net'),
      looks: ['phone'],
    }),
    one('weekly-reports', 'delete', 'delete an address', {
      act: (hands) => hands.click('button', 'Delete agency@example.net'),
    }),
    one('weekly-reports', 'preview', 'an example of the report', {
      act: (hands) => hands.click('button', 'See an example'),
    }),
  ],
};
