import { useId } from 'react';
import { countDays } from '../../../dates/day.js';
import { siteDay } from '../../../dates/site-day.js';
import { useDateTexts } from '../../../dates/use-date-texts.js';
import { useSiteZone } from '../../../dates/use-site-zone.js';
import { formatNumber } from '../../../i18n/format-number.js';
import { __, _n, sprintf } from '../../../i18n/translate.js';
import { useServices } from '../../../services.js';
import type { Traffic, TrafficBar } from './read-traffic.js';
import { TrafficChart } from './traffic-chart.js';

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
  const { config } = useServices();
  const texts = useDateTexts();
  const zone = useSiteZone();
  const id = useId();
  const first = siteDay(zone, traffic.bars[0]?.from ?? 0);
  const last = siteDay(zone, (traffic.bars[traffic.bars.length - 1]?.to ?? 1) - 1);
  const days = countDays(first, last);
  const sums = [
    { kind: 'blocked', text: __('Blocked', 'security-optimizer'), value: traffic.blocked },
    { kind: 'bot', text: __('Bots', 'security-optimizer'), value: traffic.bots },
    { kind: 'human', text: __('Humans', 'security-optimizer'), value: traffic.humans },
  ];

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
      <div className="so-traffic so-traffic--tall">
        <ul className="so-traffic__sums so-num">
          {sums.map(({ kind, text, value }) => (
            <li key={kind}>
              <span className={`so-key so-key--${kind}`} />
              {text} <b>{formatNumber(value, config.localeSlug)}</b>
            </li>
          ))}
        </ul>
        <TrafficChart
          traffic={traffic}
          zone={zone}
          texts={texts}
          marked={marked}
          onChoose={(bar) => onChoose(bar, traffic.step)}
        />
      </div>
    </section>
  );
}

function periodText(first: string, last: string): string {
  return first === last ? first : `${first} – ${last}`;
}
