import { useId } from 'react';
import { countDays } from '../../../dates/day.js';
import { siteDay } from '../../../dates/site-day.js';
import { useDateTexts } from '../../../dates/use-date-texts.js';
import { useSiteZone } from '../../../dates/use-site-zone.js';
import { __, _n, sprintf } from '../../../i18n/translate.js';
import type { Traffic, TrafficBar } from './read-traffic.js';
import { TrafficBody } from './traffic-body.js';

export interface TrafficCardProps {
  readonly traffic: Traffic;
  /** The owner chose this period; otherwise it is all that is kept. */
  readonly chosen: boolean;
  /** Beginning of the hour that alone is shown in the list. */
  readonly marked: number | undefined;
  readonly onChoose: (bar: TrafficBar, step: 'day' | 'hour') => void;
}

/** Visits of the period above the list: sums, and a bar for each day or hour. */
export default function TrafficCard({ traffic, chosen, marked, onChoose }: TrafficCardProps) {
  const texts = useDateTexts();
  const zone = useSiteZone();
  const id = useId();
  const first = siteDay(zone, traffic.bars[0]?.from ?? 0);
  const last = siteDay(zone, (traffic.bars[traffic.bars.length - 1]?.to ?? 1) - 1);
  const days = countDays(first, last);

  return (
    <section className="so-card" aria-labelledby={id}>
      <div className="so-card__head so-card__head--flush">
        <h2 id={id}>{__('Traffic', 'security-optimizer')}</h2>
        <span className="so-muted">
          {chosen
            ? periodText(texts.shortDate(first), texts.shortDate(last))
            : /* translators: %d: number of days */
              sprintf(_n('Last %d day', 'Last %d days', days, 'security-optimizer'), days)}
        </span>
      </div>
      <TrafficBody traffic={traffic} tall marked={marked} onChoose={(bar) => onChoose(bar, traffic.step)} />
    </section>
  );
}

function periodText(first: string, last: string): string {
  return first === last ? first : `${first} – ${last}`;
}
