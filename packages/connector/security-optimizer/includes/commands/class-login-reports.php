<?php
/**
 * Command `login-reports`: outcomes of password checks whose report guard did not receive.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Login_Reports {

	const MAX_REQUESTS = 500;

	/**
	 * @param array $body `requests`: ids of requests.
	 * @return array|string The response described in docs/developer/login-security.md, or an error's code.
	 */
	public static function run( array $body ) {
		$requests = isset( $body['requests'] ) && is_array( $body['requests'] ) ? array_filter( $body['requests'], 'is_string' ) : array();
		$reports  = Security_Optimizer_Password_Check_Log::find_or_deny( array_slice( array_values( $requests ), 0, self::MAX_REQUESTS ) );
		return null === $reports ? 'not_read' : array( 'reports' => (object) $reports );
	}
}
