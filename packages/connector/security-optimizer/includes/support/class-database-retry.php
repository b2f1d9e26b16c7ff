<?php
/**
 * Retries writes while the database is busy: another request locks SQLite, MySQL and MariaDB resolve a deadlock, or a
 * cluster demands a retry. A moment later the write succeeds.
 *
 * Only commands of guard use it, because clients should not wait. Without it a command would fail, or would report a
 * write that did not happen.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Database_Retry {

	/** Pauses between the attempts of a write, microseconds. */
	const PAUSES = array( 50000, 100000, 200000, 300000 );

	/**
	 * Total pauses and total failed attempts of one request, microseconds; after that no write is retried. Guard waits
	 * 20 seconds for most responses. SQLite waits 5 seconds for a lock and may get it at the next attempt. MySQL waits
	 * much longer before it gives up.
	 */
	const MAX_PAUSED = 1000000;
	const MAX_FAILED = 6000000;

	/** @var int Total pauses of this request, microseconds. */
	public static $paused = 0;

	/** @var int Total time of the failed attempts of this request, microseconds. */
	public static $failed = 0;

	/**
	 * @param callable $write Writes, and returns whether the database holds the new value. It has to be idempotent.
	 * @return bool Whether a write succeeded.
	 */
	public static function run( $write ) {
		foreach ( self::PAUSES as $pause ) {
			$begun = hrtime( true );
			if ( $write() ) {
				return true;
			}
			self::$failed += intdiv( hrtime( true ) - $begun, 1000 );
			self::$paused += $pause;
			if ( self::$paused > self::MAX_PAUSED || self::$failed > self::MAX_FAILED ) {
				return false;
			}
			usleep( $pause );
		}
		return (bool) $write();
	}

	/**
	 * @param string $query SQL, escaped.
	 * @return bool Whether the query succeeded.
	 */
	public static function query( $query ) {
		return self::run(
			static function () use ( $query ) {
				return false !== $GLOBALS['wpdb']->query( $query ); // phpcs:ignore WordPress.DB.PreparedSQL.NotPrepared -- The caller has.
			}
		);
	}

	/**
	 * @param string $key Name of the user meta to delete for all users.
	 * @return bool Whether no user has it any more.
	 */
	public static function delete_user_meta( $key ) {
		return self::run(
			static function () use ( $key ) {
				global $wpdb;
				$wpdb->last_error = '';
				// delete_metadata() also returns false when no user had it.
				return delete_metadata( 'user', 0, $key, '', true ) || '' === $wpdb->last_error;
			}
		);
	}

	/**
	 * @param string $name Name of an option of the network, or of the site without a network.
	 * @return bool Whether the option does not exist any more.
	 */
	public static function delete_site_option( $name ) {
		return self::run(
			static function () use ( $name ) {
				global $wpdb;
				// delete_site_option() also returns false for a missing option. WordPress's cache drops the option even
				// if the database refuses.
				return delete_site_option( $name ) || ( null === Security_Optimizer_Option_Rows::read_site_option( $name ) && '' === $wpdb->last_error );
			}
		);
	}
}
