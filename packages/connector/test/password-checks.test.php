<?php
/**
 * Tests the reports of logins: a wrong password counts however the login ends, and a correct one never counts, even if
 * it is refused.
 *
 * Run: php test/password-checks.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );

// The output of failed checks would send the head of the response, after which no password is checked.
ob_start();

/** Records the report in the response header and in the database. */
final class Security_Optimizer_Request_Gate {
	public static $header   = null;
	public static $recorded = null;

	public static function is_via_guard() {
		return true;
	}

	public static function record_checks( $report ) {
		self::$recorded = $report;
		return true;
	}

	public static function send_login_report( array $report ) {
		self::$header = $report;
	}
}
final class Security_Optimizer_Context {
	public static $refuses = false;

	public static function refuses_passwords() {
		return self::$refuses;
	}

	public static function is_locked() {
		return self::$refuses;
	}
}
final class Security_Optimizer_Login_Errors {
	public static $simulated = 0;

	public static function simulate_check() {
		++self::$simulated;
	}

	public static function get_error() {
		return new WP_Error( 'refused' );
	}

	public static function hide_cause() {
		return new WP_Error( 'wrong' );
	}
}
final class Security_Optimizer_Second_Factor {
	public static function is_missing() {
		return false;
	}
}
final class Security_Optimizer_Session_User {
	public static function id() {
		return 0;
	}
}
/** Stubs of further classes. */
final class Security_Optimizer_Password_Reset {
	public static function is_comparing() {
		return false;
	}
}
final class Security_Optimizer_Blocked_Users {
	public static function has() {
		return false;
	}
}
final class Security_Optimizer_Throttled_Accounts {
	public static function must_wait() {
		return false;
	}
}
final class WP_Error {
	public $code;

	public function __construct( $code ) {
		$this->code = $code;
	}
}
final class WP_User {
	public $ID;
	public $user_login;
	public $user_email;
	public $user_pass;

	public function __construct( $id, $login, $pass ) {
		$this->ID         = $id;
		$this->user_login = $login;
		$this->user_email = "$login@shop.example";
		$this->user_pass  = "hash of $pass";
	}

	public function exists() {
		return true;
	}
}
/** A plugin ends the request by a redirect or its own page. */
final class Ended extends Exception {
}

$users = array( new WP_User( 5, 'member', 'right' ), new WP_User( 6, 'other', 'elsewhere' ) );

$wp_filter = array( 'authenticate' => (object) array( 'callbacks' => array() ) );
function remove_all_filters() {
}
function is_wp_error( $value ) {
	return $value instanceof WP_Error;
}
function is_email( $text ) {
	return false !== strpos( $text, '@' );
}
function get_user_by( $field, $value ) {
	foreach ( $GLOBALS['users'] as $user ) {
		if ( $user->{"user_$field"} === $value ) {
			return $user;
		}
	}
	return false;
}
function get_userdata( $id ) {
	foreach ( $GLOBALS['users'] as $user ) {
		if ( $user->ID === (int) $id ) {
			return $user;
		}
	}
	return false;
}
function wp_doing_ajax() {
	return false;
}
function sanitize_user( $name ) {
	return $name;
}
/** As WordPress: with its filter. */
function wp_check_password( $password, $hash, $user_id = '' ) {
	return Security_Optimizer_Password_Checks::count_check( "hash of $password" === $hash, $password, $hash, $user_id );
}
/** As WordPress's polyfill. */
if ( ! function_exists( 'mb_substr' ) ) {
	function mb_substr( $text, $start, $length ) {
		return substr( $text, $start, $length );
	}
}
load_classes( 'Login_Report', 'Password_Checks' );

function set_private( $class_name, $property, $value ) {
	$reflected = new ReflectionProperty( $class_name, $property );
	$reflected->setAccessible( true );
	$reflected->setValue( null, $value );
}
function begin_request() {
	$empty = array(
		'failed'  => array(),
		'refused' => 0,
		'ok'      => null,
		'factor'  => null,
	);
	foreach (
		array(
			'report'   => $empty,
			'pending'  => null,
			'recorded' => null,
		) as $property => $value
	) {
		set_private( 'Security_Optimizer_Login_Report', $property, $value );
	}
	foreach ( array( 'checking', 'checked', 'refused', 'is_correct', 'compared' ) as $property ) {
		set_private( 'Security_Optimizer_Password_Checks', $property, false );
	}
	Security_Optimizer_Request_Gate::$header   = null;
	Security_Optimizer_Request_Gate::$recorded = null;
	Security_Optimizer_Context::$refuses       = false;

	$_SERVER['REQUEST_METHOD'] = 'POST';
}

