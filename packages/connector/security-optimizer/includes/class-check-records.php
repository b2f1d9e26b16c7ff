<?php
/**
 * Password checks of the last minutes, recorded before they are made.
 *
 * The header that tells guard their outcome may get lost: the web server finds the head of the response too long, or PHP
 * dies. Guard asks for the record then.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Check_Records {

	const PREFIX = 'security_optimizer_check_';

	/** How long a record is kept, seconds. */
	const KEPT_FOR = 600;

	/** @var bool Whether this request has one. */
	private static $written = false;

	/**
	 * Records how far the checks of this request have come.
	 *
	 * @param string     $request_id Of this request.
	 * @param array|null $report     As guard gets it; null before a check.
	 */
	public static function write( $request_id, $report ) {
		global $wpdb;
		// What was refused unchecked is nothing that guard would have to find out.
		$counts = null === $report || array() !== $report['failed'] || null !== $report['ok'] || null !== $report['factor'];
		if ( self::$written ? null === $report : ! $counts ) {
			return;
		}
		$name  = self::PREFIX . $request_id;
		$value = Security_Optimizer_Option_Rows::time( time() ) . ( null === $report ? '' : json_encode( $report, JSON_INVALID_UTF8_SUBSTITUTE ) );
		// Plugins look at these after a query of their own that brought us here.
		$kept  = array( $wpdb->insert_id, $wpdb->last_error );
		$quiet = $wpdb->suppress_errors( true );
		if ( self::$written ) {
			Security_Optimizer_Option_Rows::update( $name, $value );
		} else {
			self::$written = true;
			Security_Optimizer_Option_Rows::insert( $name, $value );
			Security_Optimizer_Option_Rows::delete_older( self::PREFIX, time() - self::KEPT_FOR );
		}
		$wpdb->suppress_errors( $quiet );
		list( $wpdb->insert_id, $wpdb->last_error ) = $kept;
	}

	/**
	 * @param string[] $request_ids Requests.
	 * @return array Reports by request; null for checks that began and did not end. Requests without any are left out.
	 */
	public static function read( array $request_ids ) {
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
