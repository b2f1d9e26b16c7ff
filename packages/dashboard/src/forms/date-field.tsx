import { useId } from 'react';
import type { DateTexts } from '../dates/date-texts.js';
import { __ } from '../i18n/translate.js';
import { Icon } from '../icons/icon.js';
import { AffixInput } from './affix-input.js';
import { Calendar, type CalendarProps } from './calendar.js';
import { Field } from './field.js';
import { useDrop } from './use-drop.js';

export interface DateFieldProps extends Omit<CalendarProps, 'id' | 'onChoose'> {
  readonly label: string;
  /** `YYYY-MM-DD`, or '' */
  readonly value: string;
  readonly error: string | undefined;
  readonly texts: DateTexts;
  readonly onChange: (day: string) => void;
}

/** A day, chosen from a calendar. */
export function DateField({ label, error, onChange, ...calendar }: DateFieldProps) {
  const drop = useDrop();
  const id = useId();
  return (
    <div className="so-anchor" ref={drop.anchor} {...drop.anchorProps}>
      <Field label={label} error={error}>
        {(control) => (
          <AffixInput
            {...control}
            {...drop.fieldProps}
            ref={drop.field}
            affix={<Icon name="calendar" />}
            isIcon
            readOnly
            role="combobox"
            aria-haspopup="dialog"
            aria-expanded={drop.open}
            aria-controls={drop.open ? id : undefined}
            placeholder={__('Choose a day', 'security-optimizer')}
            value={calendar.value === '' ? '' : calendar.texts.day(calendar.value)}
          />
        )}
      </Field>
      {drop.open ? (
        <Calendar
          {...calendar}
          id={id}
          onChoose={(day) => {
            onChange(day);
            drop.close();
          }}
        />
      ) : null}
    </div>
  );
}
