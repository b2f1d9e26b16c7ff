import { WEEKLY_REPORT_MIN_DAYS } from '@security-optimizer/contract/activity-limits';
import { notSavedText } from '../../../components/not-saved-text.js';
import { Section } from '../../../components/section.js';
import { ToggleRow } from '../../../components/toggle-row.js';
import { __ } from '../../../i18n/translate.js';
import { OptionsFailed } from '../../../options/options-failed.js';
import { OptionsSkeleton } from '../../../options/options-skeleton.js';
import { activityOptions } from '../../../options/options-source.js';
import type { KnownActivityOptions } from '../../../options/read-activity-options.js';
import { useChanges, withPending } from '../../../options/use-changes.js';
import type { OptionsState, OptionsStore } from '../../../options/use-options.js';
import { DaysRow } from './days-row.js';

export interface SettingsTabProps {
  readonly options: OptionsState<KnownActivityOptions> & OptionsStore<KnownActivityOptions>;
}

type Field = 'disable_activity_log' | 'anonymize_addresses';
const SUFFIXES: Readonly<Record<Field, string>> = {
  disable_activity_log: '/manage-activity-log',
  anonymize_addresses: '/anonymize-addresses',
};
const ROWS = 3;

/** Log Settings: whether there is a log, how long it is kept, and how much of an address. */
export default function SettingsTab({ options }: SettingsTabProps) {
  const title = __('Log Settings', 'security-optimizer');
  const { changes, change } = useChanges<KnownActivityOptions>(activityOptions, options.store);
  if (options.state === 'loading') {
    return (
      <Section title={title} busy>
        <OptionsSkeleton rows={ROWS} />
      </Section>
    );
  }
  if (options.state === 'failed') {
    return (
      <Section title={title}>
        <OptionsFailed failure={options.failure} retrying={options.retrying} onRetry={options.retry} />
      </Section>
    );
  }

  const stored = options.options;
  const shown = withPending(stored, changes);
  const set = (field: Field, value: 0 | 1): void =>
    change({
      name: `update:${field}`,
      call: { suffix: SUFFIXES[field], body: { [field]: value } },
      wanted: { [field]: value },
    });

  /** What a switch needs beside its words. `inverted`: it is on while the option is off. */
  function toggle(field: Field, inverted: boolean) {
    const state = changes[`update:${field}`];
    const value = shown[field] ?? 0;
    const isOn = (flag: 0 | 1 | undefined): boolean => (flag === 1) !== inverted;
    return {
      on: isOn(value),
      pending: state?.state === 'saving',
      recommended: false,
      error: state?.state === 'failed' ? notSavedText(isOn(stored[field]) ? 1 : 0) : undefined,
      onToggle: () => set(field, value === 1 ? 0 : 1),
      onRetry: () => set(field, state?.wanted[field] ?? value),
    };
  }

  return (
    <Section title={title}>
      <div className="so-card">
        {stored.disable_activity_log === undefined ? null : (
          <ToggleRow
            {...toggle('disable_activity_log', true)}
            icon="pulse"
            title={__('Activity log', 'security-optimizer')}
            help={__(
              'Records visits, bot crawls and login attempts. Turn it off for a while if you expect a rush of visitors.',
              'security-optimizer',
            )}
          />
        )}
        {stored.log_lifetime === undefined ? null : (
          <DaysRow
            options={shown}
            change={changes['update:log_lifetime']}
            minDays={WEEKLY_REPORT_MIN_DAYS}
            onChange={(days) =>
              change({
                name: 'update:log_lifetime',
                call: { suffix: '/activity-log-lifetime', body: { log_lifetime: days } },
                wanted: {
                  log_lifetime: (stored.log_lifetime ?? []).map((item) => ({
                    ...item,
                    selected: item.value === days ? 1 : 0,
                  })),
                },
              })
            }
          />
        )}
        {stored.anonymize_addresses === undefined ? null : (
          <ToggleRow
            {...toggle('anonymize_addresses', false)}
            icon="eye-off"
            title={__('Anonymise addresses', 'security-optimizer')}
            help={__(
              'Stores IP addresses without their last part from now on, as some privacy laws ask for. You can then block networks, not single addresses.',
              'security-optimizer',
            )}
          />
        )}
      </div>
    </Section>
  );
}
