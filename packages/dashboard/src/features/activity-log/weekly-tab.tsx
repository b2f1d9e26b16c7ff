import { previewWeeklyReport, testWeeklyReport } from '@security-optimizer/contract/activity/endpoints';
import { WEEKLY_REPORT_MIN_DAYS } from '@security-optimizer/contract/activity/limits';
import type { Recipient } from '@security-optimizer/contract/activity/schemas';
import { type RefObject, useEffect, useId, useRef, useState } from 'react';
import { toCall } from '../../api/client.js';
import { LoadFailed } from '../../forms/request-failed.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, sprintf } from '../../i18n/translate.js';
import { Button, IconButton } from '../../ui/button.js';
import { Dialog, useDialogClose } from '../../ui/dialog.js';
import { classes, restoreFocus } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { Note } from '../../ui/inline-messages.js';
import { Table, TableCell, TableRow, TableSkeleton } from '../../ui/table.js';
import type { ActivitySettings } from '../settings/settings-query.js';
import { getKeptDays } from '../settings/use-settings.js';
import { type AlertsState, findChoices, getsText, useAlerts } from './alerts.js';
import { AlertsSection } from './alerts-section.js';
import { LastDeliveryLines } from './last-delivery.js';
import { DeleteDialog, EditDialog } from './recipient-dialogs.js';
import { AddRecipients, useRecipients } from './recipients.js';

export interface WeeklyTabProps {
  readonly settings: ActivitySettings;
  readonly onOpenSettings: () => void;
}

