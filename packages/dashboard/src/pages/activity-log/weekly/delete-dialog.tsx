import { Button } from '../../../components/button.js';
import { Dialog } from '../../../dialogs/dialog.js';
import { useClosing } from '../../../dialogs/use-closing.js';
import { SaveFailed } from '../../../forms/save-failed.js';
import { useSave } from '../../../forms/use-save.js';
import { __ } from '../../../i18n/translate.js';
import { replaceRecipients } from './use-recipients.js';
import type { RecipientDialogProps } from './weekly-tab.js';

/** Delete Notification Email: asks first; the focus is on the way out. */
export function DeleteDialog({ recipient, recipients, onChanged, onClosed }: RecipientDialogProps) {
  const { pending, failure, save } = useSave();
  const closing = useClosing(onClosed);

  function submit(): void {
    const left = recipients.entries.map(({ email }) => email).filter((email) => email !== recipient.email);
    save<unknown>({
      ...replaceRecipients(left),
      onSuccess: () => {
        closing.close();
        onChanged();
      },
    });
  }

  return (
    <Dialog
      role="alertdialog"
      title={__('Delete Notification Email', 'security-optimizer')}
      closing={closing}
      pending={pending}
      onSubmit={submit}
      footer={
        <Button kind="danger" submit pendingText={pending ? __('Deleting…', 'security-optimizer') : undefined}>
          {__('Delete', 'security-optimizer')}
        </Button>
      }
    >
      <p>
        <strong>
          <bdi>{recipient.email}</bdi>
        </strong>{' '}
        {__('no longer gets the weekly report. You can add it again later.', 'security-optimizer')}
      </p>
      <SaveFailed failure={failure} />
    </Dialog>
  );
}
