import { type ComponentType, useCallback, useRef, useState } from 'react';
import { __ } from '../../i18n/translate.js';
import { useServices } from '../../services.js';
import { type LoginDialogName, type LoginDialogProps, loginDialogs } from './login-dialogs.js';

export interface OpenDialogs {
  /** The dialog that is on the screen. */
  readonly Current: ComponentType<LoginDialogProps> | null;
  readonly open: (name: LoginDialogName) => void;
  readonly closed: () => void;
}

/** Opens the dialogs of the page, one at a time. Each is fetched first; a message says when that fails. */
export function useLoginDialogs(): OpenDialogs {
  const { notices } = useServices();
  const [current, setCurrent] = useState<{ readonly Dialog: ComponentType<LoginDialogProps> } | null>(null);
  const loading = useRef(false);

  async function open(name: LoginDialogName): Promise<void> {
    if (loading.current) return;
    loading.current = true;
    try {
      const { default: Dialog } = await loginDialogs[name]();
      setCurrent({ Dialog });
      notices.closeKey('dialog');
    } catch {
      notices.show({
        type: 'error',
        text: __('This could not be loaded. Check your connection and try again.', 'security-optimizer'),
        autoClose: false,
        key: 'dialog',
      });
    } finally {
      loading.current = false;
    }
  }

  return {
    Current: current?.Dialog ?? null,
    open: (name) => void open(name),
    closed: useCallback(() => setCurrent(null), []),
  };
}
