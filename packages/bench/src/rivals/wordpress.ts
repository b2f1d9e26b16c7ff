import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startPhpFpm } from '@security-optimizer/sandbox/stacks/php-fpm';
import { type ProductionStack, startProductionStack } from '@security-optimizer/sandbox/stacks/production';
import { findPrograms } from '@security-optimizer/sandbox/stacks/programs';
import type { Bench } from '../measure.js';
import { ATTACKER } from './blocked-addresses.js';
import { startNginxPhp } from './nginx.js';
import type { Server } from './node-program.js';

const run = promisify(execFile);
const phpDir = fileURLToPath(new URL('../../php/', import.meta.url));

/** The host name that the site answers to; load must carry it, or WordPress redirects. */
export const SITE_HOST = 'example.com';

/** How PHP runs, where it is not as hosts have it. */
export interface HowPhpRuns {
  /** Whether PHP keeps compiled scripts; it does unless told otherwise. */
  readonly opcache?: boolean;
  /** Whether a single process of PHP does all the work, as one of guard's does; 8 of them unless told otherwise. */
  readonly alone?: boolean;
}

export interface WordPress {
  readonly stack: ProductionStack;
  /** WordPress as it comes. */
  alone(): Promise<Server>;
  /**
   * A copy with a must-use plugin that refuses the attacker, its list holding so many entries.
   * @param when at once, which no plugin can do earlier, or on `init`, as ordinary plugins do
   */
  withPlugin(entries: number, when: 'at once' | 'init', how?: HowPhpRuns): Promise<Server>;
  /** A copy in front of which PHP itself refuses the attacker. */
  withPrepend(): Promise<Server>;
}

const started = new WeakMap<Bench, Promise<WordPress>>();

/** WordPress under nginx, PHP-FPM and MariaDB; one installation serves all measures of a run. */
export function wordpress(bench: Bench): Promise<WordPress> {
  let site = started.get(bench);
  if (site === undefined) {
    site = start(bench);
    started.set(bench, site);
  }
  return site;
}

async function start(bench: Bench): Promise<WordPress> {
  bench.say('Starting WordPress under nginx, PHP-FPM and MariaDB.');
  const dir = join(bench.dir, 'wp');
  const stack = bench.keep(
    await startProductionStack({ dir, siteUrl: `http://${SITE_HOST}`, log: (text) => bench.say(text) }),
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
    async withPlugin(entries, when, { opcache = true, alone = false } = {}) {
      const how = `${opcache ? '' : '_compiled_anew'}${alone ? '_one_process' : ''}`;
      const name = `plugin_${entries}_${when.replace(' ', '_')}${how}`;
      const table = `bench_${name}`;
      const root = await copy(name);
      await mkdir(join(root, 'wp-content/mu-plugins'), { recursive: true });
      await cp(join(phpDir, 'refuse-plugin.php'), join(root, 'wp-content/mu-plugins/refuse-plugin.php'));
      await makeTable(dir, table, entries);
      if (!opcache) await writeFile(join(root, '.user.ini'), 'opcache.enable = 0\n');
      const socket = alone ? await startOneProcess(bench) : phpSocket;
      return startNginxPhp(bench, socket, { root, params: { BENCH_TABLE: table, BENCH_WHEN: `"${when}"` } });
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

/** PHP-FPM with a single process. Returns its socket. */
async function startOneProcess(bench: Bench): Promise<string> {
  const programs = findPrograms();
  if (typeof programs === 'string') throw new Error(programs);
  const dir = join(bench.dir, 'one-process');
  for (const name of ['run', 'logs', 'tmp', 'mail']) await mkdir(join(dir, name), { recursive: true });
  const socket = join(dir, 'run/php-fpm.sock');
  bench.keep(await startPhpFpm(programs.phpFpm, { dir, socket, asRoot: process.getuid?.() === 0, processes: 1 }));
  return socket;
}

/** The plugin's list, the attacker last. */
async function makeTable(dir: string, table: string, entries: number): Promise<void> {
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
