import type { LoginAttempts } from '@security-optimizer/contract/login-limits';
import { type SiteSecurityToggle, siteSecurityToggles } from '@security-optimizer/contract/protections';
import type { ApiCall } from '../../../api/send.js';
import type { StepId } from '../../../protection/steps.js';
import { bareLoginPath, type LoginUrlForm } from '../../login-settings/login-url-form.js';

/** What the owner typed for the steps that ask for something. */
export interface ApplyForm {
  readonly url: LoginUrlForm;
  /** New names by the ID of the user. */
  readonly names: Readonly<Record<string, string>>;
}

/**
 * The order in which the changes are made. Those that can shut out whoever makes them come last, so that nothing is
 * left undone: a new name may end the session, and the second factor leads away to its set-up.
 */
const LAST: readonly StepId[] = ['login_url', 'disable_usernames', 'sg2fa'];

export function inSafeOrder(ids: readonly StepId[]): readonly StepId[] {
  return [...ids.filter((id) => !LAST.includes(id)), ...LAST.filter((id) => ids.includes(id))];
}

/** The call that the row of a step makes. */
export function callOf(id: StepId, form: ApplyForm, attempts: number, homeUrl: string): ApiCall {
  switch (id) {
    case 'sg2fa':
      return { suffix: '/2fa', body: { sg2fa: 1 } };
    case 'login_attempts':
      return { suffix: '/limit-login-attempts', body: { login_attempts: attempts as LoginAttempts } };
    case 'disable_usernames': {
      const admin_names = Object.entries(form.names).map(([ID, name]) => ({ ID: Number(ID), user_login: name.trim() }));
      return {
        suffix: '/disable-admin-username',
        body: { disable_usernames: 1, ...(admin_names.length > 0 ? { admin_names } : {}) },
      };
    }
    case 'login_url': {
      const { login, signup } = form.url;
      return {
        suffix: '/custom-login-url',
        body: {
          type: 'custom',
          login: bareLoginPath(login, homeUrl),
          signup: signup === null ? null : bareLoginPath(signup, homeUrl),
        },
      };
    }
    default: {
      const toggle: SiteSecurityToggle | undefined = siteSecurityToggles.find(({ field }) => field === id);
      return { suffix: toggle?.suffix ?? '', body: { [id]: 1 } };
    }
  }
}
