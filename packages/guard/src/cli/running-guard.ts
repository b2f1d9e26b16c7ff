import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { configWrittenAt } from '../config/load-config.js';
import { type AppliedConfiguration, isDataDirInUse, readGuardPid, runningSites } from '../storage/data-dir-lock.js';

/**
 * How long a running guard may take to apply a changed configuration, milliseconds; thousands of new sites take
 * seconds.
 */
const APPLY_MS = 60_000;
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
 * Applies a changed configuration and prints the outcome for the operator.
 * @param options `needsGuard`: print how to start guard when it does not run
 * @returns false when guard rejects the configuration
 */
export async function printServed(dataDir: string, options: { readonly needsGuard: boolean }): Promise<boolean> {
  const applied = await applyConfiguration(dataDir);
  if (applied.kind === 'not-running') {
    if (options.needsGuard) process.stdout.write(`Start guard: security-optimizer serve --data-dir ${dataDir}\n`);
    return true;
  }
  if (applied.kind === 'restart-needed') {
    process.stdout.write('The running guard could not be told. Restart it.\n');
    return true;
  }
  const { mistakes, restartKeys } = applied.configuration;
  if (mistakes.length > 0) {
    process.stderr.write(
      `The running guard goes on with the sites it has:\n${mistakes.map((each) => `  ${each}\n`).join('')}`,
    );
    return false;
  }
  process.stdout.write('The running guard has taken it up.\n');
  if (restartKeys.length > 0) process.stdout.write(`These count after a restart: ${restartKeys.join(', ')}.\n`);
  return true;
}
