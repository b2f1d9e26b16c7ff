import type { ActivityStore } from './activity/activity-store.js';
import type { PostHackUseCases } from './api/post-hack-handlers.js';
import type { Config } from './config.js';
import type { Clock } from './lib/clock.js';
import type { Logger } from './lib/logger.js';
import type { RunningSecondFactorDoor } from './login/two-factor/create-second-factor-door.js';
import { jobAudit } from './post-hack/audit-job.js';
import { runCheckup } from './post-hack/checkup.js';
import { passwordResetStep } from './post-hack/force-password-reset.js';
import { createJobRunner, type JobRunner } from './post-hack/job-runner.js';
import { logOutStep } from './post-hack/log-out-users.js';
import { Keepers, postHack } from './post-hack/post-hack.js';
import { reinstallStep } from './post-hack/reinstall-plugins.js';
import { rememberedEvents } from './post-hack/remembered-events.js';
import { adminUrl } from './site.js';
import type { LiveSites } from './site-security/live-sites.js';
import { sqlAuditStore } from './storage/audit-store.js';
import type { ChangeFeed } from './storage/change-feed.js';
import type { Database } from './storage/database.js';
import { forgetBrowsers } from './storage/forget-browsers.js';
import { sqlJobStore } from './storage/jobs-store.js';
import type { ConnectorClient } from './wordpress/connector-client.js';
import { postHackCommands } from './wordpress/post-hack-commands.js';
import type { Sessions } from './wordpress/session.js';

/** The part of the composition root that belongs to Post-hack Actions. */
export function composePostHack(parts: {
  readonly db: Database;
  readonly config: Pick<Config, 'sites' | 'postHack'>;
  readonly client: ConnectorClient;
  readonly sites: LiveSites;
  readonly sessions: Sessions;
  readonly door: Pick<RunningSecondFactorDoor, 'reload'>;
  readonly feed: Pick<ChangeFeed, 'publish'>;
  readonly log: Pick<ActivityStore, 'listEvents'>;
  /** Told when the record of changes has grown. */
  readonly onAudit: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}): PostHackUseCases & { readonly runner: JobRunner } {
  const { db, config, client, sites, sessions, door, feed, clock, logger } = parts;
  const store = sqlJobStore(db);
  const audit = sqlAuditStore(db);
  const commands = postHackCommands(client);
  const keepers = new Keepers();
  const { directory, coreChecksums } = config.postHack;
  const runner = createJobRunner({
    store,
    steps: {
      'reinstall-plugins': reinstallStep({ commands, directory }),
      'force-password-reset': passwordResetStep({
        commands,
        async forgetFactors({ id }) {
          const version = await forgetBrowsers(db, id);
          await door.reload(id);
          feed.publish({ site: id, version });
        },
      }),
      'log-out-users': logOutStep({ commands }, keepers),
    },
    siteOf: (id) => config.sites.find((site) => site.id === id) ?? null,
    onChanged(job) {
      // Whoever was logged out must not be believed a moment longer.
      if (job.kind !== 'reinstall-plugins') sessions.forget(job.site);
      const { id, site, kind, state, error, summary } = job;
      logger.info({ event: 'job', job: id, site, kind, state, error, summary, user: job.actor.id }, 'A job changed.');
      audit
        .add(site, { actor: job.actor, at: clock() }, [jobAudit(job)])
        .then(parts.onAudit)
        .catch((cause: unknown) => {
          logger.warn({ event: 'job-not-recorded', job: id, site, err: cause }, 'The record of changes lacks a job.');
        });
    },
    clock,
    logger,
  });
  return {
    runner,
    postHack: postHack({ runner, store, commands, keepers }),
    checkup: (site) =>
      runCheckup(
        {
          commands,
          coreChecksums,
          adminUrl: ({ id }, page) => adminUrl(sites.get(id).facts, page),
          remembered: ({ id }) => rememberedEvents(parts.log, id),
          clock,
        },
        site,
      ),
  };
}
