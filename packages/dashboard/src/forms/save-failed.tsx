import type { ApiFailure } from '../api/api-failure.js';
import { Note } from '../components/note.js';
import { ServerText } from '../components/server-text.js';
import { __ } from '../i18n/translate.js';
import { failureReason } from '../requests/outcome-notice.js';

/**
 * Says inside a dialog that saving failed. What belongs to a field stands at the field instead.
 * @param text what failed, in one sentence, where it is not saving
 */
export function SaveFailed({ failure, text }: { readonly failure: ApiFailure | null; readonly text?: string }) {
  if (failure === null || Object.keys(failure.fields).length > 0) return null;
  return (
    <div role="alert">
      <Note kind="bad">
        <p>
          <strong>{text ?? __('We couldn’t save this.', 'security-optimizer')}</strong>{' '}
          <ServerText text={failureReason(failure)} />
        </p>
      </Note>
    </div>
  );
}
