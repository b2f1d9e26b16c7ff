<?php
/**
 * Command `session`: identifies the user of a request to guard.
 *
 * The same checks as in WordPress's REST API (logged-in cookie, then nonce `wp_rest`), without the filters of other
 * plugins.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Session {

	/**
	 * @param array $body `nonce`: value of X-WP-Nonce, or null. `cookie_only`: true for guard's own pages, which have
	 *                    their own protection against forged requests.
	 * @return array The response described in docs/developer/connector-protocol.md.
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
