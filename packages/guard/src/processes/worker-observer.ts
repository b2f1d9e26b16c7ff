import type { GatewayObserver } from '../gateway/observer.js';
import type { UpstreamFailure } from '../upstream/upstream-client.js';
import type { WorkerCounts } from './messages.js';

/** Counts what the gateway of a worker does, for the metrics of the primary process. */
export class WorkerObserver implements GatewayObserver {
  #requested = 0;
  #refused = new Map<string, number>();
  #forwarded: [status: number, ms: number][] = [];
  #failures: UpstreamFailure[] = [];
  #loginFailures = 0;

  requested(): void {
    this.#requested++;
  }

  refused(rule: string): void {
    this.#refused.set(rule, (this.#refused.get(rule) ?? 0) + 1);
  }

  forwarded(status: number, ms: number): void {
    this.#forwarded.push([status, ms]);
  }

  upstreamFailed(kind: UpstreamFailure): void {
    this.#failures.push(kind);
  }

  loginFailed(): void {
    this.#loginFailures++;
  }

  /** Returns the counts since the last call. */
  take(): WorkerCounts {
    const counts = {
      requested: this.#requested,
      refused: [...this.#refused],
      forwarded: this.#forwarded,
      failures: this.#failures,
      loginFailures: this.#loginFailures,
    };
    this.#requested = 0;
    this.#refused = new Map();
    this.#forwarded = [];
    this.#failures = [];
    this.#loginFailures = 0;
    return counts;
  }
}

/** Adds the counts of a worker to the metrics. */
export function addCounts(observer: GatewayObserver, counts: WorkerCounts): void {
  for (let i = 0; i < counts.requested; i++) observer.requested();
  for (const [rule, count] of counts.refused) for (let i = 0; i < count; i++) observer.refused(rule);
  for (const [status, ms] of counts.forwarded) observer.forwarded(status, ms);
  for (const kind of counts.failures) observer.upstreamFailed(kind);
  for (let i = 0; i < counts.loginFailures; i++) observer.loginFailed();
}
