import type { DateTexts } from '../../dates/date-texts.js';
import { TimeField } from '../../forms/time-field.js';
import { __, sprintf } from '../../i18n/translate.js';
import type { AwayFieldsProps } from './away-dialog.js';
import { minutesOf } from './away-form.js';
import { dailyLength } from './away-words.js';

const DAY_MINUTES = 24 * 60;

/** Some hours of each day; they may cross midnight. */
export function AwayDaily(props: AwayFieldsProps & { readonly texts: DateTexts }) {
  const { form, errors, startsNow, onChange, texts } = props;
  const { from_hour: from, to_hour: to } = form;
  const known = from !== '' && to !== '' && from !== to;
  return (
    <>
      <div className="so-pair">
        <TimeField
          label={__('From', 'security-optimizer')}
          value={from}
          error={errors.from_hour}
          texts={texts}
          onChange={(time) => onChange({ ...form, from_hour: time }, 'from_hour')}
        />
        <TimeField
          label={__('To', 'security-optimizer')}
          value={to}
          error={errors.to_hour}
          texts={texts}
          onChange={(time) => onChange({ ...form, to_hour: time }, 'to_hour')}
        />
      </div>
      <div className="so-hourstrip">
        <HourStrip from={known ? from : ''} to={known ? to : ''} texts={texts} />
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

/** The day from midnight to midnight with the closed hours filled. */
function HourStrip({ from, to, texts }: { readonly from: string; readonly to: string; readonly texts: DateTexts }) {
  const parts = from === '' ? [] : closedParts(minutesOf(from), minutesOf(to));
  const label =
    from === ''
      ? __('No hours chosen', 'security-optimizer')
      : /* translators: 1: time, 2: time */
        sprintf(__('Closed from %1$s to %2$s', 'security-optimizer'), texts.time(from), texts.time(to));
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
          <span key={time}>{texts.is12Hours ? texts.time(time === '24:00' ? '00:00' : time) : time}</span>
        ))}
      </div>
    </>
  );
}

/** Parts of the day in minutes since midnight; two when the hours cross midnight. */
function closedParts(from: number, to: number): (readonly [number, number])[] {
  if (from < to) return [[from, to]];
  return to === 0
    ? [[from, DAY_MINUTES]]
    : [
        [0, to],
        [from, DAY_MINUTES],
      ];
}
