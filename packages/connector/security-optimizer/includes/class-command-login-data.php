<?php
/**
 * Command `login-data`: what the page Login Security shows of WordPress's own.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Login_Data {

	const MAX_USERS = 1000;

	/**
	 * @return array The answer described in docs/login-security.md.
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
			'registration' => Security_Optimizer_Signup::is_open(),
			'login_url'    => Security_Optimizer_Login_Url::default_login(),
			'signup_url'   => Security_Optimizer_Login_Url::default_signup(),
		);
	}
}
