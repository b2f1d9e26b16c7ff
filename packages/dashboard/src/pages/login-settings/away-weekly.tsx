import { WEEKDAYS, type Weekday } from '@security-optimizer/contract/login-limits';
import { useId } from 'react';
import { classes } from '../../components/classes.js';
import { ErrorText } from '../../components/error-text.js';
import type { DateTexts } from '../../dates/date-texts.js';
import { __, sprintf } from '../../i18n/translate.js';
import type { AwayFieldsProps } from './away-dialog.js';
import { scheduleText, weekdayNumber, weekdayOf } from './away-words.js';

const WORKDAYS = WEEKDAYS.slice(0, 5);
const WEEKEND = WEEKDAYS.slice(5);

/** Whole days of each week. */
export function AwayWeekly(props: AwayFieldsProps & { readonly texts: DateTexts }) {
  const { form, errors, now, startsNow, onChange, texts } = props;
  const id = useId();
  const today = texts.weekday(weekdayNumber(weekdayOf(now.day)), 'long');

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
                  <span aria-hidden="true">{texts.weekday(weekdayNumber(day), 'short')}</span>
                  <span className="so-vh">{texts.weekday(weekdayNumber(day), 'long')}</span>
                </button>
              ))}
            </div>
          </fieldset>
        ))}
      </div>
      {errors.weekly === undefined ? null : <ErrorText id={`${id}-error`}>{errors.weekly}</ErrorText>}
      <p className="so-help" id={`${id}-help`} aria-live="polite">
        {form.weekly.length === 0 ? null : scheduleText({ type: 'weekly', weekly: form.weekly }, texts)}{' '}
        {startsNow ? (
          /* translators: %s: a weekday */
          <strong>{sprintf(__('Today is %s, so it starts right away.', 'security-optimizer'), today)}</strong>
        ) : null}
      </p>
    </div>
  );
}
