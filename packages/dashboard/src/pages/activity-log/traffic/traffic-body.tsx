import { classes } from '../../../components/classes.js';
import { useDateTexts } from '../../../dates/use-date-texts.js';
import { useSiteZone } from '../../../dates/use-site-zone.js';
import { formatNumber } from '../../../i18n/format-number.js';
import { __ } from '../../../i18n/translate.js';
import { useServices } from '../../../services.js';
import type { Traffic, TrafficBar } from './read-traffic.js';
import { TrafficChart } from './traffic-chart.js';

export interface TrafficBodyProps {
  readonly traffic: Traffic;
  readonly tall?: boolean;
  /** Beginning of the hour that alone is shown in the list. */
  readonly marked?: number | undefined;
  /** Without it the bars cannot be chosen. */
  readonly onChoose?: (bar: TrafficBar) => void;
}

/** The sums of a period, and its bars beside them. */
export function TrafficBody({ traffic, tall = false, marked, onChoose }: TrafficBodyProps) {
  const { config } = useServices();
  const texts = useDateTexts();
  const zone = useSiteZone();
  const sums = [
    { kind: 'blocked', text: __('Blocked', 'security-optimizer'), value: traffic.blocked },
    { kind: 'bot', text: __('Bots', 'security-optimizer'), value: traffic.bots },
    { kind: 'human', text: __('Humans', 'security-optimizer'), value: traffic.humans },
  ];
  return (
    <div className={classes('so-traffic', tall && 'so-traffic--tall')}>
      <ul className="so-traffic__sums so-num">
        {sums.map(({ kind, text, value }) => (
          <li key={kind}>
            <span className={`so-key so-key--${kind}`} />
            {text} <b>{formatNumber(value, config.localeSlug)}</b>
          </li>
        ))}
      </ul>
      <TrafficChart traffic={traffic} zone={zone} texts={texts} marked={marked} onChoose={onChoose} />
    </div>
  );
}
