<?php
/**
 * `wp security-optimizer two-factor status|on|off|reset`.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

/**
 * The second factor of administrators and editors.
 */
final class Security_Optimizer_Cli_Two_Factor {

	/**
	 * Lists who has a second factor.
	 *
	 * ## OPTIONS
	 *
	 * [--format=<format>]
	 * : How the rows are printed.
	 * ---
	 * default: table
	 * options:
	 *   - table
	 *   - json
	 *   - csv
	 *   - yaml
	 *   - count
	 * ---
	 *
	 * @param string[] $words   Arguments.
	 * @param array    $options Options.
	 */
	public function status( $words, $options ) {
		$login = Security_Optimizer_Cli::options( 'login' );
		$rows  = array();
		foreach ( isset( $login['two_factor_users']['users'] ) ? $login['two_factor_users']['users'] : array() as $user ) {
			$rows[] = array(
				'ID'       => $user['ID'],
				'user'     => $user['user_login'],
				'role'     => $user['role'],
				'required' => $login['sg2fa'] ? 'yes' : 'no',
				'set_up'   => $user['set_up'] ? 'yes' : 'no',
			);
		}
		Security_Optimizer_Cli::print_rows( $options, $rows, array( 'ID', 'user', 'role', 'required', 'set_up' ) );
	}

	/**
	 * Asks administrators and editors for a second factor; ends their sessions.
	 */
	public function on() {
		$response = Security_Optimizer_Cli::call( 'POST', '/2fa', array( 'sg2fa' => 1 ) );
		Security_Optimizer_Cli::done( $response['message'] );
	}

	/**
	 * Asks nobody for a second factor.
	 */
	public function off() {
		$response = Security_Optimizer_Cli::call( 'POST', '/2fa', array( 'sg2fa' => 0 ) );
		Security_Optimizer_Cli::done( $response['message'] );
	}

	/**
	 * Forgets the second factor of a user, who sets up a new one at the next login.
	 *
	 * ## OPTIONS
	 *
	 * <user>
	 * : Username or user ID.
	 *
	 * @param string[] $words Arguments.
	 */
	public function reset( $words ) {
		$name  = isset( $words[0] ) ? $words[0] : '';
		$login = Security_Optimizer_Cli::options( 'login' );
		foreach ( $login['reset_2fa'] as $user ) {
			if ( strtolower( $user['user_login'] ) === strtolower( $name ) || (string) $user['ID'] === $name ) {
				$response = Security_Optimizer_Cli::call( 'POST', '/reset-user-2fa/' . (int) $user['ID'] );
				Security_Optimizer_Cli::done( $response['message'] );
				return;
			}
		}
		Security_Optimizer_Cli::fail( 'No user with a second factor is called ' . $name . '.' );
	}
}
