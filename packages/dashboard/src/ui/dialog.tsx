import {
  type FormEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { createPortal } from 'react-dom';
import { __ } from '../i18n/translate.js';
import { Button, IconButton } from './button.js';
import { classes, restoreFocus } from './dom.js';
import { useModal } from './modal.js';
import { useUiHost } from './portals.js';
import { DIALOG_CLOSE_MS } from './timing.js';

export interface DialogProps {
  readonly title: string;
  readonly size?: 'medium' | 'large';
  readonly role?: 'dialog' | 'alertdialog';
  readonly closing: DialogClose;
  /** Whether the dialog is saving and cannot be closed. */
  readonly pending?: boolean;
  /** Whether there are unsaved changes. */
  readonly dirty?: boolean;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
  /** Buttons after Cancel; the submit button has the type submit. */
  readonly footer: ReactNode;
  readonly cancelText?: string;
  /** Text at the start of the foot. */
  readonly footText?: string;
  /** Whether only the form's button closes it. */
  readonly mustAnswer?: boolean;
  /** Finds the element to focus if the one that opened the dialog is gone; must stay the same function. */
  readonly findNextFocus?: () => Element | null;
}

/** A modal dialog, a bottom sheet on phones. Escape, the scrim and Cancel close it unless it saves. */
export function Dialog(props: DialogProps) {
  const { portal } = useUiHost();
  useFocusReturn(props.findNextFocus);
  return createPortal(<DialogFrame {...props} />, portal);
}

function DialogFrame(props: DialogProps) {
  const {
    title,
    size = 'medium',
    role = 'dialog',
    closing,
    pending = false,
    dirty = false,
    mustAnswer = false,
  } = props;
  const scrim = useRef<HTMLDivElement>(null);
  const ref = useRef<HTMLDivElement>(null);
  const pressed = useRef(false);
  const id = useId();
  const [isConfirming, setIsConfirming] = useState(false);
  const busy = pending || closing.closing;
  useLeaveWarning(dirty && !closing.closing);

  function requestClose(): void {
    if (busy || mustAnswer) return;
    if (dirty) setIsConfirming(true);
    else closing.close();
  }

  useModal(scrim, ref, busy || isConfirming || mustAnswer ? null : requestClose);
  useFirstFieldFocus(ref);

  function submit(event: FormEvent): void {
    event.preventDefault();
    // React also bubbles the events of a dialog inside this one.
    event.stopPropagation();
    if (!busy) props.onSubmit();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a click on the scrim closes, as Escape does for the keyboard
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <div
      ref={scrim}
      className={classes('so-scrim', closing.closing && 'is-leaving')}
      onMouseDown={(event) => {
        pressed.current = event.target === event.currentTarget;
        // Keep the focus in the dialog.
        if (pressed.current) event.preventDefault();
      }}
      // A text selection that starts inside and ends outside is not a click on the scrim.
      onClick={(event) => {
        if (pressed.current && event.target === event.currentTarget && !isConfirming) requestClose();
      }}
    >
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles that it may have support aria-modal */}
      <div
        className={classes('so-dialog', size === 'large' && 'so-dialog--l')}
        ref={ref}
        role={role}
        tabIndex={-1}
        aria-labelledby={`${id}-title`}
        aria-modal="true"
        aria-busy={pending || undefined}
      >
        <form noValidate onSubmit={submit}>
          <div className="so-dialog__head">
            <h2 id={`${id}-title`}>{title}</h2>
            {mustAnswer ? null : (
              <IconButton icon="x" label={__('Close', 'security-optimizer')} inactive={busy} onClick={requestClose} />
            )}
          </div>
          <div className="so-dialog__body">{props.children}</div>
          <div className="so-dialog__foot">
            {props.footText === undefined ? null : <span className="so-grow">{props.footText}</span>}
            {mustAnswer ? null : (
              <Button onClick={requestClose} disabled={pending} firstFocus={role === 'alertdialog'}>
                {props.cancelText ?? __('Cancel', 'security-optimizer')}
              </Button>
            )}
            {props.footer}
          </div>
        </form>
        {isConfirming ? (
          <ConfirmDialog
            title={__('Discard your changes?', 'security-optimizer')}
            confirmText={__('Discard changes', 'security-optimizer')}
            cancelText={__('Keep editing', 'security-optimizer')}
            onClosed={() => setIsConfirming(false)}
            onConfirm={closing.close}
          >
            <p>{__('What you changed here is not saved yet.', 'security-optimizer')}</p>
          </ConfirmDialog>
        ) : null}
      </div>
    </div>
  );
}

/**
 * Focuses the first field, or the element with `data-autofocus`, once, before the dialog is painted (see `useModal`).
 */
function useFirstFieldFocus(ref: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const wanted =
      ref.current?.querySelector<HTMLElement>('[data-first-focus]') ??
      ref.current?.querySelector<HTMLElement>(
        '.so-dialog__body input:not([type="radio"]):not([readonly]), .so-dialog__body input:checked, .so-dialog__body button[role="combobox"], .so-dialog__body [aria-checked="true"]',
      );
    wanted?.focus();
  }, [ref]);
}

export interface ConfirmDialogProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly confirmText: string;
  readonly cancelText: string;
  readonly onClosed: () => void;
  readonly onConfirm: () => void;
}

/** Asks before an action that cannot be undone. Cancel has the focus. */
export function ConfirmDialog({ title, children, confirmText, cancelText, onClosed, onConfirm }: ConfirmDialogProps) {
  const closing = useDialogClose(onClosed);

  function confirm(): void {
    closing.close();
    onConfirm();
  }

  return (
    <Dialog
      role="alertdialog"
      title={title}
      closing={closing}
      cancelText={cancelText}
      onSubmit={confirm}
      footer={
        <Button kind="danger" submit>
          {confirmText}
        </Button>
      }
    >
      {children}
    </Dialog>
  );
}

export interface DialogClose {
  /** Whether the closing animation is running. */
  readonly closing: boolean;
  readonly close: () => void;
}

/** Plays the closing animation of a dialog before `onClosed` removes it. */
export function useDialogClose(onClosed: () => void): DialogClose {
  const [closing, setClosing] = useState(false);
  const latest = useRef(onClosed);
  latest.current = onClosed;
  useEffect(() => {
    if (!closing) return;
    const timer = setTimeout(() => latest.current(), DIALOG_CLOSE_MS);
    return () => clearTimeout(timer);
  }, [closing]);
  return { closing, close: useCallback(() => setClosing(true), []) };
}

/** Restores the focus after the dialog is removed. @param findNext finds another element if the former one is gone */
export function useFocusReturn(findNext?: () => Element | null): void {
  const [opener] = useState(() => document.activeElement);
  useEffect(() => () => restoreFocus(() => (document.contains(opener) ? opener : findNext?.())), [opener, findNext]);
}

/** Makes the browser ask before the page is left while `active`. */
function useLeaveWarning(active: boolean): void {
  useEffect(() => {
    if (!active) return;
    function warn(event: BeforeUnloadEvent): void {
      event.preventDefault();
      // Older browsers need it.
      event.returnValue = true;
    }
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [active]);
}
