<?php
/**
 * Log of recent password checks. An entry is written before the check.
 *
 * The header with the outcome may get lost: the web server rejects the head of the response as too long, or PHP dies.
 * Guard then requests the record. If there is none, guard is told that no password was checked. A row in the place of
 * the record guarantees this: it prevents a check by the request, which may still be running.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Password_Check_Log {

	const PREFIX = 'security_optimizer_check_';

	/** How long a record is kept, seconds, and the maximum if guard needs it longer. */
	const RETENTION     = 600;
	const MAX_RETENTION = 90000;

	/** Value of a row that prevents a check. It is JSON that differs from every report. */
	const DENIED = 'false';

	/** @var bool Whether this request has a record. */
	private static $written = false;

	/**
	 * Records the state of this request's checks.
	 *
	 * @param string     $request_id Id of this request.
	 * @param array|null $report     The report for guard; null before a check.
	 * @return bool False when a required record could not be written, so that no password may be checked.
	 */
	public static function write( $request_id, $report ) {
		global $wpdb;
		// Guard does not need a record of refused checks.
		$counts = null === $report || array() !== $report['failed'] || null !== $report['ok'] || null !== $report['factor'];
		if ( self::$written ? null === $report : ! $counts ) {
			return true;
		}
		$name  = self::PREFIX . $request_id;
		$value = Security_Optimizer_Option_Rows::time( time() ) . ( null === $report ? '' : json_encode( $report, JSON_INVALID_UTF8_SUBSTITUTE ) );
		// Plugins read these after the query that triggered this hook.
		$kept  = array( $wpdb->insert_id, $wpdb->last_error );
		$quiet = $wpdb->suppress_errors( true );
		if ( self::$written ) {
			Security_Optimizer_Option_Rows::update( $name, $value );
		} else {
			// A cluster may fail at the first attempt because of a concurrent write.
			for ( $left = 2; $left > 0 && ! self::$written; --$left ) {
				$inserted      = Security_Optimizer_Option_Rows::insert( $name, $value );
				self::$written = 1 === $inserted;
				if ( 0 === $inserted ) {
					break;
				}
			}
			Security_Optimizer_Option_Rows::delete_older( self::PREFIX, time() - self::get_retention() );
		}
		$wpdb->suppress_errors( $quiet );
		list( $wpdb->insert_id, $wpdb->last_error ) = $kept;
		return self::$written;
	}

	private static function get_retention() {
		return max( self::RETENTION, min( self::MAX_RETENTION, Security_Optimizer_Context::record_retention() ) );
	}

	/**
	 * @param string[] $request_ids Ids of requests.
	 * @return array|null Reports by request; null for unfinished checks. Requests without a record are left out and
	 *                    can't check a password any more. Null when the database fails.
	 */
	public static function find_or_deny( array $request_ids ) {
		$found = self::read( $request_ids );
		if ( null === $found ) {
			return null;
		}
		$unknown = array_diff( $request_ids, array_keys( $found ) );
		foreach ( $unknown as $request_id ) {
			$denied = Security_Optimizer_Option_Rows::insert( self::PREFIX . $request_id, Security_Optimizer_Option_Rows::time( time() ) . self::DENIED );
			if ( false === $denied ) {
				return null;
			}
			if ( 0 === $denied ) {
				// A check has just begun.
				$found[ $request_id ] = null;
			}
		}
		if ( array() !== $unknown ) {
			// Without logins, only denials are written, for requests of anonymous clients that never reach PHP. Reports
			// are kept: guard may still need them, and each login deletes older ones.
			Security_Optimizer_Option_Rows::delete_older( self::PREFIX, time() - self::RETENTION, self::DENIED );
		}
		return array_filter(
			$found,
			static function ( $report ) {
				return false !== $report;
			}
		);
	}

	/**
	 * @param string[] $request_ids Ids of requests.
	 * @return array|null Reports by request; null for unfinished checks, false for denied ones.
	 */
	private static function read( array $request_ids ) {
		global $wpdb;
		$table = Security_Optimizer_Option_Rows::table();
		$found = array();
		foreach ( array_chunk( $request_ids, 100 ) as $some ) {
			$names = array_map(
				static function ( $request_id ) {
					return self::PREFIX . $request_id;
				},
				$some
			);
			$marks = implode( ',', array_fill( 0, count( $names ), '%s' ) );
			$rows  = $wpdb->get_results( $wpdb->prepare( "SELECT option_name, option_value FROM $table WHERE option_name IN ($marks)", $names ) ); // phpcs:ignore WordPress.DB.PreparedSQL
			if ( null === $rows || '' !== $wpdb->last_error ) {
				return null;
			}
			foreach ( $rows as $row ) {
				$found[ substr( $row->option_name, strlen( self::PREFIX ) ) ] = json_decode( substr( $row->option_value, Security_Optimizer_Option_Rows::TIME_LENGTH ), true );
			}
		}
		return $found;
	}
}
