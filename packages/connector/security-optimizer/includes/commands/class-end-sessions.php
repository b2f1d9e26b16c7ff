<?php
/**
 * Command `end-sessions`: ends sessions, so that users have to log in again.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_End_Sessions {

	/**
	 * @param array $body `users` (ids), `needs_factor` (true: all users who need the second factor) or `without_factor`
	 *                    (true: those of them with a session that was created without it), and `keep_cookie` (true: the
	 *                    session of the browser's cookie is kept). `roles` with `without_factor`: only users with one
	 *                    of these roles.
	 * @return array|string The response described in docs/developer/login-security.md, or an error's code.
	 */
	public static function run( array $body ) {
		if ( isset( $body['without_factor'] ) && true === $body['without_factor'] ) {
			$roles = isset( $body['roles'] ) && is_array( $body['roles'] ) ? array_values( array_filter( $body['roles'], 'is_string' ) ) : null;
			$ended = array() === $roles ? 0 : Security_Optimizer_Second_Factor_Sessions::end_unmarked( $roles );
			return null === $ended ? 'not_stored' : array( 'ended' => $ended );
		}
		if ( isset( $body['needs_factor'] ) && true === $body['needs_factor'] ) {
			$users = self::list_users();
		} elseif ( isset( $body['users'] ) && is_array( $body['users'] ) ) {
			$users = array_filter( $body['users'], 'is_int' );
		} else {
			return 'invalid_users';
		}

		$keep  = isset( $body['keep_cookie'] ) && true === $body['keep_cookie'] ? wp_parse_auth_cookie( '', 'logged_in' ) : false;
		$owner = $keep ? Security_Optimizer_Session_User::id() : 0;
		$ended = 0;
		$left  = 0;
		foreach ( array_unique( $users ) as $id ) {
			if ( ! get_userdata( $id ) ) {
				continue;
			}
			if ( Security_Optimizer_Sessions::end( $id, $id === $owner ? $keep['token'] : '' ) ) {
				++$ended;
			} else {
				++$left;
			}
			if ( $id === $owner ) {
				Security_Optimizer_Second_Factor_Sessions::mark_existing( $id, $keep['token'] );
			}
		}
		return 0 === $left ? array( 'ended' => $ended ) : 'not_stored';
	}

	/**
	 * @param bool|null     $network Whether roles on every site of a network count; by default true in a network.
	 * @param string[]|null $roles   Roles, null for all roles that need a second factor.
	 * @return int[] Ids of all users with one of the roles; without `$roles`, of all users who need the second factor.
	 */
	public static function list_users( $network = null, $roles = null ) {
		global $wpdb;
		$network    = null === $network ? is_multisite() : $network;
		$meta_query = array( 'relation' => 'OR' );
		foreach ( null === $roles ? Security_Optimizer_Second_Factor::roles() : $roles as $role ) {
			$meta_query[] = array(
				// Each site of a network has its own key. No regular expression is used, because MySQL 5.7, MySQL 8 and
				// MariaDB interpret them differently.
				'key'         => $network ? 'capabilities' : $wpdb->get_blog_prefix() . 'capabilities',
				'compare_key' => $network ? 'LIKE' : '=',
				'value'       => '"' . $role . '"',
				'compare'     => 'LIKE',
			);
		}
		$users = get_users(
			array(
				'blog_id'    => 0,
				'fields'     => 'ID',
				'meta_query' => $meta_query, // phpcs:ignore WordPress.DB.SlowDBQuery
			)
		);
		if ( $network ) {
			// The query matches the key anywhere in a name, so it may also find keys of plugins.
			cache_users( $users );
			$users = array_filter(
				$users,
				static function ( $id ) use ( $roles ) {
					$user = get_userdata( $id );
					return $user && Security_Optimizer_Second_Factor::is_required_for( $user, $roles );
				}
			);
		}
		foreach ( null === $roles && is_multisite() ? get_super_admins() : array() as $login ) {
			$user = get_user_by( 'login', $login );
			if ( $user ) {
				$users[] = $user->ID;
			}
		}
		return array_values( array_unique( array_map( 'intval', $users ) ) );
	}
}
