import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type ProductionStack, startProductionStack } from '@security-optimizer/sandbox/stacks/production';
import { findPrograms } from '@security-optimizer/sandbox/stacks/programs';
import type { Bench } from '../measure.js';
import { ATTACKER } from './blocked-addresses.js';
import { startNginxPhp } from './nginx.js';
import type { Server } from './node-program.js';

const run = promisify(execFile);
const phpDir = fileURLToPath(new URL('../../php/', import.meta.url));

/** Host name of the site. WordPress redirects requests to other hosts. */
export const SITE_HOST = 'example.com';

export interface WordPress {
  readonly stack: ProductionStack;
  /** A copy without changes. */
  alone(): Promise<Server>;
  /**
   * A copy with a must-use plugin that refuses the attacker.
   * @param entries length of its blocklist
   * @param when at once, which is the earliest time for a plugin, or on `init`, as usual
   * @param php.opcache whether PHP caches compiled scripts, as with hosting providers
   */
  withPlugin(entries: number, when: 'at once' | 'init', php?: { readonly opcache: boolean }): Promise<Server>;
  /** A copy with `auto_prepend_file`, which refuses the attacker before WordPress starts. */
  withPrepend(): Promise<Server>;
}

const started = new WeakMap<Bench, Promise<WordPress>>();

/** Starts WordPress with nginx, PHP-FPM and MariaDB. All measures of a run share one installation. */
export function wordpress(bench: Bench): Promise<WordPress> {
  let site = started.get(bench);
  if (site === undefined) {
    site = start(bench);
    started.set(bench, site);
  }
  return site;
}

async function start(bench: Bench): Promise<WordPress> {
  bench.log('Starting WordPress under nginx, PHP-FPM and MariaDB.');
  const dir = join(bench.dir, 'wp');
  const stack = bench.stopAtEnd(
    await startProductionStack({ dir, siteUrl: `http://${SITE_HOST}`, log: (text) => bench.log(text) }),
  );
  const phpSocket = join(dir, 'run/php-fpm.sock');
  const copy = async (name: string) => {
    const root = join(bench.dir, name);
    await cp(stack.wordpressDir, root, { recursive: true });
    return root;
  };
  return {
    stack,
    async alone() {
      return startNginxPhp(bench, phpSocket, { root: await copy('wordpress-alone') });
    },
    async withPlugin(entries, when, { opcache } = { opcache: true }) {
      const name = `plugin_${entries}_${when.replace(' ', '_')}${opcache ? '' : '_compiled_anew'}`;
      const table = `bench_${name}`;
      const root = await copy(name);
      await mkdir(join(root, 'wp-content/mu-plugins'), { recursive: true });
      await cp(join(phpDir, 'refuse-plugin.php'), join(root, 'wp-content/mu-plugins/refuse-plugin.php'));
      await createTable(dir, table, entries);
      if (!opcache) await writeFile(join(root, '.user.ini'), 'opcache.enable = 0\n');
      return startNginxPhp(bench, phpSocket, { root, params: { BENCH_TABLE: table, BENCH_WHEN: `"${when}"` } });
    },
    async withPrepend() {
      const root = await copy('wordpress-prepend');
      await cp(join(phpDir, 'refuse-prepend.php'), join(root, 'refuse-prepend.php'));
      await writeFile(join(root, 'blocked.txt'), `${ATTACKER}\n`);
      await writeFile(join(root, '.user.ini'), `auto_prepend_file = "${root}/refuse-prepend.php"\n`);
      return startNginxPhp(bench, phpSocket, { root });
    },
  };
}

/** Creates the plugin's blocklist, the attacker last. */
async function createTable(dir: string, table: string, entries: number): Promise<void> {
  const programs = findPrograms();
  if (typeof programs === 'string') throw new Error(programs);
  const others = entries > 1 ? `INSERT INTO ${table} SELECT INET_NTOA(3325256704 + seq) FROM seq_2_to_${entries};` : '';
  const sql = `CREATE TABLE ${table} (address VARCHAR(45) NOT NULL); ${others} INSERT INTO ${table} VALUES ('${ATTACKER}')`;
  const socket = join(dir, 'run/mariadb.sock');
  await run(programs.mariadb, [
    '--no-defaults',
    `--socket=${socket}`,
    '--user=root',
    '--database=wordpress',
    '--execute',
    sql,
  ]);
}
