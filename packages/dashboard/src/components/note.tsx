import type { ReactNode } from 'react';
import { Icon } from '../icons/icon.js';
import { classes } from './classes.js';

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
