<?php
/**
 * Protection `sg2fa`: administrators, editors and additional roles of the owner's choice get no session with a password
 * only.
 *
 * Guard requests the second factor and then has the session issued (command `issue-session`).
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Second_Factor {

	/** Roles that always need it. */
	const ROLES = array( 'administrator', 'editor' );

	/** @var int User for whom guard is issuing a session. */
	private static $issuing = 0;

	/**
	 * @return string[] The roles that need a second factor.
	 */
	public static function roles() {
		return array_merge( self::ROLES, Security_Optimizer_Policy::get_list( 'two_factor_roles' ) );
	}

	/**
	 * @param WP_User       $user  A user.
	 * @param string[]|null $roles Roles, null for those that need a second factor.
	 * @return bool Whether the user has one of the roles on any site of the network, because a session is valid on all
	 *              of them.
	 */
	public static function is_required_for( $user, $roles = null ) {
		if ( null === $roles && is_multisite() && is_super_admin( $user->ID ) ) {
			return true;
		}
		foreach ( (array) get_user_meta( $user->ID ) as $name => $values ) {
			if ( self::is_roles_key( $name ) && self::includes_required_role( maybe_unserialize( $values[0] ), $roles ) ) {
				return true;
			}
		}
		return false;
	}

	/**
	 * @param string $name Key of user meta.
	 * @return bool Whether it holds the user's roles on a site.
	 */
	public static function is_roles_key( $name ) {
		global $wpdb;
		return 1 === preg_match( '/\A' . preg_quote( $wpdb->base_prefix, '/' ) . '(\d+_)?capabilities\z/', (string) $name );
	}

	public static function includes_required_role( $has, $roles = null ) {
		$roles = null === $roles ? self::roles() : $roles;
		return is_array( $has ) && array() !== array_intersect( $roles, array_map( 'strval', array_keys( array_filter( $has ) ) ) );
	}

	/**
	 * @param int $user_id A user.
	 * @return bool Whether guard is issuing a session for this user.
	 */
	public static function is_issuing( $user_id ) {
		return self::$issuing === $user_id;
	}

	/**
	 * @param WP_User $user A user.
	 * @return bool Whether the user has to give a second factor in this browser.
	 */
	public static function is_missing( $user ) {
		return Security_Optimizer_Policy::is_on( 'sg2fa' )
			&& ! Security_Optimizer_Request_Gate::is_command_line()
			&& ! Security_Optimizer_Context::trusts_device( $user->ID )
			&& self::is_required_for( $user );
	}

	/**
	 * Reads policy and roles from the database, because they may have changed during this request. Such a change ends
	 * the existing sessions. Called after a session was stored, this detects a session that the change missed.
	 *
	 * @param int $user_id A user.
	 * @return bool Whether the user has to give a second factor in this browser.
	 */
	private static function is_missing_now( $user_id ) {
		wp_cache_delete( $user_id, 'user_meta' );
		if ( is_multisite() ) {
			wp_cache_delete( get_current_network_id() . ':site_admins', 'site-options' );
		}
		return Security_Optimizer_Policy::run_with_stored(
			static function () use ( $user_id ) {
				$user = get_userdata( $user_id );
				return $user && self::is_missing( $user );
			}
		);
	}

	/**
	 * Ends the request after a correct password without a session, so that guard can request the second factor.
	 *
	 * @param WP_User $user     The user.
	 * @param bool    $remember Whether the session is persistent.
	 */
	public static function start_challenge( $user, $remember ) {
		Security_Optimizer_Login_Report::set_factor( $user, $remember, self::get_form_target( $user ), isset( $_REQUEST['interim-login'] ), false );
		Security_Optimizer_Response::send_empty();
	}

	/**
	 * Returns a hash of the data on which a login between password and second factor depends.
	 *
	 * @param int $user_id A user. The data are loaded again, because WordPress may have just rehashed the password.
	 * @return string It changes with the user's password and with the need for a second factor.
	 */
	public static function stamp( $user_id ) {
		$user  = get_userdata( $user_id );
		$parts = $user ? array( $user->ID, $user->user_pass, (int) self::is_required_for( $user ) ) : array();
		return wp_hash( "security-optimizer-factor\n" . implode( "\n", $parts ) );
	}

	/**
	 * @return WP_Error The error for programs, which can't give a second factor.
	 */
	public static function get_refusal() {
		return new WP_Error(
			'two_factor_required',
			__( 'This account needs a second factor, so its password alone does not work here. Log in with a browser, or use an application password if your site allows it.', 'security-optimizer' ),
			array( 'status' => 403 )
		);
	}

	/**
	 * Filter `xmlrpc_login_error`: WordPress would always report a wrong password.
	 *
	 * @param IXR_Error $error Error of XML-RPC.
	 * @param WP_Error  $cause Its cause.
	 * @return IXR_Error
	 */
	public static function explain_in_xml_rpc( $error, $cause ) {
		return 'two_factor_required' === $cause->get_error_code() ? new IXR_Error( 403, $cause->get_error_message() ) : $error;
	}

	/**
	 * Filter `send_auth_cookies`: no login sends a session cookie before the second factor. The report makes guard
	 * request the factor.
	 *
	 * @param bool   $send       Whether to send the cookies.
	 * @param int    $expire     When the cookies expire, 0 for session cookies.
	 * @param int    $expiration When the session expires.
	 * @param int    $user_id    The session's user, 0 when cookies are deleted.
	 * @param string $scheme     Scheme of the cookie.
	 * @param string $token      Token of the session.
	 * @return bool
	 */
	public static function withhold_cookies( $send, $expire = 0, $expiration = 0, $user_id = 0, $scheme = '', $token = '' ) {
		$user = $user_id ? get_userdata( $user_id ) : false;
		if ( ! $send || ! $user || self::$issuing === $user->ID || Security_Optimizer_Request_Gate::is_command_line() ) {
			return $send;
		}
		if ( ! self::is_missing( $user ) ) {
			if ( ! self::is_missing_now( $user->ID ) ) {
				return $send;
			}
			// WordPress may have restored ended sessions together with the new one.
			Security_Optimizer_Second_Factor_Sessions::end_all( $user->ID );
			if ( Security_Optimizer_Password_Checks::has_checked() ) {
				Security_Optimizer_Login_Report::withdraw_ok();
				self::start_challenge( $user, $expire > 0 );
			}
		} elseif ( Security_Optimizer_Session_User::id() === $user->ID || Security_Optimizer_Second_Factor_Sessions::is_marked( $user->ID, $token ) ) {
			// The session is marked: a user switches back from another account.
			return $send;
		}
		WP_Session_Tokens::get_instance( $user->ID )->destroy( $token );
		Security_Optimizer_Login_Report::set_factor( $user, $expire > 0, self::get_target_url(), false, true );
		return false;
	}

	/**
	 * Creates a session after the second factor.
	 *
	 * @param WP_User $user     A user.
	 * @param bool    $remember Whether the session is persistent.
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
	 * Redirect of a login form whose request ends after the password. Plugins have their own filters for their forms.
	 *
	 * @param WP_User $user User with the correct password.
	 * @return string '' for the default; not validated.
	 */
	private static function get_form_target( $user ) {
		$target = self::get_target_url();
		if ( isset( $_POST['woocommerce-login-nonce'] ) && function_exists( 'wc_get_page_permalink' ) ) {
			$target = '' === $target ? wc_get_page_permalink( 'myaccount' ) : $target;
			$target = apply_filters( 'woocommerce_login_redirect', remove_query_arg( 'wc_error', $target ), $user );
		}
		/**
		 * Filters the redirect after the second factor for login forms of plugins.
		 *
		 * @param string  $target Redirect of the request, '' for the default. WordPress validates it like
		 *                        `redirect_to`.
		 * @param WP_User $user   User who logs in.
		 */
		$target = apply_filters( 'security_optimizer_login_target', $target, $user );
		return is_string( $target ) ? $target : '';
	}

	/**
	 * @return string Redirect of the request; not validated.
	 */
	private static function get_target_url() {
		foreach ( array( 'redirect_to', 'redirect' ) as $name ) {
			if ( ! empty( $_REQUEST[ $name ] ) && is_string( $_REQUEST[ $name ] ) ) {
				return wp_unslash( $_REQUEST[ $name ] );
			}
		}
		// Forms of plugins redirect to their own page. For a GET request the referrer is only the page or the site with
		// the link.
		return 'wp-login.php' === $GLOBALS['pagenow'] || 'GET' === $_SERVER['REQUEST_METHOD'] ? '' : (string) wp_get_raw_referer();
	}
}
