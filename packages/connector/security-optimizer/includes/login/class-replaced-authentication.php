<?php
/**
 * For plugins that replace the function wp_authenticate(). Their function may not use the filters `authenticate` and
 * `check_password`, so only the actions that wp_signon() and similar functions run are left.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Replaced_Authentication {

	/**
	 * Action `wp_authenticate`, right before a login is checked. A password that must not be checked is replaced by a
	 * random one.
	 *
	 * @param string $username The entered name.
	 * @param string $password The entered password, by reference.
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
	 * @param string $username The entered name.
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
