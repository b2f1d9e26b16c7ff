<?php
/**
 * Users who gave the second factor switch to another account by a plugin, and back.
 *
 * The second factor of the other account is not required, because only its owner has it. This is safe: the browser has
 * a session with the factor, the request contains no password or login link, WordPress lets its user edit the other
 * account, and nobody can gain administrator rights.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Account_Switches {

	/** Session field with the id and the stamp of the account that acts as the session's user. */
	const ACTING = 'security_optimizer_acting';

	/** Capabilities that let a user run code or change who needs a second factor. */
	const ADMINISTRATORS = array( 'manage_options', 'promote_users', 'edit_plugins', 'install_plugins', 'update_core', 'unfiltered_upload' );

	/**
	 * Marks a session in which the browser's user switches to another account, or back.
	 *
	 * @param array $session The new session's data.
	 * @param int   $user_id Its user.
	 * @return array
	 */
	public static function mark( $session, $user_id ) {
		$own = Security_Optimizer_Session_User::id();
		if ( 0 === $own || $own === $user_id || Security_Optimizer_Password_Checks::has_checked() ) {
			return $session;
		}
		if ( self::is_switching_back( $user_id ) ) {
			$session[ Security_Optimizer_Second_Factor_Sessions::PASSED ] = 1;
		} elseif ( Security_Optimizer_Session_User::has_factor( $own ) ) {
			$session[ self::ACTING ] = array( $own, Security_Optimizer_Second_Factor::stamp( $own ) );
			if ( self::may_act_as( $own, $user_id ) ) {
				$session[ Security_Optimizer_Second_Factor_Sessions::PASSED ] = 1;
			}
		}
		return $session;
	}

	/**
	 * @param int $user_id A user.
	 * @return bool Whether this user acts in the browser's session as another one, and the user's stamp has not changed
	 *              since.
	 */
	private static function is_switching_back( $user_id ) {
		$session = Security_Optimizer_Session_User::session();
		$acting  = isset( $session[ self::ACTING ] ) && is_array( $session[ self::ACTING ] ) ? $session[ self::ACTING ] : array( 0, '' );
		return $user_id === $acting[0] && hash_equals( Security_Optimizer_Second_Factor::stamp( $user_id ), (string) $acting[1] );
	}

	private static function may_act_as( $own, $user_id ) {
		if ( ! user_can( $own, 'edit_user', $user_id ) || ( is_multisite() && is_super_admin( $user_id ) && ! is_super_admin( $own ) ) ) {
			return false;
		}
		foreach ( self::ADMINISTRATORS as $capability ) {
			if ( user_can( $user_id, $capability ) && ! user_can( $own, $capability ) ) {
				return false;
			}
		}
		return true;
	}
}
