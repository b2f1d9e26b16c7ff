<?php
/**
 * Protection `sg2fa`: administrators and editors get no session for a password alone.
 *
 * Guard asks for the second factor and has the session issued afterwards (command `issue-session`).
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Second_Factor {

	const ROLES = array( 'administrator', 'editor' );

	/** When a pause began in which nobody was asked, Unix seconds. Stored until it is over. */
	const PAUSED_AT = 'security_optimizer_paused_at';

	/** What a session holds for whom the second factor was asked, or need not be. */
	const PASSED = 'security_optimizer_factor';

	/** @var int User whose session guard is having issued right now. */
	private static $issuing = 0;

	/** @var bool[] Users whom it concerned before this request changed their roles: id to true. */
	private static $concerned = array();

	/** @var bool[] Users whom the roles make it concern that are being written now: id to true. */
	private static $rising = array();

	/**
	 * @param WP_User $user A user.
	 * @return bool Whether the role asks for a second factor: on any site of a network, since a session counts on all.
	 */
	public static function concerns( $user ) {
		if ( is_multisite() && is_super_admin( $user->ID ) ) {
			return true;
		}
		foreach ( (array) get_user_meta( $user->ID ) as $name => $values ) {
			if ( self::are_roles( $name ) && self::ask_for_it( maybe_unserialize( $values[0] ) ) ) {
				return true;
			}
		}
		return false;
	}

	/**
	 * @param string $name Name of something stored about a user.
	 * @return bool Whether these are the user's roles on some site.
	 */
	private static function are_roles( $name ) {
		global $wpdb;
		return 1 === preg_match( '/\A' . preg_quote( $wpdb->base_prefix, '/' ) . '(\d+_)?capabilities\z/', (string) $name );
	}

	private static function ask_for_it( $roles ) {
		return is_array( $roles ) && array() !== array_intersect( self::ROLES, array_keys( array_filter( $roles ) ) );
	}

	/**
	 * Filters `add_user_metadata`, `update_user_metadata` and `delete_user_metadata`, before it happens: by whatever way
	 * a user gets a role, it is written there. Programs that take all roles away and give them back change nothing.
	 *
	 * @param mixed  $check   Passed on.
	 * @param int    $user_id Whose.
	 * @param string $name    What is written.
	 * @param mixed  $value   Its value.
	 * @return mixed
	 */
	public static function notice_roles( $check, $user_id, $name, $value ) {
		$user = self::are_roles( $name ) ? get_userdata( $user_id ) : false;
		if ( $user && self::concerns( $user ) ) {
			self::$concerned[ $user->ID ] = true;
		} elseif ( $user && self::ask_for_it( $value ) && ! isset( self::$concerned[ $user->ID ] ) ) {
			self::$rising[ $user->ID ] = true;
		}
		return $check;
	}

	/**
	 * Actions `added_user_meta` and `updated_user_meta`: the sessions from before were made for a password alone.
	 *
	 * @param int $meta_id Not used.
	 * @param int $user_id Whose.
	 */
	public static function end_sessions_from_before( $meta_id, $user_id ) {
		if ( isset( self::$rising[ $user_id ] ) ) {
			unset( self::$rising[ $user_id ] );
			self::end_sessions( $user_id );
		}
	}

	/**
	 * A new policy is stored. When it ends a pause in which the second factor was off, so do the sessions that were made
	 * in it.
	 *
	 * @param int $now Unix seconds.
	 */
	public static function follow_pause( $now ) {
		$since = (int) get_site_option( self::PAUSED_AT, 0 );
		if ( Security_Optimizer_Policy::is_on( 'paused' ) ) {
			if ( 0 === $since ) {
				update_site_option( self::PAUSED_AT, $now );
			}
			return;
		}
		if ( 0 === $since ) {
			return;
		}
		foreach ( Security_Optimizer_Policy::is_on( 'sg2fa' ) ? Security_Optimizer_Command_End_Sessions::concerned() : array() as $user_id ) {
			$logins = array_column( WP_Session_Tokens::get_instance( $user_id )->get_all(), 'login' );
			if ( array() !== $logins && max( $logins ) >= $since ) {
				self::end_sessions( $user_id );
			}
		}
		delete_site_option( self::PAUSED_AT );
	}

	/**
	 * Filter `attach_session_information`: sessions that nobody made while the connector was away, or another policy was
	 * in force, can be told from the others.
	 *
	 * @param array $session What is stored of a new session.
	 * @param int   $user_id Whose it is.
	 * @return array
	 */
	public static function mark( $session, $user_id ) {
		$user_id = (int) $user_id;
		if ( self::$issuing === $user_id || Security_Optimizer_Member::id() === $user_id || Security_Optimizer_Context::trusts_device( $user_id ) ) {
			$session[ self::PASSED ] = 1;
		}
		return $session;
	}

	/**
	 * Lets a session stay that was made before a second factor was asked for.
	 *
	 * @param int    $user_id Whose.
	 * @param string $token   Which.
	 */
	public static function keep( $user_id, $token ) {
		$sessions = WP_Session_Tokens::get_instance( $user_id );
		$session  = $sessions->get( $token );
		if ( is_array( $session ) ) {
			$sessions->update( $token, array( self::PASSED => 1 ) + $session );
		}
	}

	/**
	 * Ends the sessions of all who need a second factor and have one that was made without: while the connector was
	 * away, or in a database that was restored. Single ones can't be taken out, so whoever has one logs in again.
	 *
	 * @return int How many users it were.
	 */
	public static function end_unmarked() {
		$ended = 0;
		foreach ( array_unique( Security_Optimizer_Command_End_Sessions::concerned() ) as $user_id ) {
			$sessions = WP_Session_Tokens::get_instance( $user_id )->get_all();
			if ( count( array_column( $sessions, self::PASSED ) ) < count( $sessions ) ) {
				self::end_sessions( $user_id );
				++$ended;
			}
		}
		return $ended;
	}

	/**
	 * Action `granted_super_admin`: the same, where it is not a role.
	 *
	 * @param int $user_id Whose.
	 */
	public static function end_sessions( $user_id ) {
		WP_Session_Tokens::get_instance( $user_id )->destroy_all();
	}

	/**
	 * @param WP_User $user A user.
	 * @return bool Whether the user has to give a second factor in this browser.
	 */
	public static function is_missing( $user ) {
		return Security_Optimizer_Policy::is_on( 'sg2fa' )
			&& ! Security_Optimizer_Gate::is_command_line()
			&& ! Security_Optimizer_Context::trusts_device( $user->ID )
			&& self::concerns( $user );
	}

	/**
	 * The password was right: ends the request without a session, so that guard can ask for the second factor.
	 *
	 * @param WP_User $user     Who it is.
	 * @param bool    $remember Whether the session is to outlive the browser.
	 */
	public static function ask( $user, $remember ) {
		Security_Optimizer_Login_Report::set_factor( $user, $remember, self::wanted_address(), isset( $_REQUEST['interim-login'] ) );
		Security_Optimizer_Answer::nothing();
	}

	/**
	 * What a log-in rests on between password and second factor.
	 *
	 * @param int $user_id A user. Read anew: WordPress may have just written the password's hash in a better way.
	 * @return string Another one once the user has another password, or needs a second factor no longer.
	 */
	public static function stamp( $user_id ) {
		$user = get_userdata( $user_id );
		$said = $user ? array( $user->ID, $user->user_pass, (int) self::concerns( $user ) ) : array();
		return wp_hash( "security-optimizer-factor\n" . implode( "\n", $said ) );
	}

	/**
	 * @return WP_Error For programs, which cannot be asked for a second factor.
	 */
	public static function refusal() {
		return new WP_Error(
			'two_factor_required',
			__( 'This account needs a second factor, so its password alone does not work here. Log in with a browser, or use an application password if your site allows it.', 'security-optimizer' ),
			array( 'status' => 403 )
		);
	}

	/**
	 * Filter `xmlrpc_login_error`: WordPress would say that the password is wrong.
	 *
	 * @param IXR_Error $error What XML-RPC answers.
	 * @param WP_Error  $cause Why.
	 * @return IXR_Error
	 */
	public static function explain_in_xml_rpc( $error, $cause ) {
		return 'two_factor_required' === $cause->get_error_code() ? new IXR_Error( 403, $cause->get_error_message() ) : $error;
	}

	/**
	 * Filter `wp_is_application_passwords_available_for_user`.
	 *
	 * @param bool    $available Whether the user may use them.
	 * @param WP_User $user      The user.
	 * @return bool
	 */
	public static function allow_application_passwords( $available, $user ) {
		return $available && ( Security_Optimizer_Policy::is_on( 'two_factor_app_passwords' ) || ! self::concerns( $user ) );
	}

	/**
	 * Filter `send_auth_cookies`: whatever logs such a user in, no cookie goes out before the second factor. Guard is
	 * told, so that it can ask for the factor then.
	 *
	 * @param bool   $send       Whether to send the cookies.
	 * @param int    $expire     When the cookies end, 0 with the browser.
	 * @param int    $expiration When the session ends.
	 * @param int    $user_id    Whose session it is, 0 when cookies are deleted.
	 * @param string $scheme     Kind of cookie.
	 * @param string $token      The session.
	 * @return bool
	 */
	public static function hold_back_cookies( $send, $expire = 0, $expiration = 0, $user_id = 0, $scheme = '', $token = '' ) {
		$user = $user_id ? get_userdata( $user_id ) : false;
		if ( ! $send || ! $user
			|| self::$issuing === $user->ID
			|| Security_Optimizer_Member::id() === $user->ID
			|| ! self::is_missing( $user )
		) {
			return $send;
		}
		WP_Session_Tokens::get_instance( $user->ID )->destroy( $token );
		Security_Optimizer_Login_Report::set_factor( $user, $expire > 0, self::wanted_address(), false );
		return false;
	}

	/**
	 * Makes a session after the second factor.
	 *
	 * @param WP_User $user     Whose.
	 * @param bool    $remember Whether it is to outlive the browser.
	 */
	public static function issue( $user, $remember ) {
		self::$issuing = $user->ID;
		$credentials   = array(
			'user_login'    => $user->user_login,
			'user_password' => '',
			'remember'      => $remember,
		);
		wp_set_auth_cookie( $user->ID, $remember, apply_filters( 'secure_signon_cookie', is_ssl(), $credentials ) );
		wp_set_current_user( $user->ID );
		self::$issuing = 0;
	}

	/**
	 * @return string Where the visitor wanted to go, as far as the request says; not checked yet.
	 */
	private static function wanted_address() {
		foreach ( array( 'redirect_to', 'redirect' ) as $name ) {
			if ( ! empty( $_REQUEST[ $name ] ) && is_string( $_REQUEST[ $name ] ) ) {
				return wp_unslash( $_REQUEST[ $name ] );
			}
		}
		// Forms of plugins lead back to their own page.
		return 'wp-login.php' === $GLOBALS['pagenow'] ? '' : (string) wp_get_raw_referer();
	}
}
