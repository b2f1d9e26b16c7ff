<?php
/**
 * Tests guard's commands while the database is busy: they retry writes, and never report success for a failed write.
 *
 * Run: php test/database-retry.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );
require __DIR__ . '/database-stub.php';

/**
 * Sessions as WordPress stores them: tokens by user. The methods do not return whether the database ended them. A
 * callback of a plugin may run a query that fails.
 */
$sessions     = array();
$plugin_error = '';
final class WP_Session_Tokens { // phpcs:ignore
	private $user_id;

	private function __construct( $user_id ) {
		$this->user_id = $user_id;
	}

	public static function get_instance( $user_id ) {
		return new self( $user_id );
	}

	public static function destroy_all_for_all_users() {
		if ( $GLOBALS['wpdb']->accepts_write() ) {
			$GLOBALS['sessions']         = array();
			$GLOBALS['wpdb']->last_error = $GLOBALS['plugin_error'];
		}
	}

	public function get_all() {
		return isset( $GLOBALS['sessions'][ $this->user_id ] ) ? array_values( $GLOBALS['sessions'][ $this->user_id ] ) : array();
	}

	public function get( $token ) {
		return isset( $GLOBALS['sessions'][ $this->user_id ][ $token ] ) ? $GLOBALS['sessions'][ $this->user_id ][ $token ] : null;
	}

	public function update( $token, $session ) {
		$this->write( array( $token => $session ) + (array) ( isset( $GLOBALS['sessions'][ $this->user_id ] ) ? $GLOBALS['sessions'][ $this->user_id ] : array() ) );
	}

	public function destroy_all() {
		$this->write( array() );
	}

	public function destroy_others( $token ) {
		$this->write( array( $token => $this->get( $token ) ) );
	}

	private function write( array $sessions ) {
		if ( $GLOBALS['wpdb']->accepts_write() ) {
			$GLOBALS['sessions'][ $this->user_id ] = $sessions;
			$GLOBALS['wpdb']->last_error           = $GLOBALS['plugin_error'];
		}
	}
}
final class Security_Optimizer_Session_User {
	public static function id() {
		return 1;
	}
}
/** Stubs that do not matter here. */
final class Security_Optimizer_Protocol {
	const CLOCK_TOLERANCE = 60;
}
final class WP_Application_Passwords { // phpcs:ignore
	const USERMETA_KEY_APPLICATION_PASSWORDS = '_application_passwords';
}
final class Security_Optimizer_Salts {
	public static function replace() {
		return array( 'change' => 'written' );
	}
}
final class Security_Optimizer_Second_Factor {
	public static function roles() {
		return array();
	}
}
function wp_parse_auth_cookie() {
	return array( 'token' => 'own' );
}
function get_userdata( $id ) {
	return (object) array( 'ID' => $id );
}
function get_users() {
	return array( 1, 2 );
}
function clean_user_cache() {
}
function wp_generate_password() {
	return 'a key';
}
function wp_fast_hash( $key ) {
	return "hash of $key";
}

load_classes( 'Database_Retry', 'Option_Rows', 'Policy', 'Nonces', 'Sessions', 'Password_Reset', 'Reset_Mails', 'Second_Factor_Sessions', 'Command_End_Sessions', 'Command_Force_Password_Reset', 'Command_Log_Out_Users' );

// The helper.
$tries = 0;
$write = static function () {
	++$GLOBALS['tries'];
	return $GLOBALS['wpdb']->accepts_write();
};
foreach ( array( 0, 1, 4 ) as $busy ) {
	$tries = 0;
	refuse_writes( $busy );
	check( "a write that fails $busy times is done in the end", true, Security_Optimizer_Database_Retry::run( $write ) );
	check( "and not again after that ($busy)", $busy + 1, $tries );
}
$tries = 0;
refuse_writes( 1000 );
check( 'a write that goes on failing is given up', false, Security_Optimizer_Database_Retry::run( $write ) );
check( 'after five tries', 5, $tries );
for ( $i = 0; $i < 100; ++$i ) {
	Security_Optimizer_Database_Retry::run( $write );
}
check( 'a hundred such writes of one request wait for a second in all, so most are tried once', true, $tries < 110 );

