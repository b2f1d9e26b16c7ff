import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { judgeSalts, type SaltsOutcome } from '@security-optimizer/guard/testing';
import { fetchCurrentWordPress } from '@security-optimizer/sandbox/wordpress/download';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ConfigCase, configCases, KEY_NAMES } from './config-files.js';

const run = promisify(execFile);
const connector = fileURLToPath(new URL('../../../../connector/security-optimizer/includes', import.meta.url));

/** What new salts need of the connector. */
const CLASSES = [
  'post-hack/class-config-keys.php',
  'post-hack/class-salts.php',
  'support/class-database-retry.php',
  'transport/class-protocol.php',
  'transport/class-secret.php',
];

/** Replaces WordPress: its functions for hooks and salts, and options in a file. */
const SETTINGS = `<?php
define( 'WPINC', 'wp-includes' );
define( 'WP_CONTENT_DIR', ABSPATH . 'wp-content' );
$GLOBALS['options_file'] = getenv( 'OPTIONS' );
function all_options() { return is_file( $GLOBALS['options_file'] ) ? json_decode( file_get_contents( $GLOBALS['options_file'] ), true ) : array(); }
function get_site_option( $name ) { $all = all_options(); return isset( $all[ $name ] ) ? $all[ $name ] : false; }
function update_site_option( $name, $value ) { file_put_contents( $GLOBALS['options_file'], json_encode( array( $name => $value ) + all_options() ) ); return true; }
function delete_site_option( $name ) { file_put_contents( $GLOBALS['options_file'], json_encode( (object) array_diff_key( all_options(), array( $name => 1 ) ) ) ); return true; }
function wp_prime_site_option_caches() {}
function get_transient() { return false; }
function set_transient() {}
function __( $text ) { return $text; }
function trailingslashit( $path ) { return rtrim( $path, '/' ) . '/'; }
require ABSPATH . WPINC . '/plugin.php';
require ABSPATH . WPINC . '/pluggable.php';
`;

/** One PHP process. Its first argument is the action. */
const PROCESS = `<?php
error_reporting( E_ALL ); ini_set( 'display_errors', 'stderr' );
list( , $what, $wordpress, $config, $mark ) = $argv;
if ( '' !== $config ) {
	define( 'ABSPATH', $wordpress . '/' );
	eval( '?>' . file_get_contents( $config ) );
} else {
	require $wordpress . '/wp-load.php';
}
define( 'SECURITY_OPTIMIZER_KEY', str_repeat( '5e', 32 ) );
define( 'SECURITY_OPTIMIZER_FILE', WP_CONTENT_DIR . '/mu-plugins/security-optimizer.php' );
foreach ( glob( __DIR__ . '/class-*.php' ) as $file ) { require $file; }
if ( 'replace' === $what ) { echo json_encode( Security_Optimizer_Salts::replace() ); }
if ( 'prints' === $what ) { echo json_encode( Security_Optimizer_Salts::fingerprints( $mark ) ); }
if ( 'look' === $what ) {
	$schemes = array();
	foreach ( array( 'auth', 'secure_auth', 'logged_in', 'nonce' ) as $scheme ) { $schemes[ $scheme ] = wp_salt( $scheme ); }
	echo json_encode( array( 'schemes' => $schemes, 'constants' => get_defined_constants( true )['user'] ) );
}
`;

/** The salts of WordPress and all constants as a PHP process sees them. */
interface Seen {
  readonly schemes: Readonly<Record<string, string>>;
  readonly constants: Readonly<Record<string, unknown>>;
}

// It needs no site, so it runs once, with the most used stack.
const isSupported = inject('stacks').some(({ kind }) => kind === 'nginx-defaults');

