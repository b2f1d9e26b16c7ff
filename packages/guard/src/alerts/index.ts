import { createHash } from 'node:crypto';
import type { AlertKind } from '@security-optimizer/contract/alerts/catalogue';
import type { ServerText } from '@security-optimizer/contract/server-message';
import type { ActivityLog } from '../activity/index.js';
import type { CallHandlers, Feature, RunningFeature } from '../feature.js';
import type { LoginSecurity } from '../login/index.js';
import { readLoginAddresses } from '../login/index.js';
import { createMailer } from '../mail/create-mailer.js';
import type { SecurityEvent } from '../security-events.js';
import { adminUrl, type SiteConfig, type SiteId } from '../site.js';
import { describeConnectorFault } from '../wordpress/connector-error.js';
import { type NewAlert, sqlAlertQueue } from './alert-queue.js';
import {
  findStop,
  findWave,
  followOutage,
  HEARTBEAT_MS,
  HOUR,
  type Outage,
  toDevice,
  toNetwork,
} from './alert-rules.js';
import {
  createAlertSettings,
  getRecipientAlerts,
  listChannelsFor,
  listEmailsFor,
  withRecipients,
} from './alert-settings.js';
import type { AlertSite } from './alert-text.js';
import { type AlertDelivery, deliverChannel, describeFailures, listUsedChannels } from './deliver-alerts.js';
import { createDeliveryRounds, ROUND_MS } from './delivery-rounds.js';
import type { Alert } from './describe-alert.js';
import type { AlertCalls } from './endpoints.js';
import { sqlLoginHistory } from './login-history.js';
import { resolveBySystem } from './safe-target.js';
import { readWaveFacts } from './wave-facts.js';

export { type AlertTables, alertMigrations } from './alert-tables.js';

const PRUNE_MS = HOUR;

/** The running feature. */
export interface Alerts extends RunningFeature {
  /** Whether a recipient of the tab Weekly Reports gets the weekly report. */
  receivesReport(site: SiteId, email: string): boolean;
  /** Returns the addresses that get mails of this kind. */
  listEmailsFor(site: SiteId, kind: AlertKind): readonly string[];
  /** Returns why alerts do not arrive, for the owner, or null. Throws StorageError. */
  lastFailure(site: SiteId): Promise<ServerText | null>;
  loadEndpoints(): Promise<{ readonly handlers: CallHandlers<AlertCalls> }>;
}

/**
 * Alerts owners to events that concern the security of their site, by mail, webhook, Slack and system log. Events are
 * reported to `services.securityEvents`. Each is stored before its report resolves, and delivered from the queue.
 */
