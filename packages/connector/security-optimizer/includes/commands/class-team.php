<?php
/**
 * Command `team`: the e-mail addresses of those who get a mail about logging in.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Team {

	/** Most users to whom one click of the owner sends a mail, and one more: guard refuses longer lists. */
	const MAX_TEAM = 51;

	/**
	 * @param array $body `group`: `team`, all who may write on the site, or `needs_factor`, all who need a second factor.
	 * @return array|string The response described in docs/login-security.md, or an error's code.
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
	 * @param string $group As in `run`.
	 * @return int[] Ids of its users. Guard leaves out those who have a second factor, so the list of these is longer.
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
