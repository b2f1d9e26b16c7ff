<?php
/**
 * Command `team`: email addresses of the users who get a mail about logging in.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Team {

	/** Maximum number of recipients plus one, so that guard can detect and refuse longer lists. */
	const MAX_TEAM = 51;

	/**
	 * @param array $body `group`: `team`, all users who may edit posts, or `needs_factor`, all users who need a second
	 *                    factor.
	 * @return array|string The response described in docs/developer/login-security.md, or an error's code.
	 */
	public static function run( array $body ) {
		$group = isset( $body['group'] ) ? $body['group'] : null;
		if ( 'team' !== $group && 'needs_factor' !== $group ) {
			return 'invalid_users';
		}
		$ids = self::list_users( $group );
		cache_users( $ids );
		$users = array();
		foreach ( $ids as $id ) {
			$user = get_userdata( $id );
			if ( $user && is_email( $user->user_email ) ) {
				$users[] = array(
					'id'    => $id,
					'login' => $user->user_login,
					'email' => $user->user_email,
				);
			}
		}
		return array( 'users' => $users );
	}

	/**
	 * @param string $group A group, as in `run`.
	 * @return int[] Ids of its users. Guard removes users who already have a second factor, so that list may be longer.
	 */
	public static function list_users( $group ) {
		if ( 'needs_factor' === $group ) {
			return array_slice( Security_Optimizer_Command_End_Sessions::list_users(), 0, Security_Optimizer_Command_Login_Data::MAX_FACTOR_USERS );
		}
		return array_map(
			'intval',
			get_users(
				array(
					'capability' => 'edit_posts',
					'fields'     => 'ID',
					'number'     => self::MAX_TEAM,
				)
			)
		);
	}
}
