import { realpath } from 'node:fs/promises';
import type { Logger } from '../lib/logger.js';
import type { SiteConfig, SiteId } from '../site.js';
import { findReleaseWithoutConnector } from '../wordpress/installed-releases.js';

/** Pause between two rounds, milliseconds. */
const INTERVAL_MS = 2000;
/** Limit of sites that are checked in one round. Further sites are checked in the next rounds. */
const SITES_PER_RUN = 200;

export interface ReleaseWatch {
  /** Checks the next sites. Never throws. */
  runRound(): Promise<void>;
  start(): void;
  stop(): void;
}

/**
 * Detects within seconds that the path of a site leads to another release. The next round of health checks would be too
 * late to find a WordPress without a connector, since until then visitors could bypass guard. It reads links only and
 * sends no request. It checks one folder after the other, so that a file system that hangs delays nothing else.
 *
 * @param deps `onChanged`: the path leads to another release, or the connector was installed in the current one
 */
export function createReleaseWatch(deps: {
  readonly dataDir: string;
  readonly sites: Iterable<SiteConfig>;
  readonly onChanged: (site: SiteConfig) => void;
  readonly logger: Logger;
}): ReleaseWatch {
  const { dataDir, sites, onChanged, logger } = deps;
  /** The last known target of each site's path. */
  const releases = new Map<SiteId, string>();
  /** Sites whose release lacks the connector. */
  const lacking = new Set<SiteId>();
  let queue: SiteConfig[] = [];
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function checkSite(site: SiteConfig): Promise<void> {
    const path = site.wordpressDir as string;
    const release = await realpath(path).catch(() => null);
    if (release === null) return;
    const before = releases.get(site.id);
    if (before === release && !lacking.has(site.id)) return;
    releases.set(site.id, release);
    const isLacking = (await findReleaseWithoutConnector(dataDir, site.id, path)) !== null;
    if (stopped) return;
    const wasLacking = before === release && lacking.has(site.id);
    if (isLacking) lacking.add(site.id);
    else lacking.delete(site.id);
    if (isLacking && !wasLacking) {
      logger.error(
        { event: 'release-without-connector', site: site.id, path, release },
        'The site runs a release without the connector: what only WordPress can enforce is not enforced, and direct requests are answered. Run `security-optimizer attach --all` after each deployment.',
      );
    }
    if ((before !== undefined && before !== release) || wasLacking !== isLacking) onChanged(site);
  }

  async function runRound(): Promise<void> {
    if (queue.length === 0) {
      queue = [...sites].filter(({ wordpressDir }) => wordpressDir !== null);
      const known = new Set(queue.map(({ id }) => id));
      for (const id of releases.keys()) if (!known.has(id)) releases.delete(id);
      for (const id of lacking) if (!known.has(id)) lacking.delete(id);
    }
    for (const site of queue.splice(0, SITES_PER_RUN)) {
      if (stopped) return;
      await checkSite(site);
    }
  }

  const schedule = () => {
    timer = setTimeout(async () => {
      await runRound();
      if (!stopped) schedule();
    }, INTERVAL_MS);
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
