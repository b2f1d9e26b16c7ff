import type { BlockedRow } from '@security-optimizer/contract/activity';
import { Button } from '../../../components/button.js';
import { ErrorText } from '../../../components/error-text.js';
import { Tip } from '../../../components/tip.js';
import { useDateTexts } from '../../../dates/use-date-texts.js';
import { __, sprintf } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import { Cell, Row } from '../list/log-table.js';
import { momentText } from '../list/moment-text.js';
import type { UnblockState } from './use-unblock.js';

export interface BlockedRowViewProps {
  readonly row: BlockedRow;
  readonly state: UnblockState | undefined;
  readonly onUnblock: () => void;
}

/** Somebody who is blocked, and the way out. */
export function BlockedRowView({ row, state, onUnblock }: BlockedRowViewProps) {
  const texts = useDateTexts();
  const isUser = row.type === 'user';
  return (
    <Row id={row.id} className={state === 'leaving' ? 'is-leaving' : ''}>
      <Cell className="so-td-who">
        <Tip text={row.hostname}>
          <span className={isUser ? 'so-who so-who--user' : 'so-who'}>
            <Icon name={isUser ? 'user' : 'globe'} />
            {isUser ? (
              <bdi>{row.user}</bdi>
            ) : (
              <span className="so-mono" dir="ltr">
                {row.user}
              </span>
            )}
          </span>
        </Tip>
      </Cell>
      <Cell className="so-td-hide">
        {isUser ? __('User', 'security-optimizer') : __('IP address', 'security-optimizer')}
      </Cell>
      <Cell className="so-td-grow so-num">
        {momentText(row.ts, texts)}
        {row.until === null ? null : (
          <small className="so-until">
            {/* translators: %s: day and time */}
            {sprintf(__('Failed logins, locked until %s', 'security-optimizer'), momentText(row.until, texts))}
          </small>
        )}
        {state === 'failed' ? <ErrorText>{__('Still blocked. Try again.', 'security-optimizer')}</ErrorText> : null}
      </Cell>
      <Cell className="so-c-actions">
        {state === 'leaving' ? null : (
          <Button
            small
            /* translators: %s: an IP address or a user's name */
            aria-label={sprintf(__('Unblock %s', 'security-optimizer'), row.user)}
            pendingText={state === 'pending' ? __('Unblocking…', 'security-optimizer') : undefined}
            onClick={onUnblock}
          >
            {__('Unblock', 'security-optimizer')}
          </Button>
        )}
      </Cell>
    </Row>
  );
}
