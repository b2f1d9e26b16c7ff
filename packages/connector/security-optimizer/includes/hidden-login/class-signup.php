<?php
/**
 * The registration at its custom URL. It does not reveal the login to anonymous clients.
 *
 * Registered users, also new ones, get the login URL by mail.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Signup {

	/**
	 * @return bool Whether registration is open.
	 */
	public static function is_open() {
		return is_multisite()
			? in_array( get_site_option( 'registration' ), array( 'user', 'all' ), true )
			: (bool) get_option( 'users_can_register' );
	}

	/**
	 * Action `login_init`: the custom URL only serves the registration and its confirmation. While registration is
	 * closed, it responds with a 404.
	 */
	public static function begin() {
		if ( ! Security_Optimizer_Context::uses_signup_url() ) {
			return;
		}
		$action  = $GLOBALS['action'];
		$is_done = 'checkemail' === $action && isset( $_GET['checkemail'] ) && 'registered' === $_GET['checkemail'];
		// In a network the registration is another script. Guard may not know yet that this is a network.
		if ( is_multisite() || ! self::is_open() || ! ( 'register' === $action || $is_done ) ) {
			Security_Optimizer_Request_Gate::end_as_not_found();
		}
		if ( 0 === Security_Optimizer_Session_User::id() ) {
			ob_start( array( __CLASS__, 'without_login' ) );
		}
	}

	/**
	 * Action `before_signup_header`: the same in a network, where registered users may create sites.
	 */
	public static function begin_in_network() {
		if ( ! Security_Optimizer_Context::uses_signup_url() || Security_Optimizer_Session_User::id() > 0 ) {
			return;
		}
		if ( ! self::is_open() ) {
			Security_Optimizer_Request_Gate::end_as_not_found();
		}
		ob_start( array( __CLASS__, 'without_login' ) );
	}

	/**
	 * Action `init`: in a network, an account is activated at wp-activate.php with a key from a mail. Anonymous clients
	 * without such a key get a 404.
	 */
	public static function require_key() {
		if ( 'wp-activate.php' !== $GLOBALS['pagenow']
			|| Security_Optimizer_Session_User::id() > 0
			|| ! Security_Optimizer_Request_Gate::is_via_guard()
		) {
			return;
		}
		// WordPress moves the key from the URL to this cookie by a redirect.
		$cookie = 'wp-activate-' . COOKIEHASH;
		foreach ( array( array( $_GET, 'key' ), array( $_POST, 'key' ), array( $_COOKIE, $cookie ) ) as list( $from, $name ) ) {
			if ( isset( $from[ $name ] ) && is_string( $from[ $name ] ) && self::is_key( wp_unslash( $from[ $name ] ) ) ) {
				ob_start( array( __CLASS__, 'without_login' ) );
				return;
			}
		}
		Security_Optimizer_Request_Gate::end_as_not_found();
	}

	private static function is_key( $key ) {
		global $wpdb;
		return '' !== trim( $key )
			&& null !== $wpdb->get_var( $wpdb->prepare( "SELECT signup_id FROM $wpdb->signups WHERE activation_key = %s", $key ) );
	}

	/**
	 * @param string $html The page.
	 * @return string The page without links to the login.
	 */
	public static function without_login( $html ) {
		$html = preg_replace( '#<p id="nav">.*?</p>#is', '', Security_Optimizer_Login_Forms::remove_marked( $html ) );
		return preg_replace_callback(
			'#<a\b[^>]*?\bhref=(["\'])(.*?)\1[^>]*>(.*?)</a>#is',
			static function ( $link ) {
				$url = html_entity_decode( $link[2], ENT_QUOTES );
				return Security_Optimizer_Login_Url::to_slug( $url ) === $url || Security_Optimizer_Login_Url::is_signup( $url ) ? $link[0] : $link[3];
			},
			$html
		);
	}

	/**
	 * @param string $location Target of a redirect to the login after a registration.
	 * @return string The target to use instead.
	 */
	public static function get_redirect( $location ) {
		return strpos( $location, 'checkemail=registered' )
			? Security_Optimizer_Login_Url::to_slug( Security_Optimizer_Login_Url::default_signup() ) . '?checkemail=registered'
			: home_url( '/' );
	}
}
