<?php
/**
 * `wp security-optimizer login-url get|set|off`.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

/**
 * The address of the login.
 */
final class Security_Optimizer_Cli_Login_Url {

	/**
	 * Prints the address of the login.
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
	public function get( $words, $options ) {
		$login  = Security_Optimizer_Cli::options( 'login' );
		$choice = Security_Optimizer_Cli::selected( $login['login_url'] );
		Security_Optimizer_Cli::print_values(
			$options,
			array(
				'type'   => null === $choice ? '' : $choice['type'],
				'login'  => null === $choice ? '' : $choice['login'],
				'signup' => null === $choice ? '' : (string) $choice['signup'],
			)
		);
	}

	/**
	 * Moves the login to an address of its own.
	 *
	 * ## OPTIONS
	 *
	 * <login>
	 * : The path of the login, for example my-login.
	 *
	 * [--signup=<path>]
	 * : The path of the registration, where visitors may register.
	 *
	 * @param string[] $words   Arguments.
	 * @param array    $options Options.
	 */
	public function set( $words, $options ) {
		$response = Security_Optimizer_Cli::call(
			'POST',
			'/custom-login-url',
			array(
				'type'   => 'custom',
				'login'  => isset( $words[0] ) ? $words[0] : '',
				'signup' => isset( $options['signup'] ) ? $options['signup'] : '',
			)
		);
		Security_Optimizer_Cli::done( $response['message'] );
	}

	/**
	 * Takes the login back to the address that WordPress gives it.
	 */
	public function off() {
		$response = Security_Optimizer_Cli::call( 'POST', '/custom-login-url', array( 'type' => 'default' ) );
		Security_Optimizer_Cli::done( $response['message'] );
	}
}
