import type { DateTexts } from '../../dates/date-texts.js';
import { weekStartOf } from '../../dates/week-start.js';
import { DateField } from '../../forms/date-field.js';
import { __ } from '../../i18n/translate.js';
import type { AwayFieldsProps } from './away-dialog.js';
import { dateLimits, withFrom } from './away-form.js';
import { periodSummary } from './away-words.js';

/** From one day to another, both inside. */
export function AwayPeriod(props: AwayFieldsProps & { readonly texts: DateTexts; readonly locale: string }) {
  const { form, errors, now, startsNow, onChange, texts, locale } = props;
  const { min, minTo, max } = dateLimits(form, now.day);
  const summary = periodSummary(form.from_date, form.to_date, texts);
  const calendar = {
    today: now.day,
    max,
    texts,
    summary,
    weekStart: weekStartOf(locale),
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
