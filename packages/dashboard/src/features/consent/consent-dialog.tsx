import { updateConsent } from '@security-optimizer/contract/overview/endpoints';
import { technicalDataFields } from '@security-optimizer/contract/overview/technical-data';
import { type ReactNode, useId, useState } from 'react';
import { toCall } from '../../api/client.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, translate } from '../../i18n/translate.js';
import { useDialogClose } from '../../ui/dialog.js';
import { classes } from '../../ui/dom.js';

export interface ConsentDialogProps {
  readonly showDataField: boolean;
  readonly showEmailField: boolean;
  readonly onClosed: () => void;
}

/** Get the Most of This Plugin: asks for up to two consents. It closes only after an answer. */
export default function ConsentDialog({ showDataField, showEmailField, onClosed }: ConsentDialogProps) {
  const [data, setData] = useState(false);
  const [email, setEmail] = useState(false);
  const saving = useSubmit();
  const closing = useDialogClose(onClosed);

  function submit(): void {
    saving.save<unknown>({
      call: toCall(updateConsent, {
        siteground_settings_security: 1,
        ...(showDataField ? { siteground_data_consent: data ? 1 : 0 } : {}),
        ...(showEmailField ? { siteground_email_consent: email ? 1 : 0 } : {}),
      }),
      onSuccess: closing.close,
    });
  }

  return (
    <FormDialog
      title={__('Get the Most of This Plugin', 'security-optimizer')}
      size="large"
      mustAnswer
      closing={closing}
      saving={saving}
      onSubmit={submit}
      submitText={__('Confirm', 'security-optimizer')}
    >
      <p>
        {showDataField && showEmailField
          ? __('Both are optional. Everything works without them.', 'security-optimizer')
          : __('This is optional. Everything works without it.', 'security-optimizer')}
      </p>
      <div>
        {showDataField ? (
          <Choice
            title={__('Share technical data', 'security-optimizer')}
            text={__(
              'Server, WordPress and plugin versions help us fix problems sooner. No content, no visitors, no passwords.',
              'security-optimizer',
            )}
            checked={data}
            onChange={setData}
          >
            <TechnicalDataList />
          </Choice>
        ) : null}
        {showEmailField ? (
          <Choice
            title={__('Get occasional e-mails', 'security-optimizer')}
            text={__(
              'Security tips, new features and offers. You can unsubscribe with one click.',
              'security-optimizer',
            )}
            checked={email}
            onChange={setEmail}
          />
        ) : null}
      </div>
    </FormDialog>
  );
}

interface ChoiceProps {
  readonly title: string;
  readonly text: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly children?: ReactNode;
}

function Choice({ title, text, checked, onChange, children }: ChoiceProps) {
  const id = useId();
  return (
    <div className="so-consent">
      <label className={classes('so-check so-choice', checked && 'is-on')}>
        <input
          type="checkbox"
          checked={checked}
          aria-labelledby={id}
          aria-describedby={`${id}-text`}
          onChange={(event) => onChange(event.target.checked)}
        />
        <span>
          <b id={id}>{title}</b>
          <small id={`${id}-text`}>{text}</small>
        </span>
      </label>
      {children}
    </div>
  );
}

/** The list of all data that is sent, behind a button. */
function TechnicalDataList() {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div className="so-consent__list">
      <button
        type="button"
        className="so-link"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen((value) => !value)}
      >
        {open ? __('Hide the full list', 'security-optimizer') : __('See the full list', 'security-optimizer')}
      </button>
      <div id={id} hidden={!open}>
        <ul>
          {technicalDataFields.map(({ field, text }) => (
            <li key={field}>{translate(text)}</li>
          ))}
        </ul>
        <p>{__('Sent to your hosting provider when you confirm, then once a week.', 'security-optimizer')}</p>
      </div>
    </div>
  );
}
