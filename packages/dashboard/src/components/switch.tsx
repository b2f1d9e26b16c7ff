import type { Ref } from 'react';
import { __ } from '../i18n/translate.js';
import { Icon } from '../icons/icon.js';
import { classes } from './classes.js';

export interface SwitchProps {
  readonly on: boolean;
  /** The new value is on its way; the switch already shows it and takes no clicks. */
  readonly pending?: boolean;
  readonly disabled?: boolean;
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly onToggle: () => void;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Switch({ on, pending = false, disabled, labelledBy, describedBy, onToggle, ref }: SwitchProps) {
  return (
    <button
      ref={ref}
      type="button"
      role="switch"
      className={classes('so-switch', on && 'is-on', pending && 'is-busy')}
      aria-checked={on}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      aria-busy={pending || undefined}
      disabled={disabled}
      onClick={pending ? undefined : onToggle}
    >
      <span className="so-switch__state" aria-hidden="true">
        {stateWord(on, pending)}
      </span>
      <span className="so-switch__track">
        <span className="so-switch__knob">
          {pending ? <span className="so-spin" /> : <Icon name="check" stroke={2.6} />}
        </span>
      </span>
    </button>
  );
}

function stateWord(on: boolean, pending: boolean): string {
  if (pending) return __('Saving…', 'security-optimizer');
  return on ? __('On', 'security-optimizer') : __('Off', 'security-optimizer');
}
