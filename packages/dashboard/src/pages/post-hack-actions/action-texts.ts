import type { JobKind } from '@security-optimizer/contract/post-hack';
import { __ } from '../../i18n/translate.js';

export interface ActionTexts {
  readonly icon: string;
  readonly title: string;
  readonly help: string;
  /** On the button; also the title of the dialog and its own button. */
  readonly act: string;
  readonly acting: string;
}

/** The words of an action. */
export function actionTexts(kind: JobKind): ActionTexts {
  switch (kind) {
    case 'reinstall-plugins':
      return {
        icon: 'rotate',
        title: __('Reinstall all free plugins', 'security-optimizer'),
        help: __('Replaces the code of every free plugin with a clean copy of the same version.', 'security-optimizer'),
        act: __('Reinstall all', 'security-optimizer'),
        acting: __('Reinstalling…', 'security-optimizer'),
      };
    case 'force-password-reset':
      return {
        icon: 'password',
        title: __('Force password reset', 'security-optimizer'),
        help: __(
          'Everyone is logged out at once and must choose a new password at the next login.',
          'security-optimizer',
        ),
        act: __('Force password reset', 'security-optimizer'),
        acting: __('Resetting…', 'security-optimizer'),
      };
    case 'log-out-users':
      return {
        icon: 'logout',
        title: __('Log out all users', 'security-optimizer'),
        help: __('Ends every session at once. Passwords stay the same.', 'security-optimizer'),
        act: __('Log out all users', 'security-optimizer'),
        acting: __('Logging out…', 'security-optimizer'),
      };
  }
}
