import { messages } from '@security-optimizer/contract/messages';
import type { ReactNode } from 'react';
import { translate } from '../i18n/translate.js';
import { Icon } from '../icons/icon.js';

/** Stands in for the rows of a list that has none: one line of help and at most one button. */
export function EmptyState({ text, children }: { readonly text: string; readonly children?: ReactNode }) {
  return (
    <div className="so-empty so-card__sep">
      <span className="so-tile so-tile--48">
        <Icon name="search" />
      </span>
      <h3>{translate(messages.nothingFound)}</h3>
      <p>{text}</p>
      {children}
    </div>
  );
}
