import type { ReactNode } from 'react';
import { LoadFailed } from '../../forms/request-failed.js';
import { __ } from '../../i18n/translate.js';
import { Section } from '../../ui/section.js';
import { ToggleRowSkeleton } from '../../ui/setting-row.js';
import type { SettingsState } from './use-settings.js';

export interface SettingsSectionProps<Values extends object> {
  readonly title: string;
  readonly settings: SettingsState<Values>;
  /** Number of rows that are shown while the settings load. */
  readonly rows: number;
  /** Whether another section announces that the settings load. */
  readonly silent?: boolean;
  /** What could not be loaded, in one sentence. Default: a text about options. */
  readonly failedText?: string;
  /** At the end of the heading once the settings are known. */
  readonly side?: (values: Values) => ReactNode;
  readonly busy?: boolean;
  /** The cards, drawn once the settings are known. */
  readonly children: (values: Values) => ReactNode;
}

/** A section with settings: placeholders while they load, and the error if they could not be loaded. */
export function SettingsSection<Values extends object>(props: SettingsSectionProps<Values>) {
  const { title, settings } = props;
  return (
    <Section
      title={title}
      side={settings.state === 'ready' ? props.side?.(settings.values) : null}
      busy={settings.state === 'loading' || props.busy === true}
    >
      {settings.state === 'loading' ? (
        <SettingsSkeleton rows={props.rows} silent={props.silent ?? false} />
      ) : settings.state === 'failed' ? (
        <div className="so-card so-card__body">
          <LoadFailed
            text={props.failedText ?? __('We couldn’t load the options.', 'security-optimizer')}
            failure={settings.failure}
            retrying={settings.retrying}
            onRetry={settings.retry}
          />
        </div>
      ) : (
        props.children(settings.values)
      )}
    </Section>
  );
}

/** Shown while the settings load: rows without a state. */
export function SettingsSkeleton({ rows, silent = false }: { readonly rows: number; readonly silent?: boolean }) {
  return (
    <div className="so-card">
      {silent ? null : (
        <span className="so-vh" role="status">
          {__('Loading', 'security-optimizer')}
        </span>
      )}
      {Array.from({ length: rows }, (_, index) => index).map((index) => (
        <ToggleRowSkeleton key={index} />
      ))}
    </div>
  );
}

/** Error text of a row with a switch. */
export function notSavedText(stored: 0 | 1): string {
  return stored === 1
    ? __('We couldn’t save this. The option is still on.', 'security-optimizer')
    : __('We couldn’t save this. The option is still off.', 'security-optimizer');
}
