<?php
/**
 * The user of the session cookie, and whether the request is authenticated.
 *
 * The session user is determined by the cookie only, because plugins may temporarily change the current user.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Session_User {

	/** @var int|null Id of the user, 0 for an anonymous client, null while unknown. */
	private static $id = null;

	/** @var bool Whether the second factor was given for the session of the cookie, or was not needed. */
	private static $has_factor = false;

	/** @var string Token of the session of the cookie, '' without one. */
	private static $token = '';

	/** @var string|null The cookie that the browser sent, null while it was not read. */
	private static $cookie = null;

	/**
	 * Action `plugins_loaded`, before any login: plugins add the cookie of a new session to `$_COOKIE`. (Cookies of
	 * blocked users are removed before.)
	 */
	public static function remember_cookie() {
		self::$cookie = isset( $_COOKIE[ LOGGED_IN_COOKIE ] ) && is_string( $_COOKIE[ LOGGED_IN_COOKIE ] ) ? $_COOKIE[ LOGGED_IN_COOKIE ] : '';
	}

	/**
	 * Settings apply to the whole installation, so in a network only super administrators may change them.
	 *
	 * @return string The capability that is needed to change settings.
	 */
	public static function capability() {
		return is_multisite() ? 'manage_network_options' : 'manage_options';
	}

	/**
	 * Also called on `init`, so that it is known before the request changes the password, which invalidates the cookie.
	 *
	 * @return int Id of the user, 0 for an anonymous client and while WordPress can't determine it yet.
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
	 * @return bool Whether the browser has a session of this user for which the second factor was given or not needed.
	 */
	public static function has_factor( $user_id ) {
		return self::id() === $user_id && self::$has_factor;
	}

	/**
	 * @return array|null Data of the browser's session; null without one.
	 */
	public static function session() {
		return self::id() ? WP_Session_Tokens::get_instance( self::id() )->get( self::$token ) : null;
	}

	/**
	 * Filter `determine_current_user`, last: WordPress or a plugin has authenticated the request.
	 *
	 * @param int|false $user_id The authenticated user.
	 * @return int|false
	 */
	public static function report_signed_in( $user_id ) {
		if ( $user_id ) {
			Security_Optimizer_Request_Gate::add_flag( 'm' );
		}
		return $user_id;
	}

	/**
	 * Filter `authenticate`, last: each XML-RPC request contains the password.
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
