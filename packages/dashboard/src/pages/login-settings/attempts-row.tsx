import { useId, useRef } from 'react';
import { SettingRow } from '../../components/setting-row.js';
import { Select } from '../../forms/select.js';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import type { KnownLoginOptions } from '../../options/read-login-options.js';
import type { ChangeState } from '../../options/use-changes.js';
import { selectedAttempts } from '../../protection/essentials.js';

export interface AttemptsRowProps {
  /** The options as they are shown: a change on its way counts already. */
  readonly options: KnownLoginOptions;
  readonly change: ChangeState<KnownLoginOptions> | undefined;
  readonly onChange: (value: number) => void;
}

/** Limit Login Attempts: how many wrong passwords block an address. */
export function AttemptsRow({ options, change, onChange }: AttemptsRowProps) {
  const id = useId();
  const select = useRef<HTMLButtonElement>(null);
  const value = selectedAttempts(options);
  const pending = change?.state === 'saving';
  const failed = change?.state === 'failed' ? change : null;
  const title = __('Limit Login Attempts', 'security-optimizer');

  function retry(): void {
    select.current?.focus();
    if (failed !== null) onChange(selectedAttempts(failed.wanted));
  }

  return (
    <SettingRow
      id={id}
      anchor="login-attempts"
      icon="timer"
      state={value > 0 ? 'on' : 'off'}
      title={title}
      help={__(
        'Too many wrong passwords block the IP address for 1 hour, then 24 hours, then 7 days.',
        'security-optimizer',
      )}
      recommended={value === 0}
      pending={pending}
      error={
        failed === null
          ? undefined
          : __('We couldn’t save this. The limit is what it was before.', 'security-optimizer')
      }
      onRetry={retry}
    >
      {pending ? (
        <span className="so-row__value">
          <span className="so-spin" /> {__('Saving…', 'security-optimizer')}
        </span>
      ) : null}
      <Select
        ref={select}
        auto
        label={title}
        aria-describedby={value === 0 ? `${id}-tag ${id}-help` : `${id}-help`}
        pending={pending}
        value={value}
        options={(options.login_attempts ?? []).map((option) => ({ value: option.value, text: labelOf(option) }))}
        onChange={onChange}
      />
    </SettingRow>
  );
}

/** A label that is nothing but the number says more in words; any other is the server's to choose. */
function labelOf({ value, label }: { readonly value: number; readonly label: string }): string {
  if (label !== String(value)) return translate(label);
  /* translators: %d: number of wrong passwords */
  return sprintf(_n('%d attempt', '%d attempts', value, 'security-optimizer'), value);
}
