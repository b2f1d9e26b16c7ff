<?php
/**
 * Names and URLs that a site can configure in WordPress, for guard.
 *
 * The values of the configuration and the database are used, not those of filters, because requests reach the web
 * server at the former. Other URLs of the same host that filters return are added.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Site_Names {

	/** Maximum number of bases and of language folders. */
	const MAX_NAMES = 200;

	/** The part of a rewrite rule that matches anything. */
	const ANYTHING = '#\A\((?:\[\^/\]|(?:\.\?)?\.)[+*]\??\)#';

	/** Query variables for which WordPress itself has feeds. */
	const WITH_FEED = array( 'category_name', 'tag', 'author_name', 's' );

	/**
	 * @return array `home`, `site_url`, `admin_url`, `paths`, `also`, `files`, `cookies`, `languages`, `bases`; see
	 *               docs/developer/connector-protocol.md.
	 */
	public static function all() {
		$home  = self::home();
		$core  = self::path( get_option( 'siteurl' ) );
		$paths = array(
			'admin'      => $core . '/wp-admin',
			'includes'   => $core . '/' . WPINC,
			'content'    => self::folder( WP_CONTENT_DIR, WP_CONTENT_URL ),
			'uploads'    => self::uploads(),
			'rest'       => self::path( $home ) . '/' . trim( rest_get_url_prefix(), '/' ),
			'mu_plugins' => self::folder( WPMU_PLUGIN_DIR, WPMU_PLUGIN_URL ),
		);
		$rules = self::rules();
		return array(
			'home'      => $home,
			'site_url'  => site_url(),
			'admin_url' => current( self::admin_urls() ),
			'paths'     => $paths,
			'also'      => self::find_alternative_paths( $paths ),
			'files'     => self::files(),
			'cookies'   => array(
				'logged_in' => LOGGED_IN_COOKIE,
				'auth'      => array( AUTH_COOKIE, SECURE_AUTH_COOKIE ),
			),
			'languages' => self::languages( self::path( $home ), null === $rules ? array() : $rules['languages'] ),
			'bases'     => null === $rules ? null : array(
				'text' => $rules['text'],
				'feed' => $rules['feed'],
			),
		);
	}

	/**
	 * A plugin may replace links to wp-admin by links to a page of its own. That page is not wp-admin.
	 *
	 * @return string[] URLs of wp-admin without a trailing slash: the one in links, and WordPress's own.
	 */
	public static function admin_urls() {
		$shown = self::prefix( 'admin_url', array( 'admin-ajax.php', 'options.php' ) );
		$own   = untrailingslashit( set_url_scheme( get_option( 'siteurl' ), 'admin' ) ) . '/wp-admin';
		return '' === $shown ? array( $own ) : array_values( array_unique( array( $shown, $own ) ) );
	}

	/**
	 * @param array $all What `all` returned.
	 * @return string Hash of it.
	 */
	public static function hash( array $all ) {
		return substr( hash( 'sha256', (string) wp_json_encode( $all ) ), 0, 16 );
	}

	/**
	 * Multilingual plugins append a folder to the home URL, which differs between requests.
	 *
	 * @return string Home URL without such a folder.
	 */
	private static function home() {
		$shown = home_url();
		$path  = self::path( $shown );
		$plain = self::path( get_option( 'home' ) );
		if ( $path === $plain || 0 !== strpos( $path . '/', $plain . '/' ) ) {
			return $shown;
		}
		return preg_replace( '#\A(https?://[^/?\#]+).*\z#is', '$1', $shown ) . $plain;
	}

	/**
	 * @param string   $home  Path of the home page.
	 * @param string[] $known Language folders of the rewrite rules.
	 * @return string[] Language folders, without slashes.
	 */
	private static function languages( $home, array $known ) {
		$shown = self::path( home_url() );
		if ( $shown !== $home && 0 === strpos( $shown, $home . '/' ) ) {
			$known[] = substr( $shown, strlen( $home ) + 1 );
		}
		if ( function_exists( 'pll_languages_list' ) ) {
			$known = array_merge( $known, (array) pll_languages_list() );
		}
		$active = apply_filters( 'wpml_active_languages', null ); // phpcs:ignore WordPress.NamingConventions.PrefixAllGlobals.NonPrefixedHooknameFound -- WPML's public hook.
		foreach ( is_array( $active ) ? $active : array() as $code => $language ) {
			$url     = is_array( $language ) && isset( $language['url'] ) ? self::path( $language['url'] ) : '';
			$known[] = $url !== $home && 0 === strpos( $url, $home . '/' ) ? strtok( substr( $url, strlen( $home ) + 1 ), '/' ) : (string) $code;
		}
		$known = apply_filters( 'security_optimizer_language_folders', $known );
		$found = array();
		foreach ( is_array( $known ) ? $known : array() as $folder ) {
			if ( is_string( $folder ) && preg_match( '/\A[\w-]{1,40}\z/', $folder ) ) {
				$found[ strtolower( $folder ) ] = true;
			}
		}
		ksort( $found );
		return array_slice( array_map( 'strval', array_keys( $found ) ), 0, self::MAX_NAMES );
	}

	/**
	 * @return array|null Content of the rewrite rules: `text`, bases before free text (searches, terms, authors);
	 *                    `feed`, those of them that have feeds; `languages`. Null while WordPress has no rules yet.
	 */
	private static function rules() {
		$rules = get_option( 'rewrite_rules' );
		if ( '' === (string) get_option( 'permalink_structure' ) ) {
			$rules = array( '' => '' );
		}
		if ( ! is_array( $rules ) || array() === $rules ) {
			return null;
		}
		$found = array(
			'text'      => array(),
			'feed'      => array(),
			'languages' => array(),
		);
		foreach ( $rules as $rule => $query ) {
			$read = self::read_rule( (string) $rule );
			if ( null === $read || ! is_string( $query ) || 0 !== strpos( $query, 'index.php?' ) ) {
				continue;
			}
			foreach ( $read['languages'] as $language ) {
				$found['languages'][ $language ] = true;
			}
			if ( '' === $read['base'] || self::is_on_disk( $read['base'] ) ) {
				continue;
			}
			$found['text'][ $read['base'] ] = true;
			parse_str( substr( $query, 10 ), $variables );
			if ( isset( $variables['feed'] ) && in_array( key( $variables ), self::WITH_FEED, true ) ) {
				$found['feed'][ $read['base'] ] = true;
			}
		}
		return array_map(
			static function ( $names ) {
				ksort( $names );
				return array_slice( array_map( 'strval', array_keys( $names ) ), 0, self::MAX_NAMES );
			},
			$found
		);
	}

	/**
	 * @param string $rule Regular expression of a rewrite rule.
	 * @return array|null `base`: the path before the first part that matches anything, '' for none; `languages`: the
	 *                    folders before it. Null for a rule without such a part.
	 */
	public static function read_rule( $rule ) {
		$rule      = preg_replace( '#\A\^?(?:index\.php/)?#', '', $rule );
		$languages = array();
		if ( preg_match( '#\A\(([\w-]+(?:\|[\w-]+)*)\)/#', $rule, $part ) ) {
			$languages = explode( '|', $part[1] );
			$rule      = substr( $rule, strlen( $part[0] ) );
		}
		preg_match( '#\A((?:[^()\[\]{}?*+^$\\\\|.\#/\s]+/)*)(.*)\z#s', $rule, $part );
		if ( ! isset( $part[2] ) || ! preg_match( self::ANYTHING, $part[2] ) ) {
			return null;
		}
		return array(
			'base'      => rawurldecode( rtrim( $part[1], '/' ) ),
			'languages' => $languages,
		);
	}

	/**
	 * @param string $base A base.
	 * @return bool Whether a folder or a file has this name: the web server serves it first.
	 */
	private static function is_on_disk( $base ) {
		$first   = strtok( $base, '/' );
		$folders = array( ABSPATH );
		if ( ! empty( $_SERVER['DOCUMENT_ROOT'] ) ) {
			$folders[] = trailingslashit( $_SERVER['DOCUMENT_ROOT'] ) . ltrim( trailingslashit( self::path( get_option( 'home' ) ) ), '/' ); // phpcs:ignore WordPress.Security.ValidatedSanitizedInput
		}
		foreach ( $folders as $folder ) {
			if ( file_exists( $folder . $first ) ) {
				return true;
			}
		}
		return false;
	}

	/**
	 * @return string Path under which this host serves uploads, also where their URLs name another host.
	 */
	private static function uploads() {
		$uploads = wp_upload_dir( null, false );
		return self::folder( $uploads['basedir'], $uploads['baseurl'] );
	}

	/**
	 * @return string[] Paths of further folders with static files: translations, fonts, uploads of old networks.
	 */
	private static function files() {
		$folders = array( WP_LANG_DIR );
		if ( function_exists( 'wp_get_font_dir' ) ) {
			$fonts     = wp_get_font_dir();
			$folders[] = isset( $fonts['basedir'] ) ? $fonts['basedir'] : '';
		}
		if ( defined( 'UPLOADBLOGSDIR' ) ) {
			$folders[] = ABSPATH . UPLOADBLOGSDIR;
		}
		$paths = array_map(
			static function ( $folder ) {
				return is_string( $folder ) ? self::below_root( $folder ) : null;
			},
			$folders
		);
		return array_values( array_unique( array_filter( $paths ) ) );
	}

	/**
	 * @param array $paths Paths of the folders.
	 * @return array Other paths of this host under which plugins link to them, by folder.
	 */
	private static function find_alternative_paths( array $paths ) {
		$uploads = wp_upload_dir( null, false );
		$shown   = array(
			'admin'    => self::admin_urls(),
			'includes' => array( self::prefix( 'includes_url', array( 'js/jquery/jquery.js', 'version.php' ) ) ),
			'content'  => array( self::prefix( 'content_url', array( 'index.php', 'upgrade/x.zip' ) ), WP_CONTENT_URL ),
			'uploads'  => array( $uploads['baseurl'] ),
		);
		foreach ( $shown as $name => $urls ) {
			$others = array();
			foreach ( $urls as $url ) {
				$path = self::is_own( $url ) ? self::path( $url ) : '';
				if ( '' !== $path && $path !== $paths[ $name ] ) {
					$others[ $path ] = true;
				}
			}
			$shown[ $name ] = array_map( 'strval', array_keys( $others ) );
		}
		return $shown;
	}

	/**
	 * A plugin may change the URL of single pages. That does not change the folder.
	 *
	 * @param callable $get_url Function that returns the URL of a file in the folder.
	 * @param string[] $files  Two files.
	 * @return string URL of the folder of both files, '' for none.
	 */
	private static function prefix( $get_url, array $files ) {
		$found = array();
		foreach ( $files as $file ) {
			$url  = preg_replace( '/[?#].*\z/s', '', (string) call_user_func( $get_url, $file ) );
			$tail = '/' . $file;
			if ( substr( $url, -strlen( $tail ) ) !== $tail ) {
				return '';
			}
			$found[ substr( $url, 0, -strlen( $tail ) ) ] = true;
		}
		return 1 === count( $found ) ? (string) key( $found ) : '';
	}

	/**
	 * @param string $folder Path of a folder.
	 * @param string $url    The site's URL of the folder.
	 * @return string URL path under which this host serves it, without a trailing slash.
	 */
	private static function folder( $folder, $url ) {
		if ( self::is_own( $url ) ) {
			return self::path( $url );
		}
		$path = self::below_root( $folder );
		return null === $path ? self::path( $url ) : $path;
	}

	/**
	 * @param string $folder Path of a folder.
	 * @return string|null URL path of the folder below the folders of WordPress; null outside of them.
	 */
	private static function below_root( $folder ) {
		$folder = untrailingslashit( wp_normalize_path( $folder ) );
		$roots  = array(
			wp_normalize_path( WP_CONTENT_DIR ) => self::is_own( WP_CONTENT_URL ) ? self::path( WP_CONTENT_URL ) : null,
			wp_normalize_path( ABSPATH )        => self::path( get_option( 'siteurl' ) ),
		);
		if ( ! empty( $_SERVER['DOCUMENT_ROOT'] ) ) {
			$roots[ wp_normalize_path( $_SERVER['DOCUMENT_ROOT'] ) ] = ''; // phpcs:ignore WordPress.Security.ValidatedSanitizedInput
		}
		foreach ( $roots as $root => $path ) {
			$root = trailingslashit( $root );
			if ( null !== $path && 0 === strpos( $folder . '/', $root ) ) {
				return untrailingslashit( $path . '/' . substr( $folder . '/', strlen( $root ) ) );
			}
		}
		return null;
	}

	/**
	 * @param string $url An address.
	 * @return bool Whether it is a URL of this host.
	 */
	private static function is_own( $url ) {
		$host = wp_parse_url( (string) $url, PHP_URL_HOST );
		foreach ( array( home_url(), get_option( 'home' ), get_option( 'siteurl' ) ) as $own ) {
			if ( is_string( $host ) && 0 === strcasecmp( $host, (string) wp_parse_url( $own, PHP_URL_HOST ) ) ) {
				return true;
			}
		}
		return false;
	}

	/**
	 * @param string $url An address.
	 * @return string Its path, without a trailing slash.
	 */
	private static function path( $url ) {
		return untrailingslashit( (string) wp_parse_url( (string) $url, PHP_URL_PATH ) );
	}
}
