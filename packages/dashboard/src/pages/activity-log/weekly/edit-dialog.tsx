import { useRef, useState } from 'react';
import { useClosing } from '../../../dialogs/use-closing.js';
import { Field } from '../../../forms/field.js';
import { focusFirstError } from '../../../forms/focus-first-error.js';
import { FormDialog } from '../../../forms/form-dialog.js';
import { useFormErrors } from '../../../forms/use-form-errors.js';
import { useSave } from '../../../forms/use-save.js';
import { __ } from '../../../i18n/translate.js';
import { emailError } from './email-rules.js';
import { replaceRecipients } from './use-recipients.js';
import type { RecipientDialogProps } from './weekly-tab.js';

/** Edit Notification Email: another address in the place of this one. */
export function EditDialog({ recipient, recipients, onChanged, onClosed }: RecipientDialogProps) {
  const [text, setText] = useState(recipient.email);
  const [others] = useState(() =>
    recipients.entries.map((item) => item.email).filter((other) => other !== recipient.email),
  );
  const body = useRef<HTMLDivElement>(null);
  const email = text.trim().toLowerCase();
  const wrong = emailError(email, others);
  const errors = useFormErrors(wrong === null ? {} : { email: wrong }, () => focusFirstError(body.current));
  const saving = useSave();
  const closing = useClosing(onClosed);

  function submit(): void {
    if (!errors.check()) return;
    saving.save<unknown>({
      ...replaceRecipients(recipients.entries.map((item) => (item.email === recipient.email ? email : item.email))),
      onSuccess: () => {
        closing.close();
        onChanged();
      },
      onFailure: ({ fields }) => {
        const message = Object.values(fields)[0];
        errors.showServerErrors(message === undefined ? {} : { email: message });
      },
    });
  }

  return (
    <FormDialog
      title={__('Edit Notification Email', 'security-optimizer')}
      closing={closing}
      saving={saving}
      dirty={email !== recipient.email}
      onSubmit={submit}
      submitDisabled={email === recipient.email}
    >
      <div ref={body}>
        <Field label={__('Email', 'security-optimizer')} error={errors.shown.email}>
          {(control) => (
            <input
              {...control}
              className="so-input"
              type="email"
              autoComplete="off"
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                errors.touch('email');
              }}
            />
          )}
        </Field>
      </div>
    </FormDialog>
  );
}
