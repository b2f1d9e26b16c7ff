<?php
/**
 * Password checks of the last minutes, recorded before they are made.
 *
 * The header that tells guard their outcome may get lost: the web server finds the head of the response too long, or PHP
 * dies. Guard asks for the record then. Where there is none, guard is told that no password was checked, and that is made
 * true for good: a row in the record's place keeps the request, which may still be running, from a check.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Password_Check_Log {

	const PREFIX = 'security_optimizer_check_';

	/** How long a record is kept, seconds, and for how long at most when guard needs it longer. */
	const RETENTION     = 600;
	const MAX_RETENTION = 90000;

	/** What stands in the place of a record that guard was told does not exist. JSON, unlike any report. */
	const DENIED = 'false';

	/** @var bool Whether this request has one. */
	private static $written = false;

	/**
	 * Records how far the checks of this request have come.
	 *
	 * @param string     $request_id Of this request.
	 * @param array|null $report     As guard gets it; null before a check.
	 * @return bool False when there is no record where one is needed: no password may be checked.
	 */
	public static function write( $request_id, $report ) {
		global $wpdb;
		// What was refused unchecked is nothing that guard would have to find out.
		$counts = null === $report || array() !== $report['failed'] || null !== $report['ok'] || null !== $report['factor'];
		if ( self::$written ? null === $report : ! $counts ) {
			return true;
		}
		$name  = self::PREFIX . $request_id;
		$value = Security_Optimizer_Option_Rows::time( time() ) . ( null === $report ? '' : json_encode( $report, JSON_INVALID_UTF8_SUBSTITUTE ) );
		// Plugins look at these after a query of their own that brought us here.
		$kept  = array( $wpdb->insert_id, $wpdb->last_error );
		$quiet = $wpdb->suppress_errors( true );
		if ( self::$written ) {
			Security_Optimizer_Option_Rows::update( $name, $value );
		} else {
			// A database of several machines may fail the first time, as two of them wrote at once.
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
	 * @param string[] $request_ids Requests.
	 * @return array|null Reports by request; null for checks that began and did not end. Requests without any are left out,
	 *                    and can check no password from here on. Null when the database does not answer.
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
				// A check began in this very moment.
				$found[ $request_id ] = null;
			}
		}
		if ( array() !== $unknown ) {
			// Nobody may log in for long, while strangers' requests that the web server answers by itself go on. Records stay:
			// guard may still need them, and each comes with a login, which deletes older ones.
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
	 * @param string[] $request_ids Requests.
	 * @return array|null Reports by request; null for checks that have not ended, false for those that were denied.
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
