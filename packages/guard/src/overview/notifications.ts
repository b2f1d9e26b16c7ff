import { getRoleName } from '@security-optimizer/contract/activity/event-values';
import type { Notification } from '@security-optimizer/contract/overview/endpoints';
import { type MessageParam, type ServerText, toParam } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { WordPressOverview } from '../wordpress/connector-commands.js';

/** The facts from which notifications are computed. Plain data. */
export interface NotificationFacts {
  /** Null when WordPress did not respond. */
  readonly wordpress: WordPressOverview | null;
  readonly secondFactor: boolean;
  /** Users who have set up a second factor. */
  readonly enrolled: readonly number[];
  readonly editorsOff: boolean;
  /** When the pause of all protections ends, `YYYY-MM-DD HH:MM` in the site's time zone, or null. */
  readonly pausedUntil: string | null;
  /** Version of the connector when it differs from guard's, else null. */
  readonly oldConnector: string | null;
  /** Why the last weekly report could not be sent, or null. */
  readonly reportFailure: ServerText | null;
  /** Why alerts do not arrive, or null. */
  readonly alertFailure: ServerText | null;
  /** Visits of the last 7 days that were not recorded. */
  readonly droppedVisits: number;
  /** Findings of the latest checkup that are not kept. */
  readonly checkupFindings: number;
}

/** Pages of wp-admin to which buttons link, as URL or path. */
export interface NotificationLinks {
  admin(page: string): string;
}

const levels = { danger: 0, warning: 1, info: 2 } as const;

type Found = Omit<Notification, 'title' | 'text'> & { readonly title: ServerText; readonly text: ServerText };

/**
 * Returns what the owner must act on, most urgent first. Each notification has one button and disappears once it is
 * fixed.
 */
export function listNotifications(facts: NotificationFacts, links: NotificationLinks): Found[] {
  return [
    ...productNotifications(facts, links),
    ...(facts.wordpress === null ? [] : wordpressNotifications(facts.wordpress, facts, links)),
  ].sort((a, b) => levels[a.level] - levels[b.level]);
}

function productNotifications(facts: NotificationFacts, { admin }: NotificationLinks): Found[] {
  const found: Found[] = [];
  // An old connector responds but lacks this command, and has its own notification.
  if (facts.wordpress === null && facts.oldConnector === null) {
    found.push({
      id: 'wordpress-unreachable',
      level: 'danger',
      title: 'WordPress did not answer our checks',
      text: 'We can’t tell whether updates are waiting. Requests are still checked before they reach WordPress.',
      button_link: admin('admin.php?page=security-optimizer'),
      button_text: 'Check again',
    });
  }
  if (facts.pausedUntil !== null) {
    found.push({
      id: 'paused',
      level: 'danger',
      title: 'All protections are paused',
      text: serverMessage('paused_until', {
        time: { time: facts.pausedUntil },
      }),
      button_link: admin('admin.php?page=site-security'),
      button_text: 'See the settings',
    });
  }
  if (facts.checkupFindings > 0) {
    found.push({
      id: 'checkup-findings',
      level: 'danger',
      title: serverMessage('checkup_findings', { count: facts.checkupFindings }),
      text: 'See what it is, then fix it or keep it.',
      button_link: admin('admin.php?page=post-hack-actions'),
      button_text: 'See the checkup',
    });
  }
  if (facts.oldConnector !== null) {
    found.push({
      id: 'connector-version',
      level: 'warning',
      title: 'The connector plugin is not up to date',
      text: 'Some protections inside WordPress may be missing. Ask your hosting provider to attach the site again.',
      button_link: admin('plugins.php?plugin_status=mustuse'),
      button_text: 'See the plugin',
    });
  }
  if (facts.reportFailure !== null) {
    found.push({
      id: 'report-failed',
      level: 'warning',
      title: 'The last weekly report could not be sent',
      text: serverMessage('report_failure_reason', { reason: toParam(facts.reportFailure) }),
      button_link: admin('admin.php?page=activity-log#weekly-reports'),
      button_text: 'Review recipients',
    });
  }
  if (facts.alertFailure !== null) {
    found.push({
      id: 'alerts-failed',
      level: 'warning',
      title: 'Alerts do not arrive',
      text: facts.alertFailure,
      button_link: admin('admin.php?page=activity-log#weekly-reports'),
      button_text: 'Review alerts',
    });
  }
  if (facts.droppedVisits > 0) {
    found.push({
      id: 'visits-dropped',
      level: 'info',
      title: 'Some visits were not recorded',
      text: serverMessage('visits_dropped', { count: { inWords: facts.droppedVisits } }),
      button_link: admin('admin.php?page=activity-log'),
      button_text: 'Open the log',
    });
  }
  return found;
}

