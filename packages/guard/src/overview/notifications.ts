import type { Notification } from '@security-optimizer/contract/overview';
import type { WordPressOverview } from '../wordpress/overview-command.js';

/** Everything that notifications are made of. Plain data. */
export interface NotificationFacts {
  /** Null when WordPress could not be asked. */
  readonly wordpress: WordPressOverview | null;
  readonly secondFactor: boolean;
  /** Users who have set up a second factor. */
  readonly enrolled: readonly number[];
  readonly editorsOff: boolean;
  /** Until when everything is off, in words, or null. */
  readonly pausedUntil: string | null;
  /** Version of the connector when it is not guard's own, else null. */
  readonly oldConnector: string | null;
  /** Why the last weekly report could not be sent, or null. */
  readonly reportFailure: string | null;
  /** Visits that were not recorded. */
  readonly droppedVisits: number;
}

/** Pages of wp-admin that buttons lead to, as URL or path. */
export interface NotificationLinks {
  admin(page: string): string;
}

const levels = { danger: 0, warning: 1, info: 2 } as const;

/** What needs the owner, most urgent first. Each comes from a check, has one button, and is gone once it is fixed. */
export function notificationsOf(facts: NotificationFacts, links: NotificationLinks): Notification[] {
  return [
    ...productNotifications(facts, links),
    ...(facts.wordpress === null ? [] : wordpressNotifications(facts.wordpress, facts, links)),
  ].sort((a, b) => levels[a.level] - levels[b.level]);
}

function productNotifications(facts: NotificationFacts, { admin }: NotificationLinks): Notification[] {
  const found: Notification[] = [];
  if (facts.wordpress === null) {
    found.push({
      id: 'wordpress-unreachable',
      level: 'danger',
      title: 'WordPress did not answer our checks',
      text: 'We can’t tell whether updates are waiting. Your protections at the door are still on.',
      button_link: admin('admin.php?page=security-optimizer'),
      button_text: 'Check again',
    });
  }
  if (facts.pausedUntil !== null) {
    found.push({
      id: 'paused',
      level: 'danger',
      title: 'All protections are paused',
      text: `Your hosting provider paused them until ${facts.pausedUntil}. They come back by themselves.`,
      button_link: admin('admin.php?page=site-security'),
      button_text: 'See the settings',
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
      text: facts.reportFailure,
      button_link: admin('admin.php?page=activity-log#weekly-reports'),
      button_text: 'Review recipients',
    });
  }
  if (facts.droppedVisits > 0) {
    found.push({
      id: 'visits-dropped',
      level: 'info',
      title: 'Some visits were not recorded',
      text: `${facts.droppedVisits.toLocaleString('en-US')} visits came faster than they could be written. They were still checked.`,
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
): Notification[] {
  const found: Notification[] = [];
  const updates = { button_link: admin('update-core.php'), button_text: 'Review updates' };
  if (wordpress.core_update !== null) {
    found.push({
      id: 'core-update',
      level: 'danger',
      title: `WordPress ${wordpress.core_update} is available`,
      text: 'Updates close known security holes.',
      ...updates,
    });
  }
  if (wordpress.plugin_updates > 0) {
    const many = wordpress.plugin_updates;
    found.push({
      id: 'plugin-updates',
      level: 'warning',
      title: many === 1 ? 'One plugin is out of date' : `${inWords(many)} plugins are out of date`,
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
      title: many === 1 ? 'One theme is out of date' : `${inWords(many)} themes are out of date`,
      text: 'Updates close known security holes.',
      ...updates,
    });
  }
  const without = facts.secondFactor ? wordpress.administrators.filter(({ id }) => !facts.enrolled.includes(id)) : [];
  if (without.length > 0) {
    found.push({
      id: 'administrators-without-factor',
      level: 'info',
      title:
        without.length === 1
          ? 'One administrator has not set up the second factor yet'
          : `${inWords(without.length)} administrators have not set up the second factor yet`,
      text: `They do so at their next login: ${names(without.map(({ login }) => login))}.`,
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
      button_link: admin('admin.php?page=site-security'),
      button_text: 'Turn the editors off',
    });
  }
  if (wordpress.registration && ['administrator', 'editor'].includes(wordpress.default_role)) {
    found.push({
      id: 'default-role',
      level: 'danger',
      title: `Anyone can register as ${wordpress.default_role}`,
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

const WORDS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'];

function inWords(number: number): string {
  return WORDS[number] ?? number.toLocaleString('en-US');
}

function names(logins: readonly string[]): string {
  const shown = logins.slice(0, 5).join(', ');
  return logins.length > 5 ? `${shown} and ${logins.length - 5} more` : shown;
}
