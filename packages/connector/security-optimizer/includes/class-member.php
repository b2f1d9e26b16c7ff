<?php
/**
 * Whose session this browser brought along.
 *
 * Only the cookie counts: other plugins may make somebody else the current user for a while.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Member {

	/** @var int|null Id of the user, 0 for a stranger, null while not known yet. */
	private static $id = null;

	/**
	 * Also hooked on `init`, so that it is known before a request changes the password and with it the cookie.
	 *
	 * @return int Id of the user, 0 for a stranger and while WordPress cannot say yet.
	 */
	public static function id() {
		if ( null === self::$id ) {
			if ( ! did_action( 'plugins_loaded' ) ) {
				return 0;
			}
			self::$id = (int) wp_validate_auth_cookie( '', 'logged_in' );
		}
		return self::$id;
	}
}
