<?php
/**
 * Nonces of commands. Each can be used once.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Nonces {

	const PREFIX = 'security_optimizer_nonce_';

	/**
	 * Consumes a nonce, and deletes nonces of commands that have expired twice over.
	 *
	 * @param string $nonce 32 hexadecimal digits.
	 * @param int    $time  When the command was signed, Unix seconds.
	 * @return bool|null True for the first use, false for any other, null when the database fails.
	 */
	public static function consume( $nonce, $time ) {
		global $wpdb;
		$quiet    = $wpdb->suppress_errors( true );
		$inserted = false;
		Security_Optimizer_Database_Retry::run(
			static function () use ( $nonce, $time, &$inserted ) {
				$inserted = Security_Optimizer_Option_Rows::insert( self::PREFIX . $nonce, Security_Optimizer_Option_Rows::time( $time ) );
				return false !== $inserted;
			}
		);
		$wpdb->suppress_errors( $quiet );
		if ( false === $inserted ) {
			return null;
		}
		if ( $inserted > 0 ) {
			Security_Optimizer_Option_Rows::delete_older( self::PREFIX, time() - 2 * Security_Optimizer_Protocol::CLOCK_TOLERANCE );
		}
		return $inserted > 0;
	}
}
