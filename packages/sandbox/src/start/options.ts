import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  currentWordPressVersion,
  defaultWordPressVersion,
  findWordPressSource,
  packagedVersions,
} from '../wordpress/versions.js';

export interface StartOptions {
  readonly host: string;
  /** Null: 8080, or the next free port. */
  readonly port: number | null;
  readonly dataDir: string;
  readonly php: 'auto' | 'native' | 'wasm';
  /** Null: the version in the data folder, else the current one if it is available, else the packaged one. */
  readonly wordpressVersion: string | null;
  readonly fresh: boolean;
  readonly json: boolean;
  readonly help: boolean;
}

/** A mistake on the command line. Its message is for the person who typed it. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export const usage = `Starts a WordPress with Security Optimizer in front, for trial.

  npm start -- [options]

  --port NUMBER               port to listen on (default 8080, or the next free one)
  --host ADDRESS              address to listen on (default 127.0.0.1, this machine only)
  --data-dir DIR              where the site is kept (default .data in this folder)
  --php native|wasm           the system's PHP, or PHP in WebAssembly (default: native when it works)
  --wordpress-version VERSION ${packagedVersions.join(', ')}, or a release of wordpress.org such as 6.7.1
                              (default: the one in the data folder; for a new site ${currentWordPressVersion}, or
                              ${defaultWordPressVersion} where wordpress.org cannot be reached)
  --fresh                     delete the site in the data folder first and start over
  --json                      print {"url","adminUrl","user","password"} as one line when ready
  --help                      show this text
`;

/** Parses the command line. @throws UsageError that names the option and its allowed values */
export function parseOptions(args: readonly string[], defaultDataDir: string): StartOptions {
  const values = parseValues(args);
  const dataDir = values['data-dir'] ?? defaultDataDir;
  if (dataDir === '') throw new UsageError('--data-dir takes the path of a folder.');
  return {
    host: parseHost(values.host ?? '127.0.0.1'),
    port: values.port === undefined ? null : parsePort(values.port),
    dataDir: resolve(dataDir),
    php: parsePhp(values.php),
    wordpressVersion: parseVersion(values['wordpress-version']),
    fresh: values.fresh ?? false,
    json: values.json ?? false,
    help: values.help ?? false,
  };
}

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        'data-dir': { type: 'string' },
        php: { type: 'string' },
        'wordpress-version': { type: 'string' },
        fresh: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    // The first sentence names the option. The rest explains Node's rules about dashes.
    throw new UsageError(`${(error as Error).message.split(/\. |\n/)[0]}. See npm start -- --help.`);
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65535) {
    throw new UsageError(`--port takes a whole number from 1 to 65535, not '${text}'.`);
  }
  return port;
}

function parseHost(text: string): string {
  const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
  const isName = new RegExp(`^${label}(\\.${label})*$`, 'i').test(text) && !/^[\d.]+$/.test(text);
  if (isIP(text) === 0 && !isName) {
    throw new UsageError(`--host takes an IP address or a host name without a port, not '${text}'.`);
  }
  return text;
}

function parsePhp(text: string | undefined): StartOptions['php'] {
  if (text === undefined) return 'auto';
  if (text !== 'native' && text !== 'wasm') throw new UsageError(`--php takes native or wasm, not '${text}'.`);
  return text;
}

function parseVersion(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (findWordPressSource(text) === null) {
    throw new UsageError(
      `--wordpress-version takes ${packagedVersions.join(', ')}, or a release such as 6.7.1, not '${text}'.`,
    );
  }
  return text;
}
