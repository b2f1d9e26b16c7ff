<?php
/**
 * Command `forget`: takes everything of the connector out of the database, before its files are removed.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Forget {

	/**
	 * @return array The answer described in docs/activity-log.md.
	 */
	public static function run() {
		global $wpdb;
		delete_site_option( Security_Optimizer_Policy::OPTION );
		Security_Optimizer_Readme::unschedule();
		Security_Optimizer_Outbox::drop();
		// Nonces, records of password checks, and what is stored about throttled accounts.
		$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->base_prefix}options WHERE option_name LIKE %s", $wpdb->esc_like( 'security_optimizer_' ) . '%' ) ); // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
		Security_Optimizer_Gate::send_signal();
		return array( 'forgotten' => true );
	}
}
