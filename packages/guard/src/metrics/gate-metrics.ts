import type { Registry } from 'prom-client';
import { Counter, Histogram } from 'prom-client';
import type { GateObserver } from '../proxy/gate-observer.js';

/** Upper ends of the classes of times, seconds: a page from a cache, a page of WordPress, one that takes too long. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Counts what happens at the gate, all sites together. No label holds anything that a visitor can choose, and none a
 * site: with thousands of sites each metric would be thousands of lines.
 */
export function gateMetrics(registry: Registry): GateObserver {
  const registers = [registry];
  const requests = new Counter({
    ...{ name: 'security_optimizer_requests_total', registers },
    help: 'Requests that came, refused ones among them.',
  });
  const refused = new Counter({
    ...{ name: 'security_optimizer_refused_total', registers, labelNames: ['rule'] as const },
    help: 'Requests that were refused, by the rule that did.',
  });
  const forwarded = new Histogram({
    ...{ name: 'security_optimizer_forwarded_seconds', registers, labelNames: ['status'] as const, buckets: SECONDS },
    help: 'Time from the head of a request to the head of the answer of WordPress, by class of status.',
  });
  const failures = new Counter({
    ...{ name: 'security_optimizer_upstream_failures_total', registers, labelNames: ['kind'] as const },
    help: 'Requests to which WordPress gave no whole answer, by what went wrong.',
  });
  const logins = new Counter({
    ...{ name: 'security_optimizer_login_failures_total', registers },
    help: 'Passwords that were wrong.',
  });
  return {
    requested: () => requests.inc(),
    refused: (rule) => refused.inc({ rule }),
    // The clock may have been set back meanwhile.
    forwarded: (status, ms) => forwarded.observe({ status: statusClass(status) }, Math.max(0, ms) / 1000),
    upstreamFailed: (kind) => failures.inc({ kind }),
    loginFailed: () => logins.inc(),
  };
}

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

function statusClass(status: number): string {
  return CLASSES[Math.floor(status / 100) - 1] ?? 'other';
}
