import { type Clock, resolveWithin } from '../lib/clock.js';
import type { SiteConfig, SiteId } from '../site.js';
import { checksStaff, type Signal } from './signature.js';

/** For how long a signal shows that the connector runs, milliseconds. */
const CERTAIN_MS = 10_000;
/** For how long after a failed command requests are refused without another one, milliseconds. */
const REFUSED_MS = 5000;
/** Longest wait for the connector, milliseconds. */
const WAIT_MS = 5000;

/**
 * Whether a site's connector is certain to check the user of a request while the owner is away, so that a request that
 * may change data can be sent to WordPress. Where it is not certain, guard refuses such a request.
 */
export interface StaffChecks {
  /** Whether a signal of the last seconds shows it, and nothing since then has cast doubt on it. */
  isCertain(site: SiteId): boolean;
  /**
   * Sends the connector a command, one for all waiting requests. After a failure no other command is sent for a few
   * seconds: each request with an invented cookie must not start WordPress. Never rejects.
   *
   * @returns whether it is certain now
   */
  confirm(site: SiteConfig): Promise<boolean>;
  /**
   * Records the signal of a response, to a request or a command. A missing signal changes nothing: static files have
   * none.
   */
  recordSignal(site: SiteId, signal: Signal): void;
  /** Records that a response that only a running connector could have allowed had no signal. */
  recordMissingSignal(site: SiteId): void;
  /** Deletes the records of a site that is no longer served. */
  delete(site: SiteId): void;
}

/**
 * Creates the checks.
 * @param deps `probe` sends the connector a command; the signal in its response is recorded before it resolves. It
 *   never rejects.
 */
export function createStaffChecks(deps: {
  readonly clock: Clock;
  probe(site: SiteConfig): Promise<void>;
}): StaffChecks {
  const { clock } = deps;
  const seen = new Map<SiteId, number>();
  const failed = new Map<SiteId, number>();
  const pending = new Map<SiteId, Promise<boolean>>();
  // The clock may have been set back.
  const isWithin = (time: number | undefined, ms: number): boolean =>
    time !== undefined && Math.abs(clock() - time) < ms;
  const isCertain = (site: SiteId): boolean => isWithin(seen.get(site), CERTAIN_MS);

  async function probeNow(site: SiteConfig): Promise<boolean> {
    await resolveWithin(deps.probe(site), WAIT_MS);
    const confirmed = isCertain(site.id);
    if (confirmed) failed.delete(site.id);
    else failed.set(site.id, clock());
    return confirmed;
  }

  return {
    isCertain,
    confirm(site) {
      if (isCertain(site.id)) return Promise.resolve(true);
      if (isWithin(failed.get(site.id), REFUSED_MS)) return Promise.resolve(false);
      const running = pending.get(site.id);
      if (running !== undefined) return running;
      const fresh = probeNow(site).finally(() => pending.delete(site.id));
      pending.set(site.id, fresh);
      return fresh;
    },
    recordSignal(site, signal) {
      if (checksStaff(signal)) seen.set(site, clock());
      // An older connector, or one with another key.
      else if (signal.kind !== 'missing' && signal.kind !== 'kept') seen.delete(site);
    },
    recordMissingSignal: (site) => void seen.delete(site),
    delete(site) {
      seen.delete(site);
      failed.delete(site);
    },
  };
}