function wordpressNotifications(
  wordpress: WordPressOverview,
  facts: NotificationFacts,
  { admin }: NotificationLinks,
): Found[] {
  const found: Found[] = [];
  const updates = { button_link: admin('update-core.php'), button_text: 'Review updates' };
  if (wordpress.core_update !== null) {
    found.push({
      id: 'core-update',
      level: 'danger',
      title: serverMessage('wordpress_available', { version: wordpress.core_update }),
      text: 'Updates close known security holes.',
      ...updates,
    });
  }
  if (wordpress.plugin_updates > 0) {
    const many = wordpress.plugin_updates;
    found.push({
      id: 'plugin-updates',
      level: 'warning',
      title: serverMessage('plugins_outdated', { count: { inWords: many } }),
      text:
        many === 1
          ? 'Updates close known security holes. It takes less than a minute.'
          : 'Updates close known security holes.',
      ...updates,
    });
  }
  if (wordpress.theme_updates > 0) {
    const many = wordpress.theme_updates;
    found.push({
      id: 'theme-updates',
      level: 'warning',
      title: serverMessage('themes_outdated', { count: { inWords: many } }),
      text: 'Updates close known security holes.',
      ...updates,
    });
  }
  const without = facts.secondFactor ? wordpress.administrators.filter(({ id }) => !facts.enrolled.includes(id)) : [];
  if (without.length > 0) {
    found.push({
      id: 'administrators-without-factor',
      level: 'info',
      title: serverMessage('administrators_without_factor', { count: { inWords: without.length } }),
      text: describeAdministrators(without.map(({ login }) => login)),
      button_link: admin('users.php?role=administrator'),
      button_text: 'See administrators',
    });
  }
  if (wordpress.salts !== 'set') {
    found.push({
      id: 'salts',
      level: wordpress.salts === 'default' ? 'danger' : 'warning',
      title: 'The security keys of WordPress are not set',
      text:
        wordpress.salts === 'default'
          ? 'wp-config.php still holds the sample text, so logins can be forged. Ask your hosting provider to set the keys.'
          : 'WordPress keeps them in its database, where a stolen copy shows them. Ask your hosting provider to set them in wp-config.php.',
      button_link: admin('site-health.php'),
      button_text: 'Open site health',
    });
  }
  if (wordpress.can_edit_files && !facts.editorsOff) {
    found.push({
      id: 'editors',
      level: 'warning',
      title: 'Code can be changed from the admin area',
      text: 'Whoever steals an administrator’s login can change what your site runs.',
      button_link: admin('admin.php?page=site-security#disable-editors'),
      button_text: 'Turn the editors off',
    });
  }
  if (wordpress.registration && ['administrator', 'editor'].includes(wordpress.default_role)) {
    found.push({
      id: 'default-role',
      level: 'danger',
      title: serverMessage('registers_as', { role: roleParam(wordpress.default_role) }),
      text: 'New users get a role that can change your site. Choose Subscriber instead.',
      button_link: admin('options-general.php'),
      button_text: 'Open settings',
    });
  }
  if (wordpress.shows_errors) {
    found.push({
      id: 'shows-errors',
      level: 'warning',
      title: 'The site shows error messages to visitors',
      text: 'They can give away file names and settings. Turn WP_DEBUG_DISPLAY off in wp-config.php.',
      button_link: admin('site-health.php'),
      button_text: 'Open site health',
    });
  }
  return found;
}

/** Maximum number of names in a text; further ones are counted. */
const NAMED = 5;

function describeAdministrators(logins: readonly string[]): ServerText {
  const names = logins.slice(0, NAMED).join(', ');
  const more = logins.length - NAMED;
  if (more <= 0) return serverMessage('set_up_follows', { names });
  return serverMessage('set_up_follows_for_more', { names, more });
}

/** Returns a role by its display name in WordPress; a plugin's role by its slug. */
function roleParam(role: string): MessageParam {
  const name = getRoleName(role);
  return name === null ? role : { text: name };
}
