<?php
/**
 * Writes that are repeated while the database is busy: SQLite is locked by another request, MySQL and MariaDB end one of
 * two transactions that wait for each other, a cluster says that a write has to be done again. A moment later it succeeds.
 *
 * For the commands of guard alone, which would fail for good or report as done what is not: no visitor waits for it.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Database_Retry {

	/** Pauses before the next tries of a write, microseconds. */
	const PAUSES = array( 50000, 100000, 200000, 300000 );

	/**
	 * No write is repeated once the pauses of a request, or the tries that failed in it, have taken longer, microseconds:
	 * guard waits 20 seconds for most answers. SQLite waits 5 seconds for a lock and may get it at the next try; MySQL has
	 * waited for much longer when it gives up.
	 */
	const MAX_PAUSED = 1000000;
	const MAX_FAILED = 6000000;

	/** @var int How long the pauses of this request have taken, microseconds. */
	public static $paused = 0;

	/** @var int How long the tries that failed in this request have taken, microseconds. */
	public static $failed = 0;

	/**
	 * @param callable $write Writes, and says whether the database holds now what it should. Doing it again must have no
	 *                        second effect.
	 * @return bool Whether the database holds it in the end.
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
	 * @return bool Whether the database has carried it out.
	 */
	public static function query( $query ) {
		return self::run(
			static function () use ( $query ) {
				return false !== $GLOBALS['wpdb']->query( $query ); // phpcs:ignore WordPress.DB.PreparedSQL.NotPrepared -- The caller has.
			}
		);
	}

	/**
	 * @param string $key Name of the user meta that is deleted for all users.
	 * @return bool Whether nobody has it any more.
	 */
	public static function delete_user_meta( $key ) {
		return self::run(
			static function () use ( $key ) {
				global $wpdb;
				$wpdb->last_error = '';
				// False where nobody had it, too.
				return delete_metadata( 'user', 0, $key, '', true ) || '' === $wpdb->last_error;
			}
		);
	}

	/**
	 * @param string $name Name of an option of the network, or of the site where there is none.
	 * @return bool Whether there is none of this name any more.
	 */
	public static function delete_site_option( $name ) {
		return self::run(
			static function () use ( $name ) {
				global $wpdb;
				// False where there was none, too. WordPress's cache has none then even if the database refused.
				return delete_site_option( $name ) || ( null === Security_Optimizer_Option_Rows::read_site_option( $name ) && '' === $wpdb->last_error );
			}
		);
	}
}
