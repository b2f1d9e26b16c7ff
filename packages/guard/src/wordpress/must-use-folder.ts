import { isAbsolute, join, normalize, relative, resolve, sep } from 'node:path';

/**
 * The folder from which WordPress loads its must-use plugins. Many sites have an unused `wp-content` inside WordPress's
 * own folder, beside the one in use (Bedrock, WordPress-Skeleton, Composer's installers). So the folder is read from
 * the configuration and never guessed (docs/decisions/0033-ask-wordpress-for-its-folder.md).
 */

/** The folder of must-use plugins as WordPress's own configuration reports it. */
export interface ReportedFolder {
  /** Absolute, without links in its path. The folder may not exist. */
  readonly muPluginsDir: string;
  /** Whether it is `wp-content/mu-plugins` below WordPress. */
  readonly isDefault: boolean;
}

/**
 * PHP program for the command line. It runs with WordPress's folder as working directory, and ends before WordPress
 * loads a drop-in, a plugin or a theme, or connects to its database: all relevant settings are in `wp-config.php` and
 * the files that it includes. WordPress exits by itself in a few cases (no database extension, maintenance), so the
 * result is written at shutdown. It bypasses output buffers and is written to standard output between two markers,
 * since a configuration may print anything.
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
 * Parses the output of the program.
 * @param marker the marker that was passed to the program
 * @returns null when the output has no result, or an unreadable one
 */
export function parseReportedFolder(output: string, marker: string): ReportedFolder | null {
  const [, list] = new RegExp(`\\n${marker} ([A-Za-z0-9+/= ]*) ${marker}\\n`).exec(output) ?? [];
  const parts = list?.split(' ').map(decode);
  if (parts === undefined || parts.length !== 4 || parts.includes(null)) return null;
  const [folder, real, standard, realStandard] = parts as [string, string, string, string];
  if (!isAbsolute(folder) || !isAbsolute(real)) return null;
  return { muPluginsDir: resolve(real), isDefault: clean(folder) === standard || real === realStandard };
}

/**
 * Decodes a path.
 * @returns null for a value that is not text, or that would control a terminal
 */
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

/** Facts that are known once the connector is installed. */
export interface LocationFacts {
  /** WordPress's folder, without links. */
  readonly wordpressDir: string;
  /** Folder in which the connector was installed, without links. */
  readonly muPluginsDir: string;
  /**
   * Folder from which WordPress loads must-use plugins by its own configuration; null when it could not be determined.
   */
  readonly reported: string | null;
  readonly response: LocationResponse;
}

/** The outcome of a signed call. */
export type LocationResponse =
  /** The connector responded. `folders`: where it runs, as PHP sees it; null for a connector of an older version. */
  | { readonly kind: 'signed'; readonly folders: { readonly wordpress: string; readonly connector: string } | null }
  /** WordPress's web server responded without the connector, or with one that has another key. */
  | { readonly kind: 'without-connector' }
  /** There was no response, or the web server responded by itself. */
  | { readonly kind: 'none' };

export type LocationVerdict =
  | { readonly kind: 'confirmed' }
  /** WordPress loads must-use plugins from `folder`, not from where the connector was installed. */
  | { readonly kind: 'wrong'; readonly folder: string }
  /** WordPress responds without the connector, for an unknown reason. */
  | { readonly kind: 'missing' }
  /** No call reached WordPress. */
  | { readonly kind: 'unverified' };

/**
 * Whether the connector is in the folder from which WordPress loads it. The response of a connector takes precedence
 * over the configuration as PHP reads it on the command line, since that may depend on how PHP is called. Folders are
 * compared only if PHP sees WordPress in the same folder: in a container, or in another release, the same connector has
 * another path.
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
 * The path of a folder beside WordPress that is valid in every release: where the operator named WordPress by a link to
 * the current release, the folder below that link.
 *
 * @param folder without links
 * @param wordpress its path as the operator named it, and without links
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
