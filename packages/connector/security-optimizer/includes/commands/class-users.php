<?php
/**
 * Commands `user` and `users-info`: data of users.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Users {

	const MAX_USERS = 200;

	/**
	 * Command `user`: a user by id.
	 *
	 * @param array $body `user`: an id.
	 * @return array The response described in docs/developer/login-security.md.
	 */
	public static function find( array $body ) {
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

	/**
	 * Command `users-info`: some users, and the number of administrators who are not blocked.
	 *
	 * @param array $body `users` (ids), or `search` (a part of a username) and `limit`.
	 * @return array|string The response described in docs/developer/activity-log.md, or an error's code.
	 */
	public static function list_users( array $body ) {
		$limit = isset( $body['limit'] ) && is_int( $body['limit'] ) ? max( 1, min( $body['limit'], self::MAX_USERS ) ) : self::MAX_USERS;
		$query = array(
			'blog_id' => 0,
			'number'  => $limit,
			'orderby' => 'login',
		);
		if ( isset( $body['users'] ) && is_array( $body['users'] ) ) {
			// An empty list would select all users.
			$query['include'] = array_merge( array( 0 ), array_filter( $body['users'], 'is_int' ) );
		} elseif ( isset( $body['search'] ) && is_string( $body['search'] ) ) {
			$query['search']         = '*' . $body['search'] . '*';
			$query['search_columns'] = array( 'user_login' );
		} else {
			return 'invalid_users';
		}
		return array(
			'users'          => array_map( array( __CLASS__, 'describe' ), get_users( $query ) ),
			'administrators' => self::administrators(),
		);
	}

	private static function describe( $user ) {
		return array(
			'id'         => $user->ID,
			'login'      => $user->user_login,
			'roles'      => array_values( $user->roles ),
			'can_manage' => user_can( $user, Security_Optimizer_Session_User::capability() ),
		);
	}

	private static function administrators() {
		$ids = is_multisite() ? array() : get_users(
			array(
				'capability' => 'manage_options',
				'fields'     => 'ID',
			)
		);
		foreach ( is_multisite() ? get_super_admins() : array() as $login ) {
			$user  = get_user_by( 'login', $login );
			$ids[] = $user ? $user->ID : 0;
		}
		$left = array_diff( array_filter( array_map( 'strval', $ids ) ), Security_Optimizer_Policy::get_list( 'blocked_users' ) );
		return count( array_unique( $left ) );
	}
}
