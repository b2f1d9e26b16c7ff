<?php
/**
 * Password checks of the last minutes, written down before they are made.
 *
 * The header that tells guard how they ended may get lost: the web server finds the head of an answer too long, or PHP
 * dies. Guard asks then. They are rows of the options table, as nonces are.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Check_Records {

	const PREFIX = 'security_optimizer_check_';

	/** Seconds for which they are kept. */
	const KEPT = 600;

	/** @var bool Whether this request has one. */
	private static $written = false;

	/**
	 * Writes down how far the checks of this request have come.
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
		$table = $wpdb->base_prefix . 'options';
		$name  = self::PREFIX . $request_id;
		$value = sprintf( '%012d', time() ) . ( null === $report ? '' : json_encode( $report, JSON_INVALID_UTF8_SUBSTITUTE ) );
		$row   = self::$written
			? $wpdb->prepare( "UPDATE $table SET option_value = %s WHERE option_name = %s", $value, $name ) // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
			: $wpdb->prepare( "INSERT IGNORE INTO $table (option_name, option_value, autoload) VALUES (%s, %s, 'no')", $name, $value ); // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
		// Plugins look at these after a query of their own that brought us here.
		$kept  = array( $wpdb->insert_id, $wpdb->last_error );
		$quiet = $wpdb->suppress_errors( true );
		$wpdb->query( $row ); // phpcs:ignore WordPress.DB.PreparedSQL.NotPrepared
		if ( ! self::$written ) {
			self::$written = true;
			self::forget_old();
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
		$table = $wpdb->base_prefix . 'options';
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
				$found[ substr( $row->option_name, strlen( self::PREFIX ) ) ] = json_decode( substr( $row->option_value, 12 ), true );
			}
		}
		return $found;
	}

	private static function forget_old() {
		global $wpdb;
		$table = $wpdb->base_prefix . 'options';
		$wpdb->query(
			$wpdb->prepare(
				"DELETE FROM $table WHERE option_name LIKE %s AND option_value < %s", // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
				$wpdb->esc_like( self::PREFIX ) . '%',
				sprintf( '%012d', time() - self::KEPT )
			)
		);
	}
}
