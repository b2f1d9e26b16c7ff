import { __ } from '../i18n/translate.js';
import { Calendar, type CalendarProps } from './calendar.js';
import { PickerField } from './picker-field.js';

export interface DateFieldProps extends Omit<CalendarProps, 'id' | 'onChoose'> {
  readonly label: string;
  readonly error: string | undefined;
  /** @param day `YYYY-MM-DD` */
  readonly onChange: (day: string) => void;
}

/** A day, chosen from a calendar. */
export function DateField({ label, error, onChange, ...calendar }: DateFieldProps) {
  const { value, texts } = calendar;
  return (
    <PickerField
      label={label}
      icon="calendar"
      placeholder={__('Choose a day', 'security-optimizer')}
      text={value === '' ? '' : texts.day(value)}
      error={error}
    >
      {({ id, close }) => (
        <Calendar
          {...calendar}
          id={id}
          onChoose={(day) => {
            onChange(day);
            close();
          }}
        />
      )}
    </PickerField>
  );
}
