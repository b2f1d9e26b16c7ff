import { type OpenDialogs, useDialogs } from '../../dialogs/use-dialogs.js';
import { type LoginDialogName, type LoginDialogProps, loginDialogs } from './login-dialogs.js';

/** Opens the dialogs of the page, one at a time. */
export function useLoginDialogs(): OpenDialogs<LoginDialogName, LoginDialogProps> {
  return useDialogs(loginDialogs);
}
