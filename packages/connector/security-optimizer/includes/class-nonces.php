<?php
/**
 * Nonces of commands: each is good for one use.
 *
 * They are rows of the options table because its unique key makes taking one atomic in every database that
 * WordPress runs on.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Nonces {

	const PREFIX = 'security_optimizer_nonce_';

	/**
	 * Takes a nonce.
	 *
	 * @param string $nonce 32 hexadecimal digits.
	 * @param int    $time  When the command was signed, Unix seconds.
	 * @return bool|null True for the first use, false for any other, null when the database does not answer.
	 */
	public static function take( $nonce, $time ) {
		global $wpdb;
		$table    = $wpdb->base_prefix . 'options';
		$quiet    = $wpdb->suppress_errors( true );
		$inserted = $wpdb->query(
			$wpdb->prepare(
				"INSERT IGNORE INTO $table (option_name, option_value, autoload) VALUES (%s, %s, 'no')", // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
				self::PREFIX . $nonce,
				sprintf( '%012d', $time )
			)
		);
		$wpdb->suppress_errors( $quiet );

		if ( false === $inserted ) {
			return null;
		}
		if ( $inserted > 0 ) {
			self::forget_old();
		}
		return $inserted > 0;
	}

	/**
	 * Drops nonces of commands that are too old to be believed, twice over.
	 */
	private static function forget_old() {
		global $wpdb;
		$table = $wpdb->base_prefix . 'options';
		$wpdb->query(
			$wpdb->prepare(
				"DELETE FROM $table WHERE option_name LIKE %s AND option_value < %s", // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
				$wpdb->esc_like( self::PREFIX ) . '%',
				sprintf( '%012d', time() - 2 * Security_Optimizer_Protocol::CLOCK_TOLERANCE )
			)
		);
	}
}