/** Weekly Reports: recipients and contents, and the alerts. */
export default function WeeklyTab({ settings, onOpenSettings }: WeeklyTabProps) {
  const { recipients, failure, retrying, reload } = useRecipients();
  const [open, setOpen] = useState<{ readonly Dialog: typeof EditDialog; readonly recipient: Recipient } | null>(null);
  const alerts = useAlerts();
  const id = useId();
  const card = useRef<HTMLElement>(null);
  const focusAfter = useFocusAfterDelete(card, open === null ? (recipients?.entries.length ?? null) : null);
  const columns = [
    __('Email', 'security-optimizer'),
    ...(alerts.supported ? [__('Gets', 'security-optimizer')] : []),
    __('Actions', 'security-optimizer'),
  ];

  const waits = (recipients === null && failure === null) || alerts.settings.state === 'loading';

  /** Recipients and their choices are loaded together. */
  function reloadAll(): void {
    reload();
    if (alerts.supported) alerts.reload();
  }

  return (
    <>
      <PausedNote settings={settings} onOpenSettings={onOpenSettings} />
      <div className={classes('so-cols', waits && 'so-cols--wait')}>
        <section className="so-card so-cols__main" aria-labelledby={id} ref={card}>
          <div className="so-card__head">
            <div>
              <h2 id={id}>{__('Recipients', 'security-optimizer')}</h2>
              <p>
                {alerts.supported
                  ? __('A short report a week, and alerts for those who want them.', 'security-optimizer')
                  : __('They get one short report a week.', 'security-optimizer')}
              </p>
            </div>
            {recipients === null || !Number.isFinite(recipients.max_emails) ? null : (
              <div className="so-section__side so-num">
                {sprintf(
                  /* translators: 1: number of addresses on the list, 2: how many there may be */
                  __('%1$d of %2$d used', 'security-optimizer'),
                  recipients.entries.length,
                  recipients.max_emails,
                )}
              </div>
            )}
          </div>
          {recipients !== null ? (
            <>
              <AddRecipients recipients={recipients} onChanged={reloadAll} />
              {recipients.entries.length === 0 ? null : (
                <RecipientTable
                  columns={columns}
                  recipients={recipients.entries}
                  alerts={alerts}
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
      {alerts.supported ? <AlertsSection state={alerts} logIsOff={settings.disable_activity_log === 1} /> : null}
      {open === null || recipients === null ? null : (
        <open.Dialog
          recipient={open.recipient}
          recipients={recipients}
          alerts={alerts}
          onChanged={reloadAll}
          onClosed={() => setOpen(null)}
          onDeleted={() => focusAfter(recipients.entries.indexOf(open.recipient))}
        />
      )}
    </>
  );
}

/**
 * Moves the focus to the row after a deleted one, to the last row, or to the field if none is left.
 *
 * @param count number of rows; null while a dialog is open
 * @returns a function to call with the index of the deleted row
 */
function useFocusAfterDelete(card: RefObject<HTMLElement | null>, count: number | null): (index: number) => void {
  const deleted = useRef<{ readonly index: number; readonly before: number } | null>(null);
  const known = useRef(0);
  known.current = count ?? known.current;

  useEffect(() => {
    const { current } = deleted;
    if (current === null || count === null || count >= current.before) return;
    deleted.current = null;
    restoreFocus(() => {
      const buttons = card.current?.querySelectorAll('.so-c-actions button:last-child') ?? [];
      return buttons[Math.min(current.index, buttons.length - 1)] ?? card.current?.querySelector('input');
    });
  }, [card, count]);

  return (index) => {
    deleted.current = { index, before: known.current };
  };
}

/** Shown while settings prevent the report from being sent. */
function PausedNote({ settings, onOpenSettings }: WeeklyTabProps) {
  const days = getKeptDays(settings);
  const isOff = settings.disable_activity_log === 1;
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

interface RecipientTableProps {
  readonly columns: readonly string[];
  readonly recipients: readonly Recipient[];
  readonly alerts: AlertsState;
  readonly onEdit: (recipient: Recipient) => void;
  readonly onDelete: (recipient: Recipient) => void;
}

function RecipientTable({ columns, recipients, alerts, onEdit, onDelete }: RecipientTableProps) {
  return (
    <Table
      label={__('Recipients', 'security-optimizer')}
      className={alerts.supported ? 'so-table--rows' : 'so-table--rows is-single'}
      columns={columns}
      withActions
    >
      {recipients.map((recipient) => {
        const choices = findChoices(alerts.alerts, recipient.email);
        return (
          <TableRow key={recipient.id} id={recipient.id}>
            <TableCell className="so-td-who">
              <span className="so-who">
                <Icon name="mail" />
                <bdi>{recipient.email}</bdi>
              </span>
            </TableCell>
            {alerts.supported ? (
              <TableCell className="so-td-grow">
                <span className="so-gets">{alerts.alerts === null ? '' : getsText(alerts.alerts, choices)}</span>
                <LastDeliveryLines last={choices?.last ?? null} onlyTrouble />
              </TableCell>
            ) : null}
            <TableCell className="so-c-actions so-nowrap">
              <IconButton
                icon="pencil"
                /* translators: %s: an e-mail address */
                label={sprintf(__('Edit %s', 'security-optimizer'), recipient.email)}
                onClick={() => onEdit(recipient)}
              />{' '}
              <IconButton
                icon="trash"
                /* translators: %s: an e-mail address */
                label={sprintf(__('Delete %s', 'security-optimizer'), recipient.email)}
                onClick={() => onDelete(recipient)}
              />
            </TableCell>
          </TableRow>
        );
      })}
    </Table>
  );
}

/** Contents of the report, an example, and a test mail to the owner. */
function ReportPanel() {
  const [preview, setPreview] = useState<ReportPreview | null>(null);
  const loading = useSubmit();
  const { pending, save } = useSubmit();
  const contents = [
    __('Visits by humans and bots', 'security-optimizer'),
    __('Failed logins and blocked visits', 'security-optimizer'),
    __('The addresses that tried most', 'security-optimizer'),
    __('What your users changed', 'security-optimizer'),
  ];

  function show(): void {
    loading.save<ReportPreview>({ call: toCall(previewWeeklyReport, {}), onSuccess: setPreview });
  }

  function sendTest(): void {
    save<{ email?: string } | null>({
      call: toCall(testWeeklyReport, {}),
      successText: (data) =>
        /* translators: %s: an e-mail address */
        sprintf(__('A test report is on its way to %s.', 'security-optimizer'), data?.email ?? ''),
    });
  }

  return (
    <aside className="so-card so-hard so-cols__side">
      <span className="so-tile is-on so-tile--48">
        <Icon name="mail" />
      </span>
      <h3>{__('What’s in the report', 'security-optimizer')}</h3>
      <p>{__('Enough to keep an eye on the site without logging in.', 'security-optimizer')}</p>
      <ul className="so-ticks">
        {contents.map((text) => (
          <li key={text}>
            <Icon name="check" />
            {text}
          </li>
        ))}
      </ul>
      <div className="so-hard__acts">
        <Button onClick={show} pendingText={loading.pending ? __('Loading…', 'security-optimizer') : undefined}>
          {__('See an example', 'security-optimizer')}
        </Button>
        <Button
          kind="quiet"
          onClick={sendTest}
          pendingText={pending ? __('Sending…', 'security-optimizer') : undefined}
        >
          {__('Send me a test', 'security-optimizer')}
        </Button>
      </div>
      {preview === null ? null : <PreviewDialog preview={preview} onClosed={() => setPreview(null)} />}
    </aside>
  );
}

/** The report as it would be sent now. */
interface ReportPreview {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

interface PreviewDialogProps {
  readonly preview: ReportPreview;
  readonly onClosed: () => void;
}

/**
 * Shows the mail. It contains untrusted text, so it is in a sandboxed frame without scripts, forms and navigation.
 * Browsers without `srcdoc` show the plain text.
 */
function PreviewDialog({ preview, onClosed }: PreviewDialogProps) {
  const closing = useDialogClose(onClosed);
  return (
    <Dialog
      title={preview.subject}
      size="large"
      closing={closing}
      onSubmit={closing.close}
      cancelText={__('Close', 'security-optimizer')}
      footer={null}
    >
      {'srcdoc' in document.createElement('iframe') ? (
        <iframe
          className="so-mail"
          title={__('Example of a weekly report', 'security-optimizer')}
          sandbox=""
          srcDoc={preview.html}
        />
      ) : (
        <pre className="so-mail">{preview.text}</pre>
      )}
    </Dialog>
  );
}
