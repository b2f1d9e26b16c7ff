import { messages } from '@security-optimizer/contract/messages';
import { type FormEvent, useRef, useState } from 'react';
import { Button } from '../../../components/button.js';
import { Note } from '../../../components/note.js';
import { addChips, ChipInput } from '../../../forms/chip-input.js';
import { Field } from '../../../forms/field.js';
import { focusFirstError } from '../../../forms/focus-first-error.js';
import { SaveFailed } from '../../../forms/save-failed.js';
import { useFormErrors } from '../../../forms/use-form-errors.js';
import { useSave } from '../../../forms/use-save.js';
import { __, _n, sprintf, translate } from '../../../i18n/translate.js';
import { emailError } from './email-rules.js';
import { type Recipients, replaceRecipients } from './use-recipients.js';

export interface AddRecipientsProps {
  readonly recipients: Recipients;
  readonly onChanged: () => void;
}

/** Adds one or several addresses to the list. */
export function AddRecipients({ recipients, onChanged }: AddRecipientsProps) {
  const [chips, setChips] = useState<readonly string[]>([]);
  const [text, setText] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const known = recipients.entries.map(({ email }) => email);
  const left = recipients.max - known.length;
  const isFull = left <= 0;
  // What is typed and not yet a chip counts too: the button makes it one.
  const wanted = addChips(chips, text);
  const wrong = listError(wanted, known, left);
  const errors = useFormErrors(wrong === null ? {} : { email: wrong }, () => focusFirstError(form.current));
  const { pending, failure, save } = useSave();

  function submit(event: FormEvent): void {
    event.preventDefault();
    setChips(wanted);
    setText('');
    if (isFull || !errors.check()) return;
    save<unknown>({
      ...replaceRecipients([...known, ...wanted]),
      onSuccess: () => {
        setChips([]);
        errors.reset();
        onChanged();
      },
      onFailure: ({ fields }) => {
        // The server names addresses by their place in the whole list.
        const message = Object.values(fields)[0];
        errors.showServerErrors(message === undefined ? {} : { email: message });
      },
    });
  }

  return (
    <form className="so-card__body so-card__sep" noValidate ref={form} onSubmit={submit}>
      <Field
        label={__('Add e-mail addresses', 'security-optimizer')}
        help={__('Separate several addresses with a space or a comma.', 'security-optimizer')}
        error={errors.shown.email}
      >
        {(control) => (
          <div className="so-addmail">
            <ChipInput
              control={control}
              chips={chips}
              text={text}
              isBad={(chip) => emailError(chip, known) !== null}
              placeholder="name@example.com"
              disabled={isFull}
              onChange={(nextChips, nextText) => {
                setChips(nextChips);
                setText(nextText);
                errors.touch('email');
              }}
            />
            <Button
              kind="primary"
              submit
              disabled={isFull}
              pendingText={pending ? __('Saving…', 'security-optimizer') : undefined}
            >
              {__('Create', 'security-optimizer')}
            </Button>
          </div>
        )}
      </Field>
      {isFull ? (
        <div className="so-mt-16">
          <Note>
            <p>
              {sprintf(
                /* translators: %d: how many addresses there may be */
                _n(
                  'The %d place is taken. Delete the address to add another.',
                  'All %d places are taken. Delete one to add another.',
                  recipients.max,
                  'security-optimizer',
                ),
                recipients.max,
              )}
            </p>
          </Note>
        </div>
      ) : null}
      <div className="so-formfail">
        <SaveFailed failure={failure} />
      </div>
    </form>
  );
}

/** What is wrong with the addresses that are to be added, the first fault alone. */
function listError(wanted: readonly string[], known: readonly string[], left: number): string | null {
  if (wanted.length === 0) return translate(messages.required);
  for (const email of wanted) {
    const error = emailError(email, known);
    if (error !== null) return error;
  }
  if (wanted.length <= left) return null;
  /* translators: %d: number of addresses that can still be added */
  return sprintf(_n('Only %d place is left.', 'Only %d places are left.', left, 'security-optimizer'), left);
}
