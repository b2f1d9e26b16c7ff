import { notificationEmails, weeklyReport } from '@security-optimizer/contract/activity/endpoints';
import { type Recipients, recipientsSchema } from '@security-optimizer/contract/activity/schemas';
import { messages } from '@security-optimizer/contract/messages';
import { toPlainText } from '@security-optimizer/contract/typed-text';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import * as z from 'zod/mini';
import { type ApiCall, TRACKED, toCall } from '../../api/client.js';
import { ApiError } from '../../api/envelope.js';
import { invalidate, REFETCH_WHEN_VISIBLE } from '../../api/queries.js';
import { useSite } from '../../api/site-context.js';
import { SaveFailed } from '../../forms/request-failed.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { addChips, ChipInput } from '../../ui/chip-input.js';
import { Field } from '../../ui/field.js';
import { Note } from '../../ui/inline-messages.js';
import { focusFirstError, useFormErrors } from '../../ui/use-form-errors.js';

export interface AddRecipientsProps {
  readonly recipients: Recipients;
  readonly onChanged: () => void;
}

/** Adds addresses to the list. */
export function AddRecipients({ recipients, onChanged }: AddRecipientsProps) {
  const { config } = useSite();
  const [chips, setChips] = useState<readonly string[]>([]);
  const [text, setText] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const own = config.userEmail?.toLowerCase() ?? '';
  const known = recipients.entries.map(({ email }) => email);
  const remaining = recipients.max_emails - known.length;
  const isFull = remaining <= 0;
  // Typed text counts as a chip.
  const wanted = addChips(chips, text, toPlainText);
  const wrong = listError(wanted, known, remaining);
  const errors = useFormErrors(wrong === null ? {} : { email: wrong }, () => focusFirstError(form.current));
  const { pending, failure, save } = useSubmit();

  function submit(event: FormEvent): void {
    event.preventDefault();
    setChips(wanted);
    setText('');
    if (isFull || !errors.check()) return;
    save<unknown>({
      call: replaceRecipients([...known, ...wanted]),
      onSuccess: () => {
        setChips([]);
        errors.reset();
        onChanged();
      },
      onFailure: ({ fields }) => {
        // The server identifies addresses by their index in the list.
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
              toPlain={toPlainText}
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
      {own === '' || recipients.entries.length > 0 || wanted.length > 0 ? null : (
        <p className="so-mt-12">
          <button
            type="button"
            className="so-link"
            onClick={() => {
              setChips([own]);
              form.current?.querySelector('input')?.focus();
            }}
          >
            {/* translators: %s: the e-mail address of the reader */}
            {sprintf(__('Use my address, %s', 'security-optimizer'), own)}
          </button>
        </p>
      )}
      {isFull ? (
        <div className="so-mt-16">
          <Note>
            <p>
              {sprintf(
                /* translators: %d: how many addresses there may be */
                _n(
                  'The %d place is taken. Delete the address to add another.',
                  'All %d places are taken. Delete one to add another.',
                  recipients.max_emails,
                  'security-optimizer',
                ),
                recipients.max_emails,
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

/** First error of the new addresses. */
function listError(wanted: readonly string[], known: readonly string[], remaining: number): string | null {
  if (wanted.length === 0) return translate(messages.required);
  for (const email of wanted) {
    const error = emailError(email, known);
    if (error !== null) return error;
  }
  if (wanted.length <= remaining) return null;
  /* translators: %d: number of addresses that can still be added */
  return sprintf(_n('Only %d place is left.', 'Only %d places are left.', remaining, 'security-optimizer'), remaining);
}

/** A rough check; guard checks more closely. */
const EMAIL = /^[^\s@<>(),;:"\\[\]]+@[^\s@<>(),;:"\\[\].]+(?:\.[^\s@<>(),;:"\\[\].]+)+$/;

function isEmail(text: string): boolean {
  return EMAIL.test(text);
}

/**
 * Error of a new address (specification section 5).
 *
 * @param others addresses on the list
 * @returns null for a valid one
 */
export function emailError(email: string, others: readonly string[]): string | null {
  if (email === '') return translate(messages.required);
  if (!isEmail(email)) return translate(messages.invalidEmail);
  if (others.some((other) => other.toLowerCase() === email.toLowerCase())) {
    return translate(messages.emailExists).replace('%(name)s', () => email);
  }
  return null;
}

export const RECIPIENTS_KEY = ['weekly-report'];
/** An older server does not send the maximum. */
const schema = z.extend(recipientsSchema, {
  max_emails: z.catch(recipientsSchema.shape.max_emails, Number.POSITIVE_INFINITY),
});

/** Recipients of the weekly report. */
export function useRecipients() {
  const { api } = useSite();
  const client = useQueryClient();
  const query = useQuery({
    queryKey: RECIPIENTS_KEY,
    queryFn: async ({ signal }): Promise<Recipients> => {
      const tracking = client.getQueryData(RECIPIENTS_KEY) === undefined ? TRACKED : undefined;
      const recipients = readRecipients((await api.call<unknown>(toCall(weeklyReport, {}, { signal }), tracking)).data);
      if (recipients === null) throw new ApiError('refused');
      return recipients;
    },
    // Each change sends the whole list, so an outdated list would undo changes of others.
    ...REFETCH_WHEN_VISIBLE,
  });
  return {
    recipients: query.data ?? null,
    failure: query.error,
    retrying: query.isFetching,
    /** Reloads the list and keeps it visible. */
    reload: () => void invalidate(client, RECIPIENTS_KEY),
  };
}

/** The call that replaces the whole list. */
export function replaceRecipients(emails: readonly string[]): ApiCall {
  return toCall(notificationEmails, { entries: [...emails] });
}

/** @returns null for an invalid response */
function readRecipients(data: unknown): Recipients | null {
  return z.safeParse(schema, data).data ?? null;
}
