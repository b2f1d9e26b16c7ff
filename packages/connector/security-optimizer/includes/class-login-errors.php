<?php
/**
 * One sentence for every log-in that did not work, so that nobody learns which names exist.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Login_Errors {

	/** Codes by which WordPress tells an unknown name, a wrong password and a refusal apart. */
	const TELLING = array(
		'invalid_username',
		'invalid_email',
		'invalidcombo',
		'incorrect_password',
		'authentication_failed',
		'application_passwords_disabled_for_user',
	);

	/**
	 * @return WP_Error The sentence. Its code is the one with which the form keeps the name that was typed.
	 */
	public static function sentence() {
		if ( Security_Optimizer_Context::is_from_other_site() ) {
			return new WP_Error( 'incorrect_password', __( '<strong>Error:</strong> Another website sent this password, so it was not checked. Log in here.', 'security-optimizer' ) );
		}
		// In WordPress's own words and translations.
		return new WP_Error( 'incorrect_password', __( '<strong>Error:</strong> Invalid username, email address or incorrect password.' ) ); // phpcs:ignore WordPress.WP.I18n.MissingArgDomain
	}

	/**
	 * @return WP_Error The sentence for programs, without markup.
	 */
	public static function plain_sentence() {
		$error = self::sentence();
		return new WP_Error( $error->get_error_code(), wp_strip_all_tags( $error->get_error_message() ), array( 'status' => 401 ) );
	}

	/**
	 * @param mixed $error How a log-in failed.
	 * @return WP_Error The same without what tells whether the user exists. What other plugins have to say stays.
	 */
	public static function without_telling( $error ) {
		if ( ! is_wp_error( $error ) ) {
			return self::sentence();
		}
		$codes = array_diff( $error->get_error_codes(), self::TELLING );
		if ( count( $codes ) === count( $error->get_error_codes() ) ) {
			return $error;
		}
		$same = self::sentence();
		foreach ( $codes as $code ) {
			foreach ( $error->get_error_messages( $code ) as $message ) {
				$same->add( $code, $message, $error->get_error_data( $code ) );
			}
		}
		return $same;
	}

	/**
	 * As much work as one password check, for those who get none: the time of an answer must not tell either.
	 *
	 * @param string $password What was typed.
	 */
	public static function spend_time( $password ) {
		wp_hash_password( $password );
	}
}
