import { delivery } from '../../test/fake-site/activity-log.js';
import { refused } from '../../test/fake-site/replies.js';
import type { SiteState } from '../../test/fake-site/responses.js';
import type { Group, PageExample } from '../example.js';
import { held } from '../stage/fake-site.js';
import type { UserActions } from '../stage/user-actions.js';
import { busy, emptyLog, knownVisitor, severalPages } from './samples.js';

/** The part that differs between states; the header does not. */
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

async function choose(user: UserActions, subject: string, entry: string): Promise<void> {
  await user.click('button', `Actions for ${subject}`);
  await user.click('menuitem', entry);
}

const NO_ANSWER = 'Nothing answers at this address.';

/** Alerts by every channel; one fails, one has lost alerts, and one recipient gets no mail. */
function withChannels(site: SiteState): void {
  busy(site);
  const { log } = site;
  if (log.alerts === null) return;
  const [owner, agency] = log.alerts.recipients;
  const undelivered = delivery({ ok: 0, text: NO_ANSWER, waiting: 2, lost: 3, lost_text: NO_ANSWER });
  log.emails = ['owner@example.com', 'security@example.com', 'agency@example.net'];
  log.alerts = {
    ...log.alerts,
    recipients: [
      ...(owner ? [owner] : []),
      { email: 'security@example.com', report: 0, kinds: ['new-administrator', 'checkup-finding'], last: delivery() },
      ...(agency ? [{ ...agency, last: undelivered }] : []),
    ],
    alert_quiet_hours: 1,
    webhook: { address: 'hooks.example.com/site', has_secret: 1, last: delivery() },
    slack: {
      address: 'hooks.slack.com',
      last: delivery({ ok: 0, text: NO_ANSWER, waiting: 3 }),
    },
    syslog: {
      host: 'logs.example.com',
      port: 6514,
      protocol: 'tls',
      framing: 'octets',
      last: delivery({ at: '2026-11-20 09:12', text: 'The log took it.', lost: 12, lost_text: NO_ANSWER }),
    },
  };
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
    one('unknown', 'ready', 'Unknown', { variants: ['middle', 'phone', 'rtl'] }),
    one('unknown', 'loading', 'Unknown, loading', { ...holding('/activity-unknown'), variants: ['phone'] }),
    one('unknown', 'empty', 'Unknown, nothing yet', { site: emptyLog, variants: ['phone'] }),
    one('unknown', 'failed', 'Unknown, not loaded', failing('/activity-unknown')),
    one('unknown', 'more', 'Unknown, more than a page', { site: severalPages, area: '.so-card__foot' }),
    one('unknown', 'menu', 'Unknown, the menu of a row', {
      act: (user) => user.click('button', 'Actions for 203.0.113.24'),
      variants: ['phone'],
    }),
    one('unknown', 'attackers-failed', 'Unknown, who attacks not loaded', failing('/activity-attackers')),
    one('unknown', 'block', 'Unknown, Block of an attacker', {
      async act(user) {
        await user.click('button', 'Block 203.0.113.201');
        await user.settle();
      },
      area: '.so-block',
      variants: ['phone'],
    }),
    one('unknown', 'request', 'Unknown, the details of a request', {
      async act(user) {
        await user.focus('row', /198\.51\.100\.140/);
        await user.press('{Enter}');
        await user.settle();
      },
      area: '.so-drawer',
      variants: ['phone', 'rtl'],
    }),
    one('unknown', 'filter', 'Unknown, the filter', {
      act: (user) => user.click('button', 'Filter'),
      variants: ['phone', 'rtl'],
    }),
    one('unknown', 'filtered', 'Unknown, filtered', {
      async act(user) {
        await user.click('button', 'Filter');
        await user.click('combobox', 'Visitor');
        await user.press('{ArrowDown}{Enter}');
        await user.click('button', 'Apply');
        await user.settle();
      },
    }),
    one('unknown', 'off', 'Unknown, the log is off', {
      area: '.so-cardnote',
      site(site) {
        busy(site);
        site.log.options.disable_activity_log = 1;
      },
    }),
    one('registered', 'ready', 'Registered', { variants: ['middle', 'phone', 'german'] }),
    one('registered', 'empty', 'Registered, nothing yet', { site: emptyLog }),
    one('blocked', 'ready', 'Blocked', { variants: ['middle', 'phone'] }),
    one('blocked', 'empty', 'Blocked, empty', { site: emptyLog }),
    one('blocked', 'pending', 'Blocked, being unblocked', {
      ...holding('/block-ip/1'),
      area: '[data-row="b1"]',
      act: (user) => user.click('button', 'Unblock 203.0.113.24'),
    }),
    one('blocked', 'failed', 'Blocked, not unblocked', {
      ...failing('/block-ip/1'),
      area: '[data-row="b1"]',
      act: (user) => user.click('button', 'Unblock 203.0.113.24'),
    }),
    one('weekly-reports', 'ready', 'Weekly Reports', { variants: ['phone', 'rtl'] }),
    one('weekly-reports', 'empty', 'Weekly Reports, empty', { site: emptyLog }),
    one('weekly-reports', 'full', 'Weekly Reports, five recipients', {
      site(site) {
        site.log.emails = ['owner', 'agency', 'editor-1', 'editor-2', 'editor-3'].map((name) => `${name}@example.com`);
      },
    }),
    one('weekly-reports', 'alerts', 'Weekly Reports, alerts by every channel', {
      site: withChannels,
      variants: ['phone', 'rtl', 'german'],
    }),
    one('weekly-reports', 'alerts-partly', 'Weekly Reports, a test was sent to some', {
      site(site) {
        busy(site);
        site.log.alertTest = { ok: 0, sent: 2, text: NO_ANSWER };
      },
      async act(user) {
        await user.click('button', 'Send a test: Mail');
        await user.settle();
      },
      area: MAIN,
    }),
    one('weekly-reports', 'alerts-tested', 'Weekly Reports, a test was sent', {
      async act(user) {
        await user.click('button', 'Send a test: Mail');
        await user.settle();
      },
    }),
    one('weekly-reports', 'alerts-failed', 'Weekly Reports, the alerts not loaded', failing('/alerts')),
    one('weekly-reports', 'bad', 'Weekly Reports, a bad address', {
      async act(user) {
        await user.type('Add e-mail addresses', 'office(at)example.com');
        await user.click('button', 'Create');
      },
    }),
    one('log-settings', 'ready', 'Log Settings', { variants: ['phone', 'german'] }),
    one('log-settings', 'open', 'Log Settings, choosing the days', {
      area: '.so-app',
      variants: ['phone'],
      act: (user) => user.click('combobox', 'Days to keep'),
    }),
    one('log-settings', 'fewer', 'Log Settings, fewer days', {
      variants: ['phone'],
      act: (user) => user.choose('Days to keep', '5 days'),
    }),
    one('log-settings', 'lowered', 'Log Settings, fewer days a moment ago', {
      area: '.so-app',
      async act(user) {
        await user.choose('Days to keep', '5 days');
        await user.click('button', 'Delete 1,207 entries');
      },
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
      act: (user) => choose(user, '203.0.113.24', 'Manage IP Traffic'),
      variants: ['phone'],
    }),
    one('unknown', 'manage-plain', 'Manage IP Traffic, little known', {
      act: (user) => choose(user, '203.0.113.24', 'Manage IP Traffic'),
    }),
    one('unknown', 'manage-blocked', 'Manage IP Traffic, blocked', {
      site: (site) => knownVisitor(site, { block: 1 }),
      act: (user) => choose(user, '203.0.113.24', 'Manage IP Traffic'),
    }),
    one('unknown', 'manage-ipv6', 'Manage IP Traffic, an IPv6 address', {
      site: (site) => knownVisitor(site, { name: '2001:db8:5:6::7', network: '2001:db8:5:6::/64' }),
      act: (user) => choose(user, '203.0.113.24', 'Manage IP Traffic'),
      variants: ['phone'],
    }),
    one('unknown', 'manage-loading', 'Manage IP Traffic, loading', {
      ...holding('/get-visitor-status/1'),
      act: (user) => choose(user, '203.0.113.24', 'Manage IP Traffic'),
    }),
    one('unknown', 'manage-failed', 'Manage IP Traffic, not loaded', {
      ...failing('/get-visitor-status/1'),
      act: (user) => choose(user, '203.0.113.24', 'Manage IP Traffic'),
    }),
    one('registered', 'manage', 'Manage User Traffic', {
      site: (site) => knownVisitor(site, { type: 'user', name: 'customer-31', hostname: '', roles: ['Customer'] }),
      act: (user) => choose(user, 'customer-31', 'Manage User Traffic'),
    }),
    one('weekly-reports', 'edit', 'change an address', {
      act: (user) => user.click('button', 'Edit agency@example.net'),
      variants: ['phone'],
    }),
    one('weekly-reports', 'webhook', 'alerts by webhook', {
      site: withChannels,
      act: (user) => user.click('button', 'Configure: Webhook'),
      variants: ['phone'],
    }),
    one('weekly-reports', 'slack', 'alerts in Slack', { act: (user) => user.click('button', 'Configure: Slack') }),
    one('weekly-reports', 'syslog', 'alerts in a system log', {
      site: withChannels,
      act: (user) => user.click('button', 'Configure: System log'),
      variants: ['phone'],
    }),
    one('weekly-reports', 'syslog-tcp', 'alerts in a system log by TCP', {
      site: withChannels,
      async act(user) {
        await user.click('button', 'Configure: System log');
        await user.choose('Protocol', 'TCP');
      },
    }),
    one('weekly-reports', 'edit-partly', 'change an address, the choices not saved', {
      ...failing('/alert-recipient'),
      async act(user) {
        await user.click('button', 'Edit agency@example.net');
        await user.type('Email', 'studio@example.net');
        await user.click('button', 'Save');
        await user.settle();
      },
      variants: ['phone'],
    }),
    one('weekly-reports', 'delete-alerts', 'delete an address with alerts', {
      act: (user) => user.click('button', 'Delete owner@example.com'),
    }),
    one('weekly-reports', 'delete', 'delete an address', {
      act: (user) => user.click('button', 'Delete agency@example.net'),
    }),
    one('weekly-reports', 'preview', 'an example of the report', {
      act: (user) => user.click('button', 'See an example'),
    }),
  ],
};
