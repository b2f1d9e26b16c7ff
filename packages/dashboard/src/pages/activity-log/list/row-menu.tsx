import { MenuButton } from '../../../components/menu-button.js';
import { __, sprintf } from '../../../i18n/translate.js';
import { Icon } from '../../../icons/icon.js';

export interface RowMenuProps {
  /** Address or user of the row. */
  readonly subject: string;
  readonly manageText: string;
  /** Missing for what must not be blocked. */
  readonly onManage: (() => void) | undefined;
  readonly onView: () => void;
}

/** What can be done about a row. */
export function RowMenu({ subject, manageText, onManage, onView }: RowMenuProps) {
  const view = { icon: 'search', text: __('View activity', 'security-optimizer'), onChoose: onView };
  return (
    <MenuButton
      className="so-iconbtn"
      /* translators: %s: an IP address or a user's name */
      label={sprintf(__('Actions for %s', 'security-optimizer'), subject)}
      items={onManage === undefined ? [view] : [{ icon: 'ban', text: manageText, onChoose: onManage }, view]}
    >
      <Icon name="more" />
    </MenuButton>
  );
}
