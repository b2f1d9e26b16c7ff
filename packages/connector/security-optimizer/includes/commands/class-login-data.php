<?php
/**
 * Command `login-data`: data of WordPress for the page Login Security.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Login_Data {

	const MAX_USERS = 1000;

	const MAX_ROLES = 200;

	/** Maximum number of users who need a second factor in a response. */
	const MAX_FACTOR_USERS = 500;

	/**
	 * @return array The response described in docs/developer/login-security.md.
	 */
	public static function run() {
		global $wpdb;
		$matches = array();
		foreach ( Security_Optimizer_Usernames::matches() as $id => $login ) {
			$matches[] = array(
				'ID'         => (int) $id,
				'user_login' => $login,
			);
		}
		return array(
			'users'        => $wpdb->get_col( $wpdb->prepare( "SELECT user_login FROM $wpdb->users ORDER BY user_login LIMIT %d", self::MAX_USERS ) ),
			'matches'      => $matches,
			'roles'        => self::roles(),
			'registration' => Security_Optimizer_Signup::is_open(),
			'login_url'    => Security_Optimizer_Login_Url::default_login(),
			'signup_url'   => Security_Optimizer_Login_Url::default_signup(),
			'factor_users' => self::factor_users(),
			'team'         => count( Security_Optimizer_Command_Team::list_users( 'team' ) ),
		);
	}

	/**
	 * @return array Users who need a second factor while it is on, and the number of their sessions.
	 */
	private static function factor_users() {
		$ids = Security_Optimizer_Command_End_Sessions::list_users();
		sort( $ids );
		$users = array();
		$shown = array_slice( $ids, 0, self::MAX_FACTOR_USERS );
		cache_users( $shown );
		foreach ( $shown as $id ) {
			$user = get_userdata( $id );
			if ( $user ) {
				$users[] = array(
					'id'       => $id,
					'login'    => $user->user_login,
					'role'     => (string) current( array_intersect( Security_Optimizer_Second_Factor::roles(), (array) $user->roles ) ),
					'sessions' => count( WP_Session_Tokens::get_instance( $id )->get_all() ),
				);
			}
		}
		return array(
			'total' => count( $ids ),
			'users' => $users,
		);
	}

	/**
	 * @return array The roles of the site, with their translated names.
	 */
	private static function roles() {
		$roles = array();
		foreach ( array_slice( wp_roles()->role_names, 0, self::MAX_ROLES, true ) as $role => $name ) {
			$roles[] = array(
				'role' => (string) $role,
				'name' => mb_substr( Security_Optimizer_Outbox::text( translate_user_role( (string) $name ) ), 0, 100 ),
			);
		}
		return $roles;
	}
}
