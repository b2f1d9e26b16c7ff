import { LOG_LIFETIMES } from '@security-optimizer/contract/activity-limits';
import { useState } from 'react';
import { addDays } from '../../../dates/day.js';
import { siteDay } from '../../../dates/site-day.js';
import { siteNow } from '../../../dates/site-now.js';
import { useDateTexts } from '../../../dates/use-date-texts.js';
import { useSiteZone } from '../../../dates/use-site-zone.js';
import { weekStartOf } from '../../../dates/week-start.js';
import { DateField } from '../../../forms/date-field.js';
import { __ } from '../../../i18n/translate.js';
import { useServices } from '../../../services.js';
import { type Choice, choiceOf } from '../list/applied.js';
import { dayChoice } from './period-choices.js';

export interface FilterPeriodProps {
  readonly choices: readonly Choice[];
  readonly onChange: (child: 'from' | 'to', choice: Choice | null) => void;
}

/** From and To of a list, as days of the site. A From after the To clears the To. */
export function FilterPeriod({ choices, onChange }: FilterPeriodProps) {
  const { config } = useServices();
  const texts = useDateTexts();
  const zone = useSiteZone();
  const [today] = useState(() => siteNow(zone, Date.now()).day);
  const dayOf = (child: 'from' | 'to'): string => {
    const value = choiceOf(choices, 'date', child)?.value;
    return typeof value === 'number' ? siteDay(zone, value) : '';
  };
  const [from, to] = [dayOf('from'), dayOf('to')];
  const first = addDays(today, -Math.max(...LOG_LIFETIMES));
  const calendar = {
    max: today,
    today,
    range: { from, to },
    texts,
    weekStart: weekStartOf(config.localeSlug),
    summary: '',
    error: undefined,
  };

  return (
    <div className="so-pair">
      <DateField
        {...calendar}
        label={__('From', 'security-optimizer')}
        value={from}
        min={first}
        onChange={(day) => {
          onChange('from', dayChoice('from', day, zone, texts));
          if (to !== '' && day > to) onChange('to', null);
        }}
      />
      <DateField
        {...calendar}
        label={__('To', 'security-optimizer')}
        value={to}
        min={from === '' ? first : from}
        atEnd
        onChange={(day) => onChange('to', dayChoice('to', day, zone, texts))}
      />
    </div>
  );
}
