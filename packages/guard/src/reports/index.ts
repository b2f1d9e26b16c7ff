import type { ServerText } from '@security-optimizer/contract/server-message';
import type { ActivityLog } from '../activity/index.js';
import type { Alerts } from '../alerts/index.js';
import type { CallHandlers, Feature, RunningFeature } from '../feature.js';
import { readLoginAddresses } from '../login/index.js';
import { createMailer } from '../mail/create-mailer.js';
import type { Services } from '../services.js';
import { listEssentials } from '../settings/essentials.js';
import { adminUrl, type SiteConfig, type SiteId } from '../site.js';
import type { TwoFactor } from '../two-factor/index.js';
import type { ReportSite } from './build-report.js';
import type { ReportCalls } from './endpoints.js';
import { makeReport } from './make-report.js';
import { getLastWeek, type ReportPeriod } from './report-facts.js';
import { createReportSender, toFailureText } from './report-sender.js';
import { createReportStore } from './sent-reports.js';

export { readRecipients } from './recipients.js';
export { type ReportSendTables, reportSendMigrations } from './sent-reports.js';

/** The running feature. */
export interface WeeklyReports extends RunningFeature {
  /** Returns why a site's last report could not be sent, for the owner, or null. Throws StorageError. */
  lastFailure(site: SiteId): Promise<ServerText | null>;
  loadEndpoints(): Promise<{ readonly handlers: CallHandlers<ReportCalls> }>;
}

export const weeklyReports: Feature<
  WeeklyReports,
  {
    readonly twoFactor: Pick<TwoFactor, 'isComplete'>;
    readonly activity: ActivityLog;
    readonly alerts: Pick<Alerts, 'receivesReport'>;
  }
> = {
  name: 'reports',
  start(services, { twoFactor, activity, alerts }) {
    const { config, siteList, db, wordpress, sites, settingHistory, clock, logger } = services;
    const sends = createReportStore(db);
    const mailer = createMailer(config.mail, wordpress);
    const timeZone = (site: SiteId) => sites.timeZone(site);
    const logSettings = (site: SiteId) => sites.get(site).settings.log;
    /** Recipients of the tab who want the report. */
    const recipients = (site: SiteId) =>
      logSettings(site).notification_emails.filter((email) => alerts.receivesReport(site, email));
    const report = async (site: SiteConfig, period: ReportPeriod) => {
      const addresses = readLoginAddresses(await settingHistory(site.id, 'login_url'));
      const factorComplete = sites.get(site.id).settings.login.sg2fa === 0 || (await twoFactor.isComplete(site));
      return makeReport(activity.store, site.id, reportSite(sites, site, factorComplete), period, addresses);
    };
    const sender = createReportSender({
      sites: siteList,
      settings: logSettings,
      recipients,
      ...{ timeZone, sends, mailer, clock, logger },
      make: (site, sendTime) => report(site, getLastWeek(timeZone(site.id), Math.floor(sendTime / 1000))),
    });

    return {
      lastFailure: async (site) => toFailureText(await sends.failures(site, recipients(site)), timeZone(site)),
      async loadEndpoints() {
        const { reportEndpoints } = await import('./endpoints.js');
        return { handlers: reportEndpoints(services, { sends, mailer, report }) };
      },
      onServing: () => sender.start(),
      stop: () => sender.stop(),
    };
  },
};

/** Returns the facts of a site that do not depend on the week. */
function reportSite(sites: Services['sites'], { id, hosts }: SiteConfig, factorComplete: boolean): ReportSite {
  const { facts, settings } = sites.get(id);
  const home = facts === null ? null : new URL(facts.homeUrl);
  return {
    name: home === null ? (hosts.find((host) => host !== '*') ?? id) : home.host + home.pathname.replace(/\/+$/, ''),
    timeZone: sites.timeZone(id),
    language: sites.language(id),
    essentials: listEssentials(settings, factorComplete),
    adminUrl: (path) => (facts === null ? null : adminUrl(facts, path)),
  };
}
