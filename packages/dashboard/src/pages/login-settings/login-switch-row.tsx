import type { ReactNode } from 'react';
import { notSavedText } from '../../components/not-saved-text.js';
import { ToggleRow } from '../../components/toggle-row.js';
import type { KnownLoginOptions } from '../../options/read-login-options.js';
import type { Changes } from '../../options/use-changes.js';
import { type LoginSwitch, loginRequestName } from './use-login-changes.js';

export interface LoginSwitchRowProps {
  readonly field: LoginSwitch;
  readonly anchor: string;
  readonly icon: string;
  readonly title: string;
  readonly help: ReactNode;
  readonly essential?: boolean;
  readonly stored: KnownLoginOptions;
  /** The options as they are shown: a change on its way counts already. */
  readonly shown: KnownLoginOptions;
  readonly changes: Changes<KnownLoginOptions>;
  readonly onToggle: (wanted: 0 | 1) => void;
}

/** A row of Login Security with a switch; left out while the server does not know the option. */
export function LoginSwitchRow(props: LoginSwitchRowProps) {
  const { field, icon, title, help, essential = false, stored, shown, changes, onToggle } = props;
  const value = shown[field];
  const change = changes[loginRequestName(field)];
  if (value === undefined) return null;
  return (
    <ToggleRow
      anchor={props.anchor}
      icon={icon}
      title={title}
      help={help}
      on={value === 1}
      pending={change?.state === 'saving'}
      recommended={essential && value === 0}
      error={change?.state === 'failed' ? notSavedText(stored[field] ?? 0) : undefined}
      onToggle={() => onToggle(value === 1 ? 0 : 1)}
      onRetry={() => onToggle(change?.wanted[field] ?? value)}
    />
  );
}
