import { type ComponentType, useCallback, useRef, useState } from 'react';
import { useServices } from '../api/services.js';
import { __ } from '../i18n/translate.js';

/** Loads the code of a dialog. */
export type LoadDialog<Props> = () => Promise<{ readonly default: ComponentType<Props> }>;

export interface OpenDialogs<Name extends string, Props> {
  /** The open dialog. */
  readonly Current: ComponentType<Props> | null;
  readonly open: (name: Name) => void;
  readonly closed: () => void;
}

/** Opens the dialogs of a page, one at a time. Their code is loaded on demand; a notice reports a failure. */
export function useDialogs<Name extends string, Props>(
  dialogs: Readonly<Record<Name, LoadDialog<Props>>>,
): OpenDialogs<Name, Props> {
  const { notices } = useServices();
  const [current, setCurrent] = useState<{ readonly Dialog: ComponentType<Props> } | null>(null);
  const loading = useRef(false);

  async function open(name: Name): Promise<void> {
    if (loading.current) return;
    loading.current = true;
    try {
      // Load the shared chunk of all dialogs at the same time.
      const [{ default: Dialog }] = await Promise.all([dialogs[name](), import('../ui/dialog.js')]);
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
