<?php
/**
 * Commands of guard.
 *
 * They look like REST requests but are no REST routes. A client without guard's signature gets WordPress's response for
 * a missing route, and filters of other plugins on the REST API can't block guard.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Commands {

	/**
	 * Commands and their functions. A function gets the decoded body and returns the response, an error code, or a
	 * WP_Error whose data are added to the response.
	 */
	const COMMANDS = array(
		'hello'                => array( 'Security_Optimizer_Command_Hello', 'run' ),
		'session'              => array( 'Security_Optimizer_Command_Session', 'run' ),
		'policy'               => array( 'Security_Optimizer_Command_Policy', 'run' ),
		'login-reports'        => array( 'Security_Optimizer_Command_Login_Reports', 'run' ),
		'user'                 => array( 'Security_Optimizer_Command_Users', 'find' ),
		'issue-session'        => array( 'Security_Optimizer_Command_Issue_Session', 'run' ),
		'end-sessions'         => array( 'Security_Optimizer_Command_End_Sessions', 'run' ),
		'login-data'           => array( 'Security_Optimizer_Command_Login_Data', 'run' ),
		'team'                 => array( 'Security_Optimizer_Command_Team', 'run' ),
		'path-in-use'          => array( 'Security_Optimizer_Command_Path_In_Use', 'run' ),
		'rename-users'         => array( 'Security_Optimizer_Command_Rename_Users', 'run' ),
		'events'               => array( 'Security_Optimizer_Command_Events', 'run' ),
		'users-info'           => array( 'Security_Optimizer_Command_Users', 'list_users' ),
		'send-mail'            => array( 'Security_Optimizer_Command_Send_Mail', 'run' ),
		'forget'               => array( 'Security_Optimizer_Command_Forget', 'run' ),

		'plugins'              => array( 'Security_Optimizer_Command_Plugins', 'run' ),
		'reinstall-plugin'     => array( 'Security_Optimizer_Command_Reinstall_Plugin', 'run' ),
		'force-password-reset' => array( 'Security_Optimizer_Command_Force_Password_Reset', 'run' ),
		'mail-password-links'  => array( 'Security_Optimizer_Command_Mail_Password_Links', 'run' ),
		'log-out-users'        => array( 'Security_Optimizer_Command_Log_Out_Users', 'run' ),
		'salts'                => array( 'Security_Optimizer_Command_Salts', 'run' ),
		'overview'             => array( 'Security_Optimizer_Command_Overview', 'run' ),
		'checkup'              => array( 'Security_Optimizer_Command_Checkup', 'run' ),
		'read-finding'         => array( 'Security_Optimizer_Command_Finding_Files', 'read' ),
		'remove-finding'       => array( 'Security_Optimizer_Command_Finding_Files', 'remove' ),
		'restore-finding'      => array( 'Security_Optimizer_Command_Finding_Files', 'restore' ),
		'remove-administrator' => array( 'Security_Optimizer_Command_Remove_Administrator', 'run' ),
	);

	/** Commands that need what plugins and themes register on `init`. The others run before that. */
	const LATE = array( 'issue-session', 'path-in-use', 'send-mail', 'mail-password-links', 'checkup', 'overview', 'read-finding', 'remove-finding', 'restore-finding', 'remove-administrator' );

	/** Errors that the command did not cause. */
	const FAULTS = array( 'policy_not_stored', 'not_stored', 'not_sent', 'not_read' );

	/** @var array|null `name`, `time`, `nonce` and `body` of a command with a valid signature. */
	private static $received = null;

	/**
	 * Checks whether the request is a command.
	 *
	 * @param string $secret The site's secret.
	 * @return bool Whether it is a command with a valid signature.
	 */
	public static function receive( $secret ) {
		$header = isset( $_SERVER['HTTP_X_SECURITY_OPTIMIZER_COMMAND'] ) ? $_SERVER['HTTP_X_SECURITY_OPTIMIZER_COMMAND'] : null;
		unset( $_SERVER['HTTP_X_SECURITY_OPTIMIZER_COMMAND'] );
		if ( null === $header
			|| ! Security_Optimizer_Request_Gate::is_via_guard()
			|| 'POST' !== $_SERVER['REQUEST_METHOD']
			|| ! isset( $_GET['rest_route'] )
			|| ! is_string( $_GET['rest_route'] )
			|| ! preg_match( '#\A/security-optimizer-connector/v1/([a-z-]+)\z#', $_GET['rest_route'], $part )
			|| ! isset( self::COMMANDS[ $part[1] ] )
		) {
			return false;
		}

		$body   = (string) file_get_contents( 'php://input' );
		$signed = Security_Optimizer_Protocol::read_command_header( $header, $part[1], $body, $secret, time() );
		if ( null === $signed ) {
			return false;
		}
		self::$received = array(
			'name'  => $part[1],
			'time'  => $signed['time'],
			'nonce' => $signed['nonce'],
			'body'  => $body,
		);
		return true;
	}

	/**
	 * @return bool Whether this request is a command of guard.
	 */
	public static function is_received() {
		return null !== self::$received;
	}

	/**
	 * @return string The action on which the received command runs.
	 */
	public static function action() {
		return in_array( self::$received['name'], self::LATE, true ) ? 'wp_loaded' : 'init';
	}

	/**
	 * Runs the command and ends the request. A command with a used nonce gets WordPress's response for a missing route.
	 */
	public static function run() {
		$consumed = Security_Optimizer_Nonces::consume( self::$received['nonce'], self::$received['time'] );
		if ( null === $consumed ) {
			Security_Optimizer_Response::send_json( 503, array( 'code' => 'nonce_not_stored' ) );
		}
		if ( false === $consumed ) {
			return;
		}

		$body = json_decode( self::$received['body'], true );
		if ( ! is_array( $body ) ) {
			self::fail( 'invalid_json' );
		}
		$result = call_user_func( self::COMMANDS[ self::$received['name'] ], $body );
		if ( is_string( $result ) ) {
			self::fail( $result );
		}
		if ( is_wp_error( $result ) ) {
			self::fail( $result->get_error_code(), (array) $result->get_error_data() );
		}
		Security_Optimizer_Response::send_json( 200, $result );
	}

	private static function fail( $code, array $more = array() ) {
		Security_Optimizer_Response::send_json( in_array( $code, self::FAULTS, true ) ? 500 : 400, array( 'code' => $code ) + $more );
	}
}
