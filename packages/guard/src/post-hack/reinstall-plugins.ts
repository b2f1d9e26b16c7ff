import type { Actor } from '../settings/audit-store.js';
import type { SiteConfig } from '../site.js';
import type { InstalledPlugins, PluginDirectory, PostHackCommands } from '../wordpress/connector-commands.js';
import { reinstallReason, reinstallSummary } from './job-labels.js';
import type { NewJob, Step } from './job-runner.js';
import type { StoredItem, StoredJob } from './jobs-store.js';

export interface ReinstallContext {
  readonly commands: Pick<PostHackCommands, 'reinstallPlugin'>;
  readonly directory: PluginDirectory;
}

/**
 * `outside`: number of must-use plugins and drop-ins. They are not from the plugin directory, and the page does not
 * count them.
 */
type Cursor = { readonly outside: number } | null;

/**
 * Creates a reinstallation job with one item for each plugin that `isReinstallable` counts.
 * @param wanted `only`: files of plugins to retry, or null for all; `before`: items of the last job, kept for plugins
 * that are not retried
 * @throws ConnectorError
 */
export async function newReinstallation(
  deps: { readonly commands: Pick<PostHackCommands, 'plugins'> },
  wanted: {
    readonly site: SiteConfig;
    readonly actor: Actor;
    readonly only: readonly string[] | null;
    readonly before: readonly StoredItem[];
  },
): Promise<NewJob> {
  const { only, before, actor } = wanted;
  const { plugins } = await deps.commands.plugins(wanted.site);
  const own = plugins.filter(isReinstallable);
  const again = own.filter(({ file }) => only === null || only.includes(file)).map(toItem);
  const others = only === null ? [] : before.filter(isOver).filter(({ id }) => !only.includes(id));
  const order = new Map(before.map(({ id }, position) => [id, position]));
  const getPosition = ({ id }: StoredItem) => order.get(id) ?? before.length;
  const items = [...again, ...others].sort((a, b) => (only === null ? 0 : getPosition(a) - getPosition(b)));
  const cursor: Cursor = { outside: plugins.length - own.length };
  return { kind: 'reinstall-plugins', actor, cursor, items, total: items.length };
}

/** Whether a reinstallation includes a plugin. The page announces the same plugins as the job lists. */
export function isReinstallable({ kind }: InstalledPlugins['plugins'][number]): boolean {
  return kind === 'plugin';
}

function toItem({ file, name, version }: InstalledPlugins['plugins'][number]): StoredItem {
  return { id: file, name, version, files: [], state: 'waiting', reason: '' };
}

/** Reinstalls one plugin in two steps: the first marks it as running, so that the page shows it. */
export function reinstallStep(deps: ReinstallContext): Step {
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
      refused_file: refused,
    } = await deps.commands.reinstallPlugin(site, running.id, deps.directory);
    // Nothing is known about this plugin, so it has not failed either.
    const state = reason === 'directory_unreachable' ? 'unchecked' : result;
    return withItem(job, { ...running, state, reason: reinstallReason(reason, changed, refused), files });
  };
}

function withItem(job: StoredJob, item: StoredItem): StoredJob {
  const items = job.items.map((other) => (other.id === item.id ? item : other));
  return { ...job, items, done: items.filter(isOver).length };
}

function isOver({ state }: StoredItem): boolean {
  return state !== 'waiting' && state !== 'running';
}

function finished(job: StoredJob): StoredJob {
  const { outside } = (job.cursor as Cursor) ?? { outside: 0 };
  return { ...job, state: 'done', done: job.items.length, summary: reinstallSummary(job.items, outside) };
}
