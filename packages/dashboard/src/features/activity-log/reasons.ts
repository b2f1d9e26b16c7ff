import { type AttackGoal, attackGoals } from '@security-optimizer/contract/activity/attackers';
import type { UnknownRow } from '@security-optimizer/contract/activity/schemas';
import { __, sprintf, translate } from '../../i18n/translate.js';

/** Labels of the attackers' goals for the panel "Who is attacking". */
export function goalText(goal: AttackGoal): string {
  switch (goal) {
    case 'passwords':
      return __('Guesses passwords', 'security-optimizer');
    case 'holes':
      return __('Looks for known holes', 'security-optimizer');
    case 'files':
      return __('Looks for forgotten files', 'security-optimizer');
    case 'users':
      return __('Collects user names', 'security-optimizer');
    case 'spam':
      return __('Sends spam', 'security-optimizer');
    case 'overload':
      return __('Overloads the site', 'security-optimizer');
  }
}

/** Returns why a request was refused, for the place beside its path; empty if it was not. */
export function refusalText(row: Pick<UnknownRow, 'rule' | 'reason' | 'page_visited'>): string {
  return row.rule === null ? '' : (ruleText(row.rule, row.page_visited) ?? translate(row.reason));
}

/** Returns what a scan looks for that no rule refused; empty for any other request. */
export function scanText({ rule, failed_login: isFailedLogin, goal }: UnknownRow): string {
  const known = rule === null && isFailedLogin === 0 && attackGoals.find((name) => name === goal);
  return known ? goalText(known) : '';
}

/** Returns the short text of a rule; null for unknown rules. @param target the request target */
function ruleText(rule: string, target: string): string | null {
  switch (rule) {
    case 'login-limit':
      return __('Too many wrong passwords', 'security-optimizer');
    case 'blocked-visitor':
      return __('This visitor is blocked', 'security-optimizer');
    case 'login-access':
      return __('Not on the list of login addresses', 'security-optimizer');
    case 'away-mode':
      return __('Away Mode is on', 'security-optimizer');
    case 'xml-rpc':
      return __('XML-RPC is off', 'security-optimizer');
    case 'feeds':
      return __('Feeds are off', 'security-optimizer');
    case 'file-editors':
      return __('The file editors are off', 'security-optimizer');
    case 'readme':
    case 'wordpress-version':
      return __('The WordPress version is hidden', 'security-optimizer');
    case 'system-folders':
      return /\.ph[a-z0-9]*(?:[/?]|$)/i.test(target)
        ? __('Scripts can’t run in this folder', 'security-optimizer')
        : __('This file is not for visitors', 'security-optimizer');
    case 'own-files':
      return __('Files of this plugin are not for visitors', 'security-optimizer');
    case 'unknown-host':
      return __('The site has another address', 'security-optimizer');
    default:
      return rule.startsWith('ambiguous:') ? __('The request could mean two things', 'security-optimizer') : null;
  }
}

/** Describes the login name of a wrong password; empty if there was none. */
export function triedText(row: Pick<UnknownRow, 'failed_login' | 'tried'>): string {
  /* translators: %s: login that somebody tried, without success */
  return row.failed_login === 1 && row.tried !== '' ? sprintf(__('Tried “%s”', 'security-optimizer'), row.tried) : '';
}
