import { __ } from '../i18n/translate.js';
import { Clock, type ClockProps } from './clock.js';
import { PickerField } from './picker-field.js';

export interface TimeFieldProps extends Omit<ClockProps, 'id' | 'onDone'> {
  readonly label: string;
  readonly error: string | undefined;
}

/** A time of the day, chosen from columns. */
export function TimeField({ label, error, ...clock }: TimeFieldProps) {
  const { value, texts } = clock;
  return (
    <PickerField
      label={label}
      icon="clock"
      placeholder={__('Choose a time', 'security-optimizer')}
      text={value === '' ? '' : texts.time(value)}
      error={error}
    >
      {({ id, close }) => <Clock {...clock} id={id} onDone={close} />}
    </PickerField>
  );
}
