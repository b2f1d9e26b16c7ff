<?php
/**
 * Command `user`: who has this id.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_User {

	/**
	 * @param array $body `user`: an id.
	 * @return array The answer described in docs/login-security.md.
	 */
	public static function run( array $body ) {
		$user = isset( $body['user'] ) && is_int( $body['user'] ) ? get_userdata( $body['user'] ) : false;
		if ( ! $user ) {
			return array( 'id' => 0 );
		}
		return array(
			'id'           => $user->ID,
			'login'        => $user->user_login,
			'email'        => $user->user_email,
			'needs_factor' => Security_Optimizer_Second_Factor::is_required_for( $user ),
			'stamp'        => Security_Optimizer_Second_Factor::stamp( $user->ID ),
		);
	}
}
