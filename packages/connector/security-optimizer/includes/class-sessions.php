<?php
/**
 * All sessions of all users.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Sessions {

	/**
	 * Ends every session, whatever keeps them.
	 *
	 * @param bool $keep Whether the session of the browser's cookie stays.
	 * @return int How many users had one.
	 */
	public static function end_all( $keep = false ) {
		global $wpdb;
		$users   = (int) $wpdb->get_var( "SELECT COUNT(*) FROM $wpdb->usermeta WHERE meta_key = 'session_tokens' AND meta_value <> ''" );
		$owner   = $keep ? Security_Optimizer_Signed_In_User::id() : 0;
		$cookie  = $owner ? wp_parse_auth_cookie( '', 'logged_in' ) : false;
		$session = $cookie ? WP_Session_Tokens::get_instance( $owner )->get( $cookie['token'] ) : null;
		WP_Session_Tokens::destroy_all_for_all_users();
		if ( $session ) {
			WP_Session_Tokens::get_instance( $owner )->update( $cookie['token'], $session );
		}
		return $users;
	}
}
