<?php
/**
 * Accounts under attack from many addresses. Anonymous clients get one password check per ten seconds.
 *
 * Guard lists them in the policy field `slow_users`. Browsers that have logged in to the account before are not
 * limited.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Throttled_Accounts {

	const SECONDS = 10;
	const PREFIX  = 'security_optimizer_slow_';

	/**
	 * @var true[] Users for whom this request has acquired the check: several calls of one XML-RPC request are one
	 * login.
	 */
	private static $granted = array();

	/**
	 * Acquires the check of the current interval, if it is available.
	 *
	 * @param WP_User|null $user The user whose password is to be checked.
	 * @return bool Whether the password must not be checked now.
	 */
	public static function must_wait( $user ) {
		if ( ! $user
			|| ! in_array( (string) $user->ID, self::list_ids(), true )
			|| Security_Optimizer_Context::knows_browser( $user->ID )
		) {
			return false;
		}
		if ( ! isset( self::$granted[ $user->ID ] ) && self::acquire( self::PREFIX . $user->ID, time() ) ) {
			self::$granted[ $user->ID ] = true;
		}
		return ! isset( self::$granted[ $user->ID ] );
	}

	/**
	 * Both statements are atomic, so only one of concurrent requests succeeds. Without a database there is no check.
	 */
	private static function acquire( $name, $now ) {
		$time = Security_Optimizer_Option_Rows::time( $now );
		return Security_Optimizer_Option_Rows::update( $name, $time, $now - self::SECONDS )
			|| Security_Optimizer_Option_Rows::insert( $name, $time );
	}

	/**
	 * Deletes the rows of accounts that are not throttled any more.
	 */
	public static function delete_stale() {
		global $wpdb;
		$table = Security_Optimizer_Option_Rows::table();
		$names = $wpdb->get_col( $wpdb->prepare( "SELECT option_name FROM $table WHERE option_name LIKE %s", $wpdb->esc_like( self::PREFIX ) . '%' ) ); // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
		foreach ( $names as $name ) {
			if ( ! in_array( substr( $name, strlen( self::PREFIX ) ), self::list_ids(), true ) ) {
				$wpdb->delete( $table, array( 'option_name' => $name ) );
			}
		}
	}

	private static function list_ids() {
		return Security_Optimizer_Policy::get_list( 'slow_users' );
	}
}