/** What WordPress does at priority 20 of `authenticate`; `$early` is its filter `wp_authenticate_user`. */
function compare_as_wordpress( $user, $name, $password, $early = null ) {
	if ( $user instanceof WP_User ) {
		return $user;
	}
	$found = '' === $password ? false : Security_Optimizer_Password_Checks::find_user( $name );
	if ( ! $found ) {
		return new WP_Error( 'invalid_username' );
	}
	$result = null === $early ? $found : call_user_func( $early, $found );
	if ( is_wp_error( $result ) ) {
		return $result;
	}
	return wp_check_password( $password, $found->user_pass, $found->ID ) ? $found : new WP_Error( 'incorrect_password' );
}

/**
 * Runs a whole login.
 *
 * @param string $password The entered value.
 * @param array  $plugins  Callbacks of plugins: `before` and `after` WordPress compares the password, `early` in
 *                         between.
 * @param string $name     The entered value.
 * @return mixed Result of `authenticate`; null when a plugin ended the request.
 */
function log_in( $password, array $plugins = array(), $name = 'member' ) {
	$checks  = 'Security_Optimizer_Password_Checks';
	$plugins = $plugins + array(
		'before' => null,
		'early'  => null,
		'after'  => null,
	);
	try {
		$user = $checks::begin( null, $name, $password );
		$user = $plugins['before'] ? $plugins['before']( $user, $name, $password ) : $user;
		$user = is_wp_error( $user ) && 'refused' === $user->code ? $user : compare_as_wordpress( $user, $name, $password, $plugins['early'] );
		$user = $checks::record_unknown_name( $user );
		$user = $plugins['after'] ? $plugins['after']( $user, $name, $password ) : $user;
		return $checks::finish( $user, $name, $password );
	} catch ( Ended $ended ) {
		return null;
	}
}
/** @return string[] Failed names in the header. */
function failed() {
	$report = Security_Optimizer_Request_Gate::$header;
	return null === $report ? array( 'nothing told' ) : array_column( $report['failed'], 'user' );
}
function succeeded() {
	return null === Security_Optimizer_Request_Gate::$header['ok'] ? 0 : Security_Optimizer_Request_Gate::$header['ok']['id'];
}

$refuse = static function ( $user ) {
	return new WP_Error( 'pending' );
};
$end    = static function () {
	throw new Ended();
};

begin_request();
log_in( 'right' );
check( 'a login is told, and no failure', array( array(), 5 ), array( failed(), succeeded() ) );
begin_request();
check( 'a wrong password is refused', 'wrong', log_in( 'wrong' )->code );
check(
	'and counts once, with its account and its way',
	array(
		array(
			'user'  => 'member',
			'id'    => 5,
			'route' => 'form',
		),
	),
	Security_Optimizer_Request_Gate::$header['failed']
);
check( 'the database holds the same as the header', Security_Optimizer_Request_Gate::$header, Security_Optimizer_Request_Gate::$recorded );
begin_request();
log_in( 'wrong', array(), 'nobody' );
check( 'a name that nobody has counts once', array( 'nobody' ), failed() );
begin_request();
log_in( 'wrong', array(), 'member@shop.example' );
check( 'so does an e-mail address', array( 'member@shop.example' ), failed() );

