import type { ReactNode } from 'react';
import { classes } from './dom.js';

export interface CheckboxProps {
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly className?: string;
  readonly onChange: (checked: boolean) => void;
  /** The label; a `small` in it is help. */
  readonly children: ReactNode;
}

export function Checkbox({ checked, disabled, className, onChange, children }: CheckboxProps) {
  return (
    <label className={classes('so-check', className)}>
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span>{children}</span>
    </label>
  );
}
