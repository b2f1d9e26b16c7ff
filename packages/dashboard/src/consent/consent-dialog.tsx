import { PROVIDER_NAMESPACE } from '@security-optimizer/contract/paths';
import { useId, useState } from 'react';
import { classes } from '../components/classes.js';
import { useClosing } from '../dialogs/use-closing.js';
import { FormDialog } from '../forms/form-dialog.js';
import { useSave } from '../forms/use-save.js';
import { __ } from '../i18n/translate.js';

export interface ConsentDialogProps {
  readonly showDataField: boolean;
  readonly showEmailField: boolean;
  readonly onClosed: () => void;
}

/** Get the Most of This Plugin: two things to agree to, or not. It goes away with an answer only. */
export default function ConsentDialog({ showDataField, showEmailField, onClosed }: ConsentDialogProps) {
  const [data, setData] = useState(false);
  const [email, setEmail] = useState(false);
  const saving = useSave();
  const closing = useClosing(onClosed);

  function submit(): void {
    saving.save<unknown>({
      name: 'update:consent',
      call: {
        namespace: PROVIDER_NAMESPACE,
        suffix: '/update-settings',
        method: 'PUT',
        body: {
          siteground_settings_security: 1,
          ...(showDataField ? { siteground_data_consent: data ? 1 : 0 } : {}),
          ...(showEmailField ? { siteground_email_consent: email ? 1 : 0 } : {}),
        },
      },
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
          />
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
}

function Choice({ title, text, checked, onChange }: ChoiceProps) {
  const id = useId();
  return (
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
  );
}
