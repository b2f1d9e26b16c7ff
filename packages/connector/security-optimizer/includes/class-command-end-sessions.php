<?php
/**
 * Command `end-sessions`: users have to log in again.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_End_Sessions {

	/**
	 * @param array $body `users` (ids), `needs_factor` (true: everybody whom the second factor concerns) or
	 *                    `without_factor` (true: whoever of them has a session that was made without it), and
	 *                    `keep_cookie` (true: the session of the browser's cookie stays).
	 * @return array|string The answer described in docs/login-security.md, or an error's code.
	 */
	public static function run( array $body ) {
		if ( isset( $body['without_factor'] ) && true === $body['without_factor'] ) {
			return array( 'ended' => Security_Optimizer_Second_Factor::end_unmarked() );
		}
		if ( isset( $body['needs_factor'] ) && true === $body['needs_factor'] ) {
			$users = self::concerned();
		} elseif ( isset( $body['users'] ) && is_array( $body['users'] ) ) {
			$users = array_filter( $body['users'], 'is_int' );
		} else {
			return 'invalid_users';
		}

		$keep  = isset( $body['keep_cookie'] ) && true === $body['keep_cookie'] ? wp_parse_auth_cookie( '', 'logged_in' ) : false;
		$owner = $keep ? Security_Optimizer_Member::id() : 0;
		$ended = 0;
		foreach ( array_unique( $users ) as $id ) {
			$sessions = get_userdata( $id ) ? WP_Session_Tokens::get_instance( $id ) : null;
			if ( null === $sessions ) {
				continue;
			}
			if ( $id === $owner ) {
				$sessions->destroy_others( $keep['token'] );
				Security_Optimizer_Second_Factor::keep( $id, $keep['token'] );
			} else {
				$sessions->destroy_all();
			}
			++$ended;
		}
		return array( 'ended' => $ended );
	}

	/**
	 * @return int[] Ids of all whom the second factor concerns.
	 */
	public static function concerned() {
		global $wpdb;
		$asked  = array( 'relation' => 'OR' );
		$prefix = is_multisite() ? null : $wpdb->get_blog_prefix();
		foreach ( Security_Optimizer_Second_Factor::ROLES as $role ) {
			$asked[] = array(
				'key'         => null === $prefix ? 'capabilities\z' : $prefix . 'capabilities',
				'compare_key' => null === $prefix ? 'REGEXP' : '=',
				'value'       => '"' . $role . '"',
				'compare'     => 'LIKE',
			);
		}
		$users = get_users(
			array(
				'blog_id'    => 0,
				'fields'     => 'ID',
				'meta_query' => $asked, // phpcs:ignore WordPress.DB.SlowDBQuery
			)
		);
		foreach ( is_multisite() ? get_super_admins() : array() as $login ) {
			$user = get_user_by( 'login', $login );
			if ( $user ) {
				$users[] = $user->ID;
			}
		}
		return array_map( 'intval', $users );
	}
}
