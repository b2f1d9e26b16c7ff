import type { ActivityStore } from './activity/activity-store.js';
import type { ReportSite } from './activity/weekly-report/build-report.js';
import { makeReport } from './activity/weekly-report/make-report.js';
import { failureText } from './activity/weekly-report/report-failure.js';
import { type ReportPeriod, weekBefore, weekSoFar } from './activity/weekly-report/report-period.js';
import { createReportSender, type ReportSender } from './activity/weekly-report/report-sender.js';
import { sendTestReport } from './activity/weekly-report/send-test-report.js';
import { recipientsOf, setRecipients } from './activity/weekly-report/set-recipients.js';
import type { WeeklyReportUseCases } from './api/weekly-report-handlers.js';
import type { Config } from './config.js';
import type { Logger } from './lib/logger.js';
import { loginAddressesIn } from './login/login-addresses.js';
import { smtpMailer } from './mail/smtp-mailer.js';
import { wordpressMailer } from './mail/wordpress-mailer.js';
import { essentialsOf } from './overview/essentials.js';
import type { ChangeDeps } from './settings/change-settings.js';
import { fetchSiteSettings } from './settings/site-settings.js';
import { adminUrl, type SiteConfig, type SiteId } from './site.js';
import type { LiveSites } from './site-security/live-sites.js';
import type { Database } from './storage/database.js';
import { sqlReportSends } from './storage/report-sends-store.js';
import { sqlSettingHistory } from './storage/setting-history.js';
import type { ConnectorClient } from './wordpress/connector-client.js';

/** Weekly reports at work. */
export interface WeeklyReports extends WeeklyReportUseCases {
  readonly sender: ReportSender;
  /** What went wrong with a site's last report, for the owner, or null. Throws StorageError. */
  readonly lastReportFailure: (site: SiteId) => Promise<string | null>;
}

/** The part of the composition root that belongs to weekly reports. */
export function composeWeeklyReport(parts: {
  readonly config: Config;
  readonly db: Database;
  readonly store: ActivityStore;
  readonly change: ChangeDeps;
  readonly client: ConnectorClient;
  readonly sites: LiveSites;
  readonly logger: Logger;
}): WeeklyReports {
  const { config, db, store, change, client, sites, logger } = parts;
  const { clock } = change;
  const { maxEmails } = config.weeklyReport;
  const sends = sqlReportSends(db);
  const mailer = config.mail.smtp === null ? wordpressMailer(client) : smtpMailer(config.mail.smtp);
  const timeZone = (site: SiteId) => sites.timeZone(site);
  const logOf = (site: SiteId) => sites.get(site).settings.log;
  const history = sqlSettingHistory(db);
  const report = async (site: SiteConfig, period: ReportPeriod) => {
    const addresses = loginAddressesIn(await history(site.id, 'login_url'));
    return makeReport(store, site.id, reportSite(sites, site), period, addresses);
  };
  const soFar = (site: SiteConfig) => report(site, weekSoFar(timeZone(site.id), Math.floor(clock() / 1000)));

  return {
    sender: createReportSender({
      sites: config.sites,
      settings: logOf,
      ...{ timeZone, sends, mailer, clock, logger },
      make: (site, sendTime) => report(site, weekBefore(timeZone(site.id), Math.floor(sendTime / 1000))),
    }),
    lastReportFailure: async (site) =>
      failureText(await sends.failures(site, logOf(site).notification_emails), timeZone(site)),
    fetchRecipients: async (site) => recipientsOf((await fetchSiteSettings(change.settings, site.id)).log, maxEmails),
    setRecipients: (wanted) => setRecipients({ change, sends, timeZone, maxEmails, clock }, wanted),
    previewReport: soFar,
    testReport: ({ site, actor }) =>
      sendTestReport({ client, mailer, make: soFar, language: sites.language(site.id) }, { site, actor }),
  };
}

/** What a report says about a site beside its week. */
function reportSite(sites: LiveSites, { id, hosts }: SiteConfig): ReportSite {
  const { facts, settings } = sites.get(id);
  const home = facts === null ? null : new URL(facts.homeUrl);
  const page = (name: string) => (facts === null ? null : adminUrl(facts, `admin.php?page=${name}`));
  return {
    name: home === null ? (hosts.find((host) => host !== '*') ?? id) : home.host + home.pathname.replace(/\/+$/, ''),
    timeZone: sites.timeZone(id),
    language: sites.language(id),
    essentials: essentialsOf(settings),
    links: { log: page('activity-log'), recipients: page('activity-log#weekly-reports'), page },
  };
}
