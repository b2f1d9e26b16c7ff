<?php
/**
 * Protection `wp_remove_version`: anonymous clients do not learn which WordPress this is.
 *
 * URLs of core files carry a token in the place of the version. It changes with the version, so caches work as
 * before. The screens of wp-admin go on naming the version to those who may see them.
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
	 * @param string $secret The site's secret, without which the token cannot be computed from the version.
	 */
	public static function prepare( $secret ) {
		self::$version = (string) $GLOBALS['wp_version'];
		self::$token   = substr( Security_Optimizer_Protocol::mac( "version-token\n" . self::$version, $secret ), 0, 8 );
	}

	/**
	 * Actions `wp_default_styles` and `wp_default_scripts`: the version of all files that name none of their own.
	 *
	 * @param WP_Dependencies $dependencies Registered files.
	 */
	public static function replace_default( $dependencies ) {
		$dependencies->default_version = self::$token;
	}

	/**
	 * Filters of URLs. A version of somebody else's stays, also one that happens to be the same.
	 *
	 * @param string $url One URL, or several with commas between them, as the editor has them.
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
	 * Filters `tiny_mce_before_init` and `teeny_mce_before_init`: some sites show the editor to visitors.
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
	 * Filter `http_request_args`: a client that makes WordPress fetch a page of its own, by a pingback for example,
	 * must not read the version there. wordpress.org needs it to offer the right updates.
	 *
	 * Only the product `WordPress/<version>` loses its version: other programs stand in the same header.
	 *
	 * @param array  $args Arguments of the request.
	 * @param string $url  Where it goes.
	 * @return array
	 */
	public static function remove_from_user_agent( $args, $url ) {
		$host = strtolower( (string) wp_parse_url( $url, PHP_URL_HOST ) );
		if ( isset( $args['user-agent'] ) && is_string( $args['user-agent'] )
			&& ! preg_match( '/(\A|\.)wordpress\.org\z/', $host )
		) {
			// A product begins at a blank, an opening bracket, a comma or a semicolon, and its version ends where no
			// longer one could go on: 7.1 is no part of 7.1.2 or 7.1-RC1.
			$product            = '~(?<![^\s(\[;,"\'])(WordPress)/' . preg_quote( self::$version, '~' ) . '(?![\w+/\~-]|\.\w)~i';
			$args['user-agent'] = preg_replace( $product, '$1', $args['user-agent'] );
		}
		return $args;
	}

	/**
	 * A plugin or theme may give its files the version of WordPress, or its own, which may be the same.
	 *
	 * @param string $url Of a file, with the version of WordPress in its query.
	 * @return bool Whether this version is that of WordPress itself.
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
	 * @return string Version of the active plugin, or the theme, whose file it is; empty when it is nobody's.
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
