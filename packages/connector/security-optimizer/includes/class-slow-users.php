<?php
/**
 * Accounts that many addresses are guessing at: strangers get one password check in ten seconds.
 *
 * Guard says which (policy field `slow_users`). A device that logged in to the account before is no stranger.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Slow_Users {

	const SECONDS = 10;
	const PREFIX  = 'security_optimizer_slow_';

	/** @var true[] Users who got the check in this request: several calls of one XML-RPC request are one log-in. */
	private static $granted = array();

	/**
	 * Takes the one check of these ten seconds, if it is still there.
	 *
	 * @param WP_User|null $user Whose password is to be checked.
	 * @return bool Whether it must not be checked now.
	 */
	public static function must_wait( $user ) {
		if ( ! $user
			|| ! in_array( (string) $user->ID, Security_Optimizer_Policy::words( 'slow_users' ), true )
			|| Security_Optimizer_Context::knows_device( $user->ID )
		) {
			return false;
		}
		if ( ! isset( self::$granted[ $user->ID ] ) && self::take( self::PREFIX . $user->ID, time() ) ) {
			self::$granted[ $user->ID ] = true;
		}
		return ! isset( self::$granted[ $user->ID ] );
	}

	/**
	 * Both statements are atomic, so of many requests at once one gets it. No answer of the database means no check.
	 */
	private static function take( $name, $now ) {
		global $wpdb;
		$table = $wpdb->base_prefix . 'options';
		$taken = $wpdb->query(
			$wpdb->prepare(
				"UPDATE $table SET option_value = %s WHERE option_name = %s AND option_value <= %s", // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
				sprintf( '%012d', $now ),
				$name,
				sprintf( '%012d', $now - self::SECONDS )
			)
		);
		if ( ! $taken ) {
			$taken = $wpdb->query(
				$wpdb->prepare(
					"INSERT IGNORE INTO $table (option_name, option_value, autoload) VALUES (%s, %s, 'no')", // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
					$name,
					sprintf( '%012d', $now )
				)
			);
		}
		return (bool) $taken;
	}

	/**
	 * Drops what is kept about accounts that are not slow any more.
	 */
	public static function forget_others() {
		global $wpdb;
		$table = $wpdb->base_prefix . 'options';
		$names = $wpdb->get_col( $wpdb->prepare( "SELECT option_name FROM $table WHERE option_name LIKE %s", $wpdb->esc_like( self::PREFIX ) . '%' ) ); // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
		foreach ( $names as $name ) {
			if ( ! in_array( substr( $name, strlen( self::PREFIX ) ), Security_Optimizer_Policy::words( 'slow_users' ), true ) ) {
				$wpdb->delete( $table, array( 'option_name' => $name ) );
			}
		}
	}
}
