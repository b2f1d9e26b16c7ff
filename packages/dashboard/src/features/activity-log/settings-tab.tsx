import { logLifetimePreview } from '@security-optimizer/contract/activity/endpoints';
import { LOG_LIFETIME_UNDO_SECONDS, WEEKLY_REPORT_MIN_DAYS } from '@security-optimizer/contract/activity/limits';
import { lifetimePreviewSchema } from '@security-optimizer/contract/activity/schemas';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState } from 'react';
import type { ApiCall } from '../../api/client.js';
import { ApiError } from '../../api/envelope.js';
import { useSite } from '../../api/site-context.js';
import { readKnown } from '../../api/tolerant-schemas.js';
import { formatNumber } from '../../i18n/locale.js';
import { __, _n, sprintf, translate } from '../../i18n/translate.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { Note } from '../../ui/inline-messages.js';
import { Section } from '../../ui/section.js';
import { Select } from '../../ui/select.js';
import { SettingRow, ToggleRow } from '../../ui/setting-row.js';
import { undoToast, weakenedToast } from '../../ui/toast-store.js';
import { type ChangeState, toSettingCall, useChanges, withPending } from '../settings/change-setting.js';
import { type ActivitySettings, activitySettings } from '../settings/settings-query.js';
import { notSavedText, SettingsFailed, SettingsSkeleton } from '../settings/settings-section.js';
import { getKeptDays, type SettingsState, type SettingsStore } from '../settings/use-settings.js';

export interface SettingsTabProps {
  readonly settings: SettingsState<ActivitySettings> & SettingsStore<ActivitySettings>;
}

type Field = 'disable_activity_log' | 'anonymize_addresses' | 'log_own_cron';
const ROWS = 4;

/** Log Settings: log on or off, retention, and what is recorded. */
export default function SettingsTab({ settings }: SettingsTabProps) {
  const title = __('Log Settings', 'security-optimizer');
  const { changes, change } = useChanges<ActivitySettings>(activitySettings, settings.store);
  const [lowered, setLowered] = useState<{ readonly before: number; readonly atMs: number } | null>(null);
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

  const stored = settings.values;
  const shown = withPending(stored, changes);
  const set = (field: Field, value: 0 | 1): void =>
    change({
      call: toSettingCall(field, value),
      target: { [field]: value },
      ...(field === 'disable_activity_log' &&
        value === 1 && {
          successToast: (_stored, message) => weakenedToast(translate(message), () => set(field, 0)),
        }),
    });

  function setDays(days: number, before: number | null): void {
    const isShorter = before !== null && days < before;
    change({
      call: toSettingCall('log_lifetime', days),
      target: {
        log_lifetime: (stored.log_lifetime ?? []).map((item) => ({ ...item, selected: item.value === days ? 1 : 0 })),
      },
      ...(isShorter && {
        successToast: (_stored, message) =>
          undoToast({
            title: __('Saved', 'security-optimizer'),
            text: translate(message),
            undo: () => setDays(before, null),
          }),
      }),
      onSuccess: () => setLowered(isShorter ? { before, atMs: Date.now() } : null),
    });
  }

  /** Common props of a switch. `inverted`: the switch is on while the option is off. */
  function toggle(field: Field, inverted: boolean) {
    const state = changes[`update:${field}`];
    const value = shown[field] ?? 0;
    const isOn = (flag: 0 | 1 | undefined): boolean => (flag === 1) !== inverted;
    return {
      on: isOn(value),
      pending: state?.state === 'saving',
      recommended: false,
      error: state?.state === 'failed' ? notSavedText(isOn(stored[field]) ? 1 : 0) : undefined,
      onToggle: () => set(field, value === 1 ? 0 : 1),
      onRetry: () => set(field, state?.target[field] ?? value),
    };
  }

  return (
    <Section title={title}>
      <div className="so-card">
        {stored.disable_activity_log === undefined ? null : (
          <ToggleRow
            {...toggle('disable_activity_log', true)}
            icon="pulse"
            title={__('Activity log', 'security-optimizer')}
            help={__(
              'Records visits, bot crawls and login attempts. Turn it off for a while if you expect a rush of visitors.',
              'security-optimizer',
            )}
          />
        )}
        {stored.log_lifetime === undefined ? null : (
          <DaysRow
            settings={shown}
            change={changes['update:log_lifetime']}
            minDays={WEEKLY_REPORT_MIN_DAYS}
            lowered={lowered}
            onChange={(days) => setDays(days, getKeptDays(stored))}
            onUndo={() => lowered !== null && setDays(lowered.before, null)}
            onOver={() => setLowered(null)}
          />
        )}
        {stored.anonymize_addresses === undefined ? null : (
          <ToggleRow
            {...toggle('anonymize_addresses', false)}
            icon="eye-off"
            title={__('Anonymise addresses', 'security-optimizer')}
            help={__(
              'Stores IP addresses without their last part from now on, as some privacy laws ask for. You can then block networks, not single addresses.',
              'security-optimizer',
            )}
          />
        )}
        {stored.log_own_cron === undefined ? null : (
          <ToggleRow
            {...toggle('log_own_cron', false)}
            icon="clock"
            title={__('Scheduled tasks of WordPress', 'security-optimizer')}
            help={__(
              'Lists the calls that WordPress makes to itself to run its scheduled tasks among unknown visitors. They are left out otherwise.',
              'security-optimizer',
            )}
          />
        )}
      </div>
    </Section>
  );
}

