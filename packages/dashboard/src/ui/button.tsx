import { type ReactNode, useEffect, useRef } from 'react';
import { __ } from '../i18n/translate.js';
import { classes, restoreFocus } from './dom.js';
import { Icon } from './icon.js';

export interface ButtonProps {
  readonly kind?: 'primary' | 'secondary' | 'danger' | 'quiet';
  readonly small?: boolean;
  /** Label while the action runs, for example "Saving…". The button then ignores clicks. */
  readonly pendingText?: string | undefined;
  readonly disabled?: boolean;
  /** Submits the form around it; `onClick` is not needed. */
  readonly submit?: boolean;
  readonly onClick?: () => void;
  readonly 'aria-label'?: string;
  /** Whether it takes the focus when its dialog opens. */
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

export interface IconButtonProps {
  readonly icon: string;
  /** Its name. */
  readonly label: string;
  /** It ignores clicks, but keeps the focus. */
  readonly inactive?: boolean;
  readonly onClick: () => void;
}

/** A button with an icon instead of a text. */
export function IconButton({ icon, label, inactive = false, onClick }: IconButtonProps) {
  return (
    <button
      type="button"
      className="so-iconbtn"
      aria-label={label}
      aria-disabled={inactive || undefined}
      onClick={inactive ? undefined : onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

export interface RetryButtonProps {
  readonly retrying?: boolean;
  readonly onRetry: () => void;
}

/** Retries a failed load. When it disappears with its message, the focus moves to the heading above. */
export function RetryButton({ retrying = false, onRetry }: RetryButtonProps) {
  const parent = useRef<Element | null | undefined>(null);

  useEffect(
    () => () => {
      const { current } = parent;
      if (!current) return;
      // The failed part may be the only one of its section.
      const heading = () => (document.body.contains(current) ? current.querySelector('h1, h2') : null);
      restoreFocus(() => heading() ?? document.querySelector('.so h1'));
    },
    [],
  );

  return (
    <Button
      onClick={() => {
        parent.current = document.activeElement?.closest('section, .so-head, .so-main');
        onRetry();
      }}
      pendingText={retrying ? __('Loading…', 'security-optimizer') : undefined}
    >
      {__('Try again', 'security-optimizer')}
    </Button>
  );
}
