<?php
/**
 * Users whom the owner has blocked (policy field `blocked_users`). They can't log in, and their requests are anonymous.
 * Account, role and content do not change.
 *
 * Their passwords are not compared (see class-password-checks.php), so that nobody learns whether one is correct.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Blocked_Users {

	/**
	 * @return bool Whether any user is blocked.
	 */
	public static function exist() {
		return '' !== Security_Optimizer_Policy::get_text( 'blocked_users' );
	}

	/**
	 * @param int $user_id A user.
	 * @return bool Whether the user is blocked.
	 */
	public static function has( $user_id ) {
		return in_array( (string) $user_id, Security_Optimizer_Policy::get_list( 'blocked_users' ), true );
	}

	/**
	 * Action `plugins_loaded`, before anything reads these cookies. Some code, such as wp-admin, does not use the
	 * filter below.
	 */
	public static function remove_cookies() {
		foreach ( array( AUTH_COOKIE, SECURE_AUTH_COOKIE, LOGGED_IN_COOKIE ) as $name ) {
			$cookie = isset( $_COOKIE[ $name ] ) && is_string( $_COOKIE[ $name ] ) ? wp_parse_auth_cookie( $_COOKIE[ $name ] ) : false;
			$user   = $cookie ? get_user_by( 'login', $cookie['username'] ) : false;
			if ( $user && self::has( $user->ID ) ) {
				unset( $_COOKIE[ $name ] );
			}
		}
	}

	/**
	 * Filter `determine_current_user`, last: for other credentials that plugins accept.
	 *
	 * @param int|false $user_id The current user.
	 * @return int|false
	 */
	public static function make_anonymous( $user_id ) {
		return $user_id && self::has( $user_id ) ? false : $user_id;
	}

	/**
	 * Filter `send_auth_cookies`: such a user gets no session from any login.
	 *
	 * @param bool   $send       Whether to send the cookies.
	 * @param int    $expire     When the cookies expire, 0 for session cookies.
	 * @param int    $expiration When the session expires.
	 * @param int    $user_id    The session's user, 0 when cookies are deleted.
	 * @param string $scheme     Scheme of the cookie.
	 * @param string $token      Token of the session.
	 * @return bool
	 */
	public static function withhold_cookies( $send, $expire = 0, $expiration = 0, $user_id = 0, $scheme = '', $token = '' ) {
		if ( ! $user_id || ! self::has( $user_id ) ) {
			return $send;
		}
		WP_Session_Tokens::get_instance( $user_id )->destroy( $token );
		return false;
	}
}
