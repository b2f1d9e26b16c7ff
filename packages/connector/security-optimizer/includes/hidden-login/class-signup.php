<?php
/**
 * The registration at its custom address: anonymous clients may use it, and learn nothing of the login from it.
 *
 * Members get the address of the login by mail, the new ones too.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Signup {

	/**
	 * @return bool Whether visitors may register.
	 */
	public static function is_open() {
		return is_multisite()
			? in_array( get_site_option( 'registration' ), array( 'user', 'all' ), true )
			: (bool) get_option( 'users_can_register' );
	}

	/**
	 * Action `login_init`: here is the registration and the word that a mail is on its way, and nothing else. While
	 * nobody may register, the address is one without a page.
	 */
	public static function begin() {
		if ( ! Security_Optimizer_Context::uses_signup_url() ) {
			return;
		}
		$action  = $GLOBALS['action'];
		$is_done = 'checkemail' === $action && isset( $_GET['checkemail'] ) && 'registered' === $_GET['checkemail'];
		// In a network the registration is another script; guard does not know yet that this is one.
		if ( is_multisite() || ! self::is_open() || ! ( 'register' === $action || $is_done ) ) {
			Security_Optimizer_Request_Gate::end_as_not_found();
		}
		if ( 0 === Security_Optimizer_Session_User::id() ) {
			ob_start( array( __CLASS__, 'without_login' ) );
		}
	}

	/**
	 * Action `before_signup_header`: the same in a network, where members may make sites of their own.
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
	 * Action `init`: in a network, an account is activated at wp-activate.php with the key of a mail. For anonymous
	 * clients without such a key it does not exist.
	 */
	public static function require_key() {
		if ( 'wp-activate.php' !== $GLOBALS['pagenow']
			|| Security_Optimizer_Session_User::id() > 0
			|| ! Security_Optimizer_Request_Gate::came_through_guard()
		) {
			return;
		}
		// WordPress takes the key out of the address by a redirect, and keeps it in this cookie meanwhile.
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
	 * @return string Without links to the login.
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
	 * @param string $location A redirect to the login, after a registration.
	 * @return string Where the visitor goes instead.
	 */
	public static function get_redirect( $location ) {
		return strpos( $location, 'checkemail=registered' )
			? Security_Optimizer_Login_Url::to_slug( Security_Optimizer_Login_Url::default_signup() ) . '?checkemail=registered'
			: home_url( '/' );
	}
}
