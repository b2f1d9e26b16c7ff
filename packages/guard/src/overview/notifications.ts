import type { Notification } from '@security-optimizer/contract/overview';
import { type Phrase, sayPhrase } from '@security-optimizer/contract/phrase';
import type { WordPressOverview } from '../wordpress/overview-command.js';

/** Everything that notifications are made of. Plain data. */
export interface NotificationFacts {
  /** Null when WordPress could not be asked. */
  readonly wordpress: WordPressOverview | null;
  readonly secondFactor: boolean;
  /** Users who have set up a second factor. */
  readonly enrolled: readonly number[];
  readonly editorsOff: boolean;
  /** Until when everything is off, `YYYY-MM-DD HH:MM` on the site's clock, or null. */
  readonly pausedUntil: string | null;
  /** Version of the connector when it is not guard's own, else null. */
  readonly oldConnector: string | null;
  /** Why the last weekly report could not be sent, or null. */
  readonly reportFailure: string | null;
  /** Visits of the last 7 days that were not recorded. */
  readonly droppedVisits: number;
}

/** Pages of wp-admin that buttons lead to, as URL or path. */
export interface NotificationLinks {
  admin(page: string): string;
}

const levels = { danger: 0, warning: 1, info: 2 } as const;

type Said = string | Phrase;
type Found = Omit<Notification, 'title' | 'text' | 'phrases'> & { readonly title: Said; readonly text: Said };

/** What needs the owner, most urgent first. Each comes from a check, has one button, and is gone once it is fixed. */
export function notificationsOf(facts: NotificationFacts, links: NotificationLinks): Notification[] {
  return [
    ...productNotifications(facts, links),
    ...(facts.wordpress === null ? [] : wordpressNotifications(facts.wordpress, facts, links)),
  ]
    .sort((a, b) => levels[a.level] - levels[b.level])
    .map(asNotification);
}

function asNotification({ title, text, ...rest }: Found): Notification {
  return {
    ...rest,
    ...{ title: inEnglish(title), text: inEnglish(text) },
    phrases: {
      ...(typeof title === 'string' ? {} : { title }),
      ...(typeof text === 'string' ? {} : { text }),
    },
  };
}

function inEnglish(said: Said): string {
  return typeof said === 'string' ? said : sayPhrase(said);
}

/** A text with words in it. */
function worded(text: string, words: Readonly<Record<string, string>>): Phrase {
  return { text, plural: null, count: null, words };
}

/** A text that counts. */
function counted(text: string, plural: string, count: number, words: Readonly<Record<string, string>> = {}): Phrase {
  return { text, plural, count, words };
}

function productNotifications(facts: NotificationFacts, { admin }: NotificationLinks): Found[] {
  const found: Found[] = [];
  // An old connector answers; it only can't tell what is asked here, and has a notification of its own.
  if (facts.wordpress === null && facts.oldConnector === null) {
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
      text: worded('Your hosting provider paused them until {time}. They come back by themselves.', {
        time: facts.pausedUntil,
      }),
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
      text: worded('It was tried several times. The reason: {reason}', { reason: facts.reportFailure }),
      button_link: admin('admin.php?page=activity-log#weekly-reports'),
      button_text: 'Review recipients',
    });
  }
  if (facts.droppedVisits > 0) {
    found.push({
      id: 'visits-dropped',
      level: 'info',
      title: 'Some visits were not recorded',
      text: counted(
        'One visit of the last 7 days came faster than it could be written. It was still checked.',
        '{count} visits of the last 7 days came faster than they could be written. They were still checked.',
        facts.droppedVisits,
      ),
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
      title: worded('WordPress {version} is available', { version: wordpress.core_update }),
      text: 'Updates close known security holes.',
      ...updates,
    });
  }
  if (wordpress.plugin_updates > 0) {
    const many = wordpress.plugin_updates;
    found.push({
      id: 'plugin-updates',
      level: 'warning',
      title: counted('One plugin is out of date', '{count} plugins are out of date', many),
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
      title: counted('One theme is out of date', '{count} themes are out of date', many),
      text: 'Updates close known security holes.',
      ...updates,
    });
  }
  const without = facts.secondFactor ? wordpress.administrators.filter(({ id }) => !facts.enrolled.includes(id)) : [];
  if (without.length > 0) {
    found.push({
      id: 'administrators-without-factor',
      level: 'info',
      title: counted(
        'One administrator has not set up the second factor yet',
        '{count} administrators have not set up the second factor yet',
        without.length,
      ),
      text: whoIsAsked(without.map(({ login }) => login)),
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
      title: worded('Anyone can register as {role}', { role: wordpress.default_role }),
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

/** Names that a text lists; the rest is counted. */
const NAMED = 5;

function whoIsAsked(logins: readonly string[]): Phrase {
  const names = logins.slice(0, NAMED).join(', ');
  const more = logins.length - NAMED;
  if (more <= 0) return worded('The set-up follows at the next login: {names}.', { names });
  return worded('The set-up follows at the next login: {names} and {more} more.', { names, more: String(more) });
}
