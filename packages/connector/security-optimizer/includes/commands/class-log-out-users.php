<?php
/**
 * Command `log-out-users`: ends every session of every user. Passwords do not change.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Log_Out_Users {

	/**
	 * @param array $body `keep_cookie` (true: the session of the browser's cookie is kept).
	 * @return array|string The response described in docs/developer/post-hack.md, or an error's code.
	 */
	public static function run( array $body ) {
		$keep  = isset( $body['keep_cookie'] ) && true === $body['keep_cookie'];
		$users = Security_Optimizer_Sessions::end_all( $keep );
		if ( null === $users ) {
			return 'not_stored';
		}
		return array(
			'users' => $users,
			// New salts would also end the session that is kept.
			'salts' => $keep ? array( 'change' => 'kept' ) : Security_Optimizer_Salts::replace(),
		);
	}
}
