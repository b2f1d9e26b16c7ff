import { createHash } from 'node:crypto';
import type { AlertKind } from '@security-optimizer/contract/alerts/schemas';
import type { ServerText } from '@security-optimizer/contract/server-message';
import type { ActivityLog } from '../activity/index.js';
import type { CallHandlers, Feature, RunningFeature } from '../feature.js';
import type { LoginSecurity } from '../login/index.js';
import { readLoginAddresses } from '../login/index.js';
import { createMailer } from '../mail/create-mailer.js';
import type { SecurityEvent } from '../security-events.js';
import { adminUrl, type SiteConfig, type SiteId } from '../site.js';
import { describeConnectorFault } from '../wordpress/connector-error.js';
import { sqlAlertQueue } from './alert-queue.js';
import { findWave, followOutage, HOUR, type Outage, toDevice, toNetwork } from './alert-rules.js';
import { createAlertSettings, getRecipientAlerts, listChannelsFor, listEmailsFor } from './alert-settings.js';
import { type AlertDelivery, deliverAlerts, describeFailures } from './deliver-alerts.js';
import type { Alert, AlertSite } from './describe-alert.js';
import type { AlertCalls } from './endpoints.js';
import { resolveBySystem } from './safe-target.js';
import { readWaveFacts } from './wave-facts.js';

export { type AlertTables, alertMigrations } from './alert-queue.js';

