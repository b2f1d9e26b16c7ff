<?php
/**
 * Command `force-password-reset`: every user has to choose a new password.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Force_Password_Reset {

	/**
	 * @return array|string The response described in docs/developer/post-hack.md, or an error's code.
	 */
	public static function run() {
		global $wpdb;
		$now = time();
		if ( ! Security_Optimizer_Password_Reset::begin( $now )
			|| ! Security_Optimizer_Database_Retry::delete_user_meta( WP_Application_Passwords::USERMETA_KEY_APPLICATION_PASSWORDS )
			|| null === Security_Optimizer_Sessions::end_all()
		) {
			return 'not_stored';
		}
		return array(
			'reset_at' => $now,
			'users'    => (int) $wpdb->get_var( "SELECT COUNT(*) FROM $wpdb->users" ),
			'salts'    => Security_Optimizer_Salts::replace(),
		);
	}
}
