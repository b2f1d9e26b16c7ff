<?php
/**
 * Command `salts`: fingerprints of the salts in use, so that guard knows whether new salts are in effect.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Salts {

	/**
	 * @param array $body `mark` of the response to the command that replaced the salts.
	 * @return array|string The response described in docs/developer/post-hack.md.
	 */
	public static function run( array $body ) {
		if ( ! isset( $body['mark'] ) || ! is_string( $body['mark'] ) || ! preg_match( '/\A[0-9a-f]{32}\z/', $body['mark'] ) ) {
			return 'invalid_mark';
		}
		return array( 'now' => Security_Optimizer_Salts::fingerprints( $body['mark'] ) );
	}
}
