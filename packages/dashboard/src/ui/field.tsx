import { type InputHTMLAttributes, type ReactNode, type Ref, useId, useState } from 'react';
import { classes } from './dom.js';
import { ErrorText } from './inline-messages.js';

/** Attributes for the control inside a field. */
export interface ControlProps {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

export interface FieldProps {
  readonly label: string;
  /** Whether the label is visible to screen readers only. */
  readonly labelHidden?: boolean;
  readonly help?: ReactNode;
  readonly error: string | undefined;
  readonly children: (control: ControlProps) => ReactNode;
}

/** A control with its label above, and its hint and error below. */
export function Field({ label, labelHidden, help, error, children }: FieldProps) {
  const id = useId();
  const describedBy = [help === undefined ? '' : `${id}-help`, error === undefined ? '' : `${id}-error`];
  return (
    <div className={classes('so-field', error !== undefined && 'has-error')}>
      <label className={labelHidden ? 'so-vh' : 'so-label'} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': describedBy.join(' ').trim() || undefined,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {error === undefined ? null : <ErrorText id={`${id}-error`}>{error}</ErrorText>}
      {help === undefined ? null : (
        <p className="so-help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}

export interface TextInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange'> {
  readonly value: string;
  readonly onText: (text: string) => void;
  /** Monospace, for addresses and keys. */
  readonly mono?: boolean;
}

/** A text input for names and addresses: left-to-right, without automatic corrections. */
export function TextInput({ value, onText, mono = false, ...input }: TextInputProps) {
  return (
    <input
      type="text"
      dir="ltr"
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
      {...input}
      className={classes('so-input', mono && 'so-mono')}
      value={value}
      onChange={({ target }) => onText(target.value)}
    />
  );
}

export interface AffixInputProps extends InputHTMLAttributes<HTMLInputElement> {
  /** The fixed part in front: the site's URL, or an icon. */
  readonly affix: ReactNode;
  readonly isIcon?: boolean;
  readonly ref?: Ref<HTMLInputElement>;
}

/** A text input with a fixed part in front. A class replaces `:focus-within`, which old browsers lack. */
export function AffixInput({ affix, isIcon = false, ...input }: AffixInputProps) {
  const [focused, setFocused] = useState(false);
  return (
    <div
      className={classes(
        'so-affix',
        isIcon && 'so-affix--icon',
        (focused || input['aria-expanded'] === true) && 'is-focus',
      )}
    >
      <span dir={isIcon ? undefined : 'ltr'}>{affix}</span>
      <input
        type="text"
        {...input}
        className="so-input"
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      />
    </div>
  );
}
