<?php
/**
 * Stub of WordPress with a busy database: options, sessions, and plain queries.
 *
 * @package Security_Optimizer
 */

/**
 * Number of next writes that are refused, number of writes after which all are refused, and number of writes so far.
 */
$refusals      = 0;
$refused_after = PHP_INT_MAX;
$writes        = 0;

/** Options in the database, and their values in WordPress's cache (null: no such option). */
$stored = array();
$cached = array();

$multisite = false;

/** The database. It stores options, and lists all other writes. */
final class Busy_Database { // phpcs:ignore
	public $options     = 'wp_options';
	public $sitemeta    = 'wp_sitemeta';
	public $users       = 'wp_users';
	public $usermeta    = 'wp_usermeta';
	public $base_prefix = 'wp_';
	public $last_error  = '';
	public $done        = array();

	/** @return bool Whether it accepts a write. */
	public function accepts_write() {
		++$GLOBALS['writes'];
		$this->last_error = $GLOBALS['refusals']-- > 0 || $GLOBALS['writes'] > $GLOBALS['refused_after'] ? 'database is locked' : '';
		return '' === $this->last_error;
	}

	public function prepare( $query, ...$values ) {
		$values = 1 === count( $values ) && is_array( $values[0] ) ? $values[0] : $values;
		return vsprintf( str_replace( '%s', "'%s'", $query ), $values );
	}

	public function suppress_errors() {
		return false;
	}

	public function get_blog_prefix() {
		return $this->base_prefix;
	}

	public function esc_like( $text ) {
		return $text;
	}

	public function query( $query ) {
		if ( ! $this->accepts_write() ) {
			return false;
		}
		$this->done[] = strtok( $query, ' ' );
		return 1;
	}

	/** Returns the value of an option, the number of users with sessions, or three for any other query. */
	public function get_var( $query ) {
		$this->last_error = '';
		if ( false !== strpos( $query, 'session_tokens' ) ) {
			return (string) count( array_filter( $GLOBALS['sessions'] ) );
		}
		if ( ! preg_match( "/_(?:options|sitemeta) WHERE (?:option_name|meta_key) = '([a-z_]+)'/", $query, $part ) ) {
			return '3';
		}
		return isset( $GLOBALS['stored'][ $part[1] ] ) ? serialize( $GLOBALS['stored'][ $part[1] ] ) : null;
	}
}
$wpdb = new Busy_Database();

function is_multisite() {
	return $GLOBALS['multisite'];
}
function get_current_network_id() {
	return 1;
}
function maybe_unserialize( $value ) {
	return null === $value ? null : unserialize( $value );
}
function wp_cache_flush() {
	$GLOBALS['cached'] = array();
}
function get_site_option( $name, $otherwise = false ) {
	$value = array_key_exists( $name, $GLOBALS['cached'] ) ? $GLOBALS['cached'][ $name ] : ( isset( $GLOBALS['stored'][ $name ] ) ? $GLOBALS['stored'][ $name ] : null );
	return null === $value ? $otherwise : $value;
}
/** As in WordPress: false if nothing was written for any reason. */
function update_site_option( $name, $value ) {
	if ( get_site_option( $name, null ) === $value || ! $GLOBALS['wpdb']->accepts_write() ) {
		return false;
	}
	$GLOBALS['stored'][ $name ] = $value;
	unset( $GLOBALS['cached'][ $name ] );
	return true;
}
function get_option( $name, $otherwise = false ) {
	return get_site_option( $name, $otherwise );
}
function update_option( $name, $value ) {
	return update_site_option( $name, $value );
}
/** As in WordPress: also false for a missing option. The cache drops the option even if the database refuses. */
function delete_site_option( $name ) {
	if ( ! isset( $GLOBALS['stored'][ $name ] ) ) {
		return false;
	}
	$GLOBALS['cached'][ $name ] = null;
	if ( ! $GLOBALS['wpdb']->accepts_write() ) {
		return false;
	}
	unset( $GLOBALS['stored'][ $name ] );
	return true;
}
/** As in WordPress: false if nothing was deleted. */
function delete_metadata( $type, $id, $name ) {
	if ( ! $GLOBALS['wpdb']->accepts_write() ) {
		return false;
	}
	$GLOBALS['wpdb']->done[] = "delete $name";
	return true;
}

/** More writes than any test runs. */
const FOR_GOOD = PHP_INT_MAX;

/**
 * Starts a request whose next writes are refused.
 *
 * @param int $count    Number of writes. With FOR_GOOD the request does not wait, which keeps the test fast.
 * @param int $accepted Number of writes after which all are refused; FOR_GOOD for none.
 */
function refuse_writes( $count, $accepted = FOR_GOOD ) {
	$GLOBALS['refusals']      = $count;
	$GLOBALS['refused_after'] = $accepted;
	$GLOBALS['writes']        = 0;
	$GLOBALS['wpdb']->done    = array();

	Security_Optimizer_Database_Retry::$failed = 0;
	Security_Optimizer_Database_Retry::$paused = FOR_GOOD === $count || FOR_GOOD !== $accepted ? Security_Optimizer_Database_Retry::MAX_PAUSED : 0;
}
