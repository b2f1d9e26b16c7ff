import type { Job } from '@security-optimizer/contract/post-hack/endpoints';
import type { WithMessages } from '@security-optimizer/contract/server-message';
import type { Actor } from '../settings/audit-store.js';
import type { SiteConfig, SiteId } from '../site.js';
import type { BrowserIdentity } from '../wordpress/connector-client.js';
import type { PostHackCommands } from '../wordpress/connector-commands.js';
import { newPasswordReset } from './force-password-reset.js';
import type { JobRunner } from './job-runner.js';
import type { JobStore, StoredJob } from './jobs-store.js';
import { newLogOut } from './log-out-users.js';
import { isReinstallable, newReinstallation } from './reinstall-plugins.js';

/** Counts for the page; null when unknown. */
interface PostHackFacts {
  readonly plugins: number | null;
  readonly users: number | null;
  readonly sessions: number | null;
}

export interface PostHackContext {
  readonly runner: JobRunner;
  readonly store: JobStore;
  readonly commands: Pick<PostHackCommands, 'plugins'>;
  readonly callerSessions: CallerSessions;
}

/** Browsers whose sessions are kept, from the request until the step. In memory only: cookies are never stored. */
export class CallerSessions {
  readonly #sessions = new Map<SiteId, BrowserIdentity>();

  set(site: SiteConfig, visitor: BrowserIdentity | null): void {
    if (visitor === null) this.#sessions.delete(site.id);
    else this.#sessions.set(site.id, visitor);
  }

  take(site: SiteConfig): BrowserIdentity | null {
    const session = this.#sessions.get(site.id) ?? null;
    this.#sessions.delete(site.id);
    return session;
  }
}

/** The use cases of the page Post-hack Actions. All of them throw ConnectorError and StorageError. */
export function postHack(deps: PostHackContext) {
  const { runner, store, commands, callerSessions } = deps;
  const known = new Map<SiteId, PostHackFacts>();
  return {
    /**
     * Starts or joins a job.
     * @param wanted `only`: files of plugins to retry, or null for all
     */
    async reinstallPlugins(wanted: {
      site: SiteConfig;
      actor: Actor;
      only: readonly string[] | null;
    }): Promise<StoredJob> {
      const make = async () => {
        const last = (await store.latest(wanted.site.id)).find(({ kind }) => kind === 'reinstall-plugins');
        return newReinstallation({ commands }, { ...wanted, before: last?.items ?? [] });
      };
      return runner.start(wanted.site, make, 'reinstall-plugins');
    },

    /**
     * Resolves once all passwords are reset; mails follow. With `continueStopped`, only the remaining mails of a stopped
     * job are sent.
     */
    async forcePasswordReset({
      site,
      actor,
      continueStopped,
    }: {
      site: SiteConfig;
      actor: Actor;
      continueStopped: boolean;
    }): Promise<StoredJob> {
      const kind = 'force-password-reset';
      const continued = continueStopped ? await runner.continueStopped(site, kind) : null;
      return continued ?? runner.startAndStep(site, async () => newPasswordReset(actor), kind);
    },

    /** `keep`: the browser whose session is kept, or null. */
    logOutUsers({
      site,
      actor,
      keep,
    }: {
      site: SiteConfig;
      actor: Actor;
      keep: BrowserIdentity | null;
    }): Promise<StoredJob> {
      const make = async () => {
        callerSessions.set(site, keep);
        return newLogOut(actor);
      };
      return runner.startAndStep(site, make, 'log-out-users');
    },

    async jobs(site: SiteConfig): Promise<{ jobs: WithMessages<Job>[]; facts: PostHackFacts }> {
      const jobs = await store.latest(site.id);
      // The page polls every second while a job runs; WordPress must not count each time.
      const before = jobs.some(({ state }) => state === 'running') ? known.get(site.id) : undefined;
      const facts = before ?? (await fetchFacts(commands, site));
      known.set(site.id, facts);
      return { jobs: jobs.map(toJobResponse), facts };
    },
  };
}

async function fetchFacts(commands: Pick<PostHackCommands, 'plugins'>, site: SiteConfig): Promise<PostHackFacts> {
  try {
    const { plugins, users, sessions } = await commands.plugins(site);
    return { plugins: plugins.filter(isReinstallable).length, users, sessions };
  } catch {
    // The counts are optional; the page reports a failure when a job is started.
    return { plugins: null, users: null, sessions: null };
  }
}

/** Converts a job to the format of the contract. */
export function toJobResponse({
  startedAt,
  endedAt,
  actor,
  site: _site,
  cursor: _cursor,
  ...job
}: StoredJob): WithMessages<Job> {
  return {
    ...job,
    items: [...job.items],
    summary: [...job.summary],
    started: Math.floor(startedAt / 1000),
    ended: endedAt === null ? null : Math.floor(endedAt / 1000),
    actor: actor.login,
  };
}
