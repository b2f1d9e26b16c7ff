<?php
/**
 * Where a plugin has put its own function in the place of wp_authenticate(): it may ask neither the filter `authenticate`
 * nor `check_password`. What is left are the actions around it, which wp_signon() and such functions call.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Replaced_Authentication {

	/**
	 * Action `wp_authenticate`, right before a login is checked. What must not be checked is replaced by what nobody has.
	 *
	 * @param string $username What was typed.
	 * @param string $password What was typed, by reference.
	 */
	public static function refuse( &$username, &$password ) {
		if ( ! self::is_replaced() || '' === (string) $password ) {
			return;
		}
		if ( Security_Optimizer_Password_Checks::must_refuse( Security_Optimizer_Password_Checks::find_user( $username ) )
			|| ! Security_Optimizer_Login_Report::begin()
		) {
			$password = wp_generate_password( 64 );
			Security_Optimizer_Login_Report::add_refused();
		}
	}

	/**
	 * Action `wp_login_failed`.
	 *
	 * @param string $username What was typed.
	 */
	public static function record_failure( $username ) {
		if ( self::is_replaced() && ! Security_Optimizer_Password_Checks::has_checked()
			&& ! Security_Optimizer_Login_Report::has_failed() && ! Security_Optimizer_Login_Report::has_refused()
		) {
			Security_Optimizer_Login_Report::add_failed( $username, Security_Optimizer_Password_Checks::find_user( $username ), 'other' );
		}
	}

	private static function is_replaced() {
		$function = new ReflectionFunction( 'wp_authenticate' );
		return realpath( (string) $function->getFileName() ) !== realpath( ABSPATH . WPINC . '/pluggable.php' );
	}
}
