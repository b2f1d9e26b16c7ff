import { randomInt } from 'node:crypto';

/** Where WordPress keeps its data: a file through the SQLite integration, or a MySQL or MariaDB server. */
export type DatabaseSettings =
  | { readonly kind: 'sqlite'; readonly dir: string; readonly file: string }
  | {
      readonly kind: 'mysql';
      readonly name: string;
      readonly user: string;
      readonly password: string;
      /** As `DB_HOST` wants it: `localhost:<socket path>` or `host:port`. */
      readonly host: string;
    };

const saltNames = ['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'].flatMap((name) => [`${name}_KEY`, `${name}_SALT`]);
const saltLetters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:;()[]{}<>~+=*/@#%^&|';

/** Text of a new wp-config.php. `random(n)` gives a whole number from 0 to n - 1. */
export function configFile(
  database: DatabaseSettings,
  siteUrl: string,
  random: (below: number) => number = (below) => randomInt(below),
): string {
  const values: [string, string | boolean][] = [
    ...databaseValues(database),
    ...saltNames.map((name): [string, string] => [name, salt(random)]),
    ['WP_HOME', siteUrl],
    ['WP_SITEURL', siteUrl],
    ['WP_DEBUG', false],
    ['AUTOMATIC_UPDATER_DISABLED', true],
    ['WP_AUTO_UPDATE_CORE', false],
    // Without a network each page of wp-admin would wait for wordpress.org; cron's calls to the site itself go through.
    ['WP_HTTP_BLOCK_EXTERNAL', true],
    ['WP_ACCESSIBLE_HOSTS', 'localhost,127.0.0.1,[::1]'],
    ['FS_METHOD', 'direct'],
  ];
  return [
    '<?php',
    ...values.map(([name, value]) => define(name, value)),
    "$table_prefix = 'wp_';",
    '',
    "if ( ! defined( 'ABSPATH' ) ) {",
    "\tdefine( 'ABSPATH', __DIR__ . '/' );",
    '}',
    "require_once ABSPATH . 'wp-settings.php';",
    '',
  ].join('\n');
}

/** The same wp-config.php for another address of the site; every other line stays as it is. */
export function withSiteUrl(config: string, siteUrl: string): string {
  let text = config;
  for (const name of ['WP_HOME', 'WP_SITEURL']) {
    const line = new RegExp(`^define\\( '${name}', .*$`, 'm');
    if (!line.test(text))
      throw new Error(`wp-config.php has no line for ${name}; remove the file to have it made anew`);
    text = text.replace(line, () => define(name, siteUrl));
  }
  return text;
}

function databaseValues(database: DatabaseSettings): [string, string][] {
  if (database.kind === 'sqlite') {
    return [
      ['DB_ENGINE', 'sqlite'],
      ['DB_DIR', database.dir],
      ['DB_FILE', database.file],
      // WordPress wants the names of a MySQL database to be defined even though none is used.
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

function salt(random: (below: number) => number): string {
  return Array.from({ length: 64 }, () => saltLetters.charAt(random(saltLetters.length))).join('');
}

function define(name: string, value: string | boolean): string {
  return `define( '${name}', ${typeof value === 'string' ? phpString(value) : value} );`;
}

/** A PHP string literal in single quotes. */
function phpString(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
