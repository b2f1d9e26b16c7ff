<?php
/**
 * The user of the session cookie, and whether the request is one of a signed-in user.
 *
 * For the session only the cookie counts: other plugins may make somebody else the current user for a while.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Session_User {

	/** @var int|null Id of the user, 0 for an anonymous client, null while not known yet. */
	private static $id = null;

	/** @var bool Whether the second factor was given for the session of the cookie, or was not needed. */
	private static $has_factor = false;

	/** @var string Token of the session of the cookie, '' without one. */
	private static $token = '';

	/** @var string|null The cookie that the browser sent, null while it was not looked for. */
	private static $cookie = null;

	/**
	 * Action `plugins_loaded`, before anybody can log in: plugins put the cookie of a new session among those that the
	 * browser sent, so that the rest of the request knows it. (Those of blocked users are gone by then.)
	 */
	public static function remember_cookie() {
		self::$cookie = isset( $_COOKIE[ LOGGED_IN_COOKIE ] ) && is_string( $_COOKIE[ LOGGED_IN_COOKIE ] ) ? $_COOKIE[ LOGGED_IN_COOKIE ] : '';
	}

	/**
	 * Settings hold for the whole installation: in a network they are for super administrators, not for those of one
	 * site.
	 *
	 * @return string What a user must be able to do to change them.
	 */
	public static function capability() {
		return is_multisite() ? 'manage_network_options' : 'manage_options';
	}

	/**
	 * Also hooked on `init`, so that it is known before a request changes the password and with it the cookie.
	 *
	 * @return int Id of the user, 0 for an anonymous client and while WordPress cannot say yet.
	 */
	public static function id() {
		if ( null === self::$id ) {
			if ( ! did_action( 'plugins_loaded' ) ) {
				return 0;
			}
			if ( null === self::$cookie ) {
				self::remember_cookie();
			}
			self::$id = '' === self::$cookie ? 0 : (int) wp_validate_auth_cookie( self::$cookie, 'logged_in' );
			if ( self::$id ) {
				$cookie           = wp_parse_auth_cookie( self::$cookie, 'logged_in' );
				self::$token      = $cookie['token'];
				self::$has_factor = Security_Optimizer_Second_Factor_Sessions::is_marked( self::$id, self::$token );
			}
		}
		return self::$id;
	}

	/**
	 * @param int $user_id A user.
	 * @return bool Whether the browser has a session of this user that the second factor was given for, or needed none.
	 */
	public static function has_factor( $user_id ) {
		return self::id() === $user_id && self::$has_factor;
	}

	/**
	 * @return array|null What WordPress keeps of the browser's session; null without one.
	 */
	public static function session() {
		return self::id() ? WP_Session_Tokens::get_instance( self::id() )->get( self::$token ) : null;
	}

	/**
	 * Filter `determine_current_user`, after everybody else: WordPress or a plugin has taken a proof of who is asking.
	 *
	 * @param int|false $user_id Who is asking.
	 * @return int|false
	 */
	public static function report_signed_in( $user_id ) {
		if ( $user_id ) {
			Security_Optimizer_Request_Gate::add_flag( 'm' );
		}
		return $user_id;
	}

	/**
	 * Filter `authenticate`, after everybody else: in XML-RPC each request brings the password along.
	 *
	 * @param mixed $user WP_User, WP_Error or null.
	 * @return mixed
	 */
	public static function report_signed_in_by_xml_rpc( $user ) {
		if ( $user instanceof WP_User && defined( 'XMLRPC_REQUEST' ) && XMLRPC_REQUEST ) {
			self::report_signed_in( $user->ID );
		}
		return $user;
	}
}
