import { formatRole } from '@security-optimizer/contract/activity/event-values';
import { remindTwoFactor, twoFactor } from '@security-optimizer/contract/login/endpoints';
import type { LoginOptions } from '@security-optimizer/contract/login/schemas';
import { useState } from 'react';
import { toCall } from '../../api/client.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import { Checkbox } from '../../ui/checkbox.js';
import { useDialogClose } from '../../ui/dialog.js';
import { Icon } from '../../ui/icon.js';
import { Note } from '../../ui/inline-messages.js';
import type { DialogProps } from '../../ui/lazy.js';
import { loginSettings } from '../settings/settings-query.js';
import { useKnownSettings, useSettingsCache } from '../settings/use-settings.js';
import { useLeadToSetUp } from './two-factor-setup.js';

type User = NonNullable<LoginOptions['two_factor_users']>['users'][number];

/** Turn on two-factor: lists who needs it, and who will be logged out. */
export default function TwoFactorDialog({ onClosed }: DialogProps) {
  const settings = useKnownSettings(loginSettings);
  const { store, refetch } = useSettingsCache(loginSettings);
  const leadToSetUp = useLeadToSetUp();
  const { total, users } = settings.two_factor_users ?? { total: 0, users: [] };
  const [sendsReminder, setSendsReminder] = useState(true);
  const reminding = useSubmit();
  const saving = useSubmit();
  const closing = useDialogClose(onClosed);
  const loggedOut = users.filter(isLoggedOut).length;
  const you = users.find((user) => user.you === 1);
  const reminded = users.filter(({ set_up, you }) => set_up === 0 && you === 0).length;

  function submit(): void {
    if (reminded === 0 || !sendsReminder) turnOn();
    // The mail is sent before their sessions end, because unsaved work is lost then.
    else reminding.save({ call: toCall(remindTwoFactor, {}), onSuccess: turnOn });
  }

  function turnOn(): void {
    saving.save<unknown>({
      call: toCall(twoFactor, { sg2fa: 1 }),
      onSuccess: (data) => {
        store({ sg2fa: 1 });
        closing.close();
        void refetch();
        if (you?.set_up !== 1) leadToSetUp(data);
      },
      onUnclear: refetch,
    });
  }

  return (
    <FormDialog
      title={__('Turn on two-factor', 'security-optimizer')}
      closing={closing}
      saving={{ pending: reminding.pending || saving.pending, failure: reminding.failure ?? saving.failure }}
      onSubmit={submit}
      pendingText={__('Turning on…', 'security-optimizer')}
      submitText={
        loggedOut === 0
          ? __('Turn on', 'security-optimizer')
          : sprintf(
              /* translators: %d: number of people */
              _n('Turn on and log out %d', 'Turn on and log out %d', loggedOut, 'security-optimizer'),
              loggedOut,
            )
      }
    >
      <p>
        {sprintf(
          /* translators: %d: number of people */
          _n(
            '%d person needs a code from the phone at every login. It is set up at the next one, in about 2 minutes.',
            'These %d people need a code from their phone at every login. They set it up at the next one, in about 2 minutes.',
            total,
            'security-optimizer',
          ),
          total,
        )}
      </p>
      <ul className="so-people">
        {users.map((user) => (
          <li key={user.ID}>
            <Icon name="user" />
            <b>{userName(user)}</b>
            <small>{formatRole(user.role, translate)}</small>
            <Consequence user={user} />
          </li>
        ))}
        {total > users.length ? (
          <li>
            <Icon name="users" />
            <b>
              {/* translators: %d: number of people */}
              {sprintf(
                _n('and %d more', 'and %d more', total - users.length, 'security-optimizer'),
                total - users.length,
              )}
            </b>
          </li>
        ) : null}
      </ul>
      {loggedOut === 0 ? null : (
        <Note kind="warn">
          <p>
            <strong>
              {sprintf(
                /* translators: %d: number of people */
                _n(
                  '%d person is logged out at once.',
                  '%d people are logged out at once.',
                  loggedOut,
                  'security-optimizer',
                ),
                loggedOut,
              )}
            </strong>{' '}
            {__('What they have not saved is lost.', 'security-optimizer')}{' '}
            {you?.set_up === 1 ? '' : __('You set it up right after this.', 'security-optimizer')}
          </p>
        </Note>
      )}
      {reminded === 0 ? null : (
        <Checkbox checked={sendsReminder} onChange={setSendsReminder}>
          <b>{__('Tell them by mail first', 'security-optimizer')}</b>
          <small>
            {sprintf(
              /* translators: %d: number of people */
              _n(
                'A short how-to goes to %d person.',
                'A short how-to goes to the other %d.',
                reminded,
                'security-optimizer',
              ),
              reminded,
            )}
          </small>
        </Checkbox>
      )}
    </FormDialog>
  );
}

function Consequence({ user }: { readonly user: User }) {
  if (isLoggedOut(user)) {
    return (
      <span className="is-warn">
        <Icon name="logout" />
        {user.sessions === 1
          ? __('Logged out', 'security-optimizer')
          : /* translators: %d: number of devices */
            sprintf(
              _n('Logged out, %d device', 'Logged out, %d devices', user.sessions, 'security-optimizer'),
              user.sessions,
            )}
      </span>
    );
  }
  if (user.you === 1) {
    return (
      <span>{user.set_up === 1 ? __('Set up', 'security-optimizer') : __('Sets it up now', 'security-optimizer')}</span>
    );
  }
  return (
    <span>
      <Icon name="minus" />
      {__('Not logged in', 'security-optimizer')}
    </span>
  );
}

/** The users whose sessions end: all except the caller. */
function isLoggedOut({ you, sessions }: User): boolean {
  return you === 0 && sessions > 0;
}

function userName({ user_login, you }: User): string {
  /* translators: %s: username */
  return you === 1 ? sprintf(__('%s (You)', 'security-optimizer'), user_login) : user_login;
}
