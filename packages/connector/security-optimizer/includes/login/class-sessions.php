<?php
/**
 * Ends sessions for commands of guard: of all users, or of one.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Sessions {

	/**
	 * Ends every session in any session storage.
	 *
	 * @param bool $keep Whether the session of the browser's cookie is kept.
	 * @return int|null Number of users with a session; null when the database did not end them.
	 */
	public static function end_all( $keep = false ) {
		$users   = self::count_users();
		$owner   = $keep ? Security_Optimizer_Session_User::id() : 0;
		$cookie  = $owner ? wp_parse_auth_cookie( '', 'logged_in' ) : false;
		$session = $cookie ? WP_Session_Tokens::get_instance( $owner )->get( $cookie['token'] ) : null;
		$ended   = Security_Optimizer_Database_Retry::run(
			static function () {
				global $wpdb;
				$wpdb->last_error = '';
				WP_Session_Tokens::destroy_all_for_all_users();
				// The error may come from a query of a plugin's callback.
				return '' === $wpdb->last_error || ( 0 === self::count_users() && '' === $wpdb->last_error );
			}
		);
		if ( $ended && $session ) {
			Security_Optimizer_Database_Retry::run(
				static function () use ( $owner, $cookie, $session ) {
					$sessions = WP_Session_Tokens::get_instance( $owner );
					$sessions->update( $cookie['token'], $session );
					return null !== $sessions->get( $cookie['token'] );
				}
			);
		}
		return $ended ? $users : null;
	}

	/**
	 * Ends the sessions of one user.
	 *
	 * @param int    $user_id A user.
	 * @param string $kept    Token of the session that is kept, '' for none.
	 * @return bool Whether the database has ended them.
	 */
	public static function end( $user_id, $kept = '' ) {
		$sessions = WP_Session_Tokens::get_instance( $user_id );
		return Security_Optimizer_Database_Retry::run(
			static function () use ( $sessions, $kept ) {
				global $wpdb;
				$wpdb->last_error = '';
				if ( '' === $kept ) {
					$sessions->destroy_all();
				} else {
					$sessions->destroy_others( $kept );
				}
				// WordPress does not return whether it succeeded. A user may log in again meanwhile, so counting the
				// remaining sessions is not sufficient.
				if ( '' === $wpdb->last_error ) {
					return true;
				}
				$wpdb->last_error = '';
				return count( $sessions->get_all() ) <= ( '' === $kept ? 0 : 1 ) && '' === $wpdb->last_error;
			}
		);
	}

	private static function count_users() {
		global $wpdb;
		return (int) $wpdb->get_var( "SELECT COUNT(*) FROM $wpdb->usermeta WHERE meta_key = 'session_tokens' AND meta_value <> ''" );
	}
}
