import { __, sprintf } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';
import { Cell, LogTable, Row } from '../list/log-table.js';
import type { Recipient } from './use-recipients.js';

export interface RecipientTableProps {
  readonly columns: readonly string[];
  readonly recipients: readonly Recipient[];
  readonly onEdit: (recipient: Recipient) => void;
  readonly onDelete: (recipient: Recipient) => void;
}

export function RecipientTable({ columns, recipients, onEdit, onDelete }: RecipientTableProps) {
  return (
    <LogTable
      label={__('Recipients', 'security-optimizer')}
      className="so-table--rows is-single"
      columns={columns}
      withActions
    >
      {recipients.map((recipient) => (
        <Row key={recipient.id} id={recipient.id}>
          <Cell className="so-td-who">
            <span className="so-who">
              <Icon name="mail" />
              <bdi>{recipient.email}</bdi>
            </span>
          </Cell>
          <Cell className="so-c-actions so-nowrap">
            <button
              type="button"
              className="so-iconbtn"
              /* translators: %s: an e-mail address */
              aria-label={sprintf(__('Edit %s', 'security-optimizer'), recipient.email)}
              onClick={() => onEdit(recipient)}
            >
              <Icon name="pencil" />
            </button>{' '}
            <button
              type="button"
              className="so-iconbtn"
              /* translators: %s: an e-mail address */
              aria-label={sprintf(__('Delete %s', 'security-optimizer'), recipient.email)}
              onClick={() => onDelete(recipient)}
            >
              <Icon name="trash" />
            </button>
          </Cell>
        </Row>
      ))}
    </LogTable>
  );
}
