<?php
/**
 * Command `forget`: deletes all data of the connector from the database, before its files are removed.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Forget {

	/**
	 * @return array|string The response described in docs/developer/activity-log.md, or an error's code.
	 */
	public static function run() {
		global $wpdb;
		$gone = Security_Optimizer_Database_Retry::delete_site_option( Security_Optimizer_Policy::OPTION );
		Security_Optimizer_Readme::unschedule();
		$gone = Security_Optimizer_Outbox::drop() && $gone;
		$gone = Security_Optimizer_Database_Retry::delete_user_meta( Security_Optimizer_Activity_Program_Logins::META ) && $gone;
		// Nonces, records of password checks, and rows of throttled accounts and of running updates.
		$gone = Security_Optimizer_Database_Retry::query( $wpdb->prepare( "DELETE FROM {$wpdb->base_prefix}options WHERE option_name LIKE %s", $wpdb->esc_like( 'security_optimizer_' ) . '%' ) ) && $gone; // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
		Security_Optimizer_Request_Gate::send_signal();
		return $gone ? array( 'forgotten' => true ) : 'not_stored';
	}
}