/** Interval of the checks for alerts that became due: after quiet hours, a pause of a channel, or a wave. */
const ROUND_MS = 5000;
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
    const settings = createAlertSettings(queue);
    await settings.load();
    const emails = (site: SiteId) => sites.get(site).settings.log.notification_emails;

    const delivery: AlertDelivery = {
      ...{ queue, settings: settings.get, emails, clock, logger },
      limits: (site) => sites.get(site).settings.alerts,
      describe: (site) => describeSite(site),
      mailer: createMailer(config.mail, services.wordpress),
      policy: config.alerts,
      resolve: resolveBySystem,
    };

    async function describeSite({ id, hosts }: SiteConfig): Promise<AlertSite> {
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
      };
    }

    /** When to process the queue of each site again. */
    const due = new Map<SiteId, number>();
    const running = new Map<SiteId, Promise<void>>();
    const failing = new Set<SiteId>();
    let timer: NodeJS.Timeout | null = null;
    let prunedAt = clock();
    let serving = false;
    let stopped = false;

    /** Stores an alert for everybody who gets its kind. Throws StorageError. */
    async function enqueue(site: SiteId, kind: AlertKind, alert: Alert): Promise<void> {
      const channels = listChannelsFor(kind, settings.get(site), emails(site));
      if (channels.length === 0) return;
      await queue.add(site, channels, { uid: alert.uid, kind, alert: JSON.stringify(alert) }, clock());
      wake(site);
    }

    async function handleEvent(site: SiteId, event: SecurityEvent): Promise<void> {
      if (siteList.find(site) === null) return;
      if (event.kind === 'lockout') {
        if (listChannelsFor('lockout-wave', settings.get(site), emails(site)).length === 0) return;
        const { uid, at, address, failures } = event;
        await queue.addLockout(site, { uid, at, address, failures });
        if (!due.has(site)) wake(site);
        return;
      }
      if (event.kind === 'administrator-login') {
        const device = toDevice(event.agent);
        const values = [
          ...(device === null ? [] : [`device:${device.browser} ${device.system}`]),
          `network:${toNetwork(event.address)}`,
        ];
        const unknown = await queue.recordLogin(site, event.userId, values, clock());
        const news = toUnknown(unknown ?? []);
        if (news !== null) await enqueue(site, 'administrator-login', { ...event, unknown: news });
        return;
      }
      await enqueue(site, event.kind, event);
    }

    function wake(site: SiteId, at = clock()): void {
      due.set(site, at);
      if (serving && !stopped) schedule(Math.max(0, at - clock()));
    }

    function schedule(ms: number): void {
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => void round(), Math.min(ms, ROUND_MS)).unref();
    }

    async function round(): Promise<void> {
      timer = null;
      reportTrouble();
      const now = clock();
      // A time far ahead was computed before the clock was set back.
      const ready = [...due].filter(([, at]) => at <= now || at > now + 25 * HOUR).map(([site]) => site);
      await Promise.all(ready.map((site) => deliver(site)));
      if (Math.abs(now - prunedAt) > PRUNE_MS) {
        prunedAt = now;
        await queue.prune(now).catch(() => undefined);
      }
      if (!stopped && timer === null) schedule(ROUND_MS);
    }

    function deliver(id: SiteId): Promise<void> {
      const site = siteList.find(id);
      if (site === null || running.has(id)) return Promise.resolve();
      due.delete(id);
      const done = deliverSite(site)
        .then(() => void failing.delete(id))
        .catch((error: unknown) => {
          due.set(id, clock() + ROUND_MS);
          if (!failing.has(id) && !stopped) {
            logger.error({ event: 'alerts-read-failed', site: id, err: error }, 'Alerts can’t be read or stored yet.');
          }
          failing.add(id);
        })
        .finally(() => running.delete(id));
      running.set(id, done);
      return done;
    }

    async function deliverSite(site: SiteConfig): Promise<void> {
      const lockouts = await queue.listLockouts(site.id, clock());
      const wave = findWave(lockouts, await queue.lastWave(site.id), clock());
      if (wave !== null) {
        await enqueue(site.id, 'lockout-wave', await readWaveFacts(activity.store, site.id, wave));
        await queue.endWave(site.id, wave.to, clock());
      }
      const next = await deliverAlerts(delivery, site);
      const again = next ?? (lockouts.length > 0 ? clock() + ROUND_MS : null);
      if (again === null) return;
      const known = due.get(site.id);
      due.set(site.id, known === undefined ? again : Math.min(known, again));
      if (!stopped) schedule(Math.max(0, (due.get(site.id) as number) - clock()));
    }

    const outages = new Map<SiteId, Outage>();

    function reportTrouble(): void {
      const now = clock();
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

    /** Deletes the settings of removed recipients: an address that is added again later begins without alerts. */
    async function pruneRecipients(site: SiteId): Promise<void> {
      const chosen = settings.get(site);
      const removed = Object.keys(chosen.recipients).filter((email) => !emails(site).includes(email));
      if (removed.length === 0) return;
      const recipients = Object.fromEntries(
        Object.entries(chosen.recipients).filter(([email]) => !removed.includes(email)),
      );
      await settings.set(site, { ...chosen, recipients });
      for (const email of removed) await queue.dropChannel(site, email);
    }

    securityEvents.subscribe(handleEvent);
    login.onLocked((site, address, until) => {
      const failures = login.attempts.getEntry(site, address).failures;
      const uid = createHash('sha256')
        .update(JSON.stringify([address, until]))
        .digest('hex')
        .slice(0, 32);
      securityEvents.report(site, { kind: 'lockout', uid, at: clock(), address, failures }).catch((error: unknown) => {
        logger.warn({ event: 'alerts-store-failed', site, err: error }, 'A lockout could not be stored for alerts.');
      });
    });
    feed.subscribe((site) => {
      // The limit or the quiet hours may have changed.
      wake(site);
      void services.mutex.run(site, () => pruneRecipients(site)).catch(() => undefined);
    });
    connectors.onBack(({ id }) => {
      // Mails that failed while WordPress did not respond are tried again.
      queue
        .retryNow(id, clock())
        .then(() => wake(id))
        .catch(() => undefined);
    });

    return {
      receivesReport: (site, email) => getRecipientAlerts(settings.get(site), email).report,
      listEmailsFor: (site, kind) => listEmailsFor(kind, settings.get(site), emails(site)),
      lastFailure: async (site) => describeFailures(await queue.listChannels(site), settings.get(site), emails(site)),
      async loadEndpoints() {
        const { alertEndpoints } = await import('./endpoints.js');
        const onAudit = activity.handleAuditChange;
        return { handlers: alertEndpoints(services, { ...delivery, store: settings, wake, onAudit }) };
      },
      loadSite: async (site) => wake(site),
      async onServing() {
        serving = true;
        for (const site of await queue.listSites()) due.set(site, clock());
        schedule(0);
      },
      async stop() {
        stopped = true;
        if (timer !== null) clearTimeout(timer);
        await Promise.allSettled(running.values());
      },
    };
  },
};

function toUnknown(values: readonly string[]): 'device' | 'network' | 'both' | null {
  const device = values.some((value) => value.startsWith('device:'));
  const network = values.some((value) => value.startsWith('network:'));
  if (device && network) return 'both';
  return device ? 'device' : network ? 'network' : null;
}
