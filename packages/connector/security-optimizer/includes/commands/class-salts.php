<?php
/**
 * Command `salts`: what WordPress signs cookies with now, so that guard can tell whether new salts are in force.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Salts {

	/**
	 * @param array $body `mark` of the answer to the command that gave the site new salts.
	 * @return array|string The response described in docs/post-hack.md.
	 */
	public static function run( array $body ) {
		if ( ! isset( $body['mark'] ) || ! is_string( $body['mark'] ) || ! preg_match( '/\A[0-9a-f]{32}\z/', $body['mark'] ) ) {
			return 'invalid_mark';
		}
		return array( 'now' => Security_Optimizer_Salts::fingerprints( $body['mark'] ) );
	}
}
