<?php
/**
 * Tests which logins of programs are recorded: one a day for each user and network, and no failed one.
 *
 * Run: php test/program-logins.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );

final class WP_User {
	public $ID;

	public function __construct( $id ) {
		$this->ID = $id;
	}

	public function exists() {
		return $this->ID > 0;
	}
}
final class WP_Error {} // phpcs:ignore Generic.Files.OneObjectStructurePerFile
final class Security_Optimizer_Password_Checks {
	public static $xml_rpc = true;

	public static function is_xml_rpc() {
		return self::$xml_rpc;
	}
}
final class Security_Optimizer_Context {
	public static $signed = null;

	public static function signed_xml_rpc() {
		return self::$signed;
	}
}
final class Security_Optimizer_Activity {
	public static $seen = array();

	public static function is_first( $what ) {
		$first               = ! isset( self::$seen[ $what ] );
		self::$seen[ $what ] = true;
		return $first;
	}
}
final class Security_Optimizer_Activity_Users {
	public static $recorded = array();

	public static function record_login( $user ) {
		self::$recorded[] = $user->ID;
	}
}

$meta      = array();
$refuses   = false;
$stale     = array();
$filtering = false;
$writes    = 0;
function get_user_meta( $id ) {
	$known = $GLOBALS['stale'] + $GLOBALS['meta'];
	return isset( $known[ $id ] ) ? $known[ $id ] : '';
}
/** As in WordPress: with a previous value it only changes that value. */
function update_user_meta( $id, $key, $value, $previous ) {
	global $meta;
	++$GLOBALS['writes'];
	if ( $GLOBALS['refuses'] || ( ! empty( $previous ) && $meta[ $id ] !== $previous ) ) {
		return false;
	}
	$meta[ $id ] = $value;
	return true;
}
function wp_cache_delete() {
	$GLOBALS['stale'] = array();
}
function wp_hash( $text ) {
	return md5( $text );
}
function doing_filter( $name ) {
	return 'authenticate' === $name && $GLOBALS['filtering'];
}
load_classes( 'Activity_Program_Logins' );

/** A request begins. */
function begin( $address ) {
	$_SERVER['REMOTE_ADDR']                      = $address;
	Security_Optimizer_Activity::$seen           = array();
	Security_Optimizer_Activity_Users::$recorded = array();
	$GLOBALS['writes']                           = 0;
}
/** @return int[] Users whose logins are recorded for one request by XML-RPC. */
function by_xml_rpc( $address, $result, $password = 'right' ) {
	begin( $address );
	Security_Optimizer_Activity_Program_Logins::log_in( $result, 'name', $password );
	return Security_Optimizer_Activity_Users::$recorded;
}
/** The same for one request to REST with an application password. */
function by_rest( $address, $id ) {
	begin( $address );
	Security_Optimizer_Activity_Program_Logins::log_in_by_application( new WP_User( $id ) );
	return Security_Optimizer_Activity_Users::$recorded;
}
/** Makes all entries of a user older. */
function pass( $id, $seconds ) {
	foreach ( $GLOBALS['meta'][ $id ] as $key => $at ) {
		$GLOBALS['meta'][ $id ][ $key ] = $at - $seconds;
	}
}
$user = new WP_User( 5 );

