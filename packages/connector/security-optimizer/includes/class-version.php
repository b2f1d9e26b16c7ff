<?php
/**
 * Protection `wp_remove_version`: strangers do not learn which WordPress this is.
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

	/** @var string 8 hexadecimal digits that stand for the version. */
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
	 * Filters of URLs. A version of somebody else's stays.
	 *
	 * @param string $url One URL, or several with commas between them.
	 * @return string
	 */
	public static function replace_in_url( $url ) {
		if ( ! is_string( $url ) || false === strpos( $url, self::$version ) ) {
			return $url;
		}
		return preg_replace(
			'/([?&;](?:ver|version)=)' . preg_quote( self::$version, '/' ) . '(?![0-9A-Za-z.\-])/',
			'${1}' . self::$token,
			$url
		);
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
	 * Filter `http_request_args`: a stranger who makes WordPress fetch a page of theirs, by a pingback for example,
	 * must not read the version there. wordpress.org needs it to offer the right updates.
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
			$args['user-agent'] = str_replace( '/' . self::$version, '', $args['user-agent'] );
		}
		return $args;
	}
}
