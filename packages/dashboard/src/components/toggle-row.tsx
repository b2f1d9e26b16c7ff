import { type ReactNode, useId, useRef } from 'react';
import { SettingRow } from './setting-row.js';
import { Switch } from './switch.js';

export interface ToggleRowProps {
  /** A hash of the page's address that leads here. */
  readonly anchor?: string;
  readonly icon: string;
  readonly title: string;
  readonly help: ReactNode;
  readonly on: boolean;
  readonly pending: boolean;
  readonly recommended: boolean;
  readonly disabled?: boolean;
  /** What went wrong with the last change, in one sentence. */
  readonly error?: string | undefined;
  readonly onToggle: () => void;
  readonly onRetry: () => void;
}

/** A setting with a switch. It tells about its own change: pending, saved or failed. */
export function ToggleRow(props: ToggleRowProps) {
  const { icon, title, help, on, pending, recommended, disabled = false, error, onToggle, onRetry } = props;
  const id = useId();
  const control = useRef<HTMLButtonElement>(null);

  function retry(): void {
    // The button goes away with the message; without this the keyboard would start again at the top of the page.
    control.current?.focus();
    onRetry();
  }

  return (
    <SettingRow
      id={id}
      anchor={props.anchor}
      icon={icon}
      state={on ? 'on' : 'off'}
      title={title}
      help={help}
      recommended={recommended}
      pending={pending}
      withSwitch
      error={error}
      onRetry={retry}
    >
      <Switch
        ref={control}
        on={on}
        pending={pending}
        disabled={disabled}
        labelledBy={`${id}-title`}
        describedBy={recommended ? `${id}-tag ${id}-help` : `${id}-help`}
        onToggle={onToggle}
      />
    </SettingRow>
  );
}
