import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { configWrittenAt } from '../config/load-config.js';
import type { SiteId } from '../site.js';
import { type AppliedConfiguration, isDataDirInUse, readGuardPid, runningSites } from '../storage/data-dir-lock.js';
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

/** Outcome of a changed configuration at the guard that runs on the data folder. */
export type Applied =
  | { readonly kind: 'not-running' }
  /** The signal could not be sent, or guard did not respond. */
  | { readonly kind: 'restart-needed' }
  | { readonly kind: 'read'; readonly configuration: AppliedConfiguration };

/**
 * Has the running guard, if any, read the configuration file again, and waits until it has.
 * @throws ConfigError when the file can't be read
 */
export async function applyConfiguration(folder: string): Promise<Applied> {
  const dataDir = resolve(folder);
  if (!isDataDirInUse(dataDir)) return { kind: 'not-running' };
  const writtenAt = BigInt(await configWrittenAt({ dataDir }));
  const before = (await runningSites(dataDir))?.configuration;
  const pid = await readGuardPid(dataDir);
  // The signal would end an older guard.
  if (before === undefined || pid === null) return { kind: 'restart-needed' };
  try {
    process.kill(pid, 'SIGHUP');
  } catch {
    return { kind: 'restart-needed' };
  }
  const end = performance.now() + APPLY_MS;
  while (performance.now() < end) {
    const configuration = (await runningSites(dataDir))?.configuration;
    if (configuration !== undefined && BigInt(configuration.writtenAt) >= writtenAt) {
      return { kind: 'read', configuration };
    }
    if (!isDataDirInUse(dataDir)) return { kind: 'not-running' };
    await sleep(POLL_MS);
  }
  return { kind: 'restart-needed' };
}

/**
 * Has a running guard look again at a site in quarantine, and prints the outcome for the operator. Prints nothing when
 * it is in none.
 *
 * @returns whether it is still in quarantine
 */
export async function printQuarantine(dataDir: string, site: SiteId): Promise<boolean> {
  const isQuarantined = async () =>
    isDataDirInUse(dataDir) && (await runningSites(dataDir))?.quarantined.includes(site) === true;
  const pid = (await isQuarantined()) ? await readGuardPid(dataDir) : null;
  if (pid === null) return false;
  process.kill(pid, 'SIGHUP');
  const end = performance.now() + RELEASE_MS;
  while (performance.now() < end) {
    if (!(await isQuarantined())) {
      process.stdout.write(`The running guard serves ${site} again.\n`);
      return false;
    }
    await sleep(POLL_MS);
  }
  process.stderr.write(`The site ${site} is still in quarantine; \`doctor ${site}\` tells why.\n`);
  return true;
}

/**
 * Applies a changed configuration and prints the outcome for the operator.
 * @param options `needsGuard`: print how to start guard when it does not run
 * @returns false when guard rejects the configuration
 */
export async function printServed(dataDir: string, options: { readonly needsGuard: boolean }): Promise<boolean> {
  const applied = await applyConfiguration(dataDir);
  if (applied.kind === 'not-running') {
    if (options.needsGuard) process.stdout.write(describeStart(dataDir));
    return true;
  }
  if (applied.kind === 'restart-needed') {
    process.stdout.write('The running guard could not be told. Restart it.\n');
    return true;
  }
  const { mistakes, restartKeys, kept = [] } = applied.configuration;
  if (mistakes.length > 0) {
    process.stderr.write(
      `The running guard goes on with the sites it has:\n${mistakes.map((each) => `  ${each}\n`).join('')}`,
    );
    return false;
  }
  process.stdout.write('The running guard has taken it up.\n');
  for (const { id, reason } of kept) {
    process.stderr.write(`The site ${id} keeps its last valid entry until guard is started again: ${reason}\n`);
  }
  if (restartKeys.length > 0) process.stdout.write(`These count after a restart: ${restartKeys.join(', ')}.\n`);
  return true;
}
