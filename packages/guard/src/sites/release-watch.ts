import { realpath } from 'node:fs/promises';
import type { Logger } from '../lib/logger.js';
import type { SiteConfig, SiteId } from '../site.js';
import { findBareRelease } from '../wordpress/installed-releases.js';

/** Pause between two rounds, milliseconds. */
const ROUND_MS = 2000;
/** Sites that are looked at in one round; with more of them, the rest follow in the next rounds. */
const SITES_A_ROUND = 200;

export interface ReleaseWatch {
  /** Looks at the next sites. Never throws. */
  runRound(): Promise<void>;
  start(): void;
  stop(): void;
}

/**
 * Notices within seconds that the path of a site leads to another release: whether its WordPress has a connector is not
 * to be found out by the next round of checks, since until then visitors could go past guard. It looks at links alone and
 * sends no request; one folder is looked at after the other, so that a file system that hangs holds up no more than this.
 *
 * @param deps `onChanged`: the path leads elsewhere, or the connector was installed where it leads
 */
export function createReleaseWatch(deps: {
  readonly dataDir: string;
  readonly sites: Iterable<SiteConfig>;
  readonly onChanged: (site: SiteConfig) => void;
  readonly logger: Logger;
}): ReleaseWatch {
  const { dataDir, sites, onChanged, logger } = deps;
  /** Where the path of each site led when it was looked at last. */
  const releases = new Map<SiteId, string>();
  /** Sites whose release lacks the connector. */
  const bare = new Set<SiteId>();
  let queue: SiteConfig[] = [];
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function look(site: SiteConfig): Promise<void> {
    const path = site.wordpressDir as string;
    const release = await realpath(path).catch(() => null);
    if (release === null) return;
    const before = releases.get(site.id);
    if (before === release && !bare.has(site.id)) return;
    releases.set(site.id, release);
    const isBare = (await findBareRelease(dataDir, site.id, path)) !== null;
    if (stopped) return;
    const wasBare = before === release && bare.has(site.id);
    if (isBare) bare.add(site.id);
    else bare.delete(site.id);
    if (isBare && !wasBare) {
      logger.error(
        { event: 'release-without-connector', site: site.id, path, release },
        'The site runs a release without the connector: what only WordPress can enforce is not enforced, and direct requests are answered. Run `security-optimizer attach --all` after each deployment.',
      );
    }
    if ((before !== undefined && before !== release) || wasBare !== isBare) onChanged(site);
  }

  async function runRound(): Promise<void> {
    if (queue.length === 0) {
      queue = [...sites].filter(({ wordpressDir }) => wordpressDir !== null);
      const known = new Set(queue.map(({ id }) => id));
      for (const id of releases.keys()) if (!known.has(id)) releases.delete(id);
      for (const id of bare) if (!known.has(id)) bare.delete(id);
    }
    for (const site of queue.splice(0, SITES_A_ROUND)) {
      if (stopped) return;
      await look(site);
    }
  }

  const schedule = () => {
    timer = setTimeout(async () => {
      await runRound();
      if (!stopped) schedule();
    }, ROUND_MS);
    timer.unref();
  };

  return {
    runRound,
    start() {
      void runRound().then(() => {
        if (!stopped) schedule();
      });
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