$slow = static function () {
	++$GLOBALS['tries'];
	usleep( 10000 );
	return $GLOBALS['wpdb']->accepts_write();
};
foreach ( array(
	'as long as a lock of SQLite' => array( 5000000, true, 2 ),
	'for long'                    => array( Security_Optimizer_Database_Retry::MAX_FAILED, false, 1 ),
) as $how => list( $spent, $is_done, $count ) ) {
	$tries = 0;
	refuse_writes( 1 );
	Security_Optimizer_Database_Retry::$failed = $spent;
	check( "of a request in which the database let writes wait $how, and in vain, the next that fails is " . ( $is_done ? '' : 'not ' ) . 'repeated', $is_done, Security_Optimizer_Database_Retry::run( $slow ) );
	check( "with as many tries, $how", $count, $tries );
}

foreach ( array( false, true ) as $multisite ) {
	$where  = $multisite ? 'in a network' : 'on a single site';
	$stored = array( 'a_name' => 'a value' );
	refuse_writes( 3 );
	check( "an option is deleted after three refusals $where, though the cache called it gone at the first", true, Security_Optimizer_Database_Retry::delete_site_option( 'a_name' ) );
	check( "and the database has it no longer $where", array(), $stored );
	refuse_writes( FOR_GOOD );
	check( "an option that is not there counts as deleted $where", true, Security_Optimizer_Database_Retry::delete_site_option( 'a_name' ) );
	check( "without a write $where", 0, $writes );
	$stored = array( 'a_name' => 'a value' );
	$cached = array();
	check( "an option that can not be deleted is told of $where", false, Security_Optimizer_Database_Retry::delete_site_option( 'a_name' ) );
	$stored = array();
	$cached = array();
}
$multisite = false;

// Each command, with a number of refusals that ends at different writes.
$commands = array(
	'force-password-reset'                      => array(
		static function () {
			return Security_Optimizer_Command_Force_Password_Reset::run();
		},
		static function ( $result ) {
			return is_array( $result ) && 3 === $result['users'];
		},
		array( array( 'INSERT', 'DELETE', 'UPDATE', 'delete _new_email', 'delete _application_passwords' ), array() ),
	),
	'log-out-users'                             => array(
		static function () {
			return Security_Optimizer_Command_Log_Out_Users::run( array() );
		},
		static function ( $result ) {
			return is_array( $result ) && 2 === $result['users'];
		},
		array( array(), array() ),
	),
	'log-out-users that keeps a session'        => array(
		static function () {
			return Security_Optimizer_Command_Log_Out_Users::run( array( 'keep_cookie' => true ) );
		},
		'is_array',
		array( array(), array( 1 => array( 'own' ) ) ),
	),
	'end-sessions of some'                      => array(
		static function () {
			return Security_Optimizer_Command_End_Sessions::run( array( 'users' => array( 2 ) ) );
		},
		static function ( $result ) {
			return array( 'ended' => 1 ) === $result;
		},
		array( array(), array( 1 => array( 'own', 'other' ) ) ),
	),
	'end-sessions of some that keeps a session' => array(
		static function () {
			return Security_Optimizer_Command_End_Sessions::run(
				array(
					'users'       => array( 1, 2 ),
					'keep_cookie' => true,
				)
			);
		},
		static function ( $result ) {
			return array( 'ended' => 2 ) === $result;
		},
		array( array(), array( 1 => array( 'own' ) ) ),
	),
	'end-sessions of those without a factor'    => array(
		static function () {
			return Security_Optimizer_Command_End_Sessions::run(
				array(
					'without_factor' => true,
					'roles'          => array( 'editor' ),
				)
			);
		},
		static function ( $result ) {
			return array( 'ended' => 2 ) === $result;
		},
		array( array(), array() ),
	),
);
foreach ( $commands as $name => list( $run, $is_done, $then ) ) {
	foreach ( array( 0, 1, 3 ) as $busy ) {
		$stored   = array();
		$cached   = array();
		$sessions = array(
			1 => array(
				'own'   => array( 'login' => 1 ),
				'other' => array( 'login' => 1 ),
			),
			2 => array( 'third' => array( 'login' => 1 ) ),
		);
		refuse_writes( $busy );
		check( "$name is done although the database was busy $busy times", true, (bool) $is_done( $run() ) );
		$left = array_map( 'array_keys', array_filter( $sessions ) );
		check( "and the database holds what it should ($name, $busy)", $then, array( $wpdb->done, $left ) );
	}
	$sessions = array(
		1 => array(
			'own'   => array( 'login' => 1 ),
			'other' => array( 'login' => 1 ),
		),
		2 => array( 'third' => array( 'login' => 1 ) ),
	);
	refuse_writes( FOR_GOOD );
	check( "$name is not reported as done while the database goes on being busy", 'not_stored', $run() );
}

