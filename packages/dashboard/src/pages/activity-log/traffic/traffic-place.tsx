import { Lazy } from '../../../components/lazy.js';
import type { Traffic, TrafficBar } from './read-traffic.js';

export interface TrafficPlaceProps {
  /** Undefined while it is on its way, null when it is not known. */
  readonly traffic: Traffic | null | undefined;
  readonly chosen: boolean;
  /** Beginning of the hour that alone is shown in the list. */
  readonly marked: number | undefined;
  readonly onChoose: (bar: TrafficBar, step: 'day' | 'hour') => void;
}

const loadCard = () => import('./traffic-card.js');

/** Keeps the place of the chart while its code and its sums are fetched, so that the list below does not jump. */
export function TrafficPlace({ traffic, chosen, marked, onChoose }: TrafficPlaceProps) {
  if (traffic === null) return null;
  const skeleton = (
    <div className="so-card so-traffic--sk" aria-hidden="true">
      <span className="so-sk" />
    </div>
  );
  if (traffic === undefined) return skeleton;
  return (
    <Lazy load={loadCard} props={{ traffic, chosen, marked, onChoose }}>
      {skeleton}
    </Lazy>
  );
}