describe.skipIf(!isSupported)('New salts, in the configurations that sites have', () => {
  let wordpressDir: string;
  let dir: string;
  /** Files of WordPress: its search for the configuration, its hooks and salts. */
  let real: string[];
  /** Folders that are read-only. */
  const opened: string[] = [];

  beforeAll(async () => {
    ({ wordpressDir } = await fetchCurrentWordPress());
    const parts = readdirSync(join(wordpressDir, 'wp-includes')).filter((name) =>
      /^(?:plugin|pluggable|class-wp-hook|class-wp-filter-[a-z]+)\.php$/.test(name),
    );
    real = ['wp-load.php', ...parts.map((name) => `wp-includes/${name}`)];
    dir = mkdtempSync(join(tmpdir(), 'new-salts-'));
    chmodSync(dir, 0o755);
    writeFileSync(join(dir, 'process.php'), PROCESS);
    for (const name of CLASSES) writeFileSync(join(dir, basename(name)), readFileSync(join(connector, name)));
  }, 600_000);
  afterAll(() => {
    for (const folder of opened) chmodSync(folder, 0o755);
    rmSync(dir, { recursive: true, force: true });
  });

  /** Creates a site. @returns a function that runs a PHP process there */
  const layOut = (number: number, one: ConfigCase) => {
    const base = join(dir, `${number}`);
    // Allows files above the site's folder.
    const site = join(base, 'web', 'wp');
    const put = (name: string, text: string) => {
      mkdirSync(dirname(join(site, name)), { recursive: true });
      writeFileSync(join(site, name), text);
    };
    for (const name of real) put(name, readFileSync(join(wordpressDir, name), 'utf8'));
    put('wp-settings.php', SETTINGS);
    put('wp-content/index.php', '<?php');
    put('wp-admin/includes/file.php', '<?php function wp_opcache_invalidate() {}');
    for (const [name, text] of Object.entries(one.files ?? {})) put(name, text);
    const config = one.linkTo ?? one.at ?? 'wp-config.php';
    put(config, one.config);
    if (one.linkTo !== undefined) symlinkSync(one.linkTo, join(site, 'wp-config.php'));
    if (one.prepend !== undefined) writeFileSync(join(base, 'host.php'), one.prepend);
    mkdirSync(join(base, 'database'));
    chmodSync(join(base, 'database'), 0o777);
    const isRoot = process.getuid?.() === 0;
    if (one.isReadOnly === true && !isRoot) {
      chmodSync(join(site, config), 0o444);
      chmodSync(site, 0o555);
      opened.push(site);
    }
    const settings = one.prepend === undefined ? [] : ['-d', `auto_prepend_file=${join(base, 'host.php')}`];
    const evaluated = one.isEvaluated === true ? join(site, config) : '';
    return async (what: 'look' | 'replace' | 'prints', mark = '') => {
      const args = ['-d', 'opcache.enable_cli=0', ...settings, join(dir, 'process.php'), what, site, evaluated, mark];
      const env = { PATH: process.env.PATH, OPTIONS: join(base, 'database', 'options.json'), ...one.env };
      const nobody = one.isReadOnly === true && isRoot ? { uid: 65534, gid: 65534 } : {};
      const { stdout } = await run('php', args, { env, timeout: 120_000, cwd: dir, ...nobody });
      return JSON.parse(stdout.slice(stdout.search(/\{"/))) as never;
    };
  };

  it('are tested with at least 46 of them', () => {
    expect(configCases.length).toBeGreaterThanOrEqual(46);
    expect(new Set(configCases.map(({ name }) => name)).size).toBe(configCases.length);
  });

  it.each(configCases.map((one, number) => [one.name, number, one] as const))(
    '%s: the result matches what new processes see',
    async (_name, number, one) => {
      const php = layOut(number, one);
      const before: Seen = await php('look');
      const written = (await php('replace')) as Parameters<typeof judgeSalts>[0];
      const outcome = judgeSalts(written, await php('prints', written.mark));
      const after: Seen = await php('look');

      expect(facts(outcome)).toEqual(truth(before, after));
      expect(outcome.kind).toBe(one.ends);
      if ('cause' in outcome && one.cause !== undefined) expect(outcome.cause).toBe(one.cause);
      if ('files' in outcome) {
        const site = join(dir, `${number}`);
        const named = outcome.files.map((name) => name.replace(`${site}/`, '').replace('web/wp/', ''));
        expect(named).toEqual(one.named ?? []);
      }
      expect(otherConstants(after)).toEqual(otherConstants(before));
      // The fingerprints reveal nothing of the values.
      for (const value of [...Object.values(before.schemes), ...Object.values(after.schemes)]) {
        expect(JSON.stringify(written)).not.toContain(JSON.stringify(value).slice(1, -1));
      }
    },
    120_000,
  );
});

/** The reported result, without reasons. */
function facts(outcome: SaltsOutcome) {
  if (!('names' in outcome)) return { kind: outcome.kind, names: [], rejectsOldCookies: outcome.kind === 'replaced' };
  return { kind: outcome.kind, names: [...outcome.names].sort(), rejectsOldCookies: outcome.rejectsOldCookies };
}

/**
 * The expected result, from the salts themselves: a key is in force if WordPress's salt begins or ends with the
 * constant's value. SECRET_KEY replaces each missing key.
 */
function truth(before: Seen, after: Seen) {
  const names = KEY_NAMES.filter((name) => {
    const half = name.endsWith('_KEY') ? 'startsWith' : 'endsWith';
    const scheme = name.replace(/_(?:KEY|SALT)$/, '').toLowerCase();
    const values = [name, ...(half === 'startsWith' ? ['SECRET_KEY'] : [])].map(
      (constant) => before.constants[constant],
    );
    return values.some((value) => {
      if (value === undefined || value === '') return false;
      return [before, after].every(({ schemes }) => schemes[scheme]?.[half](String(value)) === true);
    });
  }).sort();
  const schemes = Object.keys(before.schemes).filter((scheme) => before.schemes[scheme] === after.schemes[scheme]);
  const kind =
    names.length === 0 && schemes.length === 0
      ? 'replaced'
      : names.length === KEY_NAMES.length || names.length === 0
        ? 'stay'
        : 'partly';
  return { kind, names, rejectsOldCookies: schemes.length === 0 };
}

function otherConstants({ constants }: Seen) {
  return Object.fromEntries(
    Object.entries(constants).filter(([name]) => !/^(?:Shop\\)?[A-Z_]+_(?:KEY|SALT)$/i.test(name)),
  );
}
