import { twoFactorRoles } from '@security-optimizer/contract/login/endpoints';
import { useState } from 'react';
import { toCall } from '../../api/client.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, sprintf } from '../../i18n/translate.js';
import { Checkbox } from '../../ui/checkbox.js';
import { useDialogClose } from '../../ui/dialog.js';
import { Note } from '../../ui/inline-messages.js';
import type { DialogProps } from '../../ui/lazy.js';
import { loginSettings } from '../settings/settings-query.js';
import { useKnownSettings, useSettingsCache } from '../settings/use-settings.js';
import { roleName } from './two-factor-setup.js';

/** Roles with Two-factor Authentication: required roles and those that the owner adds. */
export default function TwoFactorRolesDialog({ onClosed }: DialogProps) {
  const settings = useKnownSettings(loginSettings);
  const { store, refetch } = useSettingsCache(loginSettings);
  const roles = settings.two_factor_roles ?? [];
  const before = roles.filter(({ selected, required }) => selected === 1 && required === 0).map(({ role }) => role);
  const [chosen, setChosen] = useState<readonly string[]>(before);
  const saving = useSubmit();
  const closing = useDialogClose(onClosed);
  const added = roles.filter(({ role }) => chosen.includes(role) && !before.includes(role));
  const removed = before.some((role) => !chosen.includes(role));

  function submit(): void {
    const wanted = roles.map(({ role }) => role).filter((role) => chosen.includes(role));
    saving.save<unknown>({
      call: toCall(twoFactorRoles, { two_factor_roles: wanted }),
      onSuccess: (data) => {
        store({
          two_factor_roles: roles.map((item) => ({
            ...item,
            selected: item.required === 1 || wanted.includes(item.role) ? 1 : 0,
          })),
          ...loginSettings.read(data),
        });
        closing.close();
      },
      onUnclear: refetch,
    });
  }

  return (
    <FormDialog
      title={__('Roles with Two-factor Authentication', 'security-optimizer')}
      closing={closing}
      saving={saving}
      dirty={added.length > 0 || removed}
      onSubmit={submit}
    >
      <p>{__('Users with these roles confirm each login with a code from their phone.', 'security-optimizer')}</p>
      <fieldset>
        <legend className="so-label">{__('Roles', 'security-optimizer')}</legend>
        {roles.map((item) => {
          const { role, required } = item;
          return (
            <Checkbox
              key={role}
              checked={required === 1 || chosen.includes(role)}
              disabled={required === 1}
              onChange={(checked) => setChosen(checked ? [...chosen, role] : chosen.filter((one) => one !== role))}
            >
              {roleName(item)}
              {required === 1 ? <small>{__('Always', 'security-optimizer')}</small> : null}
            </Checkbox>
          );
        })}
      </fieldset>
      {added.length === 0 ? null : (
        <Note kind={settings.sg2fa === 1 ? 'warn' : 'info'}>
          <p>
            {settings.sg2fa === 1
              ? sprintf(
                  /* translators: %s: names of roles */
                  __(
                    'Users with these roles are logged out and set it up at their next login: %s.',
                    'security-optimizer',
                  ),
                  added.map(roleName).join(', '),
                )
              : __('This takes effect once two-factor authentication is on.', 'security-optimizer')}
          </p>
        </Note>
      )}
    </FormDialog>
  );
}
