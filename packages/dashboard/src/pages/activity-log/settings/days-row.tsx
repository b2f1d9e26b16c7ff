import { useId, useRef } from 'react';
import { Note } from '../../../components/note.js';
import { SettingRow } from '../../../components/setting-row.js';
import { Select } from '../../../forms/select.js';
import { __, _n, sprintf } from '../../../i18n/translate.js';
import { type KnownActivityOptions, keptDays } from '../../../options/read-activity-options.js';
import type { ChangeState } from '../../../options/use-changes.js';

export interface DaysRowProps {
  /** The options as they are shown: a change on its way counts already. */
  readonly options: KnownActivityOptions;
  readonly change: ChangeState<KnownActivityOptions> | undefined;
  /** With fewer days there is no weekly report. */
  readonly minDays: number;
  readonly onChange: (days: number) => void;
}

/** Days to keep. While the log is off there is nothing to keep. */
export function DaysRow({ options, change, minDays, onChange }: DaysRowProps) {
  const id = useId();
  const select = useRef<HTMLButtonElement>(null);
  const days = keptDays(options);
  const isOff = options.disable_activity_log === 1;
  const pending = change?.state === 'saving';
  const failed = change?.state === 'failed' ? change : null;
  const title = __('Days to keep', 'security-optimizer');

  function retry(): void {
    select.current?.focus();
    const wanted = failed === null ? null : keptDays(failed.wanted);
    if (wanted !== null) onChange(wanted);
  }

  return (
    <SettingRow
      id={id}
      icon="calendar"
      state={isOff ? 'off' : 'on'}
      title={title}
      help={__(
        'Older entries are deleted for good. You can keep 1 to 12 days. Weekly reports need at least 8.',
        'security-optimizer',
      )}
      pending={pending}
      error={
        failed === null
          ? undefined
          : __('We couldn’t save this. As many days are kept as before.', 'security-optimizer')
      }
      onRetry={retry}
      note={
        days === null || days >= minDays ? undefined : (
          <Note kind="warn">
            <p>
              <strong>{__('Weekly reports are paused.', 'security-optimizer')}</strong>{' '}
              {__('Keep 8 days or more to get them again.', 'security-optimizer')}
            </p>
          </Note>
        )
      }
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
        aria-describedby={`${id}-help`}
        pending={pending}
        disabled={isOff}
        value={days}
        options={(options.log_lifetime ?? []).map(({ value }) => ({
          value,
          text: sprintf(_n('%d day', '%d days', value, 'security-optimizer'), value),
        }))}
        onChange={onChange}
      />
    </SettingRow>
  );
}
