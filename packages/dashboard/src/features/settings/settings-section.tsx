import type { ApiError } from '../../api/envelope.js';
import { LoadFailed } from '../../forms/request-failed.js';
import { __ } from '../../i18n/translate.js';
import { ToggleRowSkeleton } from '../../ui/setting-row.js';

export interface SettingsFailedProps {
  readonly failure: ApiError;
  readonly retrying: boolean;
  readonly onRetry: () => void;
}

/** Shown instead of settings that could not be loaded. */
export function SettingsFailed(props: SettingsFailedProps) {
  return (
    <div className="so-card so-card__body">
      <LoadFailed {...props} text={__('We couldn’t load the options.', 'security-optimizer')} />
    </div>
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
