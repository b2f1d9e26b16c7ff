<?php
/**
 * Tests which application passwords count as wrong: never a correct one that the owner or a plugin refuses.
 *
 * Run: php test/application-passwords.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );

/** Records its calls. */
final class Security_Optimizer_Password_Checks {
	public static $told     = array();
	public static $typed    = array( '', '' );
	public static $checking = true;

	public static function is_checking() {
		return self::$checking;
	}

	public static function get_credentials() {
		return self::$typed;
	}

	public static function find_user( $name ) {
		return 'member' === $name ? new WP_User( 5 ) : null;
	}

	public static function accept_password() {
		self::$told[] = 'right';
	}

	public static function set_application_password() {
		self::$told[] = 'right within a login';
	}

	public static function record_failure( $name, $password, $route ) {
		self::$told[] = "failed: $name, $route";
	}
}
final class Security_Optimizer_Login_Report {
	public static function send() {
	}

	public static function set_ok( $user, $route ) {
		Security_Optimizer_Password_Checks::$told[] = "ok: $user->ID, $route";
	}
}
final class Security_Optimizer_Login_Errors {
	public static function get_plain_error() {
		return new WP_Error( 'plain' );
	}
}
final class WP_User {
	public $ID;

	public function __construct( $id ) {
		$this->ID = $id;
	}
}
final class WP_Error {
	private $code;
	private $data;

	public function __construct( $code, $data = null ) {
		$this->code = $code;
		$this->data = $data;
	}

	public function get_error_code() {
		return $this->code;
	}

	public function get_error_data() {
		return $this->data;
	}

	public function add_data( $data ) {
		$this->data = $data;
	}
}
/** A user with two application passwords. */
final class WP_Application_Passwords {
	public static function get_user_application_passwords() {
		return array( array( 'password' => 'hash of abcdEFGH' ), array( 'password' => 'hash of ijklMNOP' ) );
	}

	public static function check_password( $password, $hash ) {
		return "hash of $password" === $hash;
	}
}
$filtering = array();
function doing_filter( $name ) {
	return in_array( $name, $GLOBALS['filtering'], true );
}
function is_wp_error( $value ) {
	return $value instanceof WP_Error;
}
function wp_unslash( $value ) {
	return stripslashes( $value );
}
function wp_get_current_user() {
}
load_classes( 'Application_Passwords' );

/** A program sends a REST request with this name and password. */
function begin_call( $name, $password ) {
	$GLOBALS['filtering'] = array();

	Security_Optimizer_Password_Checks::$told     = array();
	Security_Optimizer_Password_Checks::$checking = true;
	Security_Optimizer_Password_Checks::$typed    = array( $name, $password );

	$_SERVER['PHP_AUTH_USER']      = $name;
	$_SERVER['PHP_AUTH_PW']        = $password;
	$_SERVER['HTTP_AUTHORIZATION'] = 'Basic ' . base64_encode( "$name:$password" );
	$refusal                       = new ReflectionProperty( 'Security_Optimizer_Application_Passwords', 'refusal' );
	$refusal->setAccessible( true );
	$refusal->setValue( null, null );
}
function fail( $code ) {
	$error = new WP_Error( $code );
	Security_Optimizer_Application_Passwords::record_failure( $error );
	return $error;
}
function told() {
	return Security_Optimizer_Password_Checks::$told;
}

begin_call( 'member', 'wrong' );
fail( 'incorrect_password' );
check( 'a wrong application password counts, as what the header says', array( 'failed: member, application-password' ), told() );
check( 'and the call is told no more than that', 'plain', $GLOBALS['wp_rest_application_password_status']->get_error_code() );
begin_call( 'staging', 'wall' );
fail( 'invalid_username' );
check( 'so does a name that nobody has', array( 'failed: staging, application-password' ), told() );
begin_call( 'member', 'wrong' );
$_SERVER['HTTP_AUTHORIZATION'] = 'Basic ' . base64_encode( 'somebody:else' );
fail( 'incorrect_password' );
check( 'credentials that a plugin has set instead of the header count as another route', array( 'failed: member, other' ), told() );
begin_call( 'member', 'wrong' );
$filtering = array( 'authenticate' );
fail( 'incorrect_password' );
check( 'within a login the login as a whole counts', array(), told() );

begin_call( 'member', 'abcd EFGH' );
Security_Optimizer_Application_Passwords::record_correct();
$error = fail( 'a plugin has its reasons' );
check( 'a right one that a plugin refuses counts for nothing', array( 'right' ), told() );
check( 'and the call hears why, as a refusal and no fault of the server', array( $error, array( 'status' => 401 ) ), array( Security_Optimizer_Application_Passwords::explain_in_rest( null ), $error->get_error_data() ) );
begin_call( 'member', 'wrong' );
fail( 'incorrect_password' );
check( 'a wrong one after it in the same request does', array( 'failed: member, application-password' ), told() );

foreach ( array( 'abcd EFGH', 'ijklMNOP', 'i-j-k-l MNOP' ) as $right ) {
	begin_call( 'member', $right );
	fail( 'application_passwords_disabled_for_user' );
	check( "a right one of a user who may have none counts for nothing: $right", array( 'right' ), told() );
}
foreach ( array( array( 'member', 'abcd EFG' ), array( 'nobody', 'abcd EFGH' ) ) as list( $name, $password ) ) {
	begin_call( $name, $password );
	fail( 'application_passwords_disabled_for_user' );
	check( "a wrong one of theirs counts: $name", array( "failed: $name, application-password" ), told() );
}
begin_call( 'member', 'abcd EFGH' );
fail( 'application_passwords_disabled' );
check( 'another refusal proves nothing', array( 'failed: member, application-password' ), told() );

begin_call( 'member', 'abcd EFGH' );
Security_Optimizer_Application_Passwords::record_correct();
Security_Optimizer_Application_Passwords::record_success( new WP_User( 5 ) );
check( 'a right one logs in', array( 'ok: 5, application-password' ), told() );
begin_call( 'member', 'wrong' );
fail( 'incorrect_password' );
check( 'which makes no wrong one right', array( 'failed: member, application-password' ), told() );
begin_call( 'member', 'abcd EFGH' );
$filtering = array( 'authenticate' );
Security_Optimizer_Application_Passwords::record_success( new WP_User( 5 ) );
check( 'within a login the login goes on', array( 'right within a login' ), told() );

finish_checks();
