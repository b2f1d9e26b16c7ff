<?php
/**
 * Command `session`: whose browser is asking guard.
 *
 * The same two checks as WordPress's REST API (logged-in cookie, then nonce `wp_rest`), made here so that no filter
 * of another plugin can answer in their place.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Session {

	/**
	 * @param array $body `nonce`: value of X-WP-Nonce, or null. `cookie_only`: true for pages of guard's own, which make
	 *                    sure by themselves that a change was meant.
	 * @return array The response described in docs/connector-protocol.md.
	 */
	public static function run( array $body ) {
		$user_id = wp_validate_auth_cookie( '', 'logged_in' );
		$user    = wp_set_current_user( $user_id ? $user_id : 0 );
		$nonce   = isset( $body['nonce'] ) && is_string( $body['nonce'] ) ? $body['nonce'] : '';

		$trusted = isset( $body['cookie_only'] ) && true === $body['cookie_only'];

		if ( ! $user->exists() || ! ( $trusted || wp_verify_nonce( $nonce, 'wp_rest' ) ) ) {
			return array(
				'user' => null,
				'code' => 'rest_cookie_invalid_nonce',
			);
		}
		return array(
			'user'   => array(
				'id'         => $user->ID,
				'login'      => $user->user_login,
				'name'       => $user->display_name,
				'roles'      => array_values( $user->roles ),
				'can_manage' => user_can( $user, Security_Optimizer_Session_User::capability() ),
			),
			'locale' => get_user_locale( $user ),
		);
	}
}
