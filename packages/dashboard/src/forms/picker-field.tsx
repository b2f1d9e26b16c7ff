import { type ReactNode, useId } from 'react';
import { Icon } from '../icons/icon.js';
import { AffixInput } from './affix-input.js';
import { Field } from './field.js';
import { useDrop } from './use-drop.js';

export interface PickerFieldProps {
  readonly label: string;
  readonly icon: string;
  readonly placeholder: string;
  /** The chosen value as it is shown, or '' */
  readonly text: string;
  readonly error: string | undefined;
  /** What opens below the field. `close` gives the focus back to the field. */
  readonly children: (picker: { readonly id: string; readonly close: () => void }) => ReactNode;
}

/** A field whose value is chosen from something that opens below it. */
export function PickerField({ label, icon, placeholder, text, error, children }: PickerFieldProps) {
  const drop = useDrop();
  const id = useId();
  return (
    <div className="so-anchor" ref={drop.anchor} {...drop.anchorProps}>
      <Field label={label} error={error}>
        {(control) => (
          <AffixInput
            {...control}
            {...drop.fieldProps}
            ref={drop.field}
            affix={<Icon name={icon} />}
            isIcon
            readOnly
            role="combobox"
            aria-haspopup="dialog"
            aria-expanded={drop.open}
            aria-controls={drop.open ? id : undefined}
            placeholder={placeholder}
            value={text}
          />
        )}
      </Field>
      {drop.open ? children({ id, close: drop.close }) : null}
    </div>
  );
}
