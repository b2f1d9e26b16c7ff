<?php
/**
 * Tests whom the command `remove-administrator` deletes, and whom it does not.
 *
 * Run: php test/remove-administrator.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

$base = sys_get_temp_dir() . '/administrator-' . bin2hex( random_bytes( 8 ) );
define( 'ABSPATH', $base . '/' );
mkdir( ABSPATH . 'wp-admin/includes', 0755, true );
file_put_contents( ABSPATH . 'wp-admin/includes/user.php', "<?php\n" );

$network = false;
$refuses = false;
$users   = array();
$done    = array();

function is_multisite() {
	return $GLOBALS['network'];
}
function is_super_admin( $id ) {
	return in_array( 'super', $GLOBALS['users'][ $id ]['may'], true );
}
function get_userdata( $id ) {
	return isset( $GLOBALS['users'][ $id ] ) ? (object) ( array( 'ID' => $id ) + $GLOBALS['users'][ $id ] ) : false;
}
function user_can( $user, $capability ) {
	$id = is_object( $user ) ? $user->ID : $user;
	return in_array( $capability, $GLOBALS['users'][ $id ]['may'], true );
}
function wp_set_current_user( $id ) {
	$GLOBALS['done'][] = "acts as $id";
}
function wp_delete_user( $id, $heir ) {
	$GLOBALS['done'][] = "deletes $id for $heir";
	if ( ! $GLOBALS['refuses'] ) {
		unset( $GLOBALS['users'][ $id ] );
	}
}
function clean_user_cache() {}

/** Stub of the connector's class. */
final class Security_Optimizer_Sessions {
	public static $ends = true;

	public static function end( $id ) {
		$GLOBALS['done'][] = "ends sessions of $id";
		return self::$ends;
	}
}

load_classes( 'Command_Remove_Administrator' );

const ADMINISTRATOR = array( 'manage_options', 'delete_users', 'remove_users' );

/** Runs the command about user 7, in the name of user 1. */
function run( array $change = array() ) {
	$GLOBALS['users'] += array(
		1 => array(
			'user_registered' => '2020-01-01 00:00:00',
			'may'             => ADMINISTRATOR,
		),
		7 => array(
			'user_registered' => '2026-11-29 12:00:00',
			'may'             => ADMINISTRATOR,
		),
	);
	$GLOBALS['done']   = array();
	$result            = Security_Optimizer_Command_Remove_Administrator::run(
		$change + array(
			'user'       => 7,
			'registered' => 1795953600,
			'heir'       => 1,
		)
	);
	$left              = isset( $GLOBALS['users'][7] );
	$GLOBALS['users']  = array();
	return array( is_array( $result ) ? $result['reason'] : $result, $left );
}

check( 'deletes the account', array( '', false ), run() );
check( 'ends the sessions first, and acts as the one who asked for it', array( 'acts as 1', 'ends sessions of 7', 'deletes 7 for 1' ), $done );
check( 'takes another user of the same number for another one', array( 'gone', true ), run( array( 'registered' => 1795953601 ) ) );
check( 'has nothing to do when the user is gone', 'gone', run( array( 'user' => 8 ) )[0] );
check( 'does not remove who asks for it', array( 'yourself', true ), run( array( 'heir' => 7 ) ) );
check( 'gives nothing to a user who does not exist', array( 'not_allowed', true ), run( array( 'heir' => 9 ) ) );
foreach ( array( 'user', 'registered', 'heir' ) as $field ) {
	check( "needs a number: $field", array( 'invalid_users', true ), run( array( $field => '7' ) ) );
}
$users[7] = array(
	'user_registered' => '2026-11-29 12:00:00',
	'may'             => array( 'edit_posts' ),
);
check( 'leaves a user who is no administrator any more', array( 'gone', true ), run() );
$users[1] = array(
	'user_registered' => '2020-01-01 00:00:00',
	'may'             => array( 'manage_options' ),
);
check( 'needs the permission to delete users', array( 'not_allowed', true ), run() );
$refuses = true;
check( 'says when a plugin keeps the account', array( 'not_deleted', true ), run() );
$refuses                           = false;
Security_Optimizer_Sessions::$ends = false;
check( 'deletes nobody whose sessions it can’t end', array( 'not_stored', true ), run() );
Security_Optimizer_Sessions::$ends = true;
$network                           = true;
$users[7]                          = array(
	'user_registered' => '2026-11-29 12:00:00',
	'may'             => array( 'manage_options', 'super' ),
);
check( 'leaves a super administrator of a network', array( 'network_administrator', true ), run() );
$users[1] = array(
	'user_registered' => '2020-01-01 00:00:00',
	'may'             => array( 'manage_options', 'remove_users' ),
);
check( 'needs another permission in a network', array( '', false ), run() );

unlink( ABSPATH . 'wp-admin/includes/user.php' );
rmdir( ABSPATH . 'wp-admin/includes' );
rmdir( ABSPATH . 'wp-admin' );
rmdir( ABSPATH );
finish_checks();
