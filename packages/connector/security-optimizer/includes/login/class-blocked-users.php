<?php
/**
 * Users whom the owner has blocked (policy field `blocked_users`): no login, and every request of theirs is one of an
 * anonymous visitor. Account, role and content stay as they are.
 *
 * Their passwords are not compared at all (see class-password-checks.php), so that nobody learns whether one is right.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Blocked_Users {

	/**
	 * @return bool Whether there are any.
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
	 * Action `plugins_loaded`, before anything reads these cookies. Many do not read them by
	 * way of the filter below: wp-admin itself, for example.
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
	 * Filter `determine_current_user`, after everybody else: for whatever else plugins take as a proof.
	 *
	 * @param int|false $user_id Who is asking.
	 * @return int|false
	 */
	public static function make_anonymous( $user_id ) {
		return $user_id && self::has( $user_id ) ? false : $user_id;
	}

	/**
	 * Filter `send_auth_cookies`: no session, whatever logs such a user in.
	 *
	 * @param bool   $send       Whether to send the cookies.
	 * @param int    $expire     When the cookies end, 0 with the browser.
	 * @param int    $expiration When the session ends.
	 * @param int    $user_id    The session's user, 0 when cookies are deleted.
	 * @param string $scheme     Kind of cookie.
	 * @param string $token      The session.
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
