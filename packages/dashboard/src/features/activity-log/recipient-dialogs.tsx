import type { Recipient, Recipients } from '@security-optimizer/contract/activity/schemas';
import { updateAlertRecipient } from '@security-optimizer/contract/alerts/endpoints';
import type { AlertRecipient } from '@security-optimizer/contract/alerts/schemas';
import { toPlainText } from '@security-optimizer/contract/typed-text';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { SILENT, TRACKED, toCall } from '../../api/client.js';
import { ignoreApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { LoadFailed } from '../../forms/request-failed.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, sprintf, translate } from '../../i18n/translate.js';
import { Checkbox } from '../../ui/checkbox.js';
import { useDialogClose } from '../../ui/dialog.js';
import { Field, TextInput } from '../../ui/field.js';
import { escapeText } from '../../ui/safe-html.js';
import { undoToast, useToasts } from '../../ui/toast-store.js';
import { focusFirstError, useFormErrors } from '../../ui/use-form-errors.js';
import { type AlertsState, alertsFailedText, findChoices, listKinds } from './alerts.js';
import { emailError, RECIPIENTS_KEY, replaceRecipients } from './recipients.js';

/** Props of the dialogs about one recipient. */
export interface RecipientDialogProps {
  readonly recipient: Recipient;
  readonly recipients: Recipients;
  /** The choices of recipients, if the server has alerts. */
  readonly alerts: AlertsState | null;
  readonly onChanged: () => void;
  readonly onClosed: () => void;
  /** Called when the recipient was deleted, before the dialog closes. */
  readonly onDeleted?: () => void;
}

/** Edit Notification Email: replaces an address, and selects what it receives. */
export function EditDialog({ recipient, recipients, alerts, onChanged, onClosed }: RecipientDialogProps) {
  const { api } = useSite();
  const [text, setText] = useState(recipient.email);
  const [others] = useState(() =>
    recipients.entries.map((item) => item.email).filter((other) => other !== recipient.email),
  );
  const known = alerts?.alerts ?? null;
  // Once the address has changed, the server no longer knows them under the former one.
  const first = useRef<AlertRecipient | null>(null);
  first.current ??= findChoices(known, recipient.email);
  const before = first.current;
  const [chosen, setChosen] = useState<Partial<Pick<AlertRecipient, 'report' | 'kinds'>>>({});
  const { report = 1, kinds = [] } = { ...before, ...chosen };
  /** The address on the list, and whether it has no choices yet. */
  const [stored, setStored] = useState({ email: recipient.email, isPartial: false });
  const body = useRef<HTMLDivElement>(null);
  const email = toPlainText(text).toLowerCase();
  const wrong = emailError(email, others);
  const errors = useFormErrors(wrong === null ? {} : { email: wrong }, () => focusFirstError(body.current));
  const saving = useSubmit();
  const closing = useDialogClose(onClosed);
  const isRenamed = email !== stored.email;
  const hasOthers =
    before !== null &&
    (stored.isPartial ||
      report !== before.report ||
      kinds.slice().sort().join() !== before.kinds.slice().sort().join());
  // The server forgets the choices of a former address, so they must be known.
  const isUnknown = before === null && known === null && alerts?.supported === true;

  const call = toCall(updateAlertRecipient, { email, report, kinds });

  function end(): void {
    closing.close();
    onChanged();
    alerts?.reload();
  }

  function submit(): void {
    if (isUnknown || !errors.check()) return;
    if (!isRenamed) {
      saving.save<unknown>({ call, onSuccess: end });
      return;
    }
    saving.save<unknown>({
      call: replaceRecipients(recipients.entries.map((item) => (item.email === stored.email ? email : item.email))),
      onSuccess: async () => {
        // A new address starts with the weekly report alone.
        if (before !== null) {
          setStored({ email, isPartial: true });
          await api.call<unknown>(call, SILENT).catch((failure: unknown) => {
            onChanged();
            throw failure;
          });
        }
        end();
      },
      onUnclear: onChanged,
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
      dirty={isRenamed || hasOthers}
      onSubmit={submit}
      submitDisabled={isUnknown || (!isRenamed && !hasOthers)}
      {...(stored.isPartial && !isRenamed
        ? { failedText: __('The new address is saved, but not yet what it gets.', 'security-optimizer') }
        : {})}
    >
      <div ref={body}>
        <Field label={__('Email', 'security-optimizer')} error={errors.shown.email}>
          {(control) => (
            <TextInput
              {...control}
              type="email"
              value={text}
              onText={(typed) => {
                setText(typed);
                errors.touch('email');
              }}
            />
          )}
        </Field>
      </div>
      {isUnknown && alerts.settings.state === 'failed' ? (
        <div className="so-mt-16">
          <LoadFailed
            text={alertsFailedText()}
            failure={alerts.settings.failure}
            retrying={alerts.settings.retrying}
            onRetry={alerts.reload}
          />
        </div>
      ) : null}
      {known === null || before === null ? null : (
        <fieldset className="so-mt-16">
          <legend className="so-label">{__('Gets', 'security-optimizer')}</legend>
          <Checkbox checked={report === 1} onChange={(checked) => setChosen({ ...chosen, report: checked ? 1 : 0 })}>
            {__('Weekly report', 'security-optimizer')}
            <small>{__('What happened, once a week.', 'security-optimizer')}</small>
          </Checkbox>
          {listKinds(known.kinds).map(({ kind, title, help }) => (
            <Checkbox
              key={kind}
              checked={kinds.includes(kind)}
              onChange={(checked) =>
                setChosen({ ...chosen, kinds: checked ? [...kinds, kind] : kinds.filter((one) => one !== kind) })
              }
            >
              {translate(title)}
              <small>{translate(help)}</small>
            </Checkbox>
          ))}
        </fieldset>
      )}
    </FormDialog>
  );
}

/** Delete Notification Email. */
export function DeleteDialog({ recipient, recipients, alerts, onChanged, onClosed, onDeleted }: RecipientDialogProps) {
  const { api } = useSite();
  const client = useQueryClient();
  const toasts = useToasts();
  const saving = useSubmit();
  const closing = useDialogClose(onClosed);
  const { email } = recipient;
  const [choices] = useState(() => findChoices(alerts?.alerts ?? null, email));

  async function undo(): Promise<void> {
    // Other addresses may have been added meanwhile.
    const now = (client.getQueryData<Recipients>(RECIPIENTS_KEY) ?? recipients).entries.map((item) => item.email);
    const others = now.filter((other) => other !== email);
    const index = recipients.entries.indexOf(recipient);
    await api.call<unknown>(replaceRecipients([...others.slice(0, index), email, ...others.slice(index)]), TRACKED);
    if (choices !== null) {
      const { report, kinds } = choices;
      await api.call<unknown>(toCall(updateAlertRecipient, { email, report, kinds })).catch(() => {
        const text = sprintf(
          /* translators: %s: an e-mail address */
          __('%s is back, but gets only the weekly report. Choose its alerts again.', 'security-optimizer'),
          escapeText(email),
        );
        toasts.show({ type: 'error', text, autoClose: false });
      });
    }
    onChanged();
  }

  function submit(): void {
    saving.save<unknown>({
      call: replaceRecipients(recipients.entries.map((item) => item.email).filter((other) => other !== email)),
      successMessage: () =>
        undoToast({
          title: __('Deleted', 'security-optimizer'),
          text: escapeText(email),
          undo: () => void undo().catch(ignoreApiError),
        }),
      onSuccess: () => {
        onDeleted?.();
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
          <bdi>{email}</bdi>
        </strong>{' '}
        {deletionText(choices)}
      </p>
    </FormDialog>
  );
}

/** What ends when a recipient is deleted; follows its address. */
function deletionText(choices: AlertRecipient | null): string {
  const { report, kinds } = choices ?? { report: 1, kinds: [] };
  if (kinds.length === 0) {
    return report === 1
      ? __('no longer gets the weekly report. You can add it again later.', 'security-optimizer')
      : __('gets nothing anyway. You can add it again later.', 'security-optimizer');
  }
  return report === 1
    ? __('no longer gets the weekly report and alerts. You can add it again later.', 'security-optimizer')
    : __('no longer gets alerts. You can add it again later.', 'security-optimizer');
}