export interface DaysRowProps {
  /** The settings including pending changes. */
  readonly settings: ActivitySettings;
  readonly change: ChangeState<ActivitySettings> | undefined;
  /** The weekly report needs at least this many days. */
  readonly minDays: number;
  /** The days before a reduction that can still be undone. */
  readonly lowered: { readonly before: number; readonly atMs: number } | null;
  readonly onChange: (days: number) => void;
  readonly onUndo: () => void;
  /** Called when it can no longer be undone. */
  readonly onOver: () => void;
}

/** Retention in days; disabled while the log is off. Fewer days delete entries, so a dialog asks first. */
export function DaysRow({ settings, change, minDays, lowered, onChange, onUndo, onOver }: DaysRowProps) {
  const [requestedDays, setRequestedDays] = useState<number | null>(null);
  const id = useId();
  const select = useRef<HTMLButtonElement>(null);
  const days = getKeptDays(settings);
  const isOff = settings.disable_activity_log === 1;
  const pending = change?.state === 'saving';
  const failed = change?.state === 'failed' ? change : null;
  const title = __('Days to keep', 'security-optimizer');

  function retry(): void {
    select.current?.focus();
    const wanted = failed === null ? null : getKeptDays(failed.target);
    if (wanted !== null) onChange(wanted);
  }

  function choose(wanted: number): void {
    if (days === null || wanted >= days) onChange(wanted);
    else setRequestedDays(wanted);
  }

  return (
    <SettingRow
      id={id}
      icon="calendar"
      state={isOff ? 'off' : 'on'}
      title={title}
      help={__(
        'Older entries are deleted for good. You can keep 1 to 12 days. Weekly reports need at least 8.',
        'security-optimizer',
      )}
      pending={pending}
      error={
        failed === null
          ? undefined
          : __('We couldn’t save this. As many days are kept as before.', 'security-optimizer')
      }
      onRetry={retry}
      value={
        lowered === null ? undefined : (
          <UndoLine
            atMs={lowered.atMs}
            onOver={onOver}
            onUndo={() => {
              select.current?.focus();
              onUndo();
            }}
          />
        )
      }
      note={
        days === null || days >= minDays ? undefined : (
          <Note kind="warn">
            <p>
              <strong>{__('Weekly reports are paused.', 'security-optimizer')}</strong>{' '}
              {__('Keep 8 days or more to get them again.', 'security-optimizer')}
            </p>
          </Note>
        )
      }
    >
      {pending ? (
        <span className="so-row__value">
          <span className="so-spin" /> {__('Saving…', 'security-optimizer')}
        </span>
      ) : null}
      <Select
        ref={select}
        auto
        label={title}
        aria-describedby={`${id}-help`}
        pending={pending}
        disabled={isOff}
        value={days}
        options={(settings.log_lifetime ?? []).map(({ value }) => ({
          value,
          text: sprintf(_n('%d day', '%d days', value, 'security-optimizer'), value),
        }))}
        onChange={choose}
      />
      {requestedDays === null ? null : (
        <FewerDaysDialog
          days={requestedDays}
          minDays={minDays}
          onClosed={() => setRequestedDays(null)}
          onConfirm={() => onChange(requestedDays)}
        />
      )}
    </SettingRow>
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

export interface FewerDaysDialogProps {
  readonly days: number;
  readonly minDays: number;
  readonly onClosed: () => void;
  readonly onConfirm: () => void;
}

/** Asks before entries are deleted, and shows their number. */
export function FewerDaysDialog({ days, minDays, onClosed, onConfirm }: FewerDaysDialogProps) {
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
