import { type ReactNode, useId } from 'react';
import { classes } from '../components/classes.js';
import { ErrorText } from '../components/error-text.js';

/** Attributes of the control inside a field. */
export interface ControlProps {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

export interface FieldProps {
  readonly label: string;
  /** The label is for screen readers only. */
  readonly labelHidden?: boolean;
  readonly help?: ReactNode;
  readonly error: string | undefined;
  readonly children: (control: ControlProps) => ReactNode;
}

/** A control with its label above, a hint and its message below. */
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
