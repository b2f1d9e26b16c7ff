<?php
/**
 * File checks of the checkup: plugins that differ from the plugin directory, and scripts in uploads.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Checkup_Files {

	/** Longest search, seconds. */
	const SECONDS = 20;

	/** Longest list in a response, bytes. Guard reads responses up to 256 KB. */
	const LISTED_BYTES = 64000;

	/** Names that a web server may execute, also with a further extension. */
	const SCRIPTS = '/\.(?:php\d*|phtm|phtml|pht|phar|shtml|cgi)(?:\.|\z)|\A\.user\.ini\z/i';

	/** Logs of PHP, settings of web servers, and metadata files of desktops. */
	const LEFT_BY_SERVER = '/\A(?:error_log|php_errorlog|\.htaccess|\.htpasswd|\.user\.ini|php\.ini|\.ds_store|thumbs\.db|desktop\.ini)\z/i';

	/**
	 * What makes PHP or the web server execute code: a tag, settings that load a file, and handlers for other
	 * extensions.
	 */
	const RUNS_CODE = '/<\?|<script|<%|auto_(?:pre|ap)pend_file|extension\s*=|php_(?:admin_)?value|handler|addtype|forcetype|rewrite|filter|includes|cgi/i';

	/** Largest file that is read, bytes. */
	const SHORT = 1048576;

	/**
	 * @param string $path A file in a folder of WordPress that is not part of WordPress.
	 * @return bool Whether it is a log or a settings file of the host without executable code.
	 */
	public static function is_left_by_server( $path ) {
		if ( ! preg_match( self::LEFT_BY_SERVER, basename( $path ) ) || is_link( $path ) || ! is_readable( $path ) || filesize( $path ) > self::SHORT ) {
			return false;
		}
		return ! preg_match( self::RUNS_CODE, (string) file_get_contents( $path ) ); // phpcs:ignore WordPress.WP.AlternativeFunctions
	}

	/**
	 * Describes files: names, modification times, and a hash of their contents.
	 *
	 * @param string   $root  Folder with a trailing slash.
	 * @param string[] $names Names below it.
	 * @return array `files`: `file`, `path` (the same in base64), `at` (Unix seconds) and `state` (hash of the content),
	 *               limited in number; `count`; and `state`, the hash of all.
	 */
	public static function describe( $root, array $names ) {
		$state = hash_init( 'sha256' );
		$files = array();
		sort( $names );
		foreach ( $names as $name ) {
			$hash = (string) hash_file( 'sha256', $root . $name );
			hash_update( $state, $name . "\n" . $hash . "\n" );
			if ( count( $files ) < Security_Optimizer_Command_Checkup::LISTED ) {
				$files[] = self::entry( $name, $root . $name, $hash );
			}
		}
		return array(
			'files' => self::shorten( $files ),
			'count' => count( $names ),
			'state' => hash_final( $state ),
		);
	}

	/**
	 * Compares an installed plugin with the checksums of the plugin directory. Additional scripts are findings; other
	 * additional files are not.
	 *
	 * @param string $file      Main file of the plugin, as WordPress names it.
	 * @param string $checksums URL of the directory's checksums.
	 * @return array `result`: `compared`, `not_listed`, `unreachable` or `gone`, and `found` as describe() has it.
	 */
	public static function compare_plugin( $file, $checksums ) {
		require_once ABSPATH . 'wp-admin/includes/plugin.php';
		$plugins = get_plugins();
		if ( ! isset( $plugins[ $file ] ) ) {
			return self::compared( 'gone' );
		}
		$copy = new Security_Optimizer_Plugin_Download( $file, $plugins[ $file ], array( 'checksums' => $checksums ) );
		if ( '' !== $copy->find_obstacle() ) {
			return self::compared( 'not_listed' );
		}
		$sums = $copy->fetch_checksums();
		if ( ! is_array( $sums ) ) {
			return self::compared( 'no_checksums' === $sums ? 'not_listed' : 'unreachable' );
		}
		$path = $copy->get_installed_path();
		$main = basename( $file );
		if ( ! isset( $sums[ $main ] ) ) {
			// A different plugin of the same name.
			return self::compared( 'not_listed' );
		}
		$single = is_file( $path );
		$found  = array();
		foreach ( Security_Optimizer_Files::list_below( $path ) as $name ) {
			$name = $single ? $main : ltrim( $name, '/' );
			$full = $single ? $path : $path . '/' . $name;
			if ( isset( $sums[ $name ] ) ? ! Security_Optimizer_Plugin_Download::has_sum( $full, $name, $sums[ $name ] ) : self::is_script( $full ) ) {
				$found[] = $name;
			}
		}
		return self::compared( 'compared', self::describe( $single ? dirname( $path ) . '/' : $path . '/', $found ) );
	}

	/**
	 * Finds scripts in the uploads folder, where no script belongs. Links are not followed.
	 *
	 * @return array `complete`: false when the search took too long; `scripts`: as `files` of describe(), named by the
	 *               path below the folder of WordPress; and `count`.
	 */
	public static function find_scripts_in_uploads() {
		$uploads = wp_upload_dir( null, false );
		$root    = untrailingslashit( $uploads['basedir'] );
		$until   = microtime( true ) + self::SECONDS;
		$scripts = array();
		$count   = 0;
		$done    = true;
		$folders = array( $root );
		while ( array() !== $folders && $done ) {
			$folder = array_pop( $folders );
			$list   = is_dir( $folder ) ? @opendir( $folder ) : false; // phpcs:ignore WordPress.PHP.NoSilencedErrors.Discouraged -- A folder that can't be read.
			if ( false === $list ) {
				$done = ! is_dir( $folder );
				continue;
			}
			for ( $name = readdir( $list ); false !== $name; $name = readdir( $list ) ) {
				$path = $folder . '/' . $name;
				if ( '.' === $name || '..' === $name ) {
					continue;
				}
				if ( preg_match( self::SCRIPTS, $name ) && is_file( $path ) && self::is_script( $path ) ) {
					++$count;
					if ( count( $scripts ) < Security_Optimizer_Command_Checkup::LISTED ) {
						$scripts[] = self::entry( self::below_wordpress( $path ), $path, (string) hash_file( 'sha256', $path ) );
					}
				} elseif ( is_dir( $path ) && ! is_link( $path ) ) {
					$folders[] = $path;
				}
				if ( microtime( true ) > $until ) {
					$done = false;
					break;
				}
			}
			closedir( $list );
		}
		usort(
			$scripts,
			static function ( $one, $other ) {
				return strcmp( $one['file'], $other['file'] );
			}
		);
		return array(
			'complete' => $done,
			'scripts'  => self::shorten( $scripts ),
			'count'    => $count,
		);
	}

	private static function entry( $name, $path, $hash ) {
		return array(
			'file'  => $name,
			// Names may contain bytes that JSON can't hold.
			'path'  => base64_encode( $name ),
			'at'    => (int) filemtime( $path ),
			'state' => $hash,
		);
	}

	/**
	 * Leaves out the rest of a list that is too long for a response: names may have thousands of characters.
	 */
	private static function shorten( array $entries ) {
		$bytes = 0;
		foreach ( $entries as $index => $entry ) {
			$bytes += strlen( (string) json_encode( $entry, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE ) );
			if ( $bytes > self::LISTED_BYTES ) {
				return array_slice( $entries, 0, $index );
			}
		}
		return $entries;
	}

	private static function compared( $result, $found = null ) {
		return array(
			'result' => $result,
			'found'  => null === $found ? self::describe( '', array() ) : $found,
		);
	}

	/**
	 * Many plugins add a file without code to their folders (“Silence is golden”).
	 *
	 * @param string $path Full path.
	 * @return bool Whether it has a script's name and contains code.
	 */
	public static function is_script( $path ) {
		if ( ! preg_match( self::SCRIPTS, basename( $path ) ) ) {
			return false;
		}
		$size = filesize( $path );
		if ( false === $size || $size > 1024 || '.user.ini' === strtolower( basename( $path ) ) ) {
			return 0 !== $size;
		}
		$code = '';
		foreach ( token_get_all( (string) file_get_contents( $path ) ) as $token ) {
			if ( is_array( $token ) && in_array( $token[0], array( T_OPEN_TAG, T_CLOSE_TAG, T_WHITESPACE, T_COMMENT, T_DOC_COMMENT, T_EXIT ), true ) ) {
				continue;
			}
			$code .= is_array( $token ) ? $token[1] : $token;
		}
		return '' !== trim( $code, " \t\r\n;" );
	}

	/**
	 * @param string $path Full path.
	 * @return string Path below the folder of WordPress, with a leading slash; the full path of a file elsewhere.
	 */
	private static function below_wordpress( $path ) {
		$path = wp_normalize_path( $path );
		$root = untrailingslashit( wp_normalize_path( ABSPATH ) );
		return 0 === strpos( $path, $root . '/' ) ? substr( $path, strlen( $root ) ) : $path;
	}
}
