import type { Job } from '@security-optimizer/contract/post-hack';
import type { SiteConfig, SiteId } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { PostHackCommands } from '../wordpress/post-hack-commands.js';
import type { Visitor } from '../wordpress/sender.js';
import { newPasswordReset } from './force-password-reset.js';
import type { JobStore, StoredJob } from './job.js';
import type { JobRunner } from './job-runner.js';
import { newLogOut } from './log-out-users.js';
import { newReinstallation } from './reinstall-plugins.js';

/** What is known before a start; each null when it is not. */
export interface PostHackFacts {
  readonly plugins: number | null;
  readonly users: number | null;
  readonly sessions: number | null;
}

export interface PostHackDeps {
  readonly runner: JobRunner;
  readonly store: JobStore;
  readonly commands: Pick<PostHackCommands, 'plugins'>;
  readonly keepers: Keepers;
}

/** Browsers whose session is to stay, from the call to the step; cookies are never stored. */
export class Keepers {
  readonly #kept = new Map<SiteId, Visitor>();

  put(site: SiteConfig, visitor: Visitor | null): void {
    if (visitor === null) this.#kept.delete(site.id);
    else this.#kept.set(site.id, visitor);
  }

  take(site: SiteConfig): Visitor | null {
    const kept = this.#kept.get(site.id) ?? null;
    this.#kept.delete(site.id);
    return kept;
  }
}

/** The use cases behind the page Post-hack Actions. All of them throw ConnectorError and StorageError. */
export function postHack(deps: PostHackDeps) {
  const { runner, store, commands, keepers } = deps;
  const known = new Map<SiteId, PostHackFacts>();
  return {
    /** Starts or joins. @param only files of plugins to try again, or null */
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

    /** Resolves once nobody gets in any more; mails follow. @param goOn only the mails that are left, if it stopped */
    async forcePasswordReset({
      site,
      actor,
      goOn,
    }: {
      site: SiteConfig;
      actor: Actor;
      goOn: boolean;
    }): Promise<StoredJob> {
      const kind = 'force-password-reset';
      const going = goOn ? await runner.goOn(site, kind) : null;
      return going ?? runner.startAndStep(site, async () => newPasswordReset(actor), kind);
    },

    /** @param keep the caller's browser, when its session is to stay */
    logOutUsers({ site, actor, keep }: { site: SiteConfig; actor: Actor; keep: Visitor | null }): Promise<StoredJob> {
      const make = async () => {
        keepers.put(site, keep);
        return newLogOut(actor);
      };
      return runner.startAndStep(site, make, 'log-out-users');
    },

    async jobs(site: SiteConfig): Promise<{ jobs: Job[]; facts: PostHackFacts }> {
      const jobs = await store.latest(site.id);
      // While a job runs the page asks every second, and WordPress has better things to do than to count again.
      const before = jobs.some(({ state }) => state === 'running') ? known.get(site.id) : undefined;
      const facts = before ?? (await factsOf(commands, site));
      known.set(site.id, facts);
      return { jobs: jobs.map(jobAnswer), facts };
    },
  };
}
export type PostHackActions = ReturnType<typeof postHack>;

async function factsOf(commands: Pick<PostHackCommands, 'plugins'>, site: SiteConfig): Promise<PostHackFacts> {
  try {
    const { plugins, users, sessions } = await commands.plugins(site);
    return { plugins: plugins.filter(({ kind }) => kind === 'plugin').length, users, sessions };
  } catch {
    // Extras: the page works without them, and says so itself when a start fails.
    return { plugins: null, users: null, sessions: null };
  }
}

/** A job as the contract has it. */
export function jobAnswer({ startedAt, endedAt, actor, site: _site, cursor: _cursor, ...job }: StoredJob): Job {
  return {
    ...job,
    items: [...job.items],
    summary: [...job.summary],
    started: Math.floor(startedAt / 1000),
    ended: endedAt === null ? null : Math.floor(endedAt / 1000),
    actor: actor.login,
  };
}
