import { WEEKLY_REPORT_MIN_DAYS } from '@security-optimizer/contract/activity-limits';
import { useId, useState } from 'react';
import { Button } from '../../../components/button.js';
import { LoadFailed } from '../../../components/load-failed.js';
import { Note } from '../../../components/note.js';
import { TableSkeleton } from '../../../components/table-skeleton.js';
import { __, sprintf } from '../../../i18n/translate.js';
import { type KnownActivityOptions, keptDays } from '../../../options/read-activity-options.js';
import { AddRecipients } from './add-recipients.js';
import { DeleteDialog } from './delete-dialog.js';
import { EditDialog } from './edit-dialog.js';
import { RecipientTable } from './recipient-table.js';
import { ReportPanel } from './report-panel.js';
import { type Recipient, type Recipients, useRecipients } from './use-recipients.js';

export interface WeeklyTabProps {
  readonly options: KnownActivityOptions;
  readonly onOpenSettings: () => void;
}

/** What the dialogs about one recipient get. */
export interface RecipientDialogProps {
  readonly recipient: Recipient;
  readonly recipients: Recipients;
  readonly onChanged: () => void;
  readonly onClosed: () => void;
}

/** Weekly Reports: who gets one, and what is in it. */
export default function WeeklyTab({ options, onOpenSettings }: WeeklyTabProps) {
  const { recipients, failure, retrying, reload } = useRecipients();
  const [open, setOpen] = useState<{ readonly Dialog: typeof EditDialog; readonly recipient: Recipient } | null>(null);
  const id = useId();
  const columns = [__('Email', 'security-optimizer'), __('Actions', 'security-optimizer')];

  return (
    <>
      <PausedNote options={options} onOpenSettings={onOpenSettings} />
      <div className="so-cols">
        <section className="so-card so-cols__main" aria-labelledby={id}>
          <div className="so-card__head">
            <div>
              <h2 id={id}>{__('Recipients', 'security-optimizer')}</h2>
              <p>{__('They get one short report a week.', 'security-optimizer')}</p>
            </div>
            {recipients === null || !Number.isFinite(recipients.max) ? null : (
              <div className="so-section__side so-num">
                {sprintf(
                  /* translators: 1: number of addresses on the list, 2: how many there may be */
                  __('%1$d of %2$d used', 'security-optimizer'),
                  recipients.entries.length,
                  recipients.max,
                )}
              </div>
            )}
          </div>
          {recipients !== null ? (
            <>
              <AddRecipients recipients={recipients} onChanged={reload} />
              {recipients.entries.length === 0 ? null : (
                <RecipientTable
                  columns={columns}
                  recipients={recipients.entries}
                  onEdit={(recipient) => setOpen({ Dialog: EditDialog, recipient })}
                  onDelete={(recipient) => setOpen({ Dialog: DeleteDialog, recipient })}
                />
              )}
            </>
          ) : failure === null ? (
            <TableSkeleton columns={columns} />
          ) : (
            <div className="so-card__body so-card__sep">
              <LoadFailed
                text={__('We couldn’t load the recipients.', 'security-optimizer')}
                failure={failure}
                retrying={retrying}
                onRetry={reload}
              />
            </div>
          )}
        </section>
        <ReportPanel />
      </div>
      {open === null || recipients === null ? null : (
        <open.Dialog
          recipient={open.recipient}
          recipients={recipients}
          onChanged={reload}
          onClosed={() => setOpen(null)}
        />
      )}
    </>
  );
}

/** Says why no report comes, when the settings are in the way. */
function PausedNote({ options, onOpenSettings }: WeeklyTabProps) {
  const days = keptDays(options);
  const isOff = options.disable_activity_log === 1;
  if (!isOff && (days === null || days >= WEEKLY_REPORT_MIN_DAYS)) return null;
  return (
    <div className="so-cardnote">
      <Note kind="warn" action={<Button onClick={onOpenSettings}>{__('Log Settings', 'security-optimizer')}</Button>}>
        <p>
          <strong>{__('Weekly reports are paused.', 'security-optimizer')}</strong>{' '}
          {isOff
            ? __('The activity log is off. Turn it on to get them again.', 'security-optimizer')
            : __('Keep 8 days or more to get them again.', 'security-optimizer')}
        </p>
      </Note>
    </div>
  );
}
