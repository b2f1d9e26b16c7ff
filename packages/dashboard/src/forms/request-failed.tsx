import type { ApiError } from '../api/envelope.js';
import { failureReason } from '../api/outcome-messages.js';
import { __ } from '../i18n/translate.js';
import { RetryButton } from '../ui/button.js';
import { Note } from '../ui/inline-messages.js';
import { SafeHtml } from '../ui/safe-html.js';

export interface LoadFailedProps {
  /** The error, in one sentence. */
  readonly text: string;
  readonly failure: ApiError;
  readonly retrying?: boolean;
  readonly onRetry: () => void;
}

/** Shown instead of data that could not be loaded: the error and a retry button. */
export function LoadFailed({ text, failure, retrying = false, onRetry }: LoadFailedProps) {
  return (
    <Note kind="bad" action={<RetryButton retrying={retrying} onRetry={onRetry} />}>
      <p>
        <strong>{text}</strong> <SafeHtml text={failureReason(failure)} />
      </p>
    </Note>
  );
}

/**
 * The error of a failed save inside a dialog. Errors of fields are shown at the fields instead.
 *
 * @param text one sentence. Default: a text about saving
 */
export function SaveFailed({
  failure,
  text,
}: {
  readonly failure: ApiError | null;
  readonly text?: string | undefined;
}) {
  if (failure === null || Object.keys(failure.fields).length > 0) return null;
  return (
    <div role="alert">
      <Note kind="bad">
        <p>
          <strong>{text ?? __('We couldn’t save this.', 'security-optimizer')}</strong>{' '}
          <SafeHtml text={failureReason(failure)} />
        </p>
      </Note>
    </div>
  );
}
