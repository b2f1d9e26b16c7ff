import { isAbsolute, join, normalize, relative, resolve, sep } from 'node:path';

/**
 * Where WordPress loads its must-use plugins from. Many sites keep a `wp-content` that nothing uses inside of WordPress's
 * own folder, beside the one that counts (Bedrock, WordPress-Skeleton, Composer's installers), so the folder is asked for
 * and never guessed (docs/decisions/0033-ask-wordpress-for-its-folder.md).
 */

/** What WordPress's own configuration says about its folder of must-use plugins. */
export interface ReportedFolder {
  /** Absolute, without links in its path; it may be missing. */
  readonly muPluginsDir: string;
  /** Whether it is `wp-content/mu-plugins` below WordPress. */
  readonly isUsual: boolean;
}

/**
 * Runs in PHP of the command line, with WordPress's folder as working directory, and ends before WordPress loads a
 * drop-in, a plugin or a theme, or asks its database: all that counts stands in `wp-config.php` and what that includes.
 * WordPress ends by itself in a few cases (no database extension, maintenance), so the answer is given at the very end.
 * It goes past output buffers to standard output, between two markers, since a configuration may print anything.
 *
 * Arguments: marker, host, path of the site.
 */
export const READ_FOLDER_PHP = `
$GLOBALS['security_optimizer_ask'] = static function ( $marker ) {
	$settings = defined( 'ABSPATH' ) ? realpath( ABSPATH . 'wp-settings.php' ) : false;
	if ( ! $settings || ! in_array( $settings, get_included_files(), true ) || realpath( ABSPATH ) !== getcwd() ) {
		return;
	}
	$real  = static function ( $folder ) {
		$found  = realpath( $folder );
		$around = realpath( dirname( $folder ) );
		return $found ? $found : ( $around ? $around . '/' . basename( $folder ) : '' );
	};
	$usual = getcwd() . '/wp-content/mu-plugins';
	if ( defined( 'WPMU_PLUGIN_DIR' ) ) {
		$folder = WPMU_PLUGIN_DIR;
	} else {
		$folder = ( defined( 'WP_CONTENT_DIR' ) ? WP_CONTENT_DIR : ABSPATH . 'wp-content' ) . '/mu-plugins';
	}
	$answer = array( $folder, $real( $folder ), $usual, $real( $usual ) );
	fwrite( STDOUT, "\\n" . $marker . ' ' . implode( ' ', array_map( 'base64_encode', $answer ) ) . ' ' . $marker . "\\n" );
};
register_shutdown_function( $GLOBALS['security_optimizer_ask'], $argv[1] );
foreach (
	array(
		'HTTP_HOST'       => $argv[2],
		'SERVER_NAME'     => $argv[2],
		'REQUEST_URI'     => $argv[3],
		'REQUEST_METHOD'  => 'GET',
		'REMOTE_ADDR'     => '127.0.0.1',
		'SERVER_PORT'     => '80',
		'SERVER_PROTOCOL' => 'HTTP/1.1',
	) as $security_optimizer_name => $security_optimizer_value
) {
	$_SERVER[ $security_optimizer_name ] = $security_optimizer_value;
}
$GLOBALS['wp_filter']['enable_wp_debug_mode_checks'][0][] = array(
	'accepted_args' => 0,
	'function'      => static function () {
		exit;
	},
);
define( 'SHORTINIT', true );
require './wp-load.php';
`;

/**
 * Reads what the program has printed.
 * @param marker what it was given
 * @returns null when there is no answer, or one that can't be read
 */
export function parseReportedFolder(output: string, marker: string): ReportedFolder | null {
  const [, list] = new RegExp(`\\n${marker} ([A-Za-z0-9+/= ]*) ${marker}\\n`).exec(output) ?? [];
  const parts = list?.split(' ').map(decode);
  if (parts === undefined || parts.length !== 4 || parts.includes(null)) return null;
  const [folder, real, usual, realUsual] = parts as [string, string, string, string];
  if (!isAbsolute(folder) || !isAbsolute(real)) return null;
  return { muPluginsDir: resolve(real), isUsual: clean(folder) === usual || real === realUsual };
}

/** @returns null for what is no text, or would control a terminal */
function decode(base64: string): string | null {
  const bytes = Buffer.from(base64, 'base64');
  const text = bytes.toString('utf8');
  return text.length > 4096 || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text) || !Buffer.from(text).equals(bytes)
    ? null
    : text;
}

function clean(path: string): string {
  return normalize(path).replace(/(?<=.)\/+$/, '');
}

/** What is known once the connector is installed. */
export interface LocationFacts {
  /** WordPress's folder, without links. */
  readonly wordpressDir: string;
  /** Where the connector was put, without links. */
  readonly muPluginsDir: string;
  /** Where WordPress loads must-use plugins from by its own configuration; null when that could not be asked. */
  readonly reported: string | null;
  readonly response: LocationResponse;
}

/** What came of a signed call. */
export type LocationResponse =
  /** The connector has answered. `folders`: where it runs, as PHP has it; null for a connector of an older version. */
  | { readonly kind: 'signed'; readonly folders: { readonly wordpress: string; readonly connector: string } | null }
  /** WordPress's web server has answered without the connector, or with one that has another key. */
  | { readonly kind: 'without-connector' }
  /** Nothing has answered, or the web server by itself. */
  | { readonly kind: 'none' };

export type LocationVerdict =
  | { readonly kind: 'confirmed' }
  /** WordPress loads must-use plugins from `folder`, and not from where the connector was put. */
  | { readonly kind: 'wrong'; readonly folder: string }
  /** WordPress answers without the connector; why is not known. */
  | { readonly kind: 'missing' }
  /** WordPress could not be asked by a call. */
  | { readonly kind: 'unverified' };

/**
 * Whether the connector is where WordPress loads it from. A connector that answers counts for more than what PHP on the
 * command line makes of the configuration, which may depend on how PHP is called. Folders are compared only if PHP has
 * WordPress in the same folder: in a container, or in another release, the same connector has another path.
 */
export function judgeLocation({ wordpressDir, muPluginsDir, reported, response }: LocationFacts): LocationVerdict {
  if (response.kind === 'signed') {
    const { folders } = response;
    const isSame = folders === null || clean(folders.wordpress) !== wordpressDir;
    return isSame || clean(folders.connector) === muPluginsDir
      ? { kind: 'confirmed' }
      : { kind: 'wrong', folder: clean(folders.connector) };
  }
  if (reported !== null && reported !== muPluginsDir) return { kind: 'wrong', folder: reported };
  return { kind: response.kind === 'none' ? 'unverified' : 'missing' };
}

/**
 * The path by which a folder beside WordPress is reached in every release: where the operator has named WordPress by a
 * link to the current one, the folder below that link.
 *
 * @param folder without links
 * @param wordpress as the operator named it, and without links
 */
export function toNamedPath(
  folder: string,
  { named, wordpressDir }: { readonly named: string; readonly wordpressDir: string },
): string {
  const [around, real] = [named.split(sep), wordpressDir.split(sep)];
  while (around.length > 1 && real.length > 1 && around.at(-1) === real.at(-1)) {
    around.pop();
    real.pop();
  }
  const base = real.join(sep);
  if (named === wordpressDir || base === '') return folder;
  const below = relative(base, folder);
  return below === '' || below.startsWith('..') || isAbsolute(below) ? folder : join(around.join(sep), below);
}
