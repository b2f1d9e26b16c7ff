import type { ReactNode } from 'react';
import { Icon } from '../icons/icon.js';
import { classes } from './classes.js';

export interface ErrorTextProps {
  readonly id?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** What went wrong, in red beside or below what it is about. Screen readers speak it when it appears. */
export function ErrorText({ id, className, children }: ErrorTextProps) {
  return (
    <p className={classes('so-error', className)} role="alert" id={id}>
      <Icon name="error" />
      <span>{children}</span>
    </p>
  );
}
