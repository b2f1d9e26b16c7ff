import { englishMessages, fillMessage, getCount, type MessageParam, type ServerMessage } from './server-message.js';

/**
 * All texts of the server that contain values, by code. Codes are an interface: they are stored with jobs and events
 * and sent in responses, so a released code keeps its meaning. Constant texts need no code. A text with a plural has a
 * form for one and a form for other numbers, and the parameter `count`.
 */
export const serverMessages = {
  // Activity Log
  visitor_blocked: '{name} is blocked.',
  visitors_blocked: { one: '{count} address or range is blocked.', other: '{count} addresses and ranges are blocked.' },
  user_blocked: '{name} is blocked and signed out.',
  visitor_unblocked: '{name} is not blocked any more.',
  visitor_in_blocked_range: '{name} is in a range that is blocked. Unblock the range to let it in.',
  crawler_address: 'This is a crawler of {name}. Blocking it would take your site out of its search results.',
  crawler_in_range: 'A crawler of {name} is in this range. Blocking it would take your site out of its search results.',
  // The same text as `messages.invalidAddress`, which the browser shows before sending.
  address_unreadable: 'Invalid format. Check “{name}”.',
  address_unlocked: '{address} may log in again.',
  log_kept: {
    one: 'The activity log is kept for {count} day.',
    other: 'The activity log is kept for {count} days.',
  },
  log_kept_without_reports: {
    one: 'The activity log is kept for {count} day. No weekly reports are sent while it is kept for fewer than {least} days.',
    other:
      'The activity log is kept for {count} days. No weekly reports are sent while it is kept for fewer than {least} days.',
  },
  // Weekly reports
  report_failed: 'The report to {email} failed. {reason}',
  reports_failed: 'The report to {email} and {more} more failed. {reason}',
  report_failed_retry: 'The report to {email} failed. {reason} We try again at {time}.',
  reports_failed_retry: 'The report to {email} and {more} more failed. {reason} We try again at {time}.',
  too_many_recipients: {
    one: 'Enter at most {count} e-mail address.',
    other: 'Enter at most {count} e-mail addresses.',
  },
  test_report_failed: 'The test report could not be sent. {reason}',
  mail_server_refused: 'The mail server {host} did not take it: {answer}',
  wordpress_said: 'WordPress said: {answer}',
  connector_other_secret_key: 'The connector plugin has another secret (key {key}).',
  connector_fault: 'WordPress does not carry out commands: {cause}.',
  connector_missing_at:
    'What answers for the host {host} has no connector plugin. If the site has another name, attach it again with --host and that name.',
  connector_redirected:
    'The web server behind guard redirects guard’s commands for {host} to {target}. Let requests with the header X-Security-Optimizer-Command through to WordPress.',
  connector_redirected_by_scheme:
    'The web server behind guard redirects guard’s commands to {target}, although they name their scheme. Let it go by the header X-Forwarded-Proto. The guide for operators shows how, under “The visitor’s scheme”.',
  connector_redirected_to_host:
    'The web server behind guard redirects guard’s commands for {host} to {target}. If that is the site’s name, attach it again with --host and that name.',
  // Alerts
  alert_host_unknown: 'The address of {host} can’t be found.',
  alert_connection_failed: 'The connection failed ({code}).',
  alert_refused: 'The service refused it ({code}).',
  alert_redirected: 'The service sends us to another address ({code}). Enter the final one.',
  alert_mail_failed: '{email}: {reason}',
  alerts_failed: {
    one: '{channel}: {count} alert waits. {reason}',
    other: '{channel}: {count} alerts wait. {reason}',
  },
  // Login Security
  path_length: 'Use {least} to {most} characters.',
  second_factor_reset: '{name} sets up a new second factor at the next login.',
  team_mailed: { one: '{count} person got a mail.', other: '{count} people got a mail.' },
  team_mailed_some: {
    one: '{count} person got a mail. {failed} could not be sent: {reason}',
    other: '{count} people got a mail. {failed} could not be sent: {reason}',
  },
  team_too_large: 'More than {most} people would get a mail, so none was sent.',
  away_until: 'Away Mode is on until {time}.',
  away_from: 'Away Mode begins on {time}.',
  away_starts_at_once:
    'Away Mode would start at once and last until {time}. Nobody could log in until then, not even you. Nothing was saved.',
  login_moved: 'The login is at /{path} now.',
  path_taken: 'This address is taken by {user}. Choose another one.',
  common_usernames:
    'Administrators with a common username: {names}. Choose new usernames for them first. Nothing was saved.',
  own_address_missing: 'Your own address {address} is not in this list, so it would shut you out. Nothing was saved.',
  too_many_addresses: 'Enter at most {number} addresses.',
  attempts_limited: 'After {number} failed logins an address has to wait.',
  // The same texts as in `loginMessages`, which the browser shows before sending.
  username_typed: 'Username {name} already typed.',
  username_exists: 'Username {name} already exists.',
  username_not_allowed: 'Username {name} is not allowed.',
  role_unknown: 'The site has no role {role}.',
  too_many_roles: 'Choose at most {number} roles.',
  // Post-hack Actions
  new_administrator: 'New administrator: {login}',
  administrator_created: 'Created on {time}. The log does not say by whom.',
  administrator_created_by: 'Created by {user} on {time}.',
  administrator_created_from: 'Created by {user} on {time}, from {address}.',
  administrator_created_cli: 'Created from the command line on {time}.',
  administrator_created_task: 'Created by a scheduled task on {time}.',
  administrator_created_visitor: 'Created on {time} by a visitor who was not logged in, from {address}.',
  administrator_promoted: 'No administrator at the checkup before. The account is from {time}.',
  administrator_promoted_by: 'Made an administrator by {user} on {time}.',
  administrator_promoted_from: 'Made an administrator by {user} on {time}, from {address}.',
  administrator_promoted_cli: 'Made an administrator from the command line on {time}.',
  administrator_promoted_task: 'Made an administrator by a scheduled task on {time}.',
  administrator_promoted_visitor: 'Made an administrator on {time} by a visitor who was not logged in, from {address}.',
  removing_ends_sessions: {
    one: 'Removing also ends {count} open session',
    other: 'Removing also ends {count} open sessions',
  },
  administrator_last_login: '{login} ({email}), since {since}, last login {last}',
  administrator_since: '{login} ({email}), since {since}, no login known',
  core_not_compared: '{server} did not answer, so nothing is known about them.',
  core_files_changed: {
    one: '{count} file of WordPress was changed',
    other: '{count} files of WordPress were changed',
  },
  core_files_missing: {
    one: '{count} file of WordPress is missing',
    other: '{count} files of WordPress are missing',
  },
  core_files_unknown: {
    one: '{count} file in the folders of WordPress is not part of it',
    other: '{count} files in the folders of WordPress are not part of it',
  },
  file_changed: '{file}, changed on {time}',
  script_changed: 'Changed on {time}. It can’t run there while system folders are locked, but it should not be there.',
  script_changed_unlocked:
    'Changed on {time}. It should not be there, and it can run while system folders are not locked.',
  scripts_in_uploads: '{count} scripts in uploads',
  not_removed_because: '{file} was not removed. {reason}',
  not_removed_because_more: {
    one: '{file} was not removed. {reason} {count} more file was not removed either.',
    other: '{file} was not removed. {reason} {count} more files were not removed either.',
  },
  not_restored_because: '{file} was not restored. {reason}',
  not_restored_because_more: {
    one: '{file} was not restored. {reason} {count} more file was not restored either.',
    other: '{file} was not restored. {reason} {count} more files were not restored either.',
  },
  more_files: { one: 'and {count} more file', other: 'and {count} more files' },
  plugin_changed: {
    one: '{name}: {count} file is not the original one',
    other: '{name}: {count} files are not the original ones',
  },
  plugin_changed_at: 'Version {version} of the plugin directory has other files. The last change was on {time}.',
  plugins_not_compared: {
    one: 'The plugin directory did not answer for {count} plugin, so nothing is known about it.',
    other: 'The plugin directory did not answer for {count} plugins, so nothing is known about them.',
  },
  plugins_not_listed: {
    one: '{count} plugin is not in the plugin directory and was not compared',
    other: '{count} plugins are not in the plugin directory and were not compared',
  },
  checkup_findings: {
    one: 'The checkup found one thing that needs a look',
    other: 'The checkup found {count} things that need a look',
  },
  default_role: 'New users become {role}',
  site_address: 'Site address: {url}',
  wordpress_address: 'WordPress address: {url}',
  administration_email: 'Administration e-mail: {email}',
  password_links_mailed: {
    one: '{count} user got a link to choose a new password.',
    other: '{count} users got a link to choose a new password.',
  },
  password_links_failed: {
    one: '{count} mail could not be sent. These users can ask for a link with “Lost your password?”.',
    other: '{count} mails could not be sent. These users can ask for a link with “Lost your password?”.',
  },
  salts_partly: 'WordPress has new security keys, but these are still the old ones: {names}.',
  salts_set_in: 'They are set in {files}.',
  users_logged_out: {
    one: '{count} user was logged in and has to log in again.',
    other: '{count} users were logged in and have to log in again.',
  },
  files_replaced: {
    one: '{count} changed file was replaced.',
    other: '{count} changed files were replaced.',
  },
  download_differs: 'The download was damaged or changed: {file}. The old copy is still in place.',
  download_not_on_list:
    'The download holds {file}, of which the plugin directory has no checksum. The old copy is still in place.',
  plugins_clean: { one: '{count} plugin has a clean copy.', other: '{count} plugins have a clean copy.' },
  plugins_unchecked: {
    one: '{count} plugin could not be checked. It stays as it is.',
    other: '{count} plugins could not be checked. They stay as they are.',
  },
  plugins_outside: {
    one: '{count} must-use plugin or drop-in stays as it is, since it doesn’t come from the plugin directory.',
    other: '{count} must-use plugins and drop-ins stay as they are, since they don’t come from the plugin directory.',
  },
  plugins_failed: { one: '{count} plugin failed.', other: '{count} plugins failed.' },
  plugins_skipped: { one: '{count} plugin was skipped.', other: '{count} plugins were skipped.' },
  files_removed: {
    one: '{count} file that is not part of its plugin was removed.',
    other: '{count} files that are not part of their plugins were removed.',
  },
  // Notifications
  paused_until: 'Your hosting provider paused them until {time}. They come back by themselves.',
  report_failure_reason: 'It was tried several times. The reason: {reason}',
  visits_dropped: {
    one: 'One visit of the last 7 days came faster than it could be written. It was still checked.',
    other: '{count} visits of the last 7 days came faster than they could be written. They were still checked.',
  },
  wordpress_available: 'WordPress {version} is available',
  plugins_outdated: { one: 'One plugin is out of date', other: '{count} plugins are out of date' },
  themes_outdated: { one: 'One theme is out of date', other: '{count} themes are out of date' },
  administrators_without_factor: {
    one: 'One administrator has not set up the second factor yet',
    other: '{count} administrators have not set up the second factor yet',
  },
  set_up_follows: 'The set-up follows at the next login: {names}.',
  set_up_follows_for_more: 'The set-up follows at the next login: {names} and {more} more.',
  registers_as: 'Anyone can register as {role}',
} as const satisfies Readonly<Record<string, string | { readonly one: string; readonly other: string }>>;

export type MessageCode = keyof typeof serverMessages;

type Places<Template> = Template extends `${string}{${infer Name}}${infer Rest}` ? Name | Places<Rest> : never;
type Forms<Entry> = Entry extends { readonly one: infer One; readonly other: infer Other } ? One | Other : Entry;
type Params<Code extends MessageCode> = Readonly<Record<Places<Forms<(typeof serverMessages)[Code]>>, MessageParam>>;

/** Creates a text with values, in English and as code and parameters. */
export function serverMessage<Code extends MessageCode>(code: Code, params: Params<Code>): ServerMessage {
  const entry: string | { readonly one: string; readonly other: string } = serverMessages[code];
  const template = typeof entry === 'string' ? entry : getCount(params) === 1 ? entry.one : entry.other;
  return { english: fillMessage(template, params, englishMessages), code, params };
}
