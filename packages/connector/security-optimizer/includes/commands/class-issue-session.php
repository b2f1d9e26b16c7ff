<?php
/**
 * Command `issue-session`: continues a login after a correct second factor.
 *
 * The cookies are headers of the response, which guard passes to the browser.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Issue_Session {

	/**
	 * @param array $body `user`, `remember`, `redirect` (requested redirect, '' for the default), `decided` (true:
	 *                    WordPress has already determined the redirect), `interim`, `new_factor` (true: the factor was
	 *                    set up in this login) and `stamp` (the expected stamp of the user, or '').
	 * @return array|string The response described in docs/developer/login-security.md, or an error's code.
	 */
	public static function run( array $body ) {
		$user = isset( $body['user'] ) && is_int( $body['user'] ) ? get_userdata( $body['user'] ) : false;
		if ( ! $user || Security_Optimizer_Blocked_Users::has( $user->ID ) || ( is_multisite() && is_user_spammy( $user ) ) ) {
			return 'unknown_user';
		}
		$stamp = isset( $body['stamp'] ) && is_string( $body['stamp'] ) ? $body['stamp'] : '';
		if ( '' !== $stamp && ! hash_equals( Security_Optimizer_Second_Factor::stamp( $user->ID ), $stamp ) ) {
			return 'unknown_user';
		}
		$wanted = isset( $body['redirect'] ) && is_string( $body['redirect'] ) ? Security_Optimizer_Login_Target::unpack( $body['redirect'] ) : '';

		Security_Optimizer_Login_Url::show();
		if ( Security_Optimizer_Password_Reset::is_due( $user ) ) {
			self::send_redirect( self::new_password_page( $user, isset( $body['new_factor'] ) && true === $body['new_factor'] ) );
		}
		// Plugins may redirect after the login, or when the redirect is filtered.
		add_filter( 'wp_redirect', array( __CLASS__, 'send_redirect' ), PHP_INT_MAX );
		$is_decided = '' !== $wanted && isset( $body['decided'] ) && true === $body['decided'];
		if ( '' !== $wanted && ! $is_decided ) {
			self::show_target( $wanted );
		}
		Security_Optimizer_Second_Factor::issue( $user, isset( $body['remember'] ) && true === $body['remember'] );
		do_action( 'wp_login', $user->user_login, $user );
		self::send_redirect( Security_Optimizer_Login_Url::get_reachable_url( $is_decided ? $wanted : self::redirect( $user, $wanted ) ) );
	}

	/**
	 * Plugins read the requested redirect from the request, as in a form of WordPress.
	 */
	private static function show_target( $wanted ) {
		$_POST['redirect_to']    = wp_slash( $wanted );
		$_REQUEST['redirect_to'] = $_POST['redirect_to'];
	}

	/**
	 * Ends the request.
	 *
	 * @param string $location Target of the redirect.
	 */
	public static function send_redirect( $location ) {
		Security_Optimizer_Response::send_json( 200, array( 'redirect' => $location ) );
	}

	/**
	 * After a forced reset the old password and the second factor lead to the form for a new password, not to a
	 * session. A factor that was set up with only the old password proves nothing, so the user then needs a link by
	 * mail.
	 */
	private static function new_password_page( $user, $new_factor ) {
		$key = $new_factor ? null : get_password_reset_key( $user );
		if ( ! is_string( $key ) ) {
			return wp_lostpassword_url();
		}
		return network_site_url( 'wp-login.php?action=rp&key=' . rawurlencode( $key ) . '&login=' . rawurlencode( $user->user_login ), 'login' );
	}

	/**
	 * The same steps as in wp-login.php after a login.
	 */
	private static function redirect( $user, $wanted ) {
		$to = apply_filters( 'login_redirect', '' === $wanted ? admin_url() : $wanted, $wanted, $user );

		$interval = (int) apply_filters( 'admin_email_check_interval', 6 * MONTH_IN_SECONDS );
		if ( $user->has_cap( 'manage_options' ) && $interval > 0 && time() > (int) get_option( 'admin_email_lifespan' ) ) {
			$to = add_query_arg(
				array(
					'action'  => 'confirm_admin_email',
					'wp_lang' => get_user_locale( $user ),
				),
				wp_login_url( $to )
			);
		}
		if ( empty( $to ) || 'wp-admin/' === $to || admin_url() === $to ) {
			if ( is_multisite() && ! get_active_blog_for_user( $user->ID ) && ! is_super_admin( $user->ID ) ) {
				return user_admin_url();
			}
			if ( is_multisite() && ! $user->has_cap( 'read' ) ) {
				return get_dashboard_url( $user->ID );
			}
			if ( ! $user->has_cap( 'edit_posts' ) ) {
				return $user->has_cap( 'read' ) ? admin_url( 'profile.php' ) : home_url();
			}
			return admin_url();
		}
		return wp_validate_redirect( wp_sanitize_redirect( $to ), apply_filters( 'wp_safe_redirect_fallback', admin_url(), 302 ) );
	}
}
