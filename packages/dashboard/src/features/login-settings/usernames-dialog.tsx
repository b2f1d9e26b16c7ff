import { disableAdminUsername } from '@security-optimizer/contract/login/endpoints';
import { dropUnseen } from '@security-optimizer/contract/typed-text';
import { useRef, useState } from 'react';
import { toCall } from '../../api/client.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { useDialogClose } from '../../ui/dialog.js';
import { Field, TextInput } from '../../ui/field.js';
import { Icon } from '../../ui/icon.js';
import { Note } from '../../ui/inline-messages.js';
import type { DialogProps } from '../../ui/lazy.js';
import { focusFirstError, useFormErrors } from '../../ui/use-form-errors.js';
import { loginSettings } from '../settings/settings-query.js';
import { useKnownSettings, useSettingsCache } from '../settings/use-settings.js';
import { getRenameErrors } from './login-forms.js';

/** Change Common Usernames: new names for all administrators with a common one, or for none. */
export default function UsernamesDialog({ onClosed }: DialogProps) {
  const settings = useKnownSettings(loginSettings);
  const { store, refetch } = useSettingsCache(loginSettings);
  // A snapshot, because after the change the list is empty while the dialog closes.
  const [{ admin_matches: users, all_users }] = useState(
    settings.usernames_data ?? { admin_matches: [], all_users: [] },
  );
  const [names, setNames] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(users.map(({ ID }) => [ID, ''])),
  );
  const body = useRef<HTMLDivElement>(null);
  const wrong = getRenameErrors(
    users.map(({ ID }) => [String(ID), names[ID] ?? ''] as const),
    all_users.map(({ user_login }) => user_login),
  );
  const errors = useFormErrors(wrong, () => focusFirstError(body.current));
  const saving = useSubmit();
  const closing = useDialogClose(onClosed);
  const count = users.length;

  function submit(): void {
    if (!errors.check()) return;
    const admin_names = users.map(({ ID }) => ({ ID, user_login: dropUnseen(names[ID] ?? '') }));
    saving.save<unknown>({
      call: toCall(disableAdminUsername, { disable_usernames: 1, admin_names }),
      onSuccess: (data) => {
        store({ disable_usernames: 1, usernames_data: { all_users, admin_matches: [] }, ...loginSettings.read(data) });
        void refetch();
        closing.close();
      },
      onFailure: (reason) => errors.showServerErrors(reason.fields),
      onUnclear: refetch,
    });
  }

  return (
    <FormDialog
      title={__('Change Common Usernames', 'security-optimizer')}
      size="large"
      closing={closing}
      saving={saving}
      dirty={Object.values(names).some((name) => name !== '')}
      onSubmit={submit}
      /* translators: %d: number of users */
      submitText={sprintf(_n('Rename %d user', 'Rename %d users', count, 'security-optimizer'), count)}
      pendingText={__('Renaming…', 'security-optimizer')}
    >
      <p>
        {sprintf(
          /* translators: %d: number of accounts */
          _n(
            '%d account has a name that attackers try first. Give it a new one.',
            '%d accounts have names that attackers try first. Give each of them a new one.',
            count,
            'security-optimizer',
          ),
          count,
        )}
      </p>
      <div ref={body}>
        {users.map(({ ID, user_login }) => (
          <div className="so-rename" key={ID}>
            <span>
              {user_login}
              <Icon name="arrow-right" />
            </span>
            <Field
              labelHidden
              /* translators: %s: the present username */
              label={sprintf(__('New username for %s', 'security-optimizer'), user_login)}
              error={errors.shown[ID]}
            >
              {(control) => (
                <TextInput
                  {...control}
                  value={names[ID] ?? ''}
                  onText={(text) => {
                    setNames({ ...names, [ID]: text });
                    errors.touch(String(ID));
                  }}
                />
              )}
            </Field>
          </div>
        ))}
      </div>
      <Note>
        <p>{__('We don’t notify these users. Tell them their new username yourself.', 'security-optimizer')}</p>
      </Note>
    </FormDialog>
  );
}
