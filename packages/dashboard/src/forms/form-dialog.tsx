import type { ReactNode } from 'react';
import { Button } from '../components/button.js';
import { Dialog, type DialogProps } from '../dialogs/dialog.js';
import { __ } from '../i18n/translate.js';
import { SaveFailed } from './save-failed.js';
import type { Save } from './use-save.js';

export interface FormDialogProps extends Omit<DialogProps, 'pending' | 'footer'> {
  readonly saving: Save;
  /** What the button that saves does is dangerous. */
  readonly danger?: boolean;
  /** "Save" unless told otherwise. */
  readonly submitText?: string;
  /** "Saving…" unless told otherwise. */
  readonly pendingText?: string;
  readonly submitDisabled?: boolean;
  /** Another button, between Cancel and the one that saves. */
  readonly otherAction?: ReactNode;
}

/** A dialog with a form that is saved: the button that does it at the foot, and below the fields why it failed. */
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