// A plugin refuses the login.
$refusals = array(
	'before the password is compared'     => array( 'early' => $refuse ),
	'after it was'                        => array( 'after' => $refuse ),
	'by nothing at all after it was'      => array(
		'after' => static function () {
			return null;
		},
	),
	'in both places'                      => array(
		'early' => $refuse,
		'after' => $refuse,
	),
	'after another hash was compared'     => array(
		'early' => static function ( $user ) {
			wp_check_password( 'code', 'hash of another code', $user->ID );
			return new WP_Error( 'code' );
		},
	),
	'after a code without an account was' => array(
		'early' => static function () {
			wp_check_password( 'code', 'hash of another code' );
			return new WP_Error( 'code' );
		},
	),
);
foreach ( $refusals as $name => $plugins ) {
	begin_request();
	$result = log_in( 'right', $plugins );
	check( "a right password that a plugin refuses counts for nothing: $name", array( array(), 0 ), array( failed(), succeeded() ) );
	check( "and the plugin says why: $name", true, null === $result || in_array( $result->code, array( 'pending', 'code' ), true ) );
	begin_request();
	check( "a wrong one that it refuses looks like any wrong one: $name", 'wrong', log_in( 'wrong', $plugins )->code );
	check( "and counts once: $name", array( 'member' ), failed() );
}
begin_request();
log_in( 'elsewhere', array( 'early' => $refuse ) );
check( 'the right password of another account is a wrong one', array( 'member' ), failed() );
begin_request();
Security_Optimizer_Login_Errors::$simulated = 0;
log_in( 'wrong', array( 'early' => $refuse ) );
check( 'a password is compared once for one refusal', 0, Security_Optimizer_Login_Errors::$simulated );

// A plugin ends the request while `authenticate` runs, so its last callbacks do not run.
begin_request();
log_in( 'wrong', array( 'after' => $end ) );
check( 'a wrong password counts where a plugin ends the request by a page or a redirect', array( 'member' ), failed() );
check( 'in the database, too', array( 'member' ), array_column( Security_Optimizer_Request_Gate::$recorded['failed'], 'user' ) );
begin_request();
log_in( 'wrong', array( 'after' => $end ), 'nobody' );
check( 'a name that nobody has counts there, too', array( 'nobody' ), failed() );
begin_request();
log_in( 'right', array( 'after' => $end ) );
check( 'a right one does not', array(), failed() );
begin_request();
log_in( 'wrong', array( 'after' => $end ) );
log_in( 'wrong', array( 'after' => $end ), 'other' );
check( 'a second login of the request is not checked after a first that failed so', array( 'member', 1 ), array( implode( ' ', failed() ), Security_Optimizer_Request_Gate::$header['refused'] ) );

// A plugin that accepts other passwords.
$other_way = static function () {
	return get_userdata( 5 );
};
begin_request();
log_in( 'wrong', array( 'after' => $other_way ) );
check( 'whom a plugin lets in with another password has not failed', array( array(), 5 ), array( failed(), succeeded() ) );
begin_request();
log_in( 'wrong', array( 'after' => $end ) );
Security_Optimizer_Password_Checks::record_session( 'cookie', 0, 0, 6 );
check( 'a session of another user clears nothing', array( 'member' ), failed() );
Security_Optimizer_Password_Checks::record_session( 'cookie', 0, 0, 5 );
check( 'one that a plugin makes for the same account does', array(), failed() );
begin_request();
log_in( 'wrong' );
Security_Optimizer_Password_Checks::record_session( 'cookie', 0, 0, 5 );
check( 'but not once the login has ended as a failure', array( 'member' ), failed() );

// Refused checks.
foreach ( array( array( '', 'x' ), array( 'member', '' ) ) as list( $name, $password ) ) {
	begin_request();
	log_in( $password, array(), $name );
	check( "a form without name or password counts for nothing: '$name' '$password'", array( 'nothing told' ), failed() );
}
begin_request();
Security_Optimizer_Context::$refuses = true;
check( 'an address that has to wait is refused, with the right password too', 'refused', log_in( 'right' )->code );
check( 'which is told, and no failure', array( array(), 1 ), array( failed(), Security_Optimizer_Request_Gate::$header['refused'] ) );
begin_request();
wp_check_password( 'wrong', 'hash of right', 5 );
check( 'a plugin that compares outside of a login counts at once', array( 'member' ), failed() );
check( 'as another way', 'other', Security_Optimizer_Request_Gate::$header['failed'][0]['route'] );
begin_request();
wp_check_password( 'wrong', 'hash of a key' );
check( 'keys without an account are no passwords', array( 'nothing told' ), failed() );

finish_checks();
