import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { getDefaultCacheDir } from '../lib/cache-dir.js';
import { createPhpRunner, findNativePhpProblem, startNativePhp } from '../php/native.js';
import { createWasmPhpRunner, startWasmPhp } from '../php/wasm.js';
import { installWordPress } from '../wordpress/install.js';
import { layOutWordPress } from '../wordpress/lay-out.js';

export interface EmbeddedWordPressOptions {
  /** Folder for all data of this WordPress: files, database, logs, the owner's login. */
  readonly dataDir: string;
  /** `auto`: the system's PHP if it can run WordPress, else PHP in WebAssembly. */
  readonly php: 'auto' | 'native' | 'wasm';
  readonly wordpressVersion?: string;
  /** Public address of the site, without a slash at the end. */
  readonly siteUrl: string;
  readonly log: (line: string) => void;
}

export interface RunningWordPress {
  readonly wordpressDir: string;
  readonly release: string;
  /** Origin of the web server that runs WordPress, on loopback. */
  readonly upstream: string;
  readonly user: string;
  readonly password: string;
  readonly phpKind: 'native' | 'wasm';
  /** False after the server has ended by itself. */
  readonly running: () => boolean;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a WordPress with its database in SQLite. Installs it on first use.
 * @throws Error with a message for people: no usable PHP, no network, another version in the data folder
 */
export async function startEmbeddedWordPress(options: EmbeddedWordPressOptions): Promise<RunningWordPress> {
  const dataDir = resolve(options.dataDir);
  const wordpressDir = join(dataDir, 'wordpress');
  const phpKind = await choosePhp(options);
  for (const dir of ['logs', 'tmp', 'mail', 'run']) mkdirSync(join(dataDir, dir), { recursive: true });
  const database = { kind: 'sqlite', dir: join(dataDir, 'database'), file: '.ht.sqlite' } as const;
  const release = await layOutWordPress({ ...options, dir: wordpressDir, database });
  const wasm = { dataDir, cacheDir: getDefaultCacheDir(), log: options.log };
  const runPhp = phpKind === 'native' ? createPhpRunner(dataDir) : createWasmPhpRunner(wasm);
  const owner = await installWordPress({ wordpressDir, dataDir, siteUrl: options.siteUrl, runPhp });
  const server = await (phpKind === 'native'
    ? startNativePhp({ wordpressDir, dataDir })
    : startWasmPhp({ ...wasm, wordpressDir }));
  return {
    wordpressDir,
    release,
    upstream: server.upstream,
    user: owner.user,
    password: owner.password,
    phpKind,
    running: server.service.running,
    stop: server.service.stop,
  };
}

async function choosePhp(options: EmbeddedWordPressOptions): Promise<'native' | 'wasm'> {
  if (options.php === 'wasm') return 'wasm';
  const problem = await findNativePhpProblem();
  if (problem === null) return 'native';
  if (options.php === 'native') {
    throw new Error(`${problem}. Install PHP with pdo_sqlite (Debian: php-cli php-sqlite3 php-xml php-mbstring).`);
  }
  options.log(
    `Using PHP in WebAssembly, since ${problem}. ` +
      'With the packages php-cli php-sqlite3 php-xml php-mbstring pages come about 25 times faster.',
  );
  return 'wasm';
}
