import type { ApiFailure } from '../api/api-failure.js';
import { LoadFailed } from '../components/load-failed.js';
import { __ } from '../i18n/translate.js';

export interface OptionsFailedProps {
  readonly failure: ApiFailure;
  readonly retrying: boolean;
  readonly onRetry: () => void;
}

/** Stands in for the rows when the options could not be read. */
export function OptionsFailed(props: OptionsFailedProps) {
  return (
    <div className="so-card so-card__body">
      <LoadFailed {...props} text={__('We couldn’t load the options.', 'security-optimizer')} />
    </div>
  );
}
