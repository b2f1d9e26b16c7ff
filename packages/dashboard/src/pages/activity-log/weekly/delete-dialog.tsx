import { useClosing } from '../../../dialogs/use-closing.js';
import { FormDialog } from '../../../forms/form-dialog.js';
import { useSave } from '../../../forms/use-save.js';
import { __ } from '../../../i18n/translate.js';
import { replaceRecipients } from './use-recipients.js';
import type { RecipientDialogProps } from './weekly-tab.js';

/** Delete Notification Email: asks first; the focus is on the way out. */
export function DeleteDialog({ recipient, recipients, onChanged, onClosed }: RecipientDialogProps) {
  const saving = useSave();
  const closing = useClosing(onClosed);

  function submit(): void {
    const left = recipients.entries.map(({ email }) => email).filter((email) => email !== recipient.email);
    saving.save<unknown>({
      ...replaceRecipients(left),
      onSuccess: () => {
        closing.close();
        onChanged();
      },
    });
  }

  return (
    <FormDialog
      role="alertdialog"
      title={__('Delete Notification Email', 'security-optimizer')}
      closing={closing}
      saving={saving}
      onSubmit={submit}
      danger
      submitText={__('Delete', 'security-optimizer')}
      pendingText={__('Deleting…', 'security-optimizer')}
    >
      <p>
        <strong>
          <bdi>{recipient.email}</bdi>
        </strong>{' '}
        {__('no longer gets the weekly report. You can add it again later.', 'security-optimizer')}
      </p>
    </FormDialog>
  );
}
