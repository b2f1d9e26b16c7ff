<?php
/**
 * One error message for every failed login, so that it does not reveal which usernames exist.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Login_Errors {

	/** Error codes with which WordPress distinguishes an unknown name, a wrong password and a refusal. */
	const REVEALING = array(
		'invalid_username',
		'invalid_email',
		'invalidcombo',
		'incorrect_password',
		'authentication_failed',
		'application_passwords_disabled_for_user',
	);

	/** Error code for a locked address. Plugins replace the texts of WordPress's own codes. */
	const LOCKED = 'security_optimizer_locked';

	/** HTTP status of errors for programs, by code. */
	const STATUS = array(
		self::LOCKED => 429,
		Security_Optimizer_Application_Passwords::NOT_PERMITTED => 403,
	);

	/**
	 * @return WP_Error The error. With its code the login form keeps the entered name. A locked address always gets the
	 *                  error for the lock.
	 */
	public static function get_error() {
		if ( Security_Optimizer_Context::is_locked() && '' !== Security_Optimizer_Context::lock_message() ) {
			return self::locked( esc_html( Security_Optimizer_Context::lock_message() ) );
		}
		if ( Security_Optimizer_Context::is_cross_site() ) {
			return new WP_Error( 'incorrect_password', __( '<strong>Error:</strong> Another website sent this password, so it was not checked. Log in here.', 'security-optimizer' ) );
		}
		// WordPress's own text and translation.
		return new WP_Error( 'incorrect_password', __( '<strong>Error:</strong> Invalid username, email address or incorrect password.' ) ); // phpcs:ignore WordPress.WP.I18n.MissingArgDomain
	}

	/**
	 * @return WP_Error The error for programs, without HTML.
	 */
	public static function get_plain_error() {
		$error = self::get_error();
		if ( self::LOCKED === $error->get_error_code() ) {
			return self::locked( Security_Optimizer_Context::lock_message() );
		}
		return new WP_Error( $error->get_error_code(), wp_strip_all_tags( $error->get_error_message() ), array( 'status' => 401 ) );
	}

	private static function locked( $message ) {
		$data = array(
			'status' => self::STATUS[ self::LOCKED ],
			'until'  => Security_Optimizer_Context::locked_until(),
		);
		return new WP_Error( self::LOCKED, $message, $data );
	}

	/**
	 * @param mixed $error Error of the login.
	 * @return WP_Error The error without codes that reveal whether the user exists. Messages of plugins are kept.
	 */
	public static function hide_cause( $error ) {
		if ( ! is_wp_error( $error ) ) {
			return self::get_error();
		}
		$codes = array_diff( $error->get_error_codes(), self::REVEALING );
		if ( count( $codes ) === count( $error->get_error_codes() ) ) {
			return $error;
		}
		$same = self::get_error();
		foreach ( $codes as $code ) {
			foreach ( $error->get_error_messages( $code ) as $message ) {
				$same->add( $code, $message, $error->get_error_data( $code ) );
			}
		}
		return $same;
	}

	/**
	 * Filter `xmlrpc_login_error`: WordPress would always report a wrong password.
	 *
	 * @param IXR_Error $error Error of XML-RPC.
	 * @param WP_Error  $cause Its cause.
	 * @return IXR_Error
	 */
	public static function explain_in_xml_rpc( $error, $cause ) {
		$code = $cause->get_error_code();
		if ( ! isset( self::STATUS[ $code ] ) ) {
			return $error;
		}
		$message = self::LOCKED === $code ? Security_Optimizer_Context::lock_message() : $cause->get_error_message();
		return new IXR_Error( self::STATUS[ $code ], $message );
	}

	/**
	 * Takes the time of a password check, so that the response time does not reveal whether the user exists.
	 *
	 * @param string $password The entered password.
	 */
	public static function simulate_check( $password ) {
		wp_hash_password( $password );
	}
}
