import type { ApiFailure } from '../api/client.js';
import { failureReason } from '../api/run-request.js';
import { __ } from '../i18n/translate.js';
import { RetryButton } from '../ui/button.js';
import { Note } from '../ui/note.js';
import { ServerText } from '../ui/server-text.js';
import { ToggleRowSkeleton } from '../ui/setting-row.js';

export interface LoadFailedProps {
  /** The error, in one sentence. */
  readonly text: string;
  readonly failure: ApiFailure;
  readonly retrying?: boolean;
  readonly onRetry: () => void;
}

/** Shown instead of data that could not be loaded: the error and a retry button. */
export function LoadFailed({ text, failure, retrying = false, onRetry }: LoadFailedProps) {
  return (
    <Note kind="bad" action={<RetryButton retrying={retrying} onRetry={onRetry} />}>
      <p>
        <strong>{text}</strong> <ServerText text={failureReason(failure)} />
      </p>
    </Note>
  );
}

export interface OptionsFailedProps {
  readonly failure: ApiFailure;
  readonly retrying: boolean;
  readonly onRetry: () => void;
}

/** Shown instead of options that could not be loaded. */
export function OptionsFailed(props: OptionsFailedProps) {
  return (
    <div className="so-card so-card__body">
      <LoadFailed {...props} text={__('We couldn’t load the options.', 'security-optimizer')} />
    </div>
  );
}

/** Shown while the options load: rows without a state. */
export function OptionsSkeleton({ rows, silent = false }: { readonly rows: number; readonly silent?: boolean }) {
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
