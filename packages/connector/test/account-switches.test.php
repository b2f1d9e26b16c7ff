<?php
/**
 * Tests which sessions need no second factor, because a user who gave it switches to another account.
 *
 * Run: php test/account-switches.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );

final class Security_Optimizer_Session_User {
	public static $id         = 0;
	public static $has_factor = false;
	public static $session    = array();

	public static function id() {
		return self::$id;
	}

	public static function has_factor( $id ) {
		return self::$id === $id && self::$has_factor;
	}

	public static function session() {
		return self::$session;
	}
}
final class Security_Optimizer_Password_Checks {
	public static $checked = false;

	public static function has_checked() {
		return self::$checked;
	}
}
final class Security_Optimizer_Second_Factor_Sessions {
	const PASSED = 'security_optimizer_factor';
}
final class Security_Optimizer_Second_Factor {
	public static $stamps = array();

	public static function stamp( $id ) {
		return isset( self::$stamps[ $id ] ) ? self::$stamps[ $id ] : "stamp of $id";
	}
}

$caps      = array();
$edits     = true;
$multisite = false;
$supers    = array();
function user_can( $id, $capability, $other = null ) {
	return 'edit_user' === $capability ? $GLOBALS['edits'] : in_array( $capability, $GLOBALS['caps'][ $id ], true );
}
function is_multisite() {
	return $GLOBALS['multisite'];
}
function is_super_admin( $id ) {
	return in_array( $id, $GLOBALS['supers'], true );
}
load_classes( 'Account_Switches' );

const OWNER   = 1;
const CLERK   = 2;
const MEMBER  = 3;
const ACTING  = Security_Optimizer_Account_Switches::ACTING;
const PASSED  = Security_Optimizer_Second_Factor_Sessions::PASSED;
const TRAINEE = 4;

/** The owner gave the factor; the clerk can edit users, the member can edit nothing. */
function begin( $id, $has_factor = true, array $session = array() ) {
	$GLOBALS['caps']      = array(
		OWNER   => Security_Optimizer_Account_Switches::ADMINISTRATORS,
		CLERK   => array( 'edit_users' ),
		MEMBER  => array(),
		TRAINEE => array( 'install_plugins' ),
	);
	$GLOBALS['edits']     = true;
	$GLOBALS['multisite'] = false;
	$GLOBALS['supers']    = array();

	Security_Optimizer_Session_User::$id         = $id;
	Security_Optimizer_Session_User::$has_factor = $has_factor;
	Security_Optimizer_Session_User::$session    = $session;
	Security_Optimizer_Password_Checks::$checked = false;
	Security_Optimizer_Second_Factor::$stamps    = array();
}
/** @return bool Whether the new session of an account needs no code. */
function passes( $id ) {
	$session = Security_Optimizer_Account_Switches::mark( array( 'login' => 7 ), $id );
	return isset( $session[ PASSED ] ) && 7 === $session['login'];
}

begin( OWNER );
check( 'who gave the factor acts as an account that WordPress lets them edit', true, passes( MEMBER ) );
check(
	'and the session says who acts',
	array(
		'login' => 7,
		ACTING  => array( OWNER, 'stamp of 1' ),
		PASSED  => 1,
	),
	Security_Optimizer_Account_Switches::mark( array( 'login' => 7 ), MEMBER )
);
check( 'a session of one\'s own is no switch', array(), Security_Optimizer_Account_Switches::mark( array(), OWNER ) );
$edits = false;
check( 'not as an account that WordPress does not let them edit', false, passes( MEMBER ) );
check( 'the session says who acts even then, for the way back', array( ACTING => array( OWNER, 'stamp of 1' ) ), Security_Optimizer_Account_Switches::mark( array(), MEMBER ) );
begin( OWNER, false );
check( 'who did not give the factor gets nothing', array(), Security_Optimizer_Account_Switches::mark( array(), MEMBER ) );
begin( 0 );
check( 'nor does a visitor', array(), Security_Optimizer_Account_Switches::mark( array(), MEMBER ) );
begin( OWNER );
Security_Optimizer_Password_Checks::$checked = true;
check( 'a request with a password is a login, and no switch', array(), Security_Optimizer_Account_Switches::mark( array(), MEMBER ) );

begin( CLERK );
check( 'a clerk switches to an account with fewer rights', true, passes( MEMBER ) );
check( 'and not as an administrator', false, passes( OWNER ) );
check( 'nor as anybody with one right of an administrator more', false, passes( TRAINEE ) );
foreach ( Security_Optimizer_Account_Switches::ADMINISTRATORS as $capability ) {
	$caps[ MEMBER ] = array( $capability );
	check( "each such right counts: $capability", false, passes( MEMBER ) );
	$caps[ CLERK ] = array( $capability );
	check( "unless the clerk has it, too: $capability", true, passes( MEMBER ) );
	$caps[ CLERK ] = array();
}
begin( OWNER );
$supers = array( MEMBER );
check( 'without a network there are no super administrators', true, passes( MEMBER ) );
$multisite = true;
check( 'nobody becomes a super administrator who was none', false, passes( MEMBER ) );
$supers[] = OWNER;
check( 'one may act as another', true, passes( MEMBER ) );

// Switching back.
$acting = array( ACTING => array( OWNER, 'stamp of 1' ) );
begin( MEMBER, true, $acting );
check( 'switching back to the own account needs no code', true, passes( OWNER ) );
check( 'and the session is their own again', array( PASSED => 1 ), Security_Optimizer_Account_Switches::mark( array(), OWNER ) );
check( 'an administrator\'s account is no way to a third one\'s', false, passes( TRAINEE ) );
begin( MEMBER, false, $acting );
check( 'the way back needs no factor of the account that was acted as', true, passes( OWNER ) );
Security_Optimizer_Second_Factor::$stamps = array( OWNER => 'another' );
check( 'whose account has changed since comes back with a code', false, passes( OWNER ) );
foreach ( array( 'x', array( '1', 'stamp of 1' ), array( OWNER, '' ) ) as $value ) {
	begin( MEMBER, false, array( ACTING => $value ) );
	check( 'a session that was written by others is no way: ' . json_encode( $value ), false, passes( OWNER ) );
}

finish_checks();
