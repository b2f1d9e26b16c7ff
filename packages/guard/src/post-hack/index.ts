import type { ActivityLog } from '../activity/index.js';
import type { Alerts } from '../alerts/index.js';
import type { CallHandlers, Feature, RunningFeature } from '../feature.js';
import type { LanguageFor } from '../i18n/languages.js';
import { adminUrl, type SiteConfig, type SiteId } from '../site.js';
import type { TwoFactor } from '../two-factor/index.js';
import { createPostHackCommands } from '../wordpress/connector-commands.js';
import { createCheckupRuns } from './checkup-runs.js';
import { sqlCheckupStore } from './checkup-store.js';
import type { PostHackCalls } from './endpoints.js';
import { passwordResetStep } from './force-password-reset.js';
import { toJobAudit } from './job-labels.js';
import { createJobRunner } from './job-runner.js';
import { createJobStore } from './jobs-store.js';
import { logOutStep } from './log-out-users.js';
import { CallerSessions } from './post-hack.js';
import { reinstallStep } from './reinstall-plugins.js';
import { sqlRemovedFiles } from './removed-files-store.js';

export { type CheckupTables, checkupMigrations } from './checkup-store.js';
export { type JobTables, jobMigrations } from './jobs-store.js';
export { type RemovedFileTables, removedFileMigrations } from './removed-files-store.js';

/** Loaded with the first reset, since most processes never run one. */
async function loadResetMails(languages: LanguageFor) {
  const { createResetMails } = await import('./reset-mail.js');
  return createResetMails(languages);
}

export interface PostHack extends RunningFeature {
  /** Counts findings of the latest checkup that are not kept. Throws StorageError. */
  countFindings(site: SiteId): Promise<number>;
  loadEndpoints(): Promise<{ readonly handlers: CallHandlers<PostHackCalls> }>;
}

interface PostHackNeeds {
  readonly twoFactor: TwoFactor;
  readonly activity: ActivityLog;
  readonly alerts: Pick<Alerts, 'listEmailsFor'>;
}

/** Post-hack actions. Jobs that a restart interrupted continue once guard is serving. */
export const postHackActions: Feature<PostHack, PostHackNeeds> = {
  name: 'post-hack',
  start(services, { twoFactor, activity, alerts }) {
    const { config, siteList, db, wordpress, sites, sessions, audit, clock, logger } = services;
    const store = createJobStore(db);
    const commands = createPostHackCommands(wordpress);
    const callerSessions = new CallerSessions();
    const runner = createJobRunner({
      store,
      steps: {
        'reinstall-plugins': reinstallStep({ commands, directory: config.postHack.directory }),
        'force-password-reset': passwordResetStep({
          commands,
          forgetFactors: ({ id }) => twoFactor.forgetBrowsers(id),
          mails: () => loadResetMails(services.languages),
        }),
        'log-out-users': logOutStep({ commands }, callerSessions),
      },
      getSite: (id) => siteList.find(id),
      onChanged(job) {
        // Users were logged out, so their cached sessions are invalid.
        if (job.kind !== 'reinstall-plugins') sessions.clear(job.site);
        const { id, site, kind, state, error, summary } = job;
        logger.info({ event: 'job', job: id, site, kind, state, error, summary, user: job.actor.id }, 'A job changed.');
        audit
          .add(site, { actor: job.actor, at: clock() }, [toJobAudit(job)])
          .then(activity.handleAuditChange)
          .catch((cause: unknown) => {
            logger.warn({ event: 'job-audit-failed', job: id, site, err: cause }, 'The record of changes lacks a job.');
          });
      },
      clock,
      logger,
    });
    async function loadChecks() {
      const { runCheck, runCheckup, readRecentEvents } = await import('./checkup.js');
      return {
        runCheck,
        runCheckup,
        context: {
          commands,
          coreChecksums: config.postHack.coreChecksums,
          pluginChecksums: config.postHack.directory.checksums,
          adminUrl: ({ id }: SiteConfig, page: string) => adminUrl(sites.get(id).facts, page),
          remembered: async (site: SiteConfig) => {
            // The log may not have the latest events yet.
            await activity.fetchEvents(site);
            return readRecentEvents(activity.store, site.id);
          },
          timeZone: (id: SiteId) => sites.timeZone(id),
          deletesReadme: (id: SiteId) => sites.getEffectiveSettings(id).options.delete_readme === 1,
          foldersLocked: (id: SiteId) => sites.getEffectiveSettings(id).options.lock_system_folders === 1,
          clock,
        },
      };
    }
    const copies = sqlRemovedFiles(db);
    const checkups = createCheckupRuns({
      store: sqlCheckupStore(db),
      copies,
      sites: siteList,
      async examine(site, before, onCheck) {
        const { runCheckup, context } = await loadChecks();
        return runCheckup(context, site, before, onCheck);
      },
      async examinePart(site, check, before) {
        const { runCheck, context } = await loadChecks();
        return runCheck(context, site, before, check);
      },
      timeZone: (id) => sites.timeZone(id),
      isWeekly: (id) => sites.get(id).settings.postHack.weekly_checkup === 1,
      securityEvents: services.securityEvents,
      clock,
      logger,
    });

    return {
      countFindings: checkups.countFindings,
      async loadEndpoints() {
        const [{ postHackEndpoints }, { createFindingRemoval }] = await Promise.all([
          import('./endpoints.js'),
          import('./finding-removal.js'),
        ]);
        const removal = createFindingRemoval({
          ...{ checkups, copies, commands, audit, clock, logger },
          coreChecksums: config.postHack.coreChecksums,
          onAudit: activity.handleAuditChange,
          forgetSessions: ({ id }) => sessions.clear(id),
        });
        const parts = { runner, store, commands, callerSessions, checkups, removal, activity, alerts };
        return { handlers: postHackEndpoints(services, parts) };
      },
      async onServing() {
        await runner.resume();
        checkups.start();
      },
      async stop() {
        runner.stop();
        await checkups.stop();
      },
    };
  },
};
