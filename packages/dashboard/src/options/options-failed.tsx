import type { ApiFailure } from '../api/api-failure.js';
import { Button } from '../components/button.js';
import { Note } from '../components/note.js';
import { ServerText } from '../components/server-text.js';
import { __ } from '../i18n/translate.js';
import { failureNotice } from '../requests/outcome-notice.js';

export interface OptionsFailedProps {
  readonly failure: ApiFailure;
  readonly retrying: boolean;
  readonly onRetry: () => void;
}

/** Stands in for the rows when the options could not be read. */
export function OptionsFailed({ failure, retrying, onRetry }: OptionsFailedProps) {
  const { text } = failureNotice(failure, undefined);
  return (
    <div className="so-card so-card__body">
      <Note
        kind="bad"
        action={
          <Button onClick={onRetry} pendingText={retrying ? __('Loading…', 'security-optimizer') : undefined}>
            {__('Try again', 'security-optimizer')}
          </Button>
        }
      >
        <p>
          <strong>{__('We couldn’t load the options.', 'security-optimizer')}</strong>{' '}
          {failure.kind === 'session_gone' ? (
            __('You are logged out', 'security-optimizer')
          ) : (
            <ServerText text={text} />
          )}
        </p>
      </Note>
    </div>
  );
}
