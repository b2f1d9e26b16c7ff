import { logLifetimePreview } from '@security-optimizer/contract/activity/endpoints';
import { WEEKLY_REPORT_MIN_DAYS } from '@security-optimizer/contract/activity/limits';
import { type LifetimeUndo, lifetimePreviewSchema } from '@security-optimizer/contract/activity/schemas';
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
import { undoToast } from '../../ui/toast-store.js';
import { usePending, useSetting } from '../settings/change-setting.js';
import { SettingRows, SettingSelect } from '../settings/setting-controls.js';
import { activitySettings } from '../settings/settings-query.js';
import { SettingsSection } from '../settings/settings-section.js';
import { useKnownSettings, useSettings, useSettingsCache } from '../settings/use-settings.js';

const ROWS = 4;

/** Log Settings: log on or off, retention, and what is recorded. */
export default function SettingsTab() {
  const settings = useSettings(activitySettings);
  return (
    <SettingsSection title={__('Log Settings', 'security-optimizer')} settings={settings} rows={ROWS}>
      {() => (
        <div className="so-card">
          <SettingRows
            source={activitySettings}
            rows={logRows}
            own={{ log_lifetime: <DaysRow key="log_lifetime" /> }}
          />
        </div>
      )}
    </SettingsSection>
  );
}

const daysRow = logRows.find(({ field }) => field === 'log_lifetime') as SettingRow;

/** Retention in days; disabled while the log is off. Fewer days delete entries, so a dialog asks first. */
function DaysRow() {
  const [requested, setRequested] = useState<number | null>(null);
  const focus = useRef<HTMLButtonElement>(null);
  const { refetch } = useSettingsCache(activitySettings);
  const { disable_activity_log, log_lifetime_undo: undo } = {
    ...useKnownSettings(activitySettings),
    ...usePending(activitySettings),
  };
  // What is known may be old: this tab was closed meanwhile.
  const canUndo = !!undo;
  useEffect(() => {
    if (canUndo) void refetch();
  }, [canUndo, refetch]);
  const control = useSetting(activitySettings, daysRow, {
    undoMessage: (text, undo) => undoToast({ title: __('Saved', 'security-optimizer'), text, undo }),
    onStored: refetch,
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
          undo ? (
            <UndoLine
              undo={undo}
              onOver={refetch}
              onUndo={() => {
                focus.current?.focus();
                control.set(undo.days);
              }}
            />
          ) : undefined
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
          onClosed={() => setRequested(null)}
          onConfirm={() => control.set(requested)}
        />
      )}
    </>
  );
}

export interface UndoLineProps {
  readonly undo: LifetimeUndo;
  readonly onUndo: () => void;
  /** Called when the time is over. */
  readonly onOver: () => void;
}

/** Counts down to the time when the server may delete old entries, with Undo. */
export function UndoLine({ undo, onUndo, onOver }: UndoLineProps) {
  const [left, setLeft] = useState(undo.seconds);
  useEffect(() => {
    const endMs = Date.now() + undo.seconds * 1000;
    setLeft(undo.seconds);
    const timer = setInterval(() => {
      const seconds = Math.ceil((endMs - Date.now()) / 1000);
      setLeft(seconds);
      if (seconds > 0) return;
      clearInterval(timer);
      onOver();
    }, 1000);
    return () => clearInterval(timer);
  }, [undo, onOver]);
  if (left <= 0) return null;
  return (
    <>
      <span className="so-num">
        {undo.deletes === 0
          ? __('Saved', 'security-optimizer')
          : sprintf(
              /* translators: %d: seconds */
              _n(
                'Older entries are deleted in %d second.',
                'Older entries are deleted in %d seconds.',
                left,
                'security-optimizer',
              ),
              left,
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
  readonly onClosed: () => void;
  readonly onConfirm: () => void;
}

/** Asks before entries are deleted, and shows their number. */
function FewerDaysDialog({ days, onClosed, onConfirm }: FewerDaysDialogProps) {
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
      {days < WEEKLY_REPORT_MIN_DAYS ? (
        <Note kind="warn">
          <p>{__('Weekly reports stop: they need at least 8 days.', 'security-optimizer')}</p>
        </Note>
      ) : null}
    </ConfirmDialog>
  );
}
