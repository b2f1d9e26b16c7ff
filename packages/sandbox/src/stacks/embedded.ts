import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defaultCacheDir } from '../lib/cache-dir.js';
import { nativePhpProblem, startNativePhp, systemPhpRunner } from '../php/native.js';
import { startWasmPhp, wasmPhpRunner } from '../php/wasm.js';
import { installWordPress } from '../wordpress/install.js';
import { layOutWordPress } from '../wordpress/lay-out.js';

export interface EmbeddedWordPressOptions {
  /** Folder for everything this WordPress keeps: files, database, logs, the owner's login. */
  readonly dataDir: string;
  /** `auto` takes the system's PHP when it can run WordPress, else PHP compiled to WebAssembly. */
  readonly php: 'auto' | 'native' | 'wasm';
  readonly wordpressVersion?: string;
  /** Address under which visitors see the site, without a slash at the end. */
  readonly siteUrl: string;
  readonly log: (line: string) => void;
  readonly cacheDir?: string;
}

export interface RunningWordPress {
  readonly wordpressDir: string;
  readonly release: string;
  /** Origin of WordPress's own web server, on loopback. */
  readonly upstream: string;
  readonly user: string;
  readonly password: string;
  readonly phpKind: 'native' | 'wasm';
  /** False once the server has ended by itself. */
  readonly running: () => boolean;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a real WordPress with its database in SQLite, installing it on first use.
 * Throws with a message for people: no usable PHP, no network, another version in the data folder.
 */
export async function startEmbeddedWordPress(options: EmbeddedWordPressOptions): Promise<RunningWordPress> {
  const dataDir = resolve(options.dataDir);
  const wordpressDir = join(dataDir, 'wordpress');
  const phpKind = await choosePhp(options);
  for (const dir of ['logs', 'tmp', 'mail', 'run']) mkdirSync(join(dataDir, dir), { recursive: true });
  const database = { kind: 'sqlite', dir: join(dataDir, 'database'), file: '.ht.sqlite' } as const;
  const release = await layOutWordPress({ ...options, dir: wordpressDir, database });
  const wasm = { dataDir, cacheDir: options.cacheDir ?? defaultCacheDir(), log: options.log };
  const runPhp = phpKind === 'native' ? systemPhpRunner(dataDir) : wasmPhpRunner(wasm);
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
  const problem = await nativePhpProblem();
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
