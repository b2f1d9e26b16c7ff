<?php
/**
 * Command `force-password-reset`: nobody gets in any more without a new password.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Force_Password_Reset {

	/**
	 * @return array The answer described in docs/post-hack.md.
	 */
	public static function run() {
		global $wpdb;
		$now = time();
		Security_Optimizer_Password_Reset::begin( $now );
		delete_metadata( 'user', 0, WP_Application_Passwords::USERMETA_KEY_APPLICATION_PASSWORDS, '', true );
		Security_Optimizer_Sessions::end_all();
		return array(
			'reset_at' => $now,
			'users'    => (int) $wpdb->get_var( "SELECT COUNT(*) FROM $wpdb->users" ),
			'salts'    => Security_Optimizer_Salts::replace(),
		);
	}
}
