<?php
/**
 * One error message for every failed login, so that it does not show which names exist.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Login_Errors {

	/** Codes by which WordPress tells an unknown name, a wrong password and a refusal apart. */
	const REVEALING = array(
		'invalid_username',
		'invalid_email',
		'invalidcombo',
		'incorrect_password',
		'authentication_failed',
		'application_passwords_disabled_for_user',
	);

	/** Code of the error for a locked address. A code of WordPress could be given another text by a plugin. */
	const LOCKED = 'security_optimizer_locked';

	/** HTTP status of errors for programs that have one of their own, by code. */
	const STATUS = array(
		self::LOCKED => 429,
		Security_Optimizer_Application_Passwords::NOT_PERMITTED => 403,
	);

	/**
	 * @return WP_Error The error. Its code is the one with which the form keeps the name that was typed. A locked
	 *                  address gets an error that says so, whatever was typed.
	 */
	public static function get_error() {
		if ( Security_Optimizer_Context::is_locked() && '' !== Security_Optimizer_Context::lock_message() ) {
			return self::locked( esc_html( Security_Optimizer_Context::lock_message() ) );
		}
		if ( Security_Optimizer_Context::is_cross_site() ) {
			return new WP_Error( 'incorrect_password', __( '<strong>Error:</strong> Another website sent this password, so it was not checked. Log in here.', 'security-optimizer' ) );
		}
		// In WordPress's own words and translations.
		return new WP_Error( 'incorrect_password', __( '<strong>Error:</strong> Invalid username, email address or incorrect password.' ) ); // phpcs:ignore WordPress.WP.I18n.MissingArgDomain
	}

	/**
	 * @return WP_Error The error for programs, without markup.
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
	 * @param mixed $error How a login failed.
	 * @return WP_Error The same without what shows whether the user exists. Messages of other plugins stay.
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
	 * Filter `xmlrpc_login_error`: WordPress would say that the password is wrong.
	 *
	 * @param IXR_Error $error What XML-RPC answers.
	 * @param WP_Error  $cause Why.
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
	 * Takes the time of a password check where none is made: the time of a response must not show whether the user exists.
	 *
	 * @param string $password What was typed.
	 */
	public static function simulate_check( $password ) {
		wp_hash_password( $password );
	}
}