// An error of a plugin's callback is ignored.
foreach ( $commands as $name => list( $run ) ) {
	$stored       = array();
	$sessions     = array(
		1 => array( 'own' => array( 'login' => 1 ) ),
		2 => array( 'third' => array( 'login' => 1 ) ),
	);
	$plugin_error = 'no such table';
	refuse_writes( 0 );
	$writes = 0;
	check( "$name is done although a plugin's own query fails", true, is_array( $run() ) );
	check( "and nothing is written twice for it ($name)", true, $writes <= 7 );
	$plugin_error = '';
}

// A reset stops at any failed write, and can be repeated.
for ( $accepted = 0; $accepted < 7; ++$accepted ) {
	$sessions = array( 2 => array( 'third' => array() ) );
	$stored   = array();
	refuse_writes( 0, $accepted );
	check( "a reset that the database refuses after $accepted writes is not reported as done", 'not_stored', Security_Optimizer_Command_Force_Password_Reset::run() );
	check( "nor does a write that needs another one come before it, $accepted", array_slice( array( 'INSERT', 'DELETE', 'UPDATE', 'delete _new_email', 'delete _application_passwords' ), 0, $accepted > 4 ? $accepted - 1 : $accepted ), $wpdb->done );
}

// Commands work although a nonce can't be stored at the first attempt.
foreach ( array( 0, 1, 3 ) as $busy ) {
	refuse_writes( $busy );
	check( "a nonce is used up although the database was busy $busy times", true, Security_Optimizer_Nonces::consume( 'a', time() ) );
}
refuse_writes( FOR_GOOD );
check( 'a nonce that can not be stored is no used one', null, Security_Optimizer_Nonces::consume( 'a', time() ) );

// Users of a step get their link.
$users = array( (object) array( 'ID' => 1 ), (object) array( 'ID' => 2 ) );
foreach ( array( 0, 1, 3 ) as $busy ) {
	refuse_writes( $busy );
	check( "keys are written although the database was busy $busy times", array( 1, 2 ), array_keys( Security_Optimizer_Reset_Mails::write_keys( $users ) ) );
	check( "by one statement ($busy)", array( 'UPDATE' ), $wpdb->done );
}
refuse_writes( FOR_GOOD );
check( 'no key goes out that the database does not hold', array(), Security_Optimizer_Reset_Mails::write_keys( $users ) );

/**
 * A new policy starts or ends a pause of the second factor.
 *
 * @param int $paused  1 when it starts one.
 * @param int $refused Number of writes after that of the policy that the database refuses.
 * @return bool Whether everything succeeded.
 */
function apply_pause( $paused, $refused ) {
	refuse_writes( 0 );
	Security_Optimizer_Policy::store(
		array(
			'paused' => $paused,
			'sg2fa'  => 1,
		)
	);
	refuse_writes( $refused );
	return Security_Optimizer_Second_Factor_Sessions::apply_pause( 1000 );
}

foreach ( array( 0, 1, 3 ) as $busy ) {
	$stored   = array();
	$cached   = array();
	$sessions = array(
		1 => array( 'during' => array( 'login' => 1001 ) ),
		2 => array( 'before' => array( 'login' => 999 ) ),
	);
	check( "a pause begins although the database was busy $busy times", true, apply_pause( 1, $busy ) );
	check( "at this time ($busy)", 1000, $stored['security_optimizer_paused_at'] );
	check( "and ends so, too ($busy)", true, apply_pause( 0, $busy ) );
	check( "with the sessions that were made in it ($busy)", array( 2 ), array_keys( array_filter( $sessions ) ) );
	check( "for good ($busy)", false, isset( $stored['security_optimizer_paused_at'] ) );
}
$stored   = array();
$sessions = array( 1 => array( 'during' => array( 'login' => 1001 ) ) );
check( 'a pause whose time can not be stored is told of', false, apply_pause( 1, FOR_GOOD ) );
check( 'the same at the next try', true, apply_pause( 1, 0 ) );
check( 'a pause that can not end its sessions is told of', false, apply_pause( 0, FOR_GOOD ) );
check( 'and not forgotten', 1000, $stored['security_optimizer_paused_at'] );
check( 'so that the next policy ends them', array( true, array() ), array( apply_pause( 0, 0 ), array_filter( $sessions ) ) );

finish_checks();
