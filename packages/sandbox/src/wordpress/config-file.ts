import { randomInt } from 'node:crypto';

/** Database of WordPress: a file of the SQLite integration, or a MySQL or MariaDB server. */
export type DatabaseSettings =
  | { readonly kind: 'sqlite'; readonly dir: string; readonly file: string }
  | {
      readonly kind: 'mysql';
      readonly name: string;
      readonly user: string;
      readonly password: string;
      /** Value of `DB_HOST`: `localhost:<socket path>` or `host:port`. */
      readonly host: string;
    };

const SALT_NAMES = ['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'].flatMap((name) => [`${name}_KEY`, `${name}_SALT`]);
const SALT_CHARACTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:;()[]{}<>~+=*/@#%^&|';

/** Formats a new wp-config.php. `random(n)` returns an integer from 0 to n - 1. */
export function formatConfigFile(
  database: DatabaseSettings,
  siteUrl: string,
  random: (below: number) => number = (below) => randomInt(below),
): string {
  const values: [string, string | boolean][] = [
    ...getDatabaseValues(database),
    ...SALT_NAMES.map((name): [string, string] => [name, createSalt(random)]),
    ['WP_HOME', siteUrl],
    ['WP_SITEURL', siteUrl],
    ['WP_DEBUG', false],
    ['AUTOMATIC_UPDATER_DISABLED', true],
    ['WP_AUTO_UPDATE_CORE', false],
    // Without a network each page of wp-admin would wait for wordpress.org. Requests of cron to the site itself are allowed.
    ['WP_HTTP_BLOCK_EXTERNAL', true],
    ['WP_ACCESSIBLE_HOSTS', 'localhost,127.0.0.1,[::1]'],
    ['FS_METHOD', 'direct'],
  ];
  return [
    '<?php',
    ...values.map(([name, value]) => formatDefine(name, value)),
    "$table_prefix = 'wp_';",
    '',
    "if ( ! defined( 'ABSPATH' ) ) {",
    "\tdefine( 'ABSPATH', __DIR__ . '/' );",
    '}',
    "require_once ABSPATH . 'wp-settings.php';",
    '',
  ].join('\n');
}

/** Replaces the address of the site in a wp-config.php. All other lines stay unchanged. */
export function replaceSiteUrl(config: string, siteUrl: string): string {
  let text = config;
  for (const name of ['WP_HOME', 'WP_SITEURL']) {
    const line = new RegExp(`^define\\( '${name}', .*$`, 'm');
    if (!line.test(text))
      throw new Error(`wp-config.php has no line for ${name}; remove the file to have it made anew`);
    text = text.replace(line, () => formatDefine(name, siteUrl));
  }
  return text;
}

function getDatabaseValues(database: DatabaseSettings): [string, string][] {
  if (database.kind === 'sqlite') {
    return [
      ['DB_ENGINE', 'sqlite'],
      ['DB_DIR', database.dir],
      ['DB_FILE', database.file],
      // WordPress needs the constants of a MySQL database even if it does not use them.
      ['DB_NAME', 'wordpress'],
      ['DB_USER', ''],
      ['DB_PASSWORD', ''],
      ['DB_HOST', ''],
      ['DB_CHARSET', 'utf8mb4'],
      ['DB_COLLATE', ''],
    ];
  }
  return [
    ['DB_NAME', database.name],
    ['DB_USER', database.user],
    ['DB_PASSWORD', database.password],
    ['DB_HOST', database.host],
    ['DB_CHARSET', 'utf8mb4'],
    ['DB_COLLATE', ''],
  ];
}

function createSalt(random: (below: number) => number): string {
  return Array.from({ length: 64 }, () => SALT_CHARACTERS.charAt(random(SALT_CHARACTERS.length))).join('');
}

function formatDefine(name: string, value: string | boolean): string {
  return `define( '${name}', ${typeof value === 'string' ? toPhpString(value) : value} );`;
}

/** A PHP string literal in single quotes. */
function toPhpString(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
