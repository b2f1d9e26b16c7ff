import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { Button } from '../components/button.js';
import { classes } from '../components/classes.js';
import { __ } from '../i18n/translate.js';
import { Icon } from '../icons/icon.js';
import { useServices } from '../services.js';
import { ConfirmDialog } from './confirm-dialog.js';
import type { Closing } from './use-closing.js';
import { useFocusReturn } from './use-focus-return.js';
import { useLeaveWarning } from './use-leave-warning.js';
import { useModal } from './use-modal.js';

export interface DialogProps {
  readonly title: string;
  readonly size?: 'medium' | 'large';
  readonly role?: 'dialog' | 'alertdialog';
  readonly closing: Closing;
  /** Something is being saved: the dialog cannot be closed meanwhile. */
  readonly pending?: boolean;
  /** There are changes that closing would lose. */
  readonly dirty?: boolean;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
  /** Buttons after Cancel; the one that saves is of type submit. */
  readonly footer: ReactNode;
  readonly cancelText?: string;
  /** Words at the start of the foot. */
  readonly footText?: string;
  /** It asks something that needs an answer: there is no way out but the button of the form. */
  readonly mustAnswer?: boolean;
}

/** A dialog above the page, a sheet on phones. Escape, the scrim and Cancel close it unless something is pending. */
export function Dialog(props: DialogProps) {
  const { portal } = useServices();
  useFocusReturn();
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
  const [asking, setAsking] = useState(false);
  const busy = pending || closing.closing;
  useLeaveWarning(dirty && !closing.closing);

  function requestClose(): void {
    if (busy || mustAnswer) return;
    if (dirty) setAsking(true);
    else closing.close();
  }

  useModal(scrim, ref, busy || asking || mustAnswer ? null : requestClose);
  useFirstFieldFocus(ref);

  function submit(event: FormEvent): void {
    event.preventDefault();
    // Events of a dialog inside this one come through here too, as React passes them on by component.
    event.stopPropagation();
    if (!busy) props.onSubmit();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a press on the scrim closes, as Escape does for the keyboard
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <div
      ref={scrim}
      className={classes('so-scrim', closing.closing && 'is-leaving')}
      onMouseDown={(event) => {
        pressed.current = event.target === event.currentTarget;
        // Without this the press would take the focus away.
        if (pressed.current) event.preventDefault();
      }}
      // A press that began inside, to mark text, and ends outside does not count.
      onClick={(event) => {
        if (pressed.current && event.target === event.currentTarget && !asking) requestClose();
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
              <button
                type="button"
                className="so-iconbtn"
                aria-label={__('Close', 'security-optimizer')}
                aria-disabled={busy || undefined}
                onClick={requestClose}
              >
                <Icon name="x" />
              </button>
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
        {asking ? (
          <ConfirmDialog
            title={__('Discard your changes?', 'security-optimizer')}
            confirmText={__('Discard changes', 'security-optimizer')}
            cancelText={__('Keep editing', 'security-optimizer')}
            onClosed={() => setAsking(false)}
            onConfirm={closing.close}
          >
            <p>{__('What you changed here is not saved yet.', 'security-optimizer')}</p>
          </ConfirmDialog>
        ) : null}
      </div>
    </div>
  );
}

/** Puts the focus on the first field, or on the element that asks for it, once. */
function useFirstFieldFocus(ref: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const wanted =
      ref.current?.querySelector<HTMLElement>('[data-first-focus]') ??
      ref.current?.querySelector<HTMLElement>(
        '.so-dialog__body input:not([type="radio"]):not([readonly]), .so-dialog__body input:checked, .so-dialog__body button[role="combobox"], .so-dialog__body [aria-checked="true"]',
      );
    wanted?.focus();
  }, [ref]);
}
