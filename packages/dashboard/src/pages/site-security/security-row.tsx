import { notSavedText } from '../../components/not-saved-text.js';
import { ToggleRow } from '../../components/toggle-row.js';
import { translate } from '../../i18n/translate.js';
import type { KnownOptions } from '../../options/read-security-options.js';
import type { ChangeState } from '../../options/use-changes.js';
import { isRecommended } from '../../protection/essentials.js';
import type { Toggle } from './use-toggles.js';

export interface SecurityRowProps {
  readonly toggle: Toggle;
  /** Value on the server as far as it is known, and the one to show. */
  readonly stored: 0 | 1;
  readonly value: 0 | 1;
  readonly change: ChangeState<KnownOptions> | undefined;
  readonly onChange: (toggle: Toggle, wanted: 0 | 1) => void;
}

/** The row of one option of Site Security. */
export function SecurityRow({ toggle, stored, value, change, onChange }: SecurityRowProps) {
  const failed = change?.state === 'failed' ? change : null;
  return (
    <ToggleRow
      anchor={toggle.suffix.slice(1)}
      icon={toggle.icon}
      title={translate(toggle.title)}
      help={translate(toggle.help)}
      on={value === 1}
      pending={change?.state === 'saving'}
      recommended={isRecommended(toggle, value)}
      error={failed === null ? undefined : notSavedText(stored)}
      onToggle={() => onChange(toggle, value === 1 ? 0 : 1)}
      onRetry={() => onChange(toggle, failed?.wanted[toggle.field] ?? value)}
    />
  );
}
