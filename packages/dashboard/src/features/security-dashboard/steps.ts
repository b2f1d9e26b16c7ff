import { DEFAULT_LOGIN_ATTEMPTS } from '@security-optimizer/contract/login/limits';
import { loginRows, type SettingRow, securityRows } from '@security-optimizer/contract/settings/catalogue';
import {
  type EssentialField,
  type SecurityField,
  type SiteSecurityToggle,
  siteSecurityToggles,
} from '@security-optimizer/contract/settings/protections';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import { isCustomLoginUrl, selectedAttempts } from '../settings/essentials.js';
import type { LoginSettings, SecuritySettings } from '../settings/settings-query.js';

export type LoginStep = 'sg2fa' | 'disable_usernames' | 'login_attempts' | 'login_url';
export type StepId = LoginStep | SecurityField;

/** The rows of the steps that are one simple setting. */
export const stepRows: readonly SettingRow[] = [...loginRows, ...securityRows];

/** An essential that is off, and the effect of switching it on. */
export interface Step {
  readonly id: StepId;
  readonly icon: string;
  readonly title: string;
  readonly benefit: string;
  /** Side effects. */
  readonly effect: string;
  /** Whether it needs input from the owner. */
  readonly needsInput: boolean;
}

/** The essentials that are off, most valuable first. Unknown ones are omitted. */
export function openSteps(security: SecuritySettings, login: LoginSettings): readonly Step[] {
  return [...loginSteps(login), ...securityFields.filter((field) => security[field] === 0).map(securityStep)];
}

/** Recommended limit of failed logins: the default of a new site, or the highest choice. */
export function recommendedAttempts({ login_attempts = [] }: LoginSettings): number {
  const values = login_attempts.map(({ value }) => value).filter((value) => value > 0);
  return values.includes(DEFAULT_LOGIN_ATTEMPTS) ? DEFAULT_LOGIN_ATTEMPTS : Math.max(0, ...values);
}

function loginSteps(login: LoginSettings): readonly Step[] {
  const steps: Step[] = [];
  if (login.sg2fa === 0) {
    steps.push({
      id: 'sg2fa',
      icon: 'phone',
      title: __('Two-factor Authentication', 'security-optimizer'),
      benefit: __('A stolen password alone no longer opens the site.', 'security-optimizer'),
      effect: __(
        'Administrators and editors are logged out and set it up at their next login. You set it up now.',
        'security-optimizer',
      ),
      needsInput: false,
    });
  }
  if (login.disable_usernames === 0) steps.push(usernamesStep(login.usernames_data?.admin_matches.length ?? 0));
  if (login.login_attempts !== undefined && selectedAttempts(login) === 0 && recommendedAttempts(login) > 0) {
    steps.push(attemptsStep(recommendedAttempts(login)));
  }
  if (login.login_url !== undefined && !isCustomLoginUrl(login)) {
    steps.push({
      id: 'login_url',
      icon: 'link',
      title: __('Custom Login URL', 'security-optimizer'),
      benefit: __('Bots stop finding your login page.', 'security-optimizer'),
      effect: __('The old address stops working at once. Tell your team the new one.', 'security-optimizer'),
      needsInput: true,
    });
  }
  return steps;
}

function usernamesStep(matches: number): Step {
  return {
    id: 'disable_usernames',
    icon: 'name-tag',
    title: __('Disable Common Usernames', 'security-optimizer'),
    benefit:
      matches > 0
        ? sprintf(
            /* translators: %d: number of accounts */
            _n(
              '%d account has a name that bots try first.',
              '%d accounts have names that bots try first.',
              matches,
              'security-optimizer',
            ),
            matches,
          )
        : __('Nobody can register a name that bots try first.', 'security-optimizer'),
    effect:
      matches > 0
        ? __('These users log in with a new name. Tell them: we don’t notify them.', 'security-optimizer')
        : __('New users can’t be called “admin” or the like.', 'security-optimizer'),
    needsInput: matches > 0,
  };
}

function attemptsStep(attempts: number): Step {
  return {
    id: 'login_attempts',
    icon: 'timer',
    title: __('Limit Login Attempts', 'security-optimizer'),
    benefit: __('Nothing stops password guessing at the moment.', 'security-optimizer'),
    effect: sprintf(
      /* translators: %d: number of wrong passwords */
      __('%d wrong passwords block an IP address for 1 hour, then 24 hours, then 7 days.', 'security-optimizer'),
      attempts,
    ),
    needsInput: false,
  };
}

/** Texts of the essentials of Site Security in order of their value. A missing essential is a type error. */
const securityTexts: Readonly<Record<EssentialField, () => readonly [benefit: string, effect: string]>> = {
  disable_xml_rpc: () => [
    __('Closes an old door for guessing passwords.', 'security-optimizer'),
    __('Some phone apps that post to your site may stop working.', 'security-optimizer'),
  ],
  lock_system_folders: () => [
    __('Uploaded scripts can no longer run.', 'security-optimizer'),
    __('A plugin that runs scripts from the uploads folder may stop working.', 'security-optimizer'),
  ],
  disable_file_edit: () => [
    __('A stolen login can’t change the code of your site.', 'security-optimizer'),
    __('You can’t edit code in the admin area any more. Updates work as before.', 'security-optimizer'),
  ],
  wp_remove_version: () => [
    __('Scanners can’t tell which WordPress you run.', 'security-optimizer'),
    __('Your visitors notice nothing.', 'security-optimizer'),
  ],
  xss_protection: () => [
    __('Browsers refuse scripts that were slipped in.', 'security-optimizer'),
    __('Other sites can’t show your pages in a frame any more.', 'security-optimizer'),
  ],
  disable_feed: () => [
    __('Others can’t copy your content in bulk.', 'security-optimizer'),
    __('People who read you in a feed reader get nothing new.', 'security-optimizer'),
  ],
};
const securityFields = Object.keys(securityTexts) as EssentialField[];

function securityStep(field: EssentialField): Step {
  const toggle: SiteSecurityToggle | undefined = siteSecurityToggles.find((item) => item.field === field);
  const [benefit, effect] = securityTexts[field]();
  return {
    id: field,
    icon: toggle?.icon ?? 'shield',
    title: translate(toggle?.title ?? field),
    benefit,
    effect,
    needsInput: false,
  };
}
