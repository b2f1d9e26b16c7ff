import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { KeyedMutex } from '../lib/mutex.js';
import type { PolicyNotes } from '../settings/change-settings.js';
import type { ConnectorPolicy } from '../settings/connector-policy.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { ConnectorClient } from './connector-client.js';
import { policyHash } from './signature.js';

/** A policy is pushed again at most this often per site, milliseconds (docs/connector-protocol.md). */
const HEAL_PAUSE_MS = 5000;

export interface PolicyPush {
  /** Hands this policy to WordPress. The caller holds the site's mutex. Throws ConnectorError. */
  push(site: SiteConfig, policy: ConnectorPolicy): Promise<PolicyNotes>;
  /**
   * Takes note of the policy that WordPress says it runs; when it is not the present one (new connector, restored
   * database), pushes the present one in the background. Never throws.
   */
  heal(site: SiteConfig, reported: string | null): void;
  /** Heals no more. */
  stop(): void;
}

/** @param current the policy that WordPress should run */
export function createPolicyPush(deps: {
  client: Pick<ConnectorClient, 'policy'>;
  current: (site: SiteId) => ConnectorPolicy;
  mutex: KeyedMutex;
  clock: Clock;
  logger: Logger;
}): PolicyPush {
  const { client, current, mutex, clock, logger } = deps;
  const lastHeal = new Map<SiteId, number>();
  /** Sites whose next push waits for the pause to end: a site without visitors must not wait for a signal. */
  const waiting = new Map<SiteId, NodeJS.Timeout>();
  let stopped = false;
  /** How often a policy was acknowledged, by site: a report from before an acknowledgement says nothing any more. */
  const acknowledged = new Map<SiteId, number>();

  async function push(site: SiteConfig, policy: ConnectorPolicy, healing = false): Promise<PolicyNotes> {
    const notes = await client.policy(site, { hash: policyHash(policy), policy, ...(healing && { healing }) });
    acknowledged.set(site.id, (acknowledged.get(site.id) ?? 0) + 1);
    return notes;
  }

  return {
    push: (site, policy) => push(site, policy),
    heal: function heal(site, reported) {
      if (stopped || reported === policyHash(current(site.id)) || waiting.has(site.id)) return;
      const now = clock();
      const last = lastHeal.get(site.id);
      // Math.abs: a clock that jumped back must not stop healing until it has caught up.
      const since = last === undefined ? HEAL_PAUSE_MS : Math.abs(now - last);
      if (since < HEAL_PAUSE_MS) {
        const acknowledgedThen = acknowledged.get(site.id);
        const again = () => {
          waiting.delete(site.id);
          if (acknowledged.get(site.id) === acknowledgedThen) heal(site, reported);
        };
        waiting.set(site.id, setTimeout(again, HEAL_PAUSE_MS - since));
        return;
      }
      lastHeal.set(site.id, now);
      const acknowledgedThen = acknowledged.get(site.id);
      // Under the mutex: while a change is on its way, WordPress rightly runs another policy than guard.
      mutex
        .run(site.id, async () => {
          if (acknowledged.get(site.id) !== acknowledgedThen) return;
          if (reported === policyHash(current(site.id))) return;
          const notes = await push(site, current(site.id), true);
          logger.info(
            { event: 'policy-pushed', site: site.id, notes },
            'WordPress ran another policy; it has the present one now.',
          );
        })
        .catch((error: unknown) => {
          logger.warn(
            { event: 'policy-push-failed', site: site.id, err: error },
            'WordPress runs another policy and could not be given the present one.',
          );
        });
    },
    stop() {
      stopped = true;
      for (const timer of waiting.values()) clearTimeout(timer);
    },
  };
}
