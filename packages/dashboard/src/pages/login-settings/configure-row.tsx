import { useId } from 'react';
import { Button } from '../../components/button.js';
import { SettingRow } from '../../components/setting-row.js';
import { __, sprintf } from '../../i18n/translate.js';

export interface ConfigureRowProps {
  readonly icon: string;
  readonly title: string;
  readonly help: string;
  readonly on: boolean;
  readonly recommended?: boolean;
  /** The present state in a few words. */
  readonly value?: string;
  readonly onConfigure: () => void;
}

/** A setting that is changed in a dialog. */
export function ConfigureRow({ icon, title, help, on, recommended, value, onConfigure }: ConfigureRowProps) {
  return (
    <SettingRow
      id={useId()}
      icon={icon}
      state={on ? 'on' : 'off'}
      title={title}
      help={help}
      recommended={recommended ?? false}
    >
      {value === undefined ? null : <span className="so-row__value">{value}</span>}
      {/* translators: %s: name of a setting */}
      <Button onClick={onConfigure} aria-label={sprintf(__('Configure: %s', 'security-optimizer'), title)}>
        {__('Configure', 'security-optimizer')}
      </Button>
    </SettingRow>
  );
}
