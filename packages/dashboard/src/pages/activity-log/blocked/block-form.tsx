import { messages } from '@security-optimizer/contract/messages';
import { type FormEvent, useRef, useState } from 'react';
import { parseAddressRange } from '../../../addresses/address-range.js';
import { Button } from '../../../components/button.js';
import { Field } from '../../../forms/field.js';
import { focusFirstError } from '../../../forms/focus-first-error.js';
import { SaveFailed } from '../../../forms/save-failed.js';
import { useFormErrors } from '../../../forms/use-form-errors.js';
import { useSave } from '../../../forms/use-save.js';
import { __, translate } from '../../../i18n/translate.js';

/** Blocks an address or a range by its text, also one that was never here. */
export function BlockForm({ onBlocked }: { readonly onBlocked: () => void }) {
  const [address, setAddress] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const wrong = addressError(address);
  const errors = useFormErrors(wrong === null ? {} : { address: wrong }, () => focusFirstError(form.current));
  const { pending, failure, save } = useSave();

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (!errors.check()) return;
    save<unknown>({
      name: 'blockAddresses',
      call: { suffix: '/block-addresses', body: { address: address.trim() } },
      onSuccess: () => {
        setAddress('');
        errors.reset();
        onBlocked();
      },
      onFailure: (reason) => errors.showServerErrors(reason.fields),
    });
  }

  return (
    <form className="so-card__body so-card__sep" noValidate ref={form} onSubmit={submit}>
      <Field
        label={__('Block an IP address or range', 'security-optimizer')}
        help={__('One address, a range such as 198.51.100.* or a block such as 198.51.100.0/24.', 'security-optimizer')}
        error={errors.shown.address}
      >
        {(control) => (
          <div className="so-addmail">
            <input
              {...control}
              className="so-input so-mono"
              type="text"
              dir="ltr"
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              value={address}
              onChange={(event) => {
                setAddress(event.target.value);
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
        <SaveFailed failure={failure} />
      </div>
    </form>
  );
}

function addressError(text: string): string | null {
  if (text.trim() === '') return translate(messages.required);
  return parseAddressRange(text) === null ? translate(messages.invalidFormat) : null;
}
