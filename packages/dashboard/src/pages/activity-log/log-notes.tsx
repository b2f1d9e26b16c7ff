import { Button } from '../../components/button.js';
import { Note } from '../../components/note.js';
import { formatNumber } from '../../i18n/format-number.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import type { KnownActivityOptions } from '../../options/read-activity-options.js';
import { useServices } from '../../services.js';

export interface LogNotesProps {
  readonly options: KnownActivityOptions;
  readonly onOpenSettings: () => void;
}

/** What the owner must know to read the lists rightly: that nothing is recorded now, or that something is missing. */
export function LogNotes({ options, onOpenSettings }: LogNotesProps) {
  const { config } = useServices();
  const dropped = options.dropped ?? 0;
  if (options.disable_activity_log === 1) {
    return (
      <div className="so-cardnote">
        <Note kind="warn" action={<Button onClick={onOpenSettings}>{__('Log Settings', 'security-optimizer')}</Button>}>
          <p>
            <strong>{__('The activity log is off.', 'security-optimizer')}</strong>{' '}
            {__('New visits are not recorded. Protections work as before.', 'security-optimizer')}
          </p>
        </Note>
      </div>
    );
  }
  if (dropped <= 0) return null;
  return (
    <div className="so-cardnote">
      <Note>
        <p>
          {sprintf(
            /* translators: %s: number of visits */
            _n(
              '%s visit was not recorded, because more came in than could be written down.',
              '%s visits were not recorded, because more came in than could be written down.',
              dropped,
              'security-optimizer',
            ),
            formatNumber(dropped, config.localeSlug),
          )}
        </p>
      </Note>
    </div>
  );
}
