<?php
/**
 * Command `remove-administrator`: deletes an administrator whom the checkup has found. The content goes to the
 * administrator who asked for it. In a network the user is only removed from this site.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Remove_Administrator {

	/**
	 * @param array $body `user` (id) and `registered` (Unix seconds) of the administrator, and `heir`: the id of the one who asked
	 *                    for it.
	 * @return array|string The response described in docs/developer/post-hack.md, or an error's code.
	 */
	public static function run( array $body ) {
		if ( ! isset( $body['user'], $body['registered'], $body['heir'] ) || ! is_int( $body['user'] ) || ! is_int( $body['registered'] ) || ! is_int( $body['heir'] ) ) {
			return 'invalid_users';
		}
		$reason = self::find_obstacle( $body['user'], $body['registered'], $body['heir'] );
		if ( '' !== $reason ) {
			return array( 'reason' => $reason );
		}
		require_once ABSPATH . 'wp-admin/includes/user.php';
		// Plugins and the Activity Log see who does it, as on WordPress's own page.
		wp_set_current_user( $body['heir'] );
		if ( ! Security_Optimizer_Sessions::end( $body['user'] ) ) {
			return 'not_stored';
		}
		wp_delete_user( $body['user'], $body['heir'] );
		clean_user_cache( $body['user'] );
		$is_left = is_multisite() ? self::is_administrator( $body['user'] ) : (bool) get_userdata( $body['user'] );
		return array( 'reason' => $is_left ? 'not_deleted' : '' );
	}

	private static function find_obstacle( $id, $registered, $heir ) {
		$user = get_userdata( $id );
		// Not the name: it may contain characters that guard does not show.
		if ( ! $user || (int) strtotime( $user->user_registered . ' UTC' ) !== $registered || ! self::is_administrator( $id ) ) {
			return 'gone';
		}
		if ( $id === $heir ) {
			return 'yourself';
		}
		if ( is_multisite() && is_super_admin( $id ) ) {
			return 'network_administrator';
		}
		$may = self::is_administrator( $heir ) && user_can( $heir, is_multisite() ? 'remove_users' : 'delete_users' );
		return $may ? '' : 'not_allowed';
	}

	private static function is_administrator( $id ) {
		$user = get_userdata( $id );
		return $user && user_can( $user, 'manage_options' );
	}
}
