import { resetUserTwoFactor } from '@security-optimizer/contract/login/endpoints';
import { messages } from '@security-optimizer/contract/messages';
import { useRef, useState } from 'react';
import { toCall } from '../../api/client.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, translate } from '../../i18n/translate.js';
import { useDialogClose } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { Note } from '../../ui/inline-messages.js';
import type { DialogProps } from '../../ui/lazy.js';
import { Select } from '../../ui/select.js';
import { TextWith } from '../../ui/text-with.js';
import { focusFirstError, useFormErrors } from '../../ui/use-form-errors.js';
import { loginSettings } from '../settings/settings-query.js';
import { useKnownSettings, useSettingsCache } from '../settings/use-settings.js';

/** Reset 2-factor Authentication for a user who lost the phone and the back-up codes. */
export default function ResetDialog({ onClosed }: DialogProps) {
  const settings = useKnownSettings(loginSettings);
  const { store } = useSettingsCache(loginSettings);
  const users = settings.reset_2fa ?? [];
  const [chosen, setChosen] = useState<number | null>(null);
  const user = users.find(({ ID }) => ID === chosen);
  const body = useRef<HTMLDivElement>(null);
  const errors = useFormErrors(user === undefined ? { id: translate(messages.required) } : {}, () =>
    focusFirstError(body.current),
  );
  const saving = useSubmit();
  const label = __('User', 'security-optimizer');
  const closing = useDialogClose(onClosed);

  function submit(): void {
    if (!errors.check() || user === undefined) return;
    saving.save<unknown>({
      call: toCall(resetUserTwoFactor, { id: user.ID }),
      onSuccess: (data) => {
        const { reset_2fa = users.filter(({ ID }) => ID !== user.ID) } = loginSettings.read(data);
        store({ reset_2fa });
        closing.close();
      },
      onFailure: (reason) => errors.showServerErrors(reason.fields),
    });
  }

  return (
    <FormDialog
      title={__('Reset 2-factor Authentication', 'security-optimizer')}
      closing={closing}
      saving={saving}
      dirty={chosen !== null}
      onSubmit={submit}
      submitText={__('Reset', 'security-optimizer')}
      pendingText={__('Resetting…', 'security-optimizer')}
      submitDisabled={users.length === 0}
    >
      <p>
        {__(
          'For users who lost their phone and their back-up codes. They set up a new app at their next login.',
          'security-optimizer',
        )}
      </p>
      {users.length === 0 && !closing.closing ? (
        <Note>
          <p>
            <strong>{translate(messages.nothingFound)}</strong>.{' '}
            {__('No user has set up two-factor authentication yet.', 'security-optimizer')}
          </p>
        </Note>
      ) : (
        <div ref={body}>
          <Field label={label} error={errors.shown.id}>
            {(control) => (
              <Select
                {...control}
                label={label}
                placeholder={__('Choose a user', 'security-optimizer')}
                value={chosen}
                options={users.map(({ ID, user_login }) => ({ value: ID, text: user_login }))}
                onChange={(ID) => {
                  setChosen(ID);
                  errors.touch('id');
                }}
              />
            )}
          </Field>
        </div>
      )}
      {user === undefined ? null : (
        <Note>
          <p>
            {/* translators: %s: username */}
            <TextWith text={__('The old codes of %s stop working at once.', 'security-optimizer')}>
              <strong>{user.user_login}</strong>
            </TextWith>
          </p>
        </Note>
      )}
    </FormDialog>
  );
}
