<?php
/**
 * Links to wp-admin for users who may have no session at the target: they go through the custom login URL.
 *
 * Without a session wp-admin responds like a missing page, so such a link would not work. The login gets the target as
 * `redirect_to`. A user without a session logs in first; a user with a session is redirected immediately. WordPress
 * itself redirects from wp-admin to the login, which would reveal the hidden login here.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Admin_Links {

	/** @var bool Whether a URL is being processed, which itself calls filters for URLs of wp-admin. */
	private static $busy = false;

	/**
	 * @param string $url Any URL, not encoded for HTML.
	 * @return string The custom login URL that redirects there; the URL itself if it is no page of wp-admin of this
	 *                site or its network.
	 */
	public static function to_login( $url ) {
		$slug = Security_Optimizer_Policy::get_text( 'login_url_login' );
		if ( self::$busy || '' === $slug || ! is_string( $url ) || ! preg_match( '%\A((?:https?:)?//[^/?#]+)(/[^?#]*)%i', $url, $part ) ) {
			return $url;
		}
		self::$busy = true;
		$home       = Security_Optimizer_Login_Url::find_home_path( $part[1], $part[2] );
		$is_page    = null !== $home && self::is_page( $part[2], $home );
		self::$busy = false;
		return $is_page
			? $part[1] . $home . $slug . '?redirect_to=' . rawurlencode( $url )
			: $url;
	}

	/**
	 * @param string $path Path of a URL of this installation.
	 * @param string $home Path of its site.
	 * @return bool Whether it is a page of wp-admin that needs a session: no public script, no style, script or image.
	 */
	private static function is_page( $path, $home ) {
		$segments = Security_Optimizer_Login_Url::segments( $path );
		foreach ( Security_Optimizer_Site_Names::admin_urls() as $admin ) {
			$admin = (string) wp_parse_url( $admin, PHP_URL_PATH );
			$own   = is_multisite() ? get_site()->path : '/';
			// In each site of a network wp-admin is at the same place below its address.
			$admin = is_multisite() && 0 === strpos( $admin, $own ) ? $home . substr( $admin, strlen( $own ) ) : $admin;
			$admin = Security_Optimizer_Login_Url::segments( $admin );
			if ( array() !== $admin && array_slice( $segments, 0, count( $admin ) ) === $admin ) {
				$rest = array_slice( $segments, count( $admin ) );
				$last = (string) end( $rest );
				return ! Security_Optimizer_Login_Url::is_open_script( $rest ) && ( false === strpos( $last, '.' ) || '.php' === substr( $last, -4 ) );
			}
		}
		return false;
	}

	/**
	 * Filters `admin_url`, `network_admin_url` and `user_admin_url`: replaces links to wp-admin of a site at another
	 * domain, where the session is not valid, on pages for logged-in users. (Anybody may become a customer of a shop;
	 * customers must not see the login URL.)
	 *
	 * @param string $url The URL.
	 * @return string
	 */
	public static function filter_url( $url ) {
		return Security_Optimizer_Session_User::id() > 0 && ( ! Security_Optimizer_Login_Url::has_shop() || current_user_can( 'edit_posts' ) )
			? self::get_reachable_url( $url )
			: $url;
	}

	/**
	 * @param string $url Target of a redirect for a user who may know the custom login URL.
	 * @return string The URL; for wp-admin at another domain of this network, the login there that redirects to it.
	 */
	public static function get_reachable_url( $url ) {
		if ( ! is_multisite() || ! is_string( $url ) || ! preg_match( '%\A(?:https?:)?//([^/?#]+)%i', $url, $part )
			|| ! isset( $_SERVER['HTTP_HOST'] ) || self::has_session_at( $part[1] )
		) {
			return $url;
		}
		return self::to_login( $url );
	}

	/**
	 * @param string $host Host of a URL.
	 * @return bool Whether the cookies of this request's session are valid there.
	 */
	private static function has_session_at( $host ) {
		if ( 0 === strcasecmp( $host, $_SERVER['HTTP_HOST'] ) ) { // phpcs:ignore WordPress.Security.ValidatedSanitizedInput
			return true;
		}
		$domain = defined( 'COOKIE_DOMAIN' ) ? ltrim( strtolower( (string) COOKIE_DOMAIN ), '.' ) : '';
		$covers = static function ( $host ) use ( $domain ) {
			$host = strtolower( preg_replace( '/:\d+\z/', '', $host ) );
			return '' !== $domain && ".$domain" === substr( ".$host", -strlen( $domain ) - 1 );
		};
		// A browser rejects a cookie for a domain that does not contain the host.
		return $covers( $host ) && $covers( $_SERVER['HTTP_HOST'] ); // phpcs:ignore WordPress.Security.ValidatedSanitizedInput
	}

	/**
	 * Action `login_init`: redirects a user with a session from the login to the requested page of wp-admin. If
	 * WordPress does not accept the session there, it redirects back with `reauth`, and the form is shown.
	 */
	public static function redirect_signed_in() {
		$method = isset( $_SERVER['REQUEST_METHOD'] ) ? $_SERVER['REQUEST_METHOD'] : ''; // phpcs:ignore WordPress.Security.ValidatedSanitizedInput
		// phpcs:disable WordPress.Security.NonceVerification.Recommended -- changes nothing.
		if ( ! in_array( $method, array( 'GET', 'HEAD' ), true )
			|| ! Security_Optimizer_Context::uses_custom_url()
			|| Security_Optimizer_Context::uses_signup_url()
			|| array() !== array_intersect( array_keys( $_GET ), array( 'action', 'reauth', 'interim-login', 'customize-login', 'loggedout', 'key', 'checkemail' ) )
			|| ! isset( $_GET['redirect_to'] ) || ! is_string( $_GET['redirect_to'] )
			|| 0 === Security_Optimizer_Session_User::id()
		) {
			return;
		}
		$location = wp_validate_redirect( wp_sanitize_redirect( wp_unslash( $_GET['redirect_to'] ) ), '' ); // phpcs:ignore WordPress.Security.ValidatedSanitizedInput
		// phpcs:enable
		if ( self::is_admin_page( $location ) ) {
			wp_safe_redirect( $location );
			exit;
		}
	}

	/**
	 * @param string $location Target of a redirect, with or without a host.
	 * @return bool Whether it is a page of wp-admin of this installation.
	 */
	private static function is_admin_page( $location ) {
		$path = (string) strtok( $location, '?#' );
		if ( 0 === strpos( $location, '/' ) && 0 !== strpos( $location, '//' ) ) {
			$home = Security_Optimizer_Login_Url::find_home_path( '', $path );
			return null !== $home && self::is_page( $path, $home );
		}
		return self::to_login( $location ) !== $location;
	}
}
