<?php
/**
 * Application passwords: in REST they have hooks of their own, elsewhere they are checked within the filter `authenticate`.
 * Users who need a second factor have them only where the owner allows it.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Application_Passwords {

	/** Code of the error for a right application password of an account that may have none. */
	const NOT_PERMITTED = 'application_passwords_need_permission';

	/** @var WP_Error|null Why a right application password was refused. */
	private static $refusal = null;

	/** @var bool Whether the application password that is being checked is right. */
	private static $was_right = false;

	/** @var bool Whether an application password was left unchecked because the address is locked. */
	private static $is_locked_call = false;

	/**
	 * Filter `determine_current_user`, right before WordPress checks an application password in REST.
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
		if ( Security_Optimizer_Context::is_basic_of_web_server() ) {
			remove_filter( 'determine_current_user', 'wp_validate_application_password', 20 );
			return $user_id;
		}
		Security_Optimizer_Password_Checks::start_attempt( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'] );
		// Nobody guesses an application password, and programs have no cookie that shows a known device.
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
	 * Filter `determine_current_user`, right after it.
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
	 * @param WP_User $user Who gave the right one.
	 */
	public static function record_success( $user ) {
		self::$was_right = false;
		if ( doing_filter( 'authenticate' ) ) {
			Security_Optimizer_Password_Checks::set_application_password();
		} else {
			Security_Optimizer_Login_Report::set_ok( $user, 'application-password' );
		}
	}

	/**
	 * Action `application_password_failed_authentication`. Inside `authenticate` the login as a whole counts. A right one
	 * that the owner does not want is no failure, and says so.
	 *
	 * @param WP_Error $error Why.
	 */
	public static function record_failure( $error ) {
		if ( self::$was_right || self::is_right_of_excluded_user( $error ) ) {
			Security_Optimizer_Password_Checks::accept_password();
			self::$was_right = false;
			self::$refusal   = $error;
			Security_Optimizer_Login_Report::send();
			return;
		}
		if ( isset( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'] ) && ! doing_filter( 'authenticate' ) ) {
			$route = self::came_by_header() ? 'application-password' : 'other';
			Security_Optimizer_Password_Checks::record_failure( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'], $route );
			self::set_rest_error();
		}
	}

	/**
	 * Action `wp_authenticate_application_password_errors`: an application password was right, and plugins may refuse it.
	 */
	public static function record_right() {
		self::$was_right = true;
	}

	/**
	 * Compares what WordPress has not compared, since a plugin lets this user have no application passwords.
	 *
	 * @param WP_Error $error Why the password was refused.
	 * @return bool Whether it was one of the user's all the same.
	 */
	private static function is_right_of_excluded_user( $error ) {
		if ( ! is_wp_error( $error ) || 'application_passwords_disabled_for_user' !== $error->get_error_code() || ! Security_Optimizer_Password_Checks::is_checking() ) {
			return false;
		}
		list( $username, $password ) = Security_Optimizer_Password_Checks::get_typed();

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
	 * Filter `rest_authentication_errors`, after everybody else. WordPress goes on without a user where it has not looked at
	 * the application password by then, and tells nobody.
	 *
	 * @param WP_Error|bool|null $result Whether somebody refuses the call.
	 * @return WP_Error|bool|null
	 */
	public static function explain_in_rest( $result ) {
		if ( isset( $_SERVER['PHP_AUTH_USER'] ) ) {
			wp_get_current_user();
		}
		if ( null !== self::$refusal ) {
			$data = self::$refusal->get_error_data();
			// As WordPress does it: else the refusal of a plugin would be a fault of the server.
			if ( ! isset( $data['status'] ) ) {
				self::$refusal->add_data( array_merge( (array) $data, array( 'status' => 401 ) ) );
			}
			return self::$refusal;
		}
		return self::$is_locked_call && is_wp_error( $result ) ? Security_Optimizer_Login_Errors::get_plain_error() : $result;
	}

	/**
	 * Filter `rest_request_after_callbacks`: a call from a locked address goes on without a user, since it may need none.
	 * Where it needs one, it is told why there is none.
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
	 * Filter `wp_is_application_passwords_available_for_user`. While a password is being checked it is compared all the same,
	 * so that only who has the right one hears why it is refused, and a wrong one takes as long as anybody's.
	 *
	 * @param bool    $available Whether the user may use them.
	 * @param WP_User $user      The user.
	 * @return bool
	 */
	public static function make_available( $available, $user ) {
		return $available && ( Security_Optimizer_Password_Checks::is_checking() || self::are_permitted( $user ) );
	}

	/**
	 * Action `wp_authenticate_application_password_errors`: an application password was right, and is not taken yet.
	 *
	 * @param WP_Error $error Filled by who refuses it.
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
	 * @return bool Whether it was right.
	 */
	public static function is_right_but_refused( $error ) {
		return is_wp_error( $error ) && in_array( self::NOT_PERMITTED, $error->get_error_codes(), true );
	}

	/**
	 * Guard knows credentials by the header `Authorization`. A plugin may have put others in their place.
	 *
	 * @return bool Whether name and password are those of the header, as far as the web server hands it on.
	 */
	private static function came_by_header() {
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
