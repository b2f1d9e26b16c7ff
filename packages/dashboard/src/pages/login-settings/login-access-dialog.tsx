import { LOGIN_ACCESS_MAX } from '@security-optimizer/contract/login-limits';
import { useId, useRef, useState } from 'react';
import { Button } from '../../components/button.js';
import { Note } from '../../components/note.js';
import { ConfirmDialog } from '../../dialogs/confirm-dialog.js';
import { useClosing } from '../../dialogs/use-closing.js';
import { focusFirstError } from '../../forms/focus-first-error.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { useFormErrors } from '../../forms/use-form-errors.js';
import { useSave } from '../../forms/use-save.js';
import { __, sprintf } from '../../i18n/translate.js';
import { Icon } from '../../icons/icon.js';
import { readLoginOptions } from '../../options/read-login-options.js';
import { AccessList } from './access-list.js';
import { accessErrors, filledRows, shutsOut } from './access-rows.js';
import type { LoginDialogProps } from './login-dialogs.js';
import { useAccessRows } from './use-access-rows.js';

/** Manage Login Access: the addresses from which one may log in. */
export default function LoginAccessDialog({ options, store, readAgain, onClosed }: LoginDialogProps) {
  const list = useAccessRows(options.login_access ?? []);
  const body = useRef<HTMLDivElement>(null);
  const errors = useFormErrors(accessErrors(list.rows), () => focusFirstError(body.current));
  const saving = useSave();
  const closing = useClosing(onClosed);
  const [asking, setAsking] = useState(false);
  const id = useId();
  const own = options.your_address ?? '';
  const isShutOut = shutsOut(own, list.rows);

  function submit(): void {
    if (!errors.check()) return;
    if (isShutOut) setAsking(true);
    else send(false);
  }

  function send(confirmed: boolean): void {
    const rows = filledRows(list.rows);
    const entries = rows.map(({ text }) => text);
    saving.save<unknown>({
      name: 'update:login_access',
      call: { suffix: '/login-access', body: confirmed ? { entries, confirm: true } : { entries } },
      onSuccess: (data) => {
        store({ login_access: entries, ...readLoginOptions(data) });
        closing.close();
      },
      onUnclear: readAgain,
      onFailure: ({ code, fields }) => {
        // The server knows the address of this call better than the page, which was opened earlier.
        if (code === 'would_shut_you_out') setAsking(true);
        // It names rows by their place in the list that was sent.
        errors.showServerErrors(
          Object.fromEntries(Object.entries(fields).map(([place, text]) => [rows[Number(place)]?.key ?? place, text])),
        );
      },
    });
  }

  return (
    <FormDialog
      title={__('Manage Login Access', 'security-optimizer')}
      size="large"
      closing={closing}
      saving={saving}
      dirty={list.changed}
      onSubmit={submit}
    >
      <p>
        {__('Only these addresses can open the login page. Remove them all to let everyone try.', 'security-optimizer')}
      </p>
      {isShutOut ? (
        <Note
          kind="warn"
          action={
            <Button small onClick={() => list.put(own)}>
              {/* translators: %s: an IP address */}
              {sprintf(__('Add %s', 'security-optimizer'), own)}
            </Button>
          }
        >
          <p>
            <strong>{__('Your own address is not on the list.', 'security-optimizer')}</strong>{' '}
            {__('You would lose access once you log out.', 'security-optimizer')}
          </p>
        </Note>
      ) : null}
      <div ref={body}>
        <span className="so-label" id={`${id}-label`}>
          {__('Allowed IP addresses', 'security-optimizer')}
        </span>
        <AccessList list={list} labelledBy={`${id}-label`} errors={errors.shown} onTouch={errors.touch} />
        <p className="so-help">
          {__('One address, a range such as 198.51.100.* or a block such as 198.51.100.0/24.', 'security-optimizer')}
        </p>
      </div>
      <div className="so-mt-12">
        <Button disabled={list.rows.length >= LOGIN_ACCESS_MAX} onClick={list.add}>
          <Icon name="plus" />
          {__('Add another', 'security-optimizer')}
        </Button>
        {!isShutOut && own !== '' && filledRows(list.rows).length === 0 ? (
          <Button kind="quiet" onClick={() => list.put(own)}>
            {/* translators: %s: an IP address */}
            {sprintf(__('Add %s, your own address', 'security-optimizer'), own)}
          </Button>
        ) : null}
      </div>
      {asking ? (
        <ConfirmDialog
          title={__('Shut yourself out?', 'security-optimizer')}
          confirmText={__('Save and shut me out', 'security-optimizer')}
          cancelText={__('Go back', 'security-optimizer')}
          onClosed={() => setAsking(false)}
          onConfirm={() => send(true)}
        >
          <p>
            {sprintf(
              /* translators: %s: an IP address */
              __(
                'Your own address, %s, is not on the list. Once this is saved you can’t log in from it, and the admin area closes for you.',
                'security-optimizer',
              ),
              own,
            )}
          </p>
        </ConfirmDialog>
      ) : null}
    </FormDialog>
  );
}
