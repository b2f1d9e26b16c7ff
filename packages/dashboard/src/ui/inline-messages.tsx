import type { ReactNode } from 'react';
import { __ } from '../i18n/translate.js';
import { classes } from './dom.js';
import { Icon } from './icon.js';

export interface NoteProps {
  readonly kind?: 'info' | 'ok' | 'warn' | 'bad';
  readonly children: ReactNode;
  /** Button at the end. */
  readonly action?: ReactNode;
}

const ICONS = { info: 'info', ok: 'check-circle', warn: 'alert', bad: 'error' };

/** A message inside a card or a dialog. */
export function Note({ kind = 'info', children, action }: NoteProps) {
  return (
    <div className={classes('so-note', kind !== 'info' && `so-note--${kind}`)}>
      <Icon name={ICONS[kind]} />
      <div>{children}</div>
      {action}
    </div>
  );
}

export interface ErrorTextProps {
  readonly id?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** An error beside or below its element. Screen readers announce it. */
export function ErrorText({ id, className, children }: ErrorTextProps) {
  return (
    <p className={classes('so-error', className)} role="alert" id={id}>
      <Icon name="error" />
      <span>{children}</span>
    </p>
  );
}

/** Shown instead of an empty list: one line of help and at most one button. */
export function EmptyState({ text, children }: { readonly text: string; readonly children?: ReactNode }) {
  return (
    <div className="so-empty so-card__sep">
      <span className="so-tile so-tile--48">
        <Icon name="search" />
      </span>
      <h3>{__('Nothing was found', 'security-optimizer')}</h3>
      <p>{text}</p>
      {children}
    </div>
  );
}
