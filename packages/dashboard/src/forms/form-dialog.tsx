import { type ReactNode, useState } from 'react';
import { type ApiError, ignoreApiError, isOutcomeUnknown } from '../api/envelope.js';
import { __ } from '../i18n/translate.js';
import { Button } from '../ui/button.js';
import { Dialog, type DialogProps } from '../ui/dialog.js';
import { SaveFailed } from './request-failed.js';
import { type TrackedRequest, useRequestRunners } from './tracked-requests.js';

export interface FormDialogProps extends Omit<DialogProps, 'pending' | 'footer'> {
  readonly saving: Submission;
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

export interface SubmitRequest<Data> extends TrackedRequest<Data> {
  /** The outcome is unknown: the change may have been saved. */
  readonly onUnclear?: () => void;
}

export interface Submission {
  readonly pending: boolean;
  /** Error of the last attempt, until the next one. */
  readonly failure: ApiError | null;
  readonly save: <Data>(request: SubmitRequest<Data>) => void;
}

/** Sends the request of a dialog, one at a time. The form keeps its values on failure. */
export function useSubmit(): Submission {
  const { run } = useRequestRunners();
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<ApiError | null>(null);

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
          if (isOutcomeUnknown(reason)) request.onUnclear?.();
        },
        onComplete: () => {
          setPending(false);
          request.onComplete?.();
        },
      }).catch(ignoreApiError);
    },
  };
}
