<?php
/**
 * Protection `sg2fa`: administrators, editors and the roles that the owner has added get no session for a password alone.
 *
 * Guard asks for the second factor and has the session issued afterwards (command `issue-session`).
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Second_Factor {

	/** Roles that need it always. */
	const ROLES = array( 'administrator', 'editor' );

	/** @var int User for whom guard issues a session right now. */
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
	 * @return bool Whether the user has one of the roles, and so needs a second factor: on any site of a network, since a session counts on all.
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
	 * @param string $name Name of something stored about a user.
	 * @return bool Whether these are the user's roles on some site.
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
	 * @return bool Whether guard issues a session for this user right now.
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
	 * Reads policy and roles from the database, since they may have changed during this request. A change of either ends
	 * the sessions that exist then; called after a session was stored, this finds one that the change missed.
	 *
	 * @param int $user_id A user.
	 * @return bool Whether the user has to give a second factor in this browser.
	 */
	private static function is_missing_by_now( $user_id ) {
		wp_cache_delete( $user_id, 'user_meta' );
		if ( is_multisite() ) {
			wp_cache_delete( get_current_network_id() . ':site_admins', 'site-options' );
		}
		return Security_Optimizer_Policy::with_stored(
			static function () use ( $user_id ) {
				$user = get_userdata( $user_id );
				return $user && self::is_missing( $user );
			}
		);
	}

	/**
	 * The password was right: ends the request without a session, so that guard can ask for the second factor.
	 *
	 * @param WP_User $user     Who it is.
	 * @param bool    $remember Whether the session is to outlive the browser.
	 */
	public static function start_challenge( $user, $remember ) {
		Security_Optimizer_Login_Report::set_factor( $user, $remember, self::get_form_target( $user ), isset( $_REQUEST['interim-login'] ), false );
		Security_Optimizer_Response::send_empty();
	}

	/**
	 * Changes with what a login depends on between password and second factor.
	 *
	 * @param int $user_id A user. Read anew: WordPress may have just written the password's hash in a better way.
	 * @return string Another one once the user has another password, or needs a second factor no longer.
	 */
	public static function stamp( $user_id ) {
		$user  = get_userdata( $user_id );
		$parts = $user ? array( $user->ID, $user->user_pass, (int) self::is_required_for( $user ) ) : array();
		return wp_hash( "security-optimizer-factor\n" . implode( "\n", $parts ) );
	}

	/**
	 * @return WP_Error For programs, which cannot be asked for a second factor.
	 */
	public static function get_refusal() {
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
	 * Filter `send_auth_cookies`: no session cookie is sent before the second factor, whatever logs the user in. The
	 * report makes guard ask for the factor.
	 *
	 * @param bool   $send       Whether to send the cookies.
	 * @param int    $expire     When the cookies end, 0 with the browser.
	 * @param int    $expiration When the session ends.
	 * @param int    $user_id    The session's user, 0 when cookies are deleted.
	 * @param string $scheme     Kind of cookie.
	 * @param string $token      The session.
	 * @return bool
	 */
	public static function withhold_cookies( $send, $expire = 0, $expiration = 0, $user_id = 0, $scheme = '', $token = '' ) {
		$user = $user_id ? get_userdata( $user_id ) : false;
		if ( ! $send || ! $user || self::$issuing === $user->ID || Security_Optimizer_Request_Gate::is_command_line() ) {
			return $send;
		}
		if ( ! self::is_missing( $user ) ) {
			if ( ! self::is_missing_by_now( $user->ID ) ) {
				return $send;
			}
			// WordPress may have stored ended sessions again, beside the new one.
			Security_Optimizer_Second_Factor_Sessions::end_all( $user->ID );
			if ( Security_Optimizer_Password_Checks::has_checked() ) {
				Security_Optimizer_Login_Report::withdraw_ok();
				self::start_challenge( $user, $expire > 0 );
			}
		} elseif ( Security_Optimizer_Session_User::id() === $user->ID || Security_Optimizer_Second_Factor_Sessions::is_marked( $user->ID, $token ) ) {
			// A session with the mark is one that the factor was given for: somebody comes back from another account.
			return $send;
		}
		WP_Session_Tokens::get_instance( $user->ID )->destroy( $token );
		Security_Optimizer_Login_Report::set_factor( $user, $expire > 0, self::get_target_url(), false, true );
		return false;
	}

	/**
	 * Makes a session after the second factor.
	 *
	 * @param WP_User $user     A user.
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
	 * Where a form leads whose request ends at the password. Forms of plugins have filters of their own for that.
	 *
	 * @param WP_User $user Whose password was right.
	 * @return string '' for the usual place; not checked yet.
	 */
	private static function get_form_target( $user ) {
		$target = self::get_target_url();
		if ( isset( $_POST['woocommerce-login-nonce'] ) && function_exists( 'wc_get_page_permalink' ) ) {
			$target = '' === $target ? wc_get_page_permalink( 'myaccount' ) : $target;
			$target = apply_filters( 'woocommerce_login_redirect', remove_query_arg( 'wc_error', $target ), $user );
		}
		/**
		 * Where a visitor goes after the second factor when a form of a plugin led to it.
		 *
		 * @param string  $target What the request says, '' for the usual place. WordPress checks it as it checks `redirect_to`.
		 * @param WP_User $user   Who logs in.
		 */
		$target = apply_filters( 'security_optimizer_login_target', $target, $user );
		return is_string( $target ) ? $target : '';
	}

	/**
	 * @return string Where the visitor wanted to go, as far as the request says; not checked yet.
	 */
	private static function get_target_url() {
		foreach ( array( 'redirect_to', 'redirect' ) as $name ) {
			if ( ! empty( $_REQUEST[ $name ] ) && is_string( $_REQUEST[ $name ] ) ) {
				return wp_unslash( $_REQUEST[ $name ] );
			}
		}
		// Forms of plugins lead back to their own page. A link was followed from a mail, a chat, or another site.
		return 'wp-login.php' === $GLOBALS['pagenow'] || 'GET' === $_SERVER['REQUEST_METHOD'] ? '' : (string) wp_get_raw_referer();
	}
}
