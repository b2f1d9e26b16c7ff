import type { JobItem } from '@security-optimizer/contract/post-hack';
import type { SiteConfig } from '../site.js';
import type { Actor } from '../storage/settings-store.js';
import type { InstalledPlugins, PluginDirectory, PostHackCommands } from '../wordpress/post-hack-commands.js';
import type { StoredJob } from './job.js';
import type { NewJob, Step } from './job-runner.js';
import { reinstallReason, reinstallSummary } from './job-words.js';

export interface ReinstallDeps {
  readonly commands: Pick<PostHackCommands, 'reinstallPlugin'>;
  readonly directory: PluginDirectory;
}

/**
 * What a reinstallation begins with: every plugin, those that can't come from the directory skipped already.
 * @param only files of plugins to try again, or null for all
 * @param before what the last one did: kept for the plugins that are not tried again
 * @throws ConnectorError
 */
export async function newReinstallation(
  deps: { readonly commands: Pick<PostHackCommands, 'plugins'> },
  wanted: {
    readonly site: SiteConfig;
    readonly actor: Actor;
    readonly only: readonly string[] | null;
    readonly before: readonly JobItem[];
  },
): Promise<NewJob> {
  const { only, before, actor } = wanted;
  const { plugins } = await deps.commands.plugins(wanted.site);
  const again = plugins.filter(({ file }) => only === null || only.includes(file)).map(itemOf);
  const others = only === null ? [] : before.filter(isOver).filter(({ id }) => !only.includes(id));
  const order = new Map(before.map(({ id }, place) => [id, place]));
  const placeOf = ({ id }: JobItem) => order.get(id) ?? before.length;
  const items = [...again, ...others].sort((a, b) => (only === null ? 0 : placeOf(a) - placeOf(b)));
  return { kind: 'reinstall-plugins', actor, cursor: null, items, total: items.length };
}

function itemOf({ file, name, version, kind }: InstalledPlugins['plugins'][number]): JobItem {
  const item = { id: file, name, version, files: [] };
  if (kind === 'plugin') return { ...item, state: 'waiting', reason: '' };
  return { ...item, state: 'skipped', reason: reinstallReason(kind) };
}

/** One plugin at a time: first it is marked as running, so that the page shows it, then it is done. */
export function reinstallStep(deps: ReinstallDeps): Step {
  return async (site, job) => {
    const running = job.items.find(({ state }) => state === 'running');
    if (running === undefined) {
      const next = job.items.find(({ state }) => state === 'waiting');
      return next === undefined ? finished(job) : withItem(job, { ...next, state: 'running' });
    }
    const {
      result,
      reason,
      unknown_files: files,
      changed_files: changed,
    } = await deps.commands.reinstallPlugin(site, running.id, deps.directory);
    return withItem(job, { ...running, state: result, reason: reinstallReason(reason, changed), files });
  };
}

function withItem(job: StoredJob, item: JobItem): StoredJob {
  const items = job.items.map((other) => (other.id === item.id ? item : other));
  return { ...job, items, done: items.filter(isOver).length };
}

function isOver({ state }: JobItem): boolean {
  return state !== 'waiting' && state !== 'running';
}

function finished(job: StoredJob): StoredJob {
  return { ...job, state: 'done', done: job.items.length, summary: reinstallSummary(job.items) };
}
