<?php
/**
 * Rows of the options table for data that needs atomic writes. They bypass WordPress's cache and are never autoloaded.
 * The unique key of the name makes an insertion atomic in every database that WordPress supports.
 *
 * A value begins with a time, so that old rows can be found.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Option_Rows {

	/** Characters of the time with which a value begins. */
	const TIME_LENGTH = 12;

	/**
	 * @return string Name of the table, one for a whole network.
	 */
	public static function table() {
		global $wpdb;
		return $wpdb->base_prefix . 'options';
	}

	/**
	 * @param int $time Unix seconds.
	 * @return string The time in a form that sorts as text.
	 */
	public static function time( $time ) {
		return sprintf( '%0' . self::TIME_LENGTH . 'd', $time );
	}

	/**
	 * @param string $name  Name of the row.
	 * @param string $value Value, which begins with `time()`.
	 * @return int|false 1 for a new row, 0 when the name exists, false when the database fails.
	 */
	public static function insert( $name, $value ) {
		global $wpdb;
		$table = self::table();
		return $wpdb->query( $wpdb->prepare( "INSERT IGNORE INTO $table (option_name, option_value, autoload) VALUES (%s, %s, 'no')", $name, $value ) ); // phpcs:ignore WordPress.DB
	}

	/**
	 * @param string   $name   Name of the row.
	 * @param string   $value  Value, which begins with `time()`.
	 * @param int|null $before Only updates a row that is at least as old as this, Unix seconds; null for any row.
	 * @return int|false Number of changed rows, false when the database fails.
	 */
	public static function update( $name, $value, $before = null ) {
		global $wpdb;
		$table = self::table();
		return null === $before
			? $wpdb->query( $wpdb->prepare( "UPDATE $table SET option_value = %s WHERE option_name = %s", $value, $name ) ) // phpcs:ignore WordPress.DB
			: $wpdb->query( $wpdb->prepare( "UPDATE $table SET option_value = %s WHERE option_name = %s AND option_value <= %s", $value, $name, self::time( $before ) ) ); // phpcs:ignore WordPress.DB
	}

	/**
	 * @param string $prefix Beginning of names.
	 * @param int    $before Rows older than this are deleted, Unix seconds.
	 * @param string $ending Only deletes rows whose value ends with this.
	 */
	public static function delete_older( $prefix, $before, $ending = '' ) {
		global $wpdb;
		$table = self::table();
		$wpdb->query( $wpdb->prepare( "DELETE FROM $table WHERE option_name LIKE %s AND option_value < %s AND option_value LIKE %s", $wpdb->esc_like( $prefix ) . '%', self::time( $before ), '%' . $wpdb->esc_like( $ending ) ) ); // phpcs:ignore WordPress.DB
	}

	/**
	 * @param string $name Name of the row.
	 * @return string|null Its value, null without a row.
	 */
	public static function read( $name ) {
		global $wpdb;
		$table = self::table();
		return $wpdb->get_var( $wpdb->prepare( "SELECT option_value FROM $table WHERE option_name = %s", $name ) ); // phpcs:ignore WordPress.DB
	}

	/**
	 * @param string $name Name of an option of the network, or of the site without a network.
	 * @return mixed The stored value, without the cache of options; null without one.
	 */
	public static function read_site_option( $name ) {
		global $wpdb;
		$query = is_multisite()
			? $wpdb->prepare( "SELECT meta_value FROM $wpdb->sitemeta WHERE meta_key = %s AND site_id = %d", $name, get_current_network_id() )
			: $wpdb->prepare( "SELECT option_value FROM $wpdb->options WHERE option_name = %s", $name );
		return maybe_unserialize( $wpdb->get_var( $query ) ); // phpcs:ignore WordPress.DB.PreparedSQL.NotPrepared -- Prepared above.
	}
}
