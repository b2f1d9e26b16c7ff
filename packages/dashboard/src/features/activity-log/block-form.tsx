import { blockAddresses } from '@security-optimizer/contract/activity/endpoints';
import { messages } from '@security-optimizer/contract/messages';
import { toPlainAddress } from '@security-optimizer/contract/typed-text';
import { type FormEvent, useRef, useState } from 'react';
import { toCall } from '../../api/client.js';
import { addressFault } from '../../forms/ip-address.js';
import { SaveFailed } from '../../forms/request-failed.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, translate } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { Field, TextInput } from '../../ui/field.js';
import { focusFirstError, useFormErrors } from '../../ui/use-form-errors.js';

/** Blocks an address or range, also one without visits. */
export function BlockForm({ onBlocked }: { readonly onBlocked: () => void }) {
  const [address, setAddress] = useState('');
  const [isConfirming, setIsConfirming] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const wrong = addressError(address);
  const errors = useFormErrors(wrong === null ? {} : { address: wrong }, () => focusFirstError(form.current));
  const { pending, failure, save } = useSubmit();

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (errors.check()) block({ address: toPlainAddress(address) });
  }

  function block(request: { readonly address: string; readonly confirm?: boolean }): void {
    save<unknown>({
      call: toCall(blockAddresses, request),
      onSuccess: () => {
        setAddress('');
        errors.reset();
        onBlocked();
      },
      onFailure: ({ code, fields }) => {
        if (code === 'means_everybody') setIsConfirming(true);
        errors.showServerErrors(fields);
      },
    });
  }

  return (
    <>
      <form className="so-card__body so-card__sep" noValidate ref={form} onSubmit={submit}>
        <Field
          label={__('Block an IP address or range', 'security-optimizer')}
          help={__(
            'One address, a range such as 198.51.100.* or a block such as 198.51.100.0/24.',
            'security-optimizer',
          )}
          error={errors.shown.address}
        >
          {(control) => (
            <div className="so-addmail">
              <TextInput
                {...control}
                mono
                value={address}
                onText={(text) => {
                  setAddress(text);
                  errors.touch('address');
                }}
              />
              <Button kind="danger" submit pendingText={pending ? __('Blocking…', 'security-optimizer') : undefined}>
                {__('Block', 'security-optimizer')}
              </Button>
            </div>
          )}
        </Field>
        <div className="so-formfail">
          <SaveFailed failure={isConfirming ? null : failure} />
        </div>
      </form>
      {isConfirming ? (
        <ConfirmDialog
          title={__('Block everybody?', 'security-optimizer')}
          confirmText={__('Block everybody', 'security-optimizer')}
          cancelText={__('Go back', 'security-optimizer')}
          onClosed={() => setIsConfirming(false)}
          onConfirm={() => block({ address: toPlainAddress(address), confirm: true })}
        >
          <p>{__('This range means everybody: hardly anyone could visit your site.', 'security-optimizer')}</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}

function addressError(text: string): string | null {
  return toPlainAddress(text) === '' ? translate(messages.required) : addressFault(text);
}
