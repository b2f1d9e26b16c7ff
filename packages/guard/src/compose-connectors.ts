import type { Config } from './config.js';
import type { Clock } from './lib/clock.js';
import type { Logger } from './lib/logger.js';
import type { KeyedMutex } from './lib/mutex.js';
import { version } from './lib/version.js';
import type { AttemptKeeper } from './login/attempt-keeper.js';
import type { ChangeDeps } from './settings/change-settings.js';
import { connectorPolicy } from './settings/connector-policy.js';
import { settingsInForce } from './settings/site-settings.js';
import type { SiteId } from './site.js';
import type { LiveSites } from './site-security/live-sites.js';
import type { SiteFactsStore } from './storage/site-facts-store.js';
import { factsOf } from './wordpress/connector-answers.js';
import type { ConnectorClient } from './wordpress/connector-client.js';
import { type ConnectorHealth, createConnectorHealth } from './wordpress/connector-health.js';
import { lacksConnectorSecret, writeConnectorSecret } from './wordpress/connector-secret.js';
import { createPolicyPush, type PolicyPush } from './wordpress/policy-push.js';

/** Guard's side of the connectors: how each one is, and which policy it runs. */
export interface Connectors {
  readonly health: ConnectorHealth;
  readonly policyPush: PolicyPush;
  /** Gives WordPress the policy of these settings. Throws ConnectorError. */
  readonly pushSettings: ChangeDeps['pushPolicy'];
  /** Gives WordPress the present policy when what it last said differs. */
  healPolicy(site: SiteId): void;
  stop(): void;
}

/**
 * The part of the composition root that keeps guard and WordPress at one about facts, key and policy.
 * @param parts `ready`: resolves when it is known whom WordPress has to refuse; it may answer before that
 */
export function composeConnectors(parts: {
  readonly config: Config;
  readonly client: ConnectorClient;
  readonly sites: LiveSites;
  readonly slow: AttemptKeeper['slow'];
  readonly factsStore: SiteFactsStore;
  readonly ready: Promise<void>;
  readonly mutex: KeyedMutex;
  readonly clock: Clock;
  readonly logger: Logger;
}): Connectors {
  const { config, client, sites, slow, factsStore, ready, mutex, clock, logger } = parts;
  const policyPush = createPolicyPush({
    client,
    current: (site) => connectorPolicy(sites.inForce(site), slow.slow(site), sites.blockedUsers(site)),
    mutex,
    clock,
    logger,
  });
  const health = createConnectorHealth({
    sites: config.sites,
    client,
    guardVersion: version,
    clock,
    logger,
    actions: {
      onHello(site, hello) {
        const facts = factsOf(hello);
        if (JSON.stringify(facts) === JSON.stringify(sites.get(site.id).facts)) return;
        sites.set(site.id, { facts });
        factsStore.writeFacts(site.id, facts).catch((error: unknown) => {
          logger.warn({ event: 'site-facts-not-stored', site: site.id, err: error }, 'Site facts were not stored.');
        });
      },
      onBack(site) {
        // Whoever logged in while the connector was away did so by a password alone.
        ready
          .then(async () => {
            if (sites.inForce(site.id).login.sg2fa === 1) await client.endSessions(site, 'without_factor');
          })
          .catch((error: unknown) => {
            logger.warn(
              { event: 'sessions-not-ended', site: site.id, err: error },
              'Sessions that were made without the second factor could not be ended.',
            );
          });
      },
      onPolicy(site, hash) {
        ready.then(
          () => policyPush.heal(site, hash),
          () => undefined,
        );
      },
      async restoreKey(site, fault) {
        const { wordpressDir, muPluginsDir } = site;
        if (wordpressDir === null) return false;
        const folders = { wordpressDir, ...(muPluginsDir !== undefined && { muPluginsDir }) };
        if (fault === 'missing' && !(await lacksConnectorSecret(folders, site.secret))) return false;
        await writeConnectorSecret(folders, site);
        await factsStore.writeKeyRestored(site.id, clock());
        return true;
      },
    },
  });
  return {
    health,
    policyPush,
    pushSettings(site, wanted) {
      const blockedUsers = sites.blockedUsers(site.id, wanted);
      return policyPush.push(site, connectorPolicy(settingsInForce(wanted, clock()), slow.slow(site.id), blockedUsers));
    },
    healPolicy(id) {
      const site = config.sites.find((entry) => entry.id === id);
      const state = health.state(id);
      if (site && state.kind === 'ok') policyPush.heal(site, state.policy);
    },
    stop() {
      health.stop();
      policyPush.stop();
    },
  };
}
