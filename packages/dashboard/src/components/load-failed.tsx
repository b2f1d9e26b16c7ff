import type { ApiFailure } from '../api/api-failure.js';
import { failureReason } from '../requests/outcome-notice.js';
import { Note } from './note.js';
import { RetryButton } from './retry-button.js';
import { ServerText } from './server-text.js';

export interface LoadFailedProps {
  /** What could not be loaded, in one sentence. */
  readonly text: string;
  readonly failure: ApiFailure;
  readonly retrying?: boolean;
  readonly onRetry: () => void;
}

/** Stands in for what could not be read, with the reason and a way to try again. */
export function LoadFailed({ text, failure, retrying = false, onRetry }: LoadFailedProps) {
  return (
    <Note kind="bad" action={<RetryButton retrying={retrying} onRetry={onRetry} />}>
      <p>
        <strong>{text}</strong> <ServerText text={failureReason(failure)} />
      </p>
    </Note>
  );
}
