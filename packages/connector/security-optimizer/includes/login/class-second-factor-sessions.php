<?php
/**
 * Marks sessions that were created with the second factor, and ends those that were created without it.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Second_Factor_Sessions {

	/** Session field that marks a session for which the second factor was given or not needed. */
	const PASSED = 'security_optimizer_factor';

	/** Option with the start of a pause, Unix seconds. It exists until the pause is over. */
	const PAUSED_AT = 'security_optimizer_paused_at';

	/** @var bool[] Users who needed the second factor before this request changed their roles, by id. */
	private static $required = array();

	/** @var bool[] Users who need it because of the roles that are being written, by id. */
	private static $promoted = array();

	/**
	 * Filter `attach_session_information`: marks the session when the second factor was given for it. Sessions that
	 * were created without the connector or under another policy have no mark.
	 *
	 * @param array $session The new session's data.
	 * @param int   $user_id Its user.
	 * @return array
	 */
	public static function mark( $session, $user_id ) {
		$user_id = (int) $user_id;
		if ( Security_Optimizer_Second_Factor::is_issuing( $user_id ) || Security_Optimizer_Session_User::has_factor( $user_id ) || Security_Optimizer_Context::trusts_device( $user_id ) ) {
			$session[ self::PASSED ] = 1;
		}
		return Security_Optimizer_Account_Switches::mark( $session, $user_id );
	}

	/**
	 * @param int    $user_id A user.
	 * @param string $token   Token of the session.
	 * @return bool Whether the second factor was given for it, or was not needed.
	 */
	public static function is_marked( $user_id, $token ) {
		if ( '' === (string) $token ) {
			return false;
		}
		$session = WP_Session_Tokens::get_instance( $user_id )->get( $token );
		return ! empty( $session[ self::PASSED ] );
	}

	/**
	 * For a command of guard: marks a session that was created before the second factor was switched on and is kept.
	 *
	 * @param int    $user_id A user.
	 * @param string $token   Token of the session.
	 */
	public static function mark_existing( $user_id, $token ) {
		$sessions = WP_Session_Tokens::get_instance( $user_id );
		$session  = $sessions->get( $token );
		if ( is_array( $session ) ) {
			Security_Optimizer_Database_Retry::run(
				static function () use ( $sessions, $session, $user_id, $token ) {
					$sessions->update( $token, array( self::PASSED => 1 ) + $session );
					return self::is_marked( $user_id, $token );
				}
			);
		}
	}

	/**
	 * Filter `attach_session_information`, last: WordPress adds the new session to its cached list, which would restore
	 * sessions that have been ended since.
	 *
	 * @param array $session Passed on.
	 * @param int   $user_id Its user.
	 * @return array
	 */
	public static function clear_cached_sessions( $session, $user_id ) {
		wp_cache_delete( $user_id, 'user_meta' );
		return $session;
	}

	/**
	 * For a command of guard: ends all sessions of each user who needs a second factor and has a session without the
	 * mark. WordPress can't end single sessions by their content.
	 *
	 * @param string[]|null $roles Only users with one of these roles; null for all who need a second factor.
	 * @return int|null Number of these users; null when the database did not end the sessions of all.
	 */
	public static function end_unmarked( $roles = null ) {
		$ended = 0;
		$left  = 0;
		foreach ( array_unique( Security_Optimizer_Command_End_Sessions::list_users( null, $roles ) ) as $user_id ) {
			$sessions = WP_Session_Tokens::get_instance( $user_id )->get_all();
			if ( count( array_column( $sessions, self::PASSED ) ) < count( $sessions ) ) {
				if ( Security_Optimizer_Sessions::end( $user_id ) ) {
					++$ended;
				} else {
					++$left;
				}
			}
		}
		return 0 === $left ? $ended : null;
	}

	/**
	 * Ends all sessions of a user. Also action `granted_super_admin`, because that is not a role.
	 *
	 * @param int $user_id A user.
	 */
	public static function end_all( $user_id ) {
		WP_Session_Tokens::get_instance( $user_id )->destroy_all();
	}

	/**
	 * Filters `add_user_metadata`, `update_user_metadata` and `delete_user_metadata`, before the change: every change
	 * of roles is stored there. Removing all roles and adding them again is no promotion.
	 *
	 * @param mixed  $check   Passed on.
	 * @param int    $user_id A user.
	 * @param string $name    Key of the meta data.
	 * @param mixed  $value   Its value.
	 * @return mixed
	 */
	public static function record_promotion( $check, $user_id, $name, $value ) {
		$user = Security_Optimizer_Second_Factor::is_roles_key( $name ) ? get_userdata( $user_id ) : false;
		if ( $user && Security_Optimizer_Second_Factor::is_required_for( $user ) ) {
			self::$required[ $user->ID ] = true;
		} elseif ( $user && Security_Optimizer_Second_Factor::includes_required_role( $value ) && ! isset( self::$required[ $user->ID ] ) ) {
			self::$promoted[ $user->ID ] = true;
		}
		return $check;
	}

	/**
	 * Actions `added_user_meta` and `updated_user_meta`: ends the user's sessions after a promotion, because they were
	 * created with the password only.
	 *
	 * @param int $meta_id Not used.
	 * @param int $user_id A user.
	 */
	public static function end_after_promotion( $meta_id, $user_id ) {
		if ( isset( self::$promoted[ $user_id ] ) ) {
			unset( self::$promoted[ $user_id ] );
			self::end_all( $user_id );
		}
	}

	/**
	 * Called after a new policy is stored. If it ends a pause of the second factor, the sessions that were created in
	 * the pause are ended.
	 *
	 * @param int $now Unix seconds.
	 * @return bool False when the database did not store the start of a pause, or did not end all these sessions.
	 */
	public static function apply_pause( $now ) {
		$since = (int) get_site_option( self::PAUSED_AT, 0 );
		if ( Security_Optimizer_Policy::is_on( 'paused' ) ) {
			return 0 !== $since || Security_Optimizer_Database_Retry::run(
				static function () use ( $now ) {
					return update_site_option( self::PAUSED_AT, $now );
				}
			);
		}
		if ( 0 === $since ) {
			return true;
		}
		$left = 0;
		foreach ( Security_Optimizer_Policy::is_on( 'sg2fa' ) ? Security_Optimizer_Command_End_Sessions::list_users() : array() as $user_id ) {
			$logins = array_column( WP_Session_Tokens::get_instance( $user_id )->get_all(), 'login' );
			if ( array() !== $logins && max( $logins ) >= $since && ! Security_Optimizer_Sessions::end( $user_id ) ) {
				++$left;
			}
		}
		// If sessions or the option remain, the next policy repeats this.
		if ( 0 === $left ) {
			Security_Optimizer_Database_Retry::delete_site_option( self::PAUSED_AT );
		}
		return 0 === $left;
	}
}
