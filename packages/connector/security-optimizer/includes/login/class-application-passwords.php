<?php
/**
 * Application passwords. The REST API has separate hooks for them; elsewhere the filter `authenticate` checks them.
 * Users who need a second factor may use them only if the owner allows it.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Application_Passwords {

	/** Error code for a correct application password of an account that may not use one. */
	const NOT_PERMITTED = 'application_passwords_need_permission';

	/** @var WP_Error|null Why a correct application password was refused. */
	private static $refusal = null;

	/** @var bool Whether the application password that is being checked is correct. */
	private static $was_correct = false;

	/** @var bool Whether an application password was not checked because the address is locked. */
	private static $is_locked_call = false;

	/**
	 * Filter `determine_current_user`, right before WordPress checks an application password for the REST API.
	 *
	 * @param int|false $user_id Passed on.
	 * @return int|false
	 */
	public static function begin_check( $user_id ) {
		if ( ! empty( $user_id )
			|| ! isset( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'] )
			|| ! wp_is_application_passwords_available()
			|| ! WP_Application_Passwords::is_in_use()
			|| ! apply_filters( 'application_password_is_api_request', Security_Optimizer_Password_Checks::is_xml_rpc() || Security_Optimizer_Password_Checks::is_rest() )
		) {
			return $user_id;
		}
		if ( Security_Optimizer_Context::is_web_server_auth() ) {
			remove_filter( 'determine_current_user', 'wp_validate_application_password', 20 );
			return $user_id;
		}
		Security_Optimizer_Password_Checks::start_attempt( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'] );
		// An application password can't be guessed, and programs have no cookie that identifies a known browser.
		if ( Security_Optimizer_Password_Checks::must_refuse( null )
			|| Security_Optimizer_Password_Checks::is_blocked( Security_Optimizer_Password_Checks::find_user( $_SERVER['PHP_AUTH_USER'] ) )
			|| ! Security_Optimizer_Login_Report::begin()
		) {
			Security_Optimizer_Password_Checks::refuse( $_SERVER['PHP_AUTH_PW'] );
			if ( Security_Optimizer_Context::is_locked() ) {
				self::$is_locked_call = true;
			} else {
				self::set_rest_error();
			}
			remove_filter( 'determine_current_user', 'wp_validate_application_password', 20 );
		}
		return $user_id;
	}

	/**
	 * Filter `determine_current_user`, right after the check.
	 *
	 * @param int|false $user_id Passed on.
	 * @return int|false
	 */
	public static function end_check( $user_id ) {
		Security_Optimizer_Password_Checks::end_attempt();
		return $user_id;
	}

	/**
	 * Action `application_password_did_authenticate`.
	 *
	 * @param WP_User $user User of the password.
	 */
	public static function record_success( $user ) {
		self::$was_correct = false;
		if ( doing_filter( 'authenticate' ) ) {
			Security_Optimizer_Password_Checks::set_application_password();
		} else {
			Security_Optimizer_Login_Report::set_ok( $user, 'application-password' );
		}
	}

	/**
	 * Action `application_password_failed_authentication`. Within `authenticate` the whole login is one attempt. A
	 * correct password that is refused is no failure; its error says why it is refused.
	 *
	 * @param WP_Error $error Why.
	 */
	public static function record_failure( $error ) {
		if ( self::$was_correct || self::is_correct_for_excluded_user( $error ) ) {
			Security_Optimizer_Password_Checks::accept_password();
			self::$was_correct = false;
			self::$refusal     = $error;
			Security_Optimizer_Login_Report::send();
			return;
		}
		if ( isset( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'] ) && ! doing_filter( 'authenticate' ) ) {
			$route = self::is_from_header() ? 'application-password' : 'other';
			Security_Optimizer_Password_Checks::record_failure( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'], $route );
			self::set_rest_error();
		}
	}

	/**
	 * Action `wp_authenticate_application_password_errors`: an application password is correct, and plugins may refuse
	 * it.
	 */
	public static function record_correct() {
		self::$was_correct = true;
	}

	/**
	 * Compares a password that WordPress has not compared, because a plugin disables application passwords for this
	 * user.
	 *
	 * @param WP_Error $error Why the password was refused.
	 * @return bool Whether it is a password of the user.
	 */
	private static function is_correct_for_excluded_user( $error ) {
		if ( ! is_wp_error( $error ) || 'application_passwords_disabled_for_user' !== $error->get_error_code() || ! Security_Optimizer_Password_Checks::is_checking() ) {
			return false;
		}
		list( $username, $password ) = Security_Optimizer_Password_Checks::get_credentials();

		$user     = Security_Optimizer_Password_Checks::find_user( $username );
		$password = preg_replace( '/[^a-z\d]/i', '', $password );
		if ( ! $user ) {
			return false;
		}
		foreach ( WP_Application_Passwords::get_user_application_passwords( $user->ID ) as $item ) {
			$is_right = method_exists( 'WP_Application_Passwords', 'check_password' )
				? WP_Application_Passwords::check_password( $password, $item['password'] )
				: wp_check_password( $password, $item['password'] );
			if ( $is_right ) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Filter `rest_authentication_errors`, last. If WordPress has not checked the application password yet, it would
	 * continue without a user.
	 *
	 * @param WP_Error|bool|null $result Result of other callbacks.
	 * @return WP_Error|bool|null
	 */
	public static function explain_in_rest( $result ) {
		if ( isset( $_SERVER['PHP_AUTH_USER'] ) ) {
			wp_get_current_user();
		}
		if ( null !== self::$refusal ) {
			$data = self::$refusal->get_error_data();
			// As WordPress does it. Without a status the error of a plugin would be a 500.
			if ( ! isset( $data['status'] ) ) {
				self::$refusal->add_data( array_merge( (array) $data, array( 'status' => 401 ) ) );
			}
			return self::$refusal;
		}
		return self::$is_locked_call && is_wp_error( $result ) ? Security_Optimizer_Login_Errors::get_plain_error() : $result;
	}

	/**
	 * Filter `rest_request_after_callbacks`: a request from a locked address continues without a user, because it may
	 * not need one. If it needs one, the error explains the lock.
	 *
	 * @param mixed $result WP_REST_Response or WP_Error.
	 * @return mixed
	 */
	public static function explain_lock_in_rest( $result ) {
		if ( ! self::$is_locked_call ) {
			return $result;
		}
		$data   = is_wp_error( $result ) ? $result->get_error_data() : null;
		$status = $result instanceof WP_HTTP_Response ? $result->get_status() : ( isset( $data['status'] ) ? (int) $data['status'] : 0 );
		return in_array( $status, array( 401, 403 ), true ) ? Security_Optimizer_Login_Errors::get_plain_error() : $result;
	}

	/**
	 * Filter `wp_is_application_passwords_available_for_user`. During a check they are always available, so that only a
	 * client with the correct password learns why it is refused, and a wrong one takes the usual time.
	 *
	 * @param bool    $available Whether they are available.
	 * @param WP_User $user      The user.
	 * @return bool
	 */
	public static function make_available( $available, $user ) {
		return $available && ( Security_Optimizer_Password_Checks::is_checking() || self::are_permitted( $user ) );
	}

	/**
	 * Action `wp_authenticate_application_password_errors`: an application password is correct, but not accepted yet.
	 *
	 * @param WP_Error $error Errors of callbacks that refuse it.
	 * @param WP_User  $user  Its user.
	 */
	public static function refuse_unpermitted( $error, $user ) {
		if ( ! self::are_permitted( $user ) ) {
			$error->add(
				self::NOT_PERMITTED,
				__( 'Application passwords are not available for accounts that need a second factor. An administrator of the site can allow them in wp-admin: Login Security, Application Passwords.', 'security-optimizer' ),
				array( 'status' => 403 )
			);
		}
	}

	private static function are_permitted( $user ) {
		return Security_Optimizer_Policy::is_on( 'two_factor_app_passwords' ) || ! Security_Optimizer_Second_Factor::is_required_for( $user );
	}

	/**
	 * @param mixed $error Why an application password was refused.
	 * @return bool Whether it was correct.
	 */
	public static function is_correct_but_refused( $error ) {
		return is_wp_error( $error ) && in_array( self::NOT_PERMITTED, $error->get_error_codes(), true );
	}

	/**
	 * Guard reads credentials from the header `Authorization`. A plugin may have replaced them.
	 *
	 * @return bool Whether name and password are those of the header, as far as the web server passes it on.
	 */
	private static function is_from_header() {
		foreach ( array( 'HTTP_AUTHORIZATION', 'REDIRECT_HTTP_AUTHORIZATION' ) as $name ) {
			if ( isset( $_SERVER[ $name ] ) && preg_match( '/\Abasic\s+(\S+)\s*\z/i', $_SERVER[ $name ], $match ) ) {
				return base64_decode( $match[1] ) === wp_unslash( $_SERVER['PHP_AUTH_USER'] . ':' . $_SERVER['PHP_AUTH_PW'] ); // phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions.obfuscation_base64_decode
			}
		}
		return true;
	}

	private static function set_rest_error() {
		$GLOBALS['wp_rest_application_password_status'] = Security_Optimizer_Login_Errors::get_plain_error(); // phpcs:ignore WordPress.WP.GlobalVariablesOverride -- Where WordPress keeps it.
	}
}
