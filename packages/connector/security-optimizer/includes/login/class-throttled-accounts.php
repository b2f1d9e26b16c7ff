<?php
/**
 * Accounts that many addresses are guessing at: anonymous clients get one password check in ten seconds.
 *
 * Guard says which (policy field `slow_users`). A browser that has logged in to the account before is not limited.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Throttled_Accounts {

	const SECONDS = 10;
	const PREFIX  = 'security_optimizer_slow_';

	/** @var true[] Users who got the check in this request: several calls of one XML-RPC request are one login. */
	private static $granted = array();

	/**
	 * Takes the one check of these ten seconds, if it is still there.
	 *
	 * @param WP_User|null $user The user whose password is to be checked.
	 * @return bool Whether it must not be checked now.
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
	 * Both statements are atomic, so of many requests at once one gets it. No answer of the database means no check.
	 */
	private static function acquire( $name, $now ) {
		$time = Security_Optimizer_Option_Rows::time( $now );
		return Security_Optimizer_Option_Rows::update( $name, $time, $now - self::SECONDS )
			|| Security_Optimizer_Option_Rows::insert( $name, $time );
	}

	/**
	 * Deletes what is stored about accounts that are not throttled any more.
	 */
	public static function forget_others() {
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
