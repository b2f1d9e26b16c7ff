import { help, readOptions, UsageError } from './options.js';
import { attackTable, runAttacks, summarise } from './run.js';
import { AttackedSite } from './site.js';

/** @returns the exit code: 0 the site has held, 1 an attack got through or a twin did not work, 2 called wrongly */
export async function attack(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(help);
    return 0;
  }
  try {
    const options = await readOptions(args);
    const site = await AttackedSite.meet(options);
    process.stderr.write(`${site.states().join('\n')}\n\n`);
    const dot = ({ ok }: { ok: boolean | null }) => process.stderr.write(ok === null ? '-' : ok ? '.' : 'X');
    const results = await runAttacks(site, { groups: options.only, onResult: dot });
    process.stderr.write('\n\n');
    const summary = summarise(results);
    process.stdout.write(
      options.json ? `${JSON.stringify({ ...summary, results }, null, 2)}\n` : attackTable(results, options.all),
    );
    if (summary.held + summary.failed === 0) process.stderr.write('No attack means anything at this site.\n');
    return summary.failed === 0 && summary.held > 0 ? 0 : 1;
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n\n${help}`);
      return 2;
    }
    process.stderr.write(`${(error as Error).message}\n`);
    return 1;
  }
}
