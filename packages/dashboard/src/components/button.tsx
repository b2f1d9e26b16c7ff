import type { ReactNode } from 'react';
import { classes } from './classes.js';

export interface ButtonProps {
  readonly kind?: 'primary' | 'secondary' | 'danger' | 'quiet';
  readonly small?: boolean;
  /** Text shown while the action runs, for example "Saving…"; the button then takes no clicks. */
  readonly pendingText?: string | undefined;
  readonly disabled?: boolean;
  /** Sends the form that it stands in; then `onClick` is not needed. */
  readonly submit?: boolean;
  readonly onClick?: () => void;
  readonly 'aria-label'?: string;
  /** Takes the focus when the dialog around it opens. */
  readonly firstFocus?: boolean;
  readonly children: ReactNode;
}

const KIND_CLASS = { primary: 'so-btn--primary', danger: 'so-btn--danger', quiet: 'so-btn--ghost', secondary: null };

export function Button({
  kind = 'secondary',
  small,
  pendingText,
  disabled,
  submit,
  onClick,
  children,
  firstFocus,
  ...rest
}: ButtonProps) {
  const pending = pendingText !== undefined;
  return (
    <button
      type={submit && !pending ? 'submit' : 'button'}
      className={classes('so-btn', KIND_CLASS[kind], small && 'so-btn--sm', pending && 'is-busy')}
      aria-disabled={pending || undefined}
      aria-label={rest['aria-label']}
      data-first-focus={firstFocus ? '' : undefined}
      disabled={disabled}
      onClick={pending ? undefined : onClick}
    >
      {pending ? <span className="so-spin" /> : null}
      {pending ? pendingText : children}
    </button>
  );
}
