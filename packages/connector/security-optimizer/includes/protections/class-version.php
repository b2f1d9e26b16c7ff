<?php
/**
 * Protection `wp_remove_version`: hides the version of WordPress from anonymous clients.
 *
 * URLs of core files contain a token instead of the version. It changes with the version, so caches work as before. The
 * screens of wp-admin still show the version.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Version {

	/** @var string Version of WordPress. */
	private static $version = '';

	/** @var string 8 hexadecimal digits that replace the version. */
	private static $token = '';

	/**
	 * @param string $secret The site's secret, which is needed to derive the token from the version.
	 */
	public static function prepare( $secret ) {
		self::$version = (string) $GLOBALS['wp_version'];
		self::$token   = substr( Security_Optimizer_Protocol::mac( "version-token\n" . self::$version, $secret ), 0, 8 );
	}

	/**
	 * Actions `wp_default_styles` and `wp_default_scripts`: the default version of files without a version.
	 *
	 * @param WP_Dependencies $dependencies Registered files.
	 */
	public static function replace_default( $dependencies ) {
		$dependencies->default_version = self::$token;
	}

	/**
	 * Filters of URLs. Versions of plugins and themes are kept, even if they equal that of WordPress.
	 *
	 * @param string $url One URL, or a comma-separated list, as in the settings of the editor.
	 * @return string
	 */
	public static function replace_in_url( $url ) {
		if ( ! is_string( $url ) || false === strpos( $url, '=' . self::$version ) ) {
			return $url;
		}
		$urls = array();
		foreach ( preg_split( '#,(?=(?:https?:)?/)#i', $url ) as $one ) {
			$urls[] = self::is_core_version( $one )
				? preg_replace( '/([?&;](?:ver|version)=)' . preg_quote( self::$version, '/' ) . '(?=[&#]|\z)/', '${1}' . self::$token, $one )
				: $one;
		}
		return implode( ',', $urls );
	}

	/**
	 * Filters `tiny_mce_before_init` and `teeny_mce_before_init`: some sites use the editor on public pages.
	 *
	 * @param array $settings Settings of the editor.
	 * @return array
	 */
	public static function replace_in_editor( $settings ) {
		if ( isset( $settings['content_css'] ) ) {
			$settings['content_css'] = self::replace_in_url( $settings['content_css'] );
		}
		return $settings;
	}

	/**
	 * Filter `http_request_args`: a client that makes WordPress request the client's own server, for example by a
	 * pingback, must not see the version. wordpress.org needs it to offer the right updates.
	 *
	 * Only the version of the product `WordPress/<version>` is removed, because the header may contain other products.
	 *
	 * @param array  $args Arguments of the request.
	 * @param string $url  URL of the request.
	 * @return array
	 */
	public static function remove_from_user_agent( $args, $url ) {
		$host = strtolower( (string) wp_parse_url( $url, PHP_URL_HOST ) );
		if ( isset( $args['user-agent'] ) && is_string( $args['user-agent'] )
			&& ! preg_match( '/(\A|\.)wordpress\.org\z/', $host )
		) {
			// A product begins after a space, an opening bracket, a comma or a semicolon. Its version ends where no
			// longer version continues: 7.1 does not match 7.1.2 or 7.1-RC1.
			$product            = '~(?<![^\s(\[;,"\'])(WordPress)/' . preg_quote( self::$version, '~' ) . '(?![\w+/\~-]|\.\w)~i';
			$args['user-agent'] = preg_replace( $product, '$1', $args['user-agent'] );
		}
		return $args;
	}

	/**
	 * A plugin or theme may use the version of WordPress for its files, or its own version, which may be the same.
	 *
	 * @param string $url URL of a file with the version of WordPress in its query.
	 * @return bool Whether the version in the URL is that of WordPress itself.
	 */
	private static function is_core_version( $url ) {
		$path = (string) wp_parse_url( $url, PHP_URL_PATH );
		foreach ( array( includes_url(), admin_url() ) as $core ) {
			if ( 0 === strpos( $path, trailingslashit( (string) wp_parse_url( $core, PHP_URL_PATH ) ) ) ) {
				return true;
			}
		}
		$own = self::get_component_version( $path );
		return '' !== $own && self::$version !== $own;
	}

	/**
	 * @param string $path URL path of a file.
	 * @return string Version of the active plugin or the theme of this file; empty for other files.
	 */
	private static function get_component_version( $path ) {
		$folder = self::first_folder( $path, get_theme_root_uri() );
		if ( '' !== $folder ) {
			return (string) wp_get_theme( $folder )->get( 'Version' );
		}
		$folder = self::first_folder( $path, plugins_url() );
		if ( '' === $folder ) {
			return '';
		}
		$active = array_merge( wp_get_active_and_valid_plugins(), is_multisite() ? wp_get_active_network_plugins() : array() );
		foreach ( $active as $file ) {
			if ( basename( dirname( $file ) ) === $folder ) {
				return (string) get_file_data( $file, array( 'Version' ) )[0];
			}
		}
		return '';
	}

	private static function first_folder( $path, $base ) {
		$start = trailingslashit( (string) wp_parse_url( $base, PHP_URL_PATH ) );
		return 0 === strpos( $path, $start ) ? (string) strtok( substr( $path, strlen( $start ) ), '/' ) : '';
	}
}
