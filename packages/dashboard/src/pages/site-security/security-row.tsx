import { ToggleRow } from '../../components/toggle-row.js';
import { __, translate } from '../../i18n/translate.js';
import { displayedValue } from './displayed-value.js';
import { isRecommended } from './essentials.js';
import type { ChangeState, Toggle } from './use-toggles.js';

export interface SecurityRowProps {
  readonly toggle: Toggle;
  /** Value on the server as far as it is known. */
  readonly stored: 0 | 1;
  readonly change: ChangeState | undefined;
  readonly onChange: (toggle: Toggle, wanted: 0 | 1) => void;
}

/** The row of one option of Site Security. */
export function SecurityRow({ toggle, stored, change, onChange }: SecurityRowProps) {
  const value = displayedValue(stored, change);
  const failed = change?.state === 'failed' ? change : null;
  return (
    <ToggleRow
      icon={toggle.icon}
      title={translate(toggle.title)}
      help={translate(toggle.help)}
      on={value === 1}
      pending={change?.state === 'saving'}
      recommended={isRecommended(toggle, value)}
      error={failed === null ? undefined : notSaved(stored)}
      onToggle={() => onChange(toggle, value === 1 ? 0 : 1)}
      onRetry={() => onChange(toggle, failed?.wanted ?? value)}
    />
  );
}

function notSaved(stored: 0 | 1): string {
  return stored === 1
    ? __('We couldn’t save this. The option is still on.', 'security-optimizer')
    : __('We couldn’t save this. The option is still off.', 'security-optimizer');
}
