import type { Config } from '../config/config.js';
import { describeDatabase, withoutPassword } from '../config/database-url.js';
import { DATABASE, findDatabaseInEnvironment } from '../config/load-config.js';
import { isDataDirInUse, runningSites } from '../storage/data-dir-lock.js';
import { CommandError } from './command.js';

type UsedDatabase = Pick<Config, 'dataDir' | 'database'>;

/**
 * Whether the running guard has another database than a command, which lacks guard's environment. What the command
 * stored or deleted there would have no effect on guard.
 *
 * @returns a sentence for the operator; null when both have the same, or guard does not run
 */
export async function findOtherDatabase({ dataDir, database }: UsedDatabase): Promise<string | null> {
  const running = isDataDirInUse(dataDir) ? await runningSites(dataDir) : null;
  const named = findDatabaseInEnvironment(running?.configuration?.environment ?? []);
  if (named === null || named === withoutPassword(database)) return null;
  return `The running guard has its settings in ${describeDatabase(named)}, by its variable ${DATABASE}, and this command looks in ${describeDatabase(database)}. Call it with the same variable.`;
}

/** @throws CommandError when the running guard has another database */
export async function refuseOtherDatabase(used: UsedDatabase): Promise<void> {
  const other = await findOtherDatabase(used);
  if (other !== null) throw new CommandError(`${other} Nothing was changed.`);
}
