import { type ReactNode, useState } from 'react';
import type { ApiFailure } from '../api/client.js';
import { ignoreFailure, mayHaveBeenSaved } from '../api/options.js';
import { failureReason, type TrackedRequest } from '../api/run-request.js';
import { useServices } from '../api/services.js';
import { __ } from '../i18n/translate.js';
import { Button } from '../ui/button.js';
import { Dialog, type DialogProps } from '../ui/dialog.js';
import { Note } from '../ui/note.js';
import { ServerText } from '../ui/server-text.js';

export interface FormDialogProps extends Omit<DialogProps, 'pending' | 'footer'> {
  readonly saving: Save;
  /** Shows the submit button as dangerous. */
  readonly danger?: boolean;
  /** Default: "Save". */
  readonly submitText?: string;
  /** Default: "Saving…". */
  readonly pendingText?: string;
  readonly submitDisabled?: boolean;
  /** A button between Cancel and submit. */
  readonly otherAction?: ReactNode;
}

/** A dialog with a form, its submit button, and the error below the fields. */
export function FormDialog({
  saving,
  danger,
  submitText,
  pendingText,
  submitDisabled,
  otherAction,
  ...dialog
}: FormDialogProps) {
  return (
    <Dialog
      {...dialog}
      pending={saving.pending}
      footer={
        <>
          {otherAction}
          <Button
            kind={danger ? 'danger' : 'primary'}
            submit
            disabled={submitDisabled ?? false}
            pendingText={saving.pending ? (pendingText ?? __('Saving…', 'security-optimizer')) : undefined}
          >
            {submitText ?? __('Save', 'security-optimizer')}
          </Button>
        </>
      }
    >
      {dialog.children}
      <SaveFailed failure={saving.failure} />
    </Dialog>
  );
}

/**
 * The error of a failed save inside a dialog. Errors of fields are shown at the fields instead.
 *
 * @param text one sentence. Default: a text about saving
 */
export function SaveFailed({ failure, text }: { readonly failure: ApiFailure | null; readonly text?: string }) {
  if (failure === null || Object.keys(failure.fields).length > 0) return null;
  return (
    <div role="alert">
      <Note kind="bad">
        <p>
          <strong>{text ?? __('We couldn’t save this.', 'security-optimizer')}</strong>{' '}
          <ServerText text={failureReason(failure)} />
        </p>
      </Note>
    </div>
  );
}

export interface SaveRequest<Data> extends TrackedRequest<Data> {
  /** The outcome is unknown: the change may have been saved. */
  readonly onUnclear?: () => void;
}

export interface Save {
  readonly pending: boolean;
  /** Error of the last attempt, until the next one. */
  readonly failure: ApiFailure | null;
  readonly save: <Data>(request: SaveRequest<Data>) => void;
}

/** Sends the request of a dialog, one at a time. The form keeps its values on failure. */
export function useSave(): Save {
  const { run } = useServices();
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<ApiFailure | null>(null);

  return {
    pending,
    failure,
    save(request) {
      if (pending) return;
      setPending(true);
      setFailure(null);
      run({
        ...request,
        onFailure: (reason) => {
          setFailure(reason);
          request.onFailure?.(reason);
          if (mayHaveBeenSaved(reason)) request.onUnclear?.();
        },
        onComplete: () => {
          setPending(false);
          request.onComplete?.();
        },
      }).catch(ignoreFailure);
    },
  };
}
