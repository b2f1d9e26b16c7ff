import type { ReactNode } from 'react';
import { __ } from '../i18n/translate.js';
import { Button } from '../ui/button.js';
import { Dialog, type DialogProps } from '../ui/dialog.js';
import { SaveFailed } from './request-failed.js';
import type { Submission } from './use-submit.js';

export interface FormDialogProps extends Omit<DialogProps, 'pending' | 'footer'> {
  readonly saving: Pick<Submission, 'pending' | 'failure'>;
  /** Shows the submit button as dangerous. */
  readonly danger?: boolean;
  /** Default: "Save". */
  readonly submitText?: string;
  /** Default: "Saving…". */
  readonly pendingText?: string;
  readonly submitDisabled?: boolean;
  /** What failed, in one sentence. Default: a text about saving. */
  readonly failedText?: string;
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
  failedText,
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
      <SaveFailed failure={saving.failure} text={failedText} />
    </Dialog>
  );
}
