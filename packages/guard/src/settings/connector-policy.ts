import { DISALLOWED_USERNAMES } from '@security-optimizer/contract/login/limits';
import type { Config } from '../config/config.js';
import type { Clock } from '../lib/clock.js';
import type { Logger } from '../lib/logger.js';
import type { KeyedMutex } from '../lib/mutex.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { ConnectorClient } from '../wordpress/connector-client.js';
import type { PolicyNotes } from '../wordpress/connector-responses.js';
import { hashPolicy } from '../wordpress/signature.js';
import { simpleFieldsInWordPress, simplePolicy } from './simple-settings.js';
import { type EffectiveSettings, getEffectiveSettings, type SiteSettings } from './site-settings.js';

/**
 * The policy that WordPress enforces, in the form in which it is sent: flat, see docs/developer/connector-protocol.md.
 */
export type ConnectorPolicy = Readonly<Record<string, number | string>>;

/** Names of the settings that WordPress enforces, entirely or in part. */
export const fieldsInWordPress: ReadonlySet<string> = new Set([
  ...simpleFieldsInWordPress,
  'login_url',
  'two_factor_roles',
]);

/**
 * Selects the part of the settings that WordPress enforces.
 * @param throttledUsers ids of users whose password checks are spaced for anonymous clients, ascending
 * @param blockedUsers ids of users who may not log in, ascending
 * @param consent addresses of the provider; WordPress does not show a question without an address
 */
export function toConnectorPolicy(
  { options, siteSecurity, login, log, overview, paused }: EffectiveSettings,
  consent: Config['consent'],
  throttledUsers: readonly number[] = [],
  blockedUsers: readonly number[] = [],
): ConnectorPolicy {
  const custom = login.login_url.type === 'custom';
  return {
    ...simplePolicy({ ...options, ...siteSecurity, ...login, ...log, ...overview }),
    ...(consent.technicalDataUrl === null && { show_data_consent: 0 }),
    ...(consent.emailUrl === null && { show_email_consent: 0 }),
    login_url_login: custom ? login.login_url.login : '',
    login_url_signup: custom ? login.login_url.signup : '',
    disallowed_usernames: DISALLOWED_USERNAMES.join(','),
    two_factor_roles: login.two_factor_roles.join(','),
    slow_users: throttledUsers.join(','),
    blocked_users: blockedUsers.join(','),
    // WordPress must distinguish a pause from a second factor that the owner turned off: sessions of a pause end with
    // it.
    ...(paused && { paused: 1 }),
  };
}

/** Sends the current policy of each site to WordPress. */
export interface ConnectorPolicySync extends Pick<PolicyPush, 'reconcile' | 'stop'> {
  /**
   * Sends WordPress the policy of these settings. The caller holds the site's mutex.
   * @throws ConnectorError
   */
  pushSettings(site: SiteConfig, settings: SiteSettings): Promise<PolicyNotes>;
  /**
   * Sends WordPress the policy with these blocked users. The caller holds the site's mutex.
   * @throws ConnectorError
   */
  pushBlockedUsers(site: SiteConfig, users: readonly number[]): Promise<void>;
}

/** The sources of a site's policy, in addition to the configuration. */
export interface PolicySources {
  getEffectiveSettings(site: SiteId): EffectiveSettings;
  throttledUsers(site: SiteId): readonly number[];
  /** @param settings replace the current ones */
  blockedUsers(site: SiteId, settings?: SiteSettings): readonly number[];
}

export function createConnectorPolicySync(
  consent: Config['consent'],
  sources: PolicySources,
  services: Omit<Parameters<typeof createPolicyPush>[0], 'current'>,
): ConnectorPolicySync {
  const toPolicy = (site: SiteId, settings: EffectiveSettings, blocked: readonly number[]) =>
    toConnectorPolicy(settings, consent, sources.throttledUsers(site), blocked);
  const { push, reconcile, stop } = createPolicyPush({
    ...services,
    current: (site) => toPolicy(site, sources.getEffectiveSettings(site), sources.blockedUsers(site)),
  });
  return {
    reconcile,
    stop,
    pushSettings(site, settings) {
      const blocked = sources.blockedUsers(site.id, settings);
      return push(site, toPolicy(site.id, getEffectiveSettings(settings, services.clock()), blocked));
    },
    async pushBlockedUsers(site, users) {
      const settings = sources.getEffectiveSettings(site.id);
      // No protection is in force during a pause.
      await push(site, toPolicy(site.id, settings, settings.paused ? [] : users));
    },
  };
}

