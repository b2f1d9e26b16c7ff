import type { CurrentBlock } from '@security-optimizer/contract/activity/blocks';
import { __ } from '../../i18n/translate.js';
import { classes } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { useSiteClock } from '../settings/site-clock.js';
import { blockedByText, blockText } from './blocks.js';

export interface VisitorSubjectProps {
  /** Address or login. */
  readonly name: string;
  readonly isUser?: boolean;
  /** Host name of an address; may be empty. */
  readonly hostname?: string;
  readonly block: CurrentBlock | null;
}

/** The visitor of a dialog or of a row's details, with the end and the origin of its block. */
export function VisitorSubject({ name, isUser = false, hostname = '', block }: VisitorSubjectProps) {
  const clock = useSiteClock();
  const by = block === null ? '' : blockedByText(block);
  return (
    <div className="so-subject">
      <span className={classes('so-tile so-tile--48', block !== null && 'is-danger')}>
        <Icon name={isUser ? 'user' : 'globe'} />
      </span>
      <div className="so-subject__text">
        <b className={isUser ? undefined : 'so-mono'}>
          <bdi dir={isUser ? 'auto' : 'ltr'}>{name}</bdi>
        </b>
        {isUser ? null : (
          <small>{hostname === '' ? __('No host name', 'security-optimizer') : <bdi dir="ltr">{hostname}</bdi>}</small>
        )}
        {by === '' ? null : <small>{block?.note ? `${by}: ${block.note}` : by}</small>}
      </div>
      <span className={classes('so-pill', block !== null && 'so-pill--bad')}>
        <i />
        {block === null ? __('Not blocked', 'security-optimizer') : blockText(block, clock)}
      </span>
    </div>
  );
}
