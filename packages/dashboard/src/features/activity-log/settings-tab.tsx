import { logLifetimePreview } from '@security-optimizer/contract/activity/endpoints';
import { LOG_LIFETIME_UNDO_SECONDS, WEEKLY_REPORT_MIN_DAYS } from '@security-optimizer/contract/activity/limits';
import { lifetimePreviewSchema } from '@security-optimizer/contract/activity/schemas';
import { logRows, type SettingRow } from '@security-optimizer/contract/settings/catalogue';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { ApiCall } from '../../api/client.js';
import { ApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { readKnown } from '../../api/tolerant-schemas.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { Note } from '../../ui/inline-messages.js';
import { Section } from '../../ui/section.js';
import { undoToast } from '../../ui/toast-store.js';
import { usePending, useSetting } from '../settings/change-setting.js';
import { SettingRows, SettingSelect } from '../settings/setting-controls.js';
import { activitySettings } from '../settings/settings-query.js';
import { SettingsFailed, SettingsSkeleton } from '../settings/settings-section.js';
import { useKnownSettings, useSettings } from '../settings/use-settings.js';

const ROWS = 4;

/** Log Settings: log on or off, retention, and what is recorded. */
export default function SettingsTab() {
  const settings = useSettings(activitySettings);
  const title = __('Log Settings', 'security-optimizer');
  if (settings.state === 'loading') {
    return (
      <Section title={title} busy>
        <SettingsSkeleton rows={ROWS} />
      </Section>
    );
  }
  if (settings.state === 'failed') {
    return (
      <Section title={title}>
        <SettingsFailed failure={settings.failure} retrying={settings.retrying} onRetry={settings.retry} />
      </Section>
    );
  }
  return (
    <Section title={title}>
      <div className="so-card">
        <SettingRows source={activitySettings} rows={logRows} own={{ log_lifetime: <DaysRow key="log_lifetime" /> }} />
      </div>
    </Section>
  );
}

const daysRow = logRows.find(({ field }) => field === 'log_lifetime') as SettingRow;

/** Retention in days; disabled while the log is off. Fewer days delete entries, so a dialog asks first. */
function DaysRow() {
  /** The days before a reduction that can still be undone. */
  const [lowered, setLowered] = useState<{ readonly before: number; readonly atMs: number } | null>(null);
  const [requested, setRequested] = useState<number | null>(null);
  const focus = useRef<HTMLButtonElement>(null);
  const { disable_activity_log } = { ...useKnownSettings(activitySettings), ...usePending(activitySettings) };
  const control = useSetting(activitySettings, daysRow, {
    undoMessage: (text, undo) => undoToast({ title: __('Saved', 'security-optimizer'), text, undo }),
    onStored: (_data, { before, after }) => setLowered(after < before ? { before, atMs: Date.now() } : null),
  });
  const { stored = 0, shown } = control;
  const isOff = disable_activity_log === 1;

  return (
    <>
      <SettingSelect
        control={control}
        focus={focus}
        tile={isOff ? 'off' : 'on'}
        disabled={isOff}
        ask={(wanted) => {
          if (wanted < stored) setRequested(wanted);
          return wanted < stored;
        }}
        value={
          lowered === null ? undefined : (
            <UndoLine
              atMs={lowered.atMs}
              onOver={() => setLowered(null)}
              onUndo={() => {
                focus.current?.focus();
                control.set(lowered.before);
              }}
            />
          )
        }
        note={
          shown === 0 || shown >= WEEKLY_REPORT_MIN_DAYS ? undefined : (
            <Note kind="warn">
              <p>
                <strong>{__('Weekly reports are paused.', 'security-optimizer')}</strong>{' '}
                {__('Keep 8 days or more to get them again.', 'security-optimizer')}
              </p>
            </Note>
          )
        }
      />
      {requested === null ? null : (
        <FewerDaysDialog
          days={requested}
          minDays={WEEKLY_REPORT_MIN_DAYS}
          onClosed={() => setRequested(null)}
          onConfirm={() => control.set(requested)}
        />
      )}
    </>
  );
}

export interface UndoLineProps {
  /** Time of the reduction, Unix milliseconds. */
  readonly atMs: number;
  readonly onUndo: () => void;
  readonly onOver: () => void;
}

/** Counts down to the time when the server may delete old entries, with Undo. */
export function UndoLine({ atMs, onUndo, onOver }: UndoLineProps) {
  const [secondsLeft, setSecondsLeft] = useState(LOG_LIFETIME_UNDO_SECONDS);
  const over = useRef(onOver);
  over.current = onOver;
  useEffect(() => {
    const timer = setInterval(() => {
      const seconds = LOG_LIFETIME_UNDO_SECONDS - Math.floor((Date.now() - atMs) / 1000);
      if (seconds <= 0) over.current();
      else setSecondsLeft(seconds);
    }, 1000);
    return () => clearInterval(timer);
  }, [atMs]);
  return (
    <>
      <span className="so-num">
        {sprintf(
          /* translators: %d: seconds */
          _n(
            'Older entries are deleted in %d second.',
            'Older entries are deleted in %d seconds.',
            secondsLeft,
            'security-optimizer',
          ),
          secondsLeft,
        )}
      </span>
      <button type="button" className="so-link" onClick={onUndo}>
        {__('Undo', 'security-optimizer')}
      </button>
    </>
  );
}

interface FewerDaysDialogProps {
  readonly days: number;
  readonly minDays: number;
  readonly onClosed: () => void;
  readonly onConfirm: () => void;
}

/** Asks before entries are deleted, and shows their number. */
function FewerDaysDialog({ days, minDays, onClosed, onConfirm }: FewerDaysDialogProps) {
  const { api } = useSite();
  const count = useQuery({
    queryKey: ['fewer-days', days],
    queryFn: async () => {
      const call: ApiCall = { endpoint: logLifetimePreview, request: { log_lifetime: days } };
      const { visits, events = 0, exact = 0 } = readKnown(lifetimePreviewSchema, (await api.call<unknown>(call)).data);
      if (visits === undefined) throw new ApiError('refused');
      return { entries: visits + events, exact };
    },
    // More entries become old while the page is open.
    gcTime: 0,
  });
  const { data } = count;
  const entries = data?.entries ?? 0;

  function countText(): string {
    if (count.isPending) return __('Counting…', 'security-optimizer');
    // An older server can't count.
    if (data === undefined) return __('Entries that are older are deleted.', 'security-optimizer');
    if (entries === 0) return __('No entry is that old, so nothing is deleted now.', 'security-optimizer');
    return data.exact === 1
      ? /* translators: %s: number of entries */
        sprintf(_n('%s entry is older.', '%s entries are older.', entries, 'security-optimizer'), formatNumber(entries))
      : /* translators: %s: number of entries */
        sprintf(__('More than %s entries are older.', 'security-optimizer'), formatNumber(entries));
  }

  return (
    <ConfirmDialog
      title={sprintf(
        /* translators: %d: number of days */
        _n('Keep only %d day?', 'Keep only %d days?', days, 'security-optimizer'),
        days,
      )}
      confirmText={
        data !== undefined && entries > 0 && data.exact === 1
          ? /* translators: %s: number of entries */
            sprintf(_n('Delete %s entry', 'Delete %s entries', entries, 'security-optimizer'), formatNumber(entries))
          : __('Keep fewer days', 'security-optimizer')
      }
      cancelText={__('Cancel', 'security-optimizer')}
      onClosed={onClosed}
      onConfirm={onConfirm}
    >
      <p>
        <strong aria-live="polite">{countText()}</strong>{' '}
        {entries > 0 || count.isError
          ? __('They are deleted for good in a minute. Until then you can undo it.', 'security-optimizer')
          : null}
      </p>
      {days < minDays ? (
        <Note kind="warn">
          <p>{__('Weekly reports stop: they need at least 8 days.', 'security-optimizer')}</p>
        </Note>
      ) : null}
    </ConfirmDialog>
  );
}
