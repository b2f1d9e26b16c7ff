import { useId } from 'react';
import type { DateTexts } from '../dates/date-texts.js';
import { __ } from '../i18n/translate.js';
import { Icon } from '../icons/icon.js';
import { AffixInput } from './affix-input.js';
import { Clock } from './clock.js';
import { Field } from './field.js';
import { useDrop } from './use-drop.js';

export interface TimeFieldProps {
  readonly label: string;
  /** `HH:MM`, or '' */
  readonly value: string;
  readonly error: string | undefined;
  readonly texts: DateTexts;
  readonly onChange: (time: string) => void;
}

/** A time of the day, chosen from columns. */
export function TimeField({ label, value, error, texts, onChange }: TimeFieldProps) {
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
            affix={<Icon name="clock" />}
            isIcon
            readOnly
            role="combobox"
            aria-haspopup="dialog"
            aria-expanded={drop.open}
            aria-controls={drop.open ? id : undefined}
            placeholder={__('Choose a time', 'security-optimizer')}
            value={value === '' ? '' : texts.time(value)}
          />
        )}
      </Field>
      {drop.open ? <Clock id={id} value={value} texts={texts} onChange={onChange} onDone={drop.close} /> : null}
    </div>
  );
}
