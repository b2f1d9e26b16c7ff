import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { configWrittenAt } from '../config/load-config.js';
import { lineText } from '../lib/plain-text.js';
import type { SiteId } from '../site.js';
import {
  type AppliedConfiguration,
  isDataDirInUse,
  readGuardPid,
  runningSites,
  type SitesInUse,
} from '../storage/data-dir-lock.js';
import { describeStart } from './start-hint.js';

/**
 * How long a running guard may take to apply a changed configuration, milliseconds; thousands of new sites take
 * seconds.
 */
const APPLY_MS = 60_000;
/** How long it may take to serve a site in quarantine again. */
const RELEASE_MS = 10_000;
/** Polling interval for the outcome that guard has recorded. */
const POLL_MS = 50;

/** What a running guard has read. */
type ReadSites = Required<SitesInUse>;

/** Outcome of a changed configuration at the guard that runs on the data folder. */
type Applied =
  | { readonly kind: 'not-running' }
  /** The signal could not be sent, or guard did not respond. */
  | { readonly kind: 'restart-needed' }
  | { readonly kind: 'read'; readonly before: ReadSites; readonly after: ReadSites };

/** Has the running guard, if any, read everything again, and waits until it has what `isRead` asks for. */
async function signalGuard(
  dataDir: string,
  isRead: (sites: ReadSites, signalledAt: bigint) => boolean,
  waitMs: number,
): Promise<Applied> {
  if (!isDataDirInUse(dataDir)) return { kind: 'not-running' };
  const before = await readSites(dataDir);
  const pid = await readGuardPid(dataDir);
  // The signal would end an older guard.
  if (before === null || pid === null) return { kind: 'restart-needed' };
  const signalledAt = process.hrtime.bigint();
  try {
    process.kill(pid, 'SIGHUP');
  } catch {
    return { kind: 'restart-needed' };
  }
  const end = performance.now() + waitMs;
  while (performance.now() < end) {
    const after = await readSites(dataDir);
    if (after !== null && isRead(after, signalledAt)) return { kind: 'read', before, after };
    if (!isDataDirInUse(dataDir)) return { kind: 'not-running' };
    await sleep(POLL_MS);
  }
  return { kind: 'restart-needed' };
}

/** Whether guard began to read after a signal; null for an older guard, which does not tell. */
function isReadSince({ readAt }: AppliedConfiguration, signalledAt: bigint): boolean | null {
  return readAt === undefined ? null : BigInt(readAt) > signalledAt;
}

/** Null for a guard that does not follow changes of its configuration. */
async function readSites(dataDir: string): Promise<ReadSites | null> {
  const sites = await runningSites(dataDir);
  return sites?.configuration === undefined ? null : { ...sites, configuration: sites.configuration };
}

/**
 * Has a running guard look again at a site in quarantine, and prints the outcome for the operator. Prints nothing when
 * it is in none.
 *
 * @returns whether it is still in quarantine
 */
export async function printQuarantine(dataDir: string, site: SiteId): Promise<boolean> {
  if (!isDataDirInUse(dataDir) || (await runningSites(dataDir))?.quarantined.includes(site) !== true) return false;
  const applied = await signalGuard(
    dataDir,
    ({ quarantined, configuration }, signalledAt) =>
      !quarantined.includes(site) || isReadSince(configuration, signalledAt) === true,
    RELEASE_MS,
  );
  if (applied.kind === 'not-running') return false;
  if (applied.kind === 'restart-needed') {
    process.stdout.write(NOT_TOLD);
    return false;
  }
  printReleased(applied);
  return printQuarantined(applied, [site]);
}

/** Names the sites that guard serves again. */
function printReleased({ before, after }: Applied & { readonly kind: 'read' }): void {
  const released = before.quarantined.filter((id) => after.served.includes(id));
  if (released.length > 0) process.stdout.write(`The running guard serves ${nameSome(released)} again.\n`);
}

/** @returns whether one of the sites is in quarantine */
function printQuarantined({ after }: Applied & { readonly kind: 'read' }, sites: readonly SiteId[]): boolean {
  const held = sites.filter((id) => after.quarantined.includes(id));
  for (const id of held.slice(0, MAX_NAMED)) {
    process.stderr.write(`The site ${id} is still in quarantine; \`doctor ${id}\` tells why.\n`);
  }
  if (held.length > MAX_NAMED) process.stderr.write(`${held.length} sites are in quarantine; \`status\` tells why.\n`);
  return held.length > 0;
}

/** Maximum number of sites that a message names. */
const MAX_NAMED = 10;

function nameSome(sites: readonly SiteId[]): string {
  const named = sites.slice(0, MAX_NAMED).join(', ');
  return sites.length <= MAX_NAMED ? named : `${named} and ${sites.length - MAX_NAMED} more`;
}

const NOT_TOLD = 'The running guard could not be told. Restart it.\n';

/**
 * Has the running guard, if any, read the changed configuration file again, and prints the outcome for the operator.
 *
 * @param options `needsGuard`: print how to start guard when it does not run; `sites`: those that the command brought
 *   up to date, so that guard should serve them
 * @returns false when guard rejects the configuration, or does not serve one of these sites
 * @throws ConfigError when the file can't be read
 */
export async function printServed(
  folder: string,
  options: { readonly needsGuard: boolean; readonly sites?: readonly SiteId[] },
): Promise<boolean> {
  const dataDir = resolve(folder);
  const writtenAt = isDataDirInUse(dataDir) ? BigInt(await configWrittenAt({ dataDir })) : 0n;
  const applied = await signalGuard(
    dataDir,
    // A command may have changed a key alone, and not the file.
    ({ configuration }, signalledAt) =>
      BigInt(configuration.writtenAt) >= writtenAt && isReadSince(configuration, signalledAt) !== false,
    APPLY_MS,
  );
  if (applied.kind === 'not-running') {
    if (options.needsGuard) process.stdout.write(describeStart(folder));
    return true;
  }
  if (applied.kind === 'restart-needed') {
    process.stdout.write(NOT_TOLD);
    return true;
  }
  const { mistakes, restartKeys, kept = [] } = applied.after.configuration;
  if (mistakes.length > 0) {
    process.stderr.write(
      `The running guard goes on with the sites it has:\n${mistakes.map((each) => `  ${lineText(each)}\n`).join('')}`,
    );
    return false;
  }
  process.stdout.write('The running guard has taken it up.\n');
  printReleased(applied);
  for (const { id, reason } of kept) {
    process.stderr.write(
      `The site ${id} keeps its last valid entry until guard is started again: ${lineText(reason)}\n`,
    );
  }
  if (restartKeys.length > 0) process.stdout.write(`These count after a restart: ${restartKeys.join(', ')}.\n`);
  return !printQuarantined(applied, options.sites ?? []);
}