/** Shortest pause between two pushes to a site, milliseconds (docs/developer/connector-protocol.md). */
const RECONCILE_PAUSE_MS = 5000;

/** Fields of the policy that determine which users need a second factor. */
const FACTOR_FIELDS = ['sg2fa', 'two_factor_roles', 'paused'];

export interface PolicyPush {
  /**
   * Sends this policy to WordPress. The caller holds the site's mutex.
   * @throws ConnectorError
   */
  push(site: SiteConfig, policy: ConnectorPolicy): Promise<PolicyNotes>;
  /**
   * Compares the policy that WordPress reports with the current one. When they differ (new connector, restored
   * database), pushes the current one in the background. Never throws.
   */
  reconcile(site: SiteConfig, reported: string | null): void;
  /** Ends reconciliation. */
  stop(): void;
}

/** The policy that WordPress reported, and the number of pushes that it had acknowledged by then. */
interface Report {
  readonly hash: string | null;
  readonly acknowledged: number | undefined;
}

/**
 * Creates the reconciliation.
 * @param current the policy that WordPress should run
 */
export function createPolicyPush(deps: {
  client: Pick<ConnectorClient, 'policy'>;
  current: (site: SiteId) => ConnectorPolicy;
  mutex: KeyedMutex;
  clock: Clock;
  logger: Logger;
}): PolicyPush {
  const { client, current, mutex, clock, logger } = deps;
  const lastReconciliation = new Map<SiteId, number>();
  /**
   * Sites whose next push is delayed by the pause. A site without visitors would otherwise wait for its next signal.
   */
  const waiting = new Map<SiteId, { readonly timer: NodeJS.Timeout; latest: Report }>();
  let stopped = false;
  /** Number of acknowledged pushes, by site. A report from before an acknowledgement is outdated. */
  const acknowledged = new Map<SiteId, number>();

  async function push(site: SiteConfig, policy: ConnectorPolicy, reconcile = false): Promise<PolicyNotes> {
    const notes = await client.policy(site, { hash: hashPolicy(policy), policy, ...(reconcile && { reconcile }) });
    acknowledged.set(site.id, (acknowledged.get(site.id) ?? 0) + 1);
    return notes;
  }

  return {
    push(site, policy) {
      const before = current(site.id);
      // A change of the second factor ends sessions itself. With any other change, WordPress ends the sessions that it
      // created under a policy that guard did not send.
      const isFactorUnchanged = FACTOR_FIELDS.every((field) => policy[field] === before[field]);
      return push(site, policy, isFactorUnchanged);
    },
    reconcile: function reconcile(site, reported) {
      if (stopped || reported === hashPolicy(current(site.id))) return;
      const latest = { hash: reported, acknowledged: acknowledged.get(site.id) };
      const delayed = waiting.get(site.id);
      if (delayed !== undefined) {
        delayed.latest = latest;
        return;
      }
      const now = clock();
      const last = lastReconciliation.get(site.id);
      // Math.abs: after the clock was set back, reconciliation must not stop until it has caught up.
      const since = last === undefined ? RECONCILE_PAUSE_MS : Math.abs(now - last);
      if (since < RECONCILE_PAUSE_MS) {
        const again = () => {
          const report = waiting.get(site.id)?.latest;
          waiting.delete(site.id);
          if (report !== undefined && acknowledged.get(site.id) === report.acknowledged) reconcile(site, report.hash);
        };
        waiting.set(site.id, { timer: setTimeout(again, RECONCILE_PAUSE_MS - since), latest });
        return;
      }
      lastReconciliation.set(site.id, now);
      // Under the mutex: while a change is being sent, WordPress may run another policy than guard.
      mutex
        .run(site.id, async () => {
          if (acknowledged.get(site.id) !== latest.acknowledged) return;
          if (reported === hashPolicy(current(site.id))) return;
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
      for (const { timer } of waiting.values()) clearTimeout(timer);
    },
  };
}
