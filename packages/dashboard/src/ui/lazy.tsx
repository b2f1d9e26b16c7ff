import { type ComponentType, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { __ } from '../i18n/translate.js';
import { RetryButton } from './button.js';
import { Note } from './inline-messages.js';
import { useToasts } from './toast-store.js';

export interface LazyProps<Props> {
  /** Loads the code; must stay the same function. */
  readonly load: () => Promise<{ readonly default: ComponentType<Props> }>;
  readonly props: Props;
  /** Shown while the code loads. */
  readonly children: ReactNode;
}

/** A part of a page whose code is loaded when it is first shown. Shows an error and a retry button if that fails. */
export function Lazy<Props extends object>({ load, props, children }: LazyProps<Props>) {
  const [loaded, setLoaded] = useState<{ readonly Part: ComponentType<Props>; readonly of: unknown } | null>(null);
  // A failure belongs to one `load` function, not to the next one.
  const [failedLoad, setFailedLoad] = useState<unknown>(null);
  const failed = failedLoad === load;

  useEffect(() => {
    if (failed) return;
    let current = true;
    load().then(
      ({ default: Part }) => current && setLoaded({ Part, of: load }),
      () => current && setFailedLoad(() => load),
    );
    return () => {
      current = false;
    };
  }, [load, failed]);

  if (loaded?.of === load) return <loaded.Part {...props} />;
  if (!failed) return children;
  return (
    <div className="so-section">
      <Note kind="bad" action={<RetryButton onRetry={() => setFailedLoad(null)} />}>
        <p>{__('This could not be loaded. Check your connection and try again.', 'security-optimizer')}</p>
      </Note>
    </div>
  );
}

/** Maximum wait for the content above a part, milliseconds. */
const PLACED_MS = 3000;

/**
 * True once the content above a part is loaded, and from then on; after three seconds in any case. Content below would
 * move otherwise.
 */
export function usePlaced(ready: boolean): boolean {
  const [placed, setPlaced] = useState(ready);
  // Not in an effect: a part above that loads again would hide it.
  if (ready && !placed) setPlaced(true);
  useEffect(() => {
    if (placed) return;
    const timer = setTimeout(() => setPlaced(true), PLACED_MS);
    return () => clearTimeout(timer);
  }, [placed]);
  return placed || ready;
}

/** Maximum wait for an idle browser, milliseconds. */
const PATIENCE_MS = 1000;

/** False until the page is loaded and the browser is idle. Delays parts below the first screen. */
export function useIdle(): boolean {
  const [idle, setIdle] = useState(false);

  useEffect(() => {
    let callOff = (): void => undefined;
    const wait = (): void => {
      callOff = whenIdle(() => setIdle(true));
    };
    if (document.readyState === 'complete') wait();
    else window.addEventListener('load', wait);
    return () => {
      window.removeEventListener('load', wait);
      callOff();
    };
  }, []);

  return idle;
}

/** Safari has no requestIdleCallback. */
function whenIdle(run: () => void): () => void {
  if (typeof window.requestIdleCallback !== 'function') {
    const timer = setTimeout(run);
    return () => clearTimeout(timer);
  }
  const handle = window.requestIdleCallback(run, { timeout: PATIENCE_MS });
  return () => window.cancelIdleCallback(handle);
}

/** Loads the code of a dialog. */
export type LoadDialog<Props> = () => Promise<{ readonly default: ComponentType<Props> }>;

export interface OpenDialogs<Name extends string, Props> {
  /** The open dialog. */
  readonly Current: ComponentType<Props> | null;
  readonly open: (name: Name) => void;
  readonly closed: () => void;
}

/** Opens the dialogs of a page, one at a time. Their code is loaded on demand; a toast reports a failure. */
/** Props of a dialog that knows what it is about. */
export interface DialogProps {
  /** The closing animation has ended. */
  readonly onClosed: () => void;
}

export function useDialogs<Name extends string, Props>(
  dialogs: Readonly<Record<Name, LoadDialog<Props>>>,
): OpenDialogs<Name, Props> {
  const toasts = useToasts();
  const [current, setCurrent] = useState<{ readonly Dialog: ComponentType<Props> } | null>(null);
  const loading = useRef(false);

  async function open(name: Name): Promise<void> {
    if (loading.current) return;
    loading.current = true;
    try {
      // Load the shared chunk of all dialogs at the same time.
      const [{ default: Dialog }] = await Promise.all([dialogs[name](), import('../ui/dialog.js')]);
      setCurrent({ Dialog });
      toasts.closeKey('dialog');
    } catch {
      toasts.show({
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
