<?php
/**
 * Addresses of wp-admin for people who may have no session where they lead: by the custom address of the login.
 *
 * Without a session wp-admin looks like a missing page, so such an address is a dead end. The login takes it as
 * `redirect_to`: who has no session logs in and gets there, who has one is led on at once. WordPress itself does the
 * same at an address of wp-admin, which can't be open to whoever has no session.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Admin_Links {

	/** @var bool Whether an address is being looked at: that asks for addresses of wp-admin, too. */
	private static $busy = false;

	/**
	 * @param string $url Any URL, not encoded for HTML.
	 * @return string The custom address of the login from which it goes on there; the URL itself, if it is no page of wp-admin
	 *                of this site or of one of its network.
	 */
	public static function to_login( $url ) {
		$slug = Security_Optimizer_Policy::get_text( 'login_url_login' );
		if ( self::$busy || '' === $slug || ! is_string( $url ) || ! preg_match( '%\A((?:https?:)?//[^/?#]+)(/[^?#]*)%i', $url, $part ) ) {
			return $url;
		}
		self::$busy = true;
		$home       = Security_Optimizer_Login_Url::home_of( $part[1], $part[2] );
		$is_page    = null !== $home && self::is_page( $part[2], $home );
		self::$busy = false;
		return $is_page
			? $part[1] . $home . $slug . '?redirect_to=' . rawurlencode( $url )
			: $url;
	}

	/**
	 * @param string $path Path of an address of this installation.
	 * @param string $home Path below which its site is.
	 * @return bool Whether it is a page of wp-admin that asks for a session: not what is open to all, no style, script or picture.
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
	 * Filters `admin_url`, `network_admin_url` and `user_admin_url`: on pages for members, links to wp-admin of a site at another
	 * domain, where their session does not count. (Anybody may become a customer of a shop, who must not learn the address.)
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
	 * @param string $url An address that whoever may know the custom address of the login is led to.
	 * @return string The same; for wp-admin of another domain of this network, the login there that goes on to it.
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
	 * @param string $host Host of an address.
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
		// A browser takes no cookie of a domain that the host is not in.
		return $covers( $host ) && $covers( $_SERVER['HTTP_HOST'] ); // phpcs:ignore WordPress.Security.ValidatedSanitizedInput
	}

	/**
	 * Action `login_init`: who comes with a session to the login for a page of wp-admin is led on there. Where WordPress
	 * does not accept the session after all, it says so with `reauth`, and the form is shown.
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
	 * @param string $location A redirect's, with or without a host.
	 * @return bool Whether it is a page of wp-admin of this installation.
	 */
	private static function is_admin_page( $location ) {
		$path = (string) strtok( $location, '?#' );
		if ( 0 === strpos( $location, '/' ) && 0 !== strpos( $location, '//' ) ) {
			$home = Security_Optimizer_Login_Url::home_of( '', $path );
			return null !== $home && self::is_page( $path, $home );
		}
		return self::to_login( $location ) !== $location;
	}
}
