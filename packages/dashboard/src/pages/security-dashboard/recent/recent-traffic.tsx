import type { Traffic } from '../../activity-log/traffic/read-traffic.js';
import { TrafficBody } from '../../activity-log/traffic/traffic-body.js';

/** Visits of the last days above the newest ones, as a picture. */
export default function RecentTraffic({ traffic }: { readonly traffic: Traffic }) {
  return (
    <>
      <TrafficBody traffic={traffic} />
      <div className="so-card__sep" />
    </>
  );
}