check( 'a wrong password is no login', array(), by_xml_rpc( '192.0.2.1', new WP_Error() ) );
check( 'and writes nothing', array( array(), 0 ), array( $meta, $writes ) );
check( 'a login by XML-RPC is recorded', array( 5 ), by_xml_rpc( '192.0.2.1', $user ) );
check( 'the next one is not', array(), by_xml_rpc( '192.0.2.1', $user ) );
check( 'and writes nothing, either', 0, $writes );
check( 'nor from another address of the network', array(), by_xml_rpc( '192.0.2.77', $user ) );
check( 'one from another network is', array( 5 ), by_xml_rpc( '198.51.100.1', $user ) );
check( 'so is that of another user', array( 6 ), by_xml_rpc( '192.0.2.1', new WP_User( 6 ) ) );
check( 'an IPv6 network is a /64', array( array( 5 ), array(), array( 5 ) ), array( by_xml_rpc( '2001:db8::1', $user ), by_xml_rpc( '2001:db8::2:0:0:1', $user ), by_xml_rpc( '2001:db8:0:1::1', $user ) ) );
pass( 5, 86000 );
check( 'not yet again after almost a day', array(), by_xml_rpc( '192.0.2.1', $user ) );
pass( 5, 500 );
check( 'again after a day', array( 5 ), by_xml_rpc( '192.0.2.1', $user ) );
check( 'and old entries are gone', 1, count( $meta[5] ) );
pass( 5, -500 );
check( 'an entry in the future does not count', array( 5 ), by_xml_rpc( '192.0.2.1', $user ) );

check( 'without a password it was a signature', array(), by_xml_rpc( '203.0.113.1', $user, '' ) );
Security_Optimizer_Context::$signed = 'jetpack';
check( 'so it is where only signatures are allowed', array(), by_xml_rpc( '203.0.113.1', $user ) );
Security_Optimizer_Context::$signed          = null;
Security_Optimizer_Password_Checks::$xml_rpc = false;
check( 'forms are recorded elsewhere', array(), by_xml_rpc( '203.0.113.1', $user ) );

check( 'an application password in REST is recorded', array( 5 ), by_rest( '203.0.113.1', 5 ) );
check( 'once', array(), by_rest( '203.0.113.1', 5 ) );
$filtering = true;
check( 'within a login, the login as a whole counts', array(), by_rest( '203.0.113.65', 7 ) );
Security_Optimizer_Activity_Program_Logins::log_in( new WP_Error(), 'name', 'right' );
check( 'not if it is refused in the end', array(), Security_Optimizer_Activity_Users::$recorded );
by_rest( '203.0.113.65', 7 );
Security_Optimizer_Activity_Program_Logins::log_in( new WP_User( 7 ), 'name', 'right' );
check( 'but if it succeeds', array( 7 ), Security_Optimizer_Activity_Users::$recorded );
check( 'and a later login with the other password is none of a program', array(), by_xml_rpc( '203.0.113.129', new WP_User( 7 ) ) );
$filtering = false;

Security_Optimizer_Password_Checks::$xml_rpc = true;
$_SERVER['REMOTE_ADDR']                      = '192.0.2.200';
begin( '198.18.0.1' );
Security_Optimizer_Activity_Program_Logins::log_in( $user, 'name', 'right' );
Security_Optimizer_Activity_Program_Logins::log_in( $user, 'name', 'right' );
check( 'many calls in one request are one login, with one write', array( array( 5 ), 1 ), array( Security_Optimizer_Activity_Users::$recorded, $writes ) );

$stale = array( 5 => array( 'else' => time() ) );
check( 'a simultaneous request has recorded it', array(), by_xml_rpc( '198.18.0.1', $user ) );
$stale = array( 5 => array( 'else' => time() ) );
check( 'or another network, which is kept', array( 5 ), by_xml_rpc( '198.18.9.1', $user ) );
check( 'with the one before', array(), by_xml_rpc( '198.18.0.1', $user ) );
$refuses = true;
check( 'a login is recorded even if the list can not be stored', array( 5 ), by_xml_rpc( '198.18.2.1', $user ) );
$refuses = false;
for ( $n = 0; $n < 60; $n++ ) {
	by_xml_rpc( "10.0.$n.1", $user );
}
check( 'the list is bounded', Security_Optimizer_Activity_Program_Logins::MAX, count( $meta[5] ) );
check( 'and keeps the newest', array(), by_xml_rpc( '10.0.59.1', $user ) );
foreach ( array( 'x', array( 'a' => 'x' ), 7 ) as $value ) {
	$meta[5] = $value;
	check( 'a list that others have written counts for nothing: ' . json_encode( $value ), array( 5 ), by_xml_rpc( '10.0.59.1', $user ) );
}

finish_checks();