export const alerts: Feature<Alerts, { readonly login: LoginSecurity; readonly activity: ActivityLog }> = {
  name: 'alerts',
  async start(services, { login, activity }) {
    const { config, siteList, db, sites, connectors, settingHistory, securityEvents, feed, clock, logger } = services;
    const queue = sqlAlertQueue(db);
    const history = sqlLoginHistory(db);
    const emails = (site: SiteId) => sites.get(site).settings.log.notification_emails;
    const settings = createAlertSettings(queue, { emails, logger });
    await settings.load();

    const delivery: AlertDelivery = {
      ...{ queue, settings: settings.get, emails, clock, logger },
      limits: (site) => sites.get(site).settings.alerts,
      timeZone: (site) => sites.timeZone(site),
      describe: describeSite,
      mailer: createMailer(config.mail, services.wordpress),
      policy: config.alerts,
      resolve: resolveBySystem,
    };

    async function describeSite({ id, hosts }: SiteConfig, known: readonly string[] = []): Promise<AlertSite> {
      const { facts } = sites.get(id);
      const home = facts === null ? null : new URL(facts.homeUrl);
      const addresses = readLoginAddresses(await settingHistory(id, 'login_url'));
      return {
        name:
          home === null ? (hosts.find((host) => host !== '*') ?? id) : home.host + home.pathname.replace(/\/+$/, ''),
        url: facts?.homeUrl ?? '',
        language: sites.language(id),
        timeZone: sites.timeZone(id),
        page: (name) => (facts === null ? null : adminUrl(facts, name)),
        redact: addresses.redact,
        hostnames: await findHostnames(id, known),
      };
    }

    /** Returns the host names that the log has of these addresses. Without the log, there are none. */
    async function findHostnames(site: SiteId, known: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const names = new Map<string, string>();
      // The log has the visitor of each event; asking for one while the log is off would record a visitor.
      if (sites.get(site).settings.log.disable_activity_log === 1) return names;
      for (const address of known) {
        const visitor = await activity.store.getAddressVisitor(site, address).catch(() => null);
        if (visitor?.hostname) names.set(address, visitor.hostname);
      }
      return names;
    }

    let prunedAt = clock();
    let beatenAt = clock();
    const rounds = createDeliveryRounds({
      findSite: (site) => siteList.find(site),
      prepare: reportWave,
      listChannels: ({ id }) => listUsedChannels(delivery, id),
      deliver: (site, channel) => deliverChannel(delivery, site, channel),
      onRound,
      clock,
      logger,
    });

    function onRound(now: number): void {
      reportTrouble(now);
      if (Math.abs(now - prunedAt) > PRUNE_MS) {
        prunedAt = now;
        Promise.all([queue.prune(now), history.prune(now), dropUnused()]).catch(() => undefined);
      }
      if (Math.abs(now - beatenAt) >= HEARTBEAT_MS) {
        beatenAt = now;
        queue.beat(now).catch(() => undefined);
      }
    }

    /**
     * Stores an alert for everybody who gets its kind.
     * @throws StorageError
     */
    const enqueue = (site: SiteId, kind: AlertKind, alert: Alert) => store(site, [toNewAlert(site, kind, alert)]);

    /** @throws StorageError */
    async function store(site: SiteId, alerts: readonly NewAlert[]): Promise<void> {
      const wanted = alerts.filter(({ channels }) => channels.length > 0);
      if (wanted.length === 0) return;
      await queue.add(site, wanted, clock());
      rounds.wake(site);
    }

    /** @param channels who gets the alert; default: everybody who gets its kind */
    function toNewAlert(
      site: SiteId,
      kind: AlertKind,
      alert: Alert,
      channels: readonly string[] = listChannelsFor(kind, settings.get(site), emails(site)),
    ): NewAlert {
      return { uid: alert.uid, kind, alert: JSON.stringify(alert), channels: [...new Set(channels)] };
    }

    async function handleEvents(site: SiteId, events: readonly SecurityEvent[]): Promise<void> {
      if (siteList.find(site) === null) return;
      let alerts: NewAlert[] = [];
      const logins = createNewLogins(site);
      for (const event of events) {
        if (event.kind === 'lockout') {
          await addLockout(site, event);
        } else if (event.kind === 'administrator-login') {
          const unknown = await logins.add(event);
          if (unknown !== null) alerts.push(toNewAlert(site, event.kind, { ...event, unknown }));
        } else if (event.kind === 'alerts-changed') {
          // Stored first, since the change may concern alerts that wait.
          await store(site, alerts);
          alerts = [toNewAlert(site, 'protection-off', event, await listConcerned(site, event))];
        } else {
          alerts.push(toNewAlert(site, event.kind, event));
        }
      }
      await store(site, alerts);
      // Stored last: if an alert can't be stored, the login is reported again, and must still be unknown then.
      await logins.store();
    }

    async function addLockout(
      site: SiteId,
      { uid, at, address, failures }: Extract<SecurityEvent, { kind: 'lockout' }>,
    ): Promise<void> {
      if (listChannelsFor('lockout-wave', settings.get(site), emails(site)).length === 0) return;
      await history.addLockout(site, { uid, at, address, failures });
      // A wave is not urgent, and an attack locks many addresses out.
      rounds.wake(site, clock() + ROUND_MS);
    }

    /** Compares the logins of a batch with the known ones, and with each other. */
    function createNewLogins(site: SiteId) {
      const known = new Map<number, Set<string>>();
      const used = new Map<number, Set<string>>();
      return {
        /** Returns what is unknown of a login; null at the first one of the administrator, when nothing counts as new. */
        async add({ userId, address, agent }: Extract<SecurityEvent, { kind: 'administrator-login' }>) {
          const device = toDevice(agent);
          const values = [
            ...(device === null ? [] : [`device:${device.browser} ${device.system}`]),
            `network:${toNetwork(address)}`,
          ];
          const before = known.get(userId) ?? new Set(await history.listKnownLogins(site, userId, clock()));
          const unknown = before.size === 0 ? [] : values.filter((value) => !before.has(value));
          known.set(userId, new Set([...before, ...values]));
          used.set(userId, new Set([...(used.get(userId) ?? []), ...values]));
          return toUnknown(unknown);
        },
        store: () => (used.size === 0 ? Promise.resolve() : history.addKnownLogins(site, used, clock())),
      };
    }

    /** Returns the channels that are told that somebody gets fewer alerts. */
    async function listConcerned(
      site: SiteId,
      event: Extract<SecurityEvent, { kind: 'alerts-changed' }>,
    ): Promise<readonly string[]> {
      // The recipients must have been compared before: this decides who has left.
      if (event.change === 'removed') await services.mutex.run(site, () => followRecipients(site));
      const isBack = event.change === 'removed' && emails(site).includes(event.recipient);
      const channels = listChannelsFor('protection-off', settings.get(site), emails(site));
      // Nobody needs to be told of his own removal once it was undone.
      const others = isBack ? channels.filter((channel) => channel !== event.recipient) : channels;
      return [...others, ...toConcerned(site, event)];
    }

    /** The address that gets fewer alerts, which is told so, too. One that was removed may be back already. */
    function toConcerned(
      site: SiteId,
      { recipient, change }: Extract<SecurityEvent, { kind: 'alerts-changed' }>,
    ): readonly string[] {
      const known = change === 'removed' ? Object.keys(settings.get(site).left) : emails(site);
      return known.includes(recipient) ? [recipient] : [];
    }

    /** Queues the alert of a wave that has ended. */
    async function reportWave({ id }: SiteConfig): Promise<number | null> {
      const lockouts = await history.listLockouts(id, clock());
      if (lockouts.length === 0) return null;
      const wave = findWave(lockouts, await history.lastWave(id), clock());
      if (wave !== null) {
        await enqueue(id, 'lockout-wave', await readWaveFacts(activity.store, id, wave));
        await history.endWave(id, wave.to, clock());
      }
      return clock() + ROUND_MS;
    }

    const outages = new Map<SiteId, Outage>();

    function reportTrouble(now: number): void {
      for (const { id } of siteList) {
        const state = connectors.state(id);
        if (state.kind === 'ok' || state.kind === 'unknown') {
          outages.delete(id);
          continue;
        }
        const { report, since, reported } = followOutage(outages.get(id) ?? null, now);
        outages.set(id, { since, reported });
        if (!report) continue;
        const uid = `trouble:${since}`;
        enqueue(id, 'trouble', { kind: 'trouble', uid, at: since, text: describeConnectorFault(state) }).catch(() => {
          // The alert could not be stored; it is reported at the next check.
          outages.set(id, { since, reported: false });
        });
      }
    }

    /** Alerts the owners of all sites to a time in which guard did not run. */
    async function reportStop(): Promise<void> {
      const now = clock();
      const stop = findStop(await queue.readBeat(), now);
      if (stop !== null) {
        const { from, to } = stop;
        logger.warn({ event: 'guard-was-stopped', from, to }, 'Guard did not run for some minutes.');
        const uid = `stop:${from}`;
        for (const { id } of siteList)
          await enqueue(id, 'trouble', { kind: 'trouble', uid, at: from, until: to, text: '' });
      }
      await queue.beat(now);
    }

    /** The recipients of each site with settings, as they were at the last change. */
    const lastEmails = new Map<SiteId, readonly string[]>();

    /** Adapts the choices and the queue to a change of the recipients. */
    async function followRecipients(site: SiteId): Promise<void> {
      const before = lastEmails.get(site) ?? [];
      const present = emails(site);
      const change = withRecipients(settings.get(site), before, present, clock());
      if (change !== null) await settings.set(site, change.settings);
      if (change?.renamed) await queue.moveChannel(site, change.renamed.from, change.renamed.to);
      // Nobody needs to be told of a removal that was undone.
      for (const email of change?.restored ?? []) await queue.dropLeaving(site, email);
      lastEmails.set(site, present);
    }

    /** Deletes what waits for recipients who were removed. Until then, undoing the removal loses nothing. */
    async function dropUnused(): Promise<void> {
      for (const { site, channel } of await queue.listWaitingChannels()) {
        if (siteList.find(site) !== null && !listUsedChannels(delivery, site).includes(channel)) {
          await queue.dropChannel(site, channel);
        }
      }
      for (const site of settings.list()) {
        if (siteList.find(site) !== null) await services.mutex.run(site, () => followRecipients(site));
      }
    }

    securityEvents.subscribe(handleEvents);
    login.onLocked((site, address, until) => {
      const failures = login.attempts.getEntry(site, address).failures;
      const uid = createHash('sha256')
        .update(JSON.stringify([address, until]))
        .digest('hex')
        .slice(0, 32);
      const event: SecurityEvent = { kind: 'lockout', uid, at: clock(), address, failures };
      securityEvents.report(site, [event]).catch((error: unknown) => {
        logger.warn({ event: 'alerts-store-failed', site, err: error }, 'A lockout could not be stored for alerts.');
      });
    });
    feed.subscribe((site) => {
      // The limit or the quiet hours may have changed.
      rounds.wake(site);
      void services.mutex.run(site, () => followRecipients(site)).catch(() => undefined);
    });
    connectors.onBack(({ id }) => {
      // Mails that failed while WordPress did not respond are tried again.
      queue
        .retryNow(id, clock())
        .then(() => rounds.wake(id))
        .catch(() => undefined);
    });

    return {
      receivesReport: (site, email) => getRecipientAlerts(settings.get(site), email).report,
      listEmailsFor: (site, kind) => listEmailsFor(kind, settings.get(site), emails(site)),
      lastFailure: async (site) =>
        describeFailures(await queue.listChannels(site, clock()), settings.get(site), emails(site)),
      async loadEndpoints() {
        const { alertEndpoints } = await import('./endpoints.js');
        const onAudit = activity.handleAuditChange;
        return { handlers: alertEndpoints(services, { ...delivery, store: settings, wake: rounds.wake, onAudit }) };
      },
      loadSite: async (site) => rounds.wake(site),
      async onServing() {
        for (const site of settings.list()) if (siteList.find(site) !== null) lastEmails.set(site, emails(site));
        await reportStop().catch((error: unknown) => {
          logger.error({ event: 'alerts-read-failed', err: error }, 'Alerts can’t be read or stored yet.');
        });
        for (const site of [...(await queue.listSites()), ...(await history.listSites())]) rounds.wake(site);
        rounds.start();
      },
      stop: () => rounds.stop(),
    };
  },
};

function toUnknown(values: readonly string[]): 'device' | 'network' | 'both' | null {
  const device = values.some((value) => value.startsWith('device:'));
  const network = values.some((value) => value.startsWith('network:'));
  if (device && network) return 'both';
  return device ? 'device' : network ? 'network' : null;
}
