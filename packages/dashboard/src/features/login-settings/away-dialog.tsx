import { setAwayMode } from '@security-optimizer/contract/login/endpoints';
import { WEEKDAYS, type Weekday } from '@security-optimizer/contract/login/limits';
import type { AwayState } from '@security-optimizer/contract/login/schemas';
import { toDigit } from '@security-optimizer/contract/typed-text';
import { useId, useRef, useState } from 'react';
import { toCall } from '../../api/client.js';
import { FormDialog } from '../../forms/form-dialog.js';
import { useSubmit } from '../../forms/use-submit.js';
import { type DateFormats, getDateFormats } from '../../i18n/date-formats.js';
import { siteNow } from '../../i18n/days.js';
import { __, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { DateField, getWeekStart } from '../../ui/date-field.js';
import { ConfirmDialog, useDialogClose } from '../../ui/dialog.js';
import { classes } from '../../ui/dom.js';
import { ErrorText, Note } from '../../ui/inline-messages.js';
import type { DialogProps } from '../../ui/lazy.js';
import { SegmentedControl } from '../../ui/segmented-control.js';
import { TimeField } from '../../ui/time-field.js';
import { focusFirstError, useFormErrors } from '../../ui/use-form-errors.js';
import { loginSettings } from '../settings/settings-query.js';
import { useKnownSettings, useSettingsCache } from '../settings/use-settings.js';
import {
  type AwayForm,
  type AwayType,
  dailyLength,
  dateLimits,
  getAwayErrors,
  periodSummary,
  scheduleText,
  startsRightAway,
  toAwayForm,
  toMinutes,
  toSchedule,
  toWeekday,
  weekdayNumber,
  withFrom,
} from './away-schedule.js';

interface AwayFieldsProps {
  readonly form: AwayForm;
  readonly errors: Readonly<Record<string, string>>;
  readonly now: { readonly day: string; readonly minutes: number };
  readonly startsNow: boolean;
  readonly onChange: (form: AwayForm, field: string) => void;
}

/** Configure Away Mode: a period of dates, weekdays, or hours of each day. */
export default function AwayDialog({ onClosed }: DialogProps) {
  const settings = useKnownSettings(loginSettings);
  const { store, refetch } = useSettingsCache(loginSettings);
  const state = settings.away_mode as AwayState;
  const [first] = useState(() => toAwayForm(state.schedule));
  const [form, setForm] = useState(first);
  const [now] = useState(() => siteNow(state.timezone, Date.now()));
  const body = useRef<HTMLDivElement>(null);
  const errors = useFormErrors(getAwayErrors(form, now.day), () => focusFirstError(body.current));
  const saving = useSubmit();
  const closing = useDialogClose(onClosed);
  const formats = getDateFormats();
  const isOn = state.schedule.type !== 'off';

  const [isConfirming, setIsConfirming] = useState(false);

  function send(schedule: object): void {
    saving.save<unknown>({
      call: toCall(setAwayMode, schedule),
      onSuccess: (data) => {
        store(loginSettings.read(data));
        closing.close();
      },
      onFailure: ({ code, fields }) => {
        // The closed hours may have started since the dialog was opened.
        if (code === 'away_starts_at_once') setIsConfirming(true);
        errors.showServerErrors(fields);
      },
      onUnclear: refetch,
    });
  }

  function submit(): void {
    if (!errors.check()) return;
    const { day, minutes } = siteNow(state.timezone, Date.now());
    if (startsRightAway(form, toWeekday(day), { day, minutes })) setIsConfirming(true);
    else send(toSchedule(form));
  }

  const fields: AwayFieldsProps = {
    form,
    errors: errors.shown,
    now,
    startsNow: startsRightAway(form, toWeekday(now.day), now),
    onChange: (changed, field) => {
      setForm(changed);
      errors.touch(field);
    },
  };
  return (
    <FormDialog
      title={__('Configure Away Mode', 'security-optimizer')}
      size="large"
      closing={closing}
      saving={saving}
      dirty={JSON.stringify(form) !== JSON.stringify(first)}
      onSubmit={submit}
      submitText={isOn ? __('Save', 'security-optimizer') : __('Turn on Away Mode', 'security-optimizer')}
      submitDisabled={state.away === 1}
      otherAction={
        isOn ? (
          <Button disabled={saving.pending || state.away === 1} onClick={() => send({ type: 'off' })}>
            {__('Turn off', 'security-optimizer')}
          </Button>
        ) : null
      }
    >
      <SegmentedControl<AwayType>
        label={__('Type', 'security-optimizer')}
        value={form.type}
        options={[
          { value: 'period', text: __('Specific Period', 'security-optimizer') },
          { value: 'weekly', text: __('Weekly', 'security-optimizer') },
          { value: 'daily', text: __('Daily', 'security-optimizer') },
        ]}
        onChange={(type) => setForm({ ...form, type })}
      />
      <Note kind="warn">
        <p>
          <strong>{__('Nobody can log in while Away Mode is on, not even you.', 'security-optimizer')}</strong>{' '}
          {__('It can’t be turned off early.', 'security-optimizer')}
        </p>
        <p>
          {__(
            'The admin area is closed. People who work on the site can’t change anything, even if they are still logged in.',
            'security-optimizer',
          )}
        </p>
        <p>
          {__(
            'Visitors go on as usual. Customers and members who are logged in already can still buy and comment, but can’t log in again.',
            'security-optimizer',
          )}
        </p>
      </Note>
      <div ref={body}>
        {form.type === 'period' ? <AwayPeriod {...fields} formats={formats} /> : null}
        {form.type === 'weekly' ? <AwayWeekly {...fields} formats={formats} /> : null}
        {form.type === 'daily' ? <AwayDaily {...fields} formats={formats} /> : null}
      </div>
      {isConfirming ? (
        <ConfirmDialog
          title={__('Close the admin area now?', 'security-optimizer')}
          confirmText={__('Turn on now', 'security-optimizer')}
          cancelText={__('Go back', 'security-optimizer')}
          onClosed={() => setIsConfirming(false)}
          onConfirm={() => send({ ...toSchedule(form), confirm: true })}
        >
          <p>
            {scheduleText(toSchedule(form), formats)}{' '}
            {__(
              'That includes this moment: the admin area closes for you and everyone else as soon as this is saved. Save open drafts first.',
              'security-optimizer',
            )}
          </p>
        </ConfirmDialog>
      ) : null}
    </FormDialog>
  );
}

/** A period with both days included. */
function AwayPeriod(props: AwayFieldsProps & { readonly formats: DateFormats }) {
  const { form, errors, now, startsNow, onChange, formats } = props;
  const { min, minTo, max } = dateLimits(form, now.day);
  const summary = periodSummary(form.from_date, form.to_date, formats);
  const calendar = {
    today: now.day,
    max,
    formats,
    summary,
    weekStart: getWeekStart(),
    range: { from: form.from_date, to: form.to_date },
  };
  return (
    <>
      <div className="so-pair">
        <DateField
          {...calendar}
          label={__('From', 'security-optimizer')}
          value={form.from_date}
          min={min}
          error={errors.from_date}
          onChange={(day) => onChange(withFrom(form, day), 'from_date')}
        />
        <DateField
          {...calendar}
          label={__('To', 'security-optimizer')}
          value={form.to_date}
          min={minTo}
          atEnd
          error={errors.to_date}
          onChange={(day) => onChange({ ...form, to_date: day }, 'to_date')}
        />
      </div>
      {summary === '' ? null : (
        <p className="so-help" aria-live="polite">
          {summary}.{' '}
          {startsNow ? (
            <strong>{__('The first day is today, so it starts right away.', 'security-optimizer')}</strong>
          ) : null}
        </p>
      )}
    </>
  );
}

const WORKDAYS = WEEKDAYS.slice(0, 5);
const WEEKEND = WEEKDAYS.slice(5);

/** Whole days of each week. */
function AwayWeekly(props: AwayFieldsProps & { readonly formats: DateFormats }) {
  const { form, errors, now, startsNow, onChange, formats } = props;
  const id = useId();
  const today = formats.weekday(weekdayNumber(toWeekday(now.day)), 'long');

  function toggle(day: Weekday): void {
    const weekly = form.weekly.includes(day) ? form.weekly.filter((item) => item !== day) : [...form.weekly, day];
    onChange({ ...form, weekly }, 'weekly');
  }

  const groups = [
    { title: __('Weekdays', 'security-optimizer'), days: WORKDAYS },
    { title: __('Weekend', 'security-optimizer'), days: WEEKEND },
  ];
  return (
    // biome-ignore lint/a11y/useSemanticElements: each group inside is a fieldset of its own
    <div role="group" aria-labelledby={`${id}-label`} aria-describedby={`${id}-error ${id}-help`}>
      <span className="so-label" id={`${id}-label`}>
        {__('Closed all day on', 'security-optimizer')}
      </span>
      <div className={classes('so-days', errors.weekly !== undefined && 'has-error')}>
        {groups.map(({ title, days }) => (
          <fieldset key={title}>
            <legend>{title}</legend>
            <div className="so-days__row">
              {days.map((day) => (
                <button
                  key={day}
                  type="button"
                  className={classes('so-day', form.weekly.includes(day) && 'is-on')}
                  aria-pressed={form.weekly.includes(day)}
                  data-invalid={errors.weekly === undefined ? undefined : ''}
                  onClick={() => toggle(day)}
                >
                  <span aria-hidden="true">{formats.weekday(weekdayNumber(day), 'short')}</span>
                  <span className="so-vh">{formats.weekday(weekdayNumber(day), 'long')}</span>
                </button>
              ))}
            </div>
          </fieldset>
        ))}
      </div>
      {errors.weekly === undefined ? null : <ErrorText id={`${id}-error`}>{errors.weekly}</ErrorText>}
      <p className="so-help" id={`${id}-help`} aria-live="polite">
        {form.weekly.length === 0 ? null : scheduleText({ type: 'weekly', weekly: form.weekly }, formats)}{' '}
        {startsNow ? (
          /* translators: %s: a weekday */
          <strong>{sprintf(__('Today is %s, so it starts right away.', 'security-optimizer'), today)}</strong>
        ) : null}
      </p>
    </div>
  );
}

const DAY_MINUTES = 24 * 60;

/** Hours of each day, possibly over midnight. */
function AwayDaily(props: AwayFieldsProps & { readonly formats: DateFormats }) {
  const { form, errors, startsNow, onChange, formats } = props;
  const { from_hour: from, to_hour: to } = form;
  const known = from !== '' && to !== '' && from !== to;
  return (
    <>
      <div className="so-pair">
        <TimeField
          label={__('From', 'security-optimizer')}
          value={from}
          error={errors.from_hour}
          formats={formats}
          toDigit={toDigit}
          onChange={(time) => onChange({ ...form, from_hour: time }, 'from_hour')}
        />
        <TimeField
          label={__('To', 'security-optimizer')}
          value={to}
          error={errors.to_hour}
          formats={formats}
          toDigit={toDigit}
          onChange={(time) => onChange({ ...form, to_hour: time }, 'to_hour')}
        />
      </div>
      <div className="so-hourstrip">
        <HourStrip from={known ? from : ''} to={known ? to : ''} formats={formats} />
        <p className="so-help" aria-live="polite">
          {known ? `${dailyLength(from, to)} ` : null}
          {__('Times follow the site’s time zone.', 'security-optimizer')}{' '}
          {startsNow ? (
            <strong>{__('It is that time now, so it starts right away.', 'security-optimizer')}</strong>
          ) : null}
        </p>
      </div>
    </>
  );
}

/** A bar of 24 hours with the closed hours filled. */
function HourStrip({
  from,
  to,
  formats,
}: {
  readonly from: string;
  readonly to: string;
  readonly formats: DateFormats;
}) {
  const parts = from === '' ? [] : closedParts(toMinutes(from), toMinutes(to));
  const label =
    from === ''
      ? __('No hours chosen', 'security-optimizer')
      : /* translators: 1: time, 2: time */
        sprintf(__('Closed from %1$s to %2$s', 'security-optimizer'), formats.time(from), formats.time(to));
  return (
    <>
      <div className="so-hours" role="img" aria-label={label} dir="ltr">
        {parts.map(([start, end]) => (
          <i
            key={start}
            style={{ left: `${(start / DAY_MINUTES) * 100}%`, width: `${((end - start) / DAY_MINUTES) * 100}%` }}
          />
        ))}
      </div>
      <div className="so-hours__axis so-num" aria-hidden="true" dir="ltr">
        {['00:00', '06:00', '12:00', '18:00', '24:00'].map((time) => (
          <span key={time}>{formats.is12Hours ? formats.time(time === '24:00' ? '00:00' : time) : time}</span>
        ))}
      </div>
    </>
  );
}

/** Closed parts of the day in minutes since midnight; two when they cross midnight. */
function closedParts(from: number, to: number): (readonly [number, number])[] {
  if (from < to) return [[from, to]];
  return to === 0
    ? [[from, DAY_MINUTES]]
    : [
        [0, to],
        [from, DAY_MINUTES],
      ];
}
