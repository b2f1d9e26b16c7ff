<?php
/**
 * The lost-password form responds the same whether the user exists or not.
 *
 * For an unknown name WordPress gets an empty user. The mail is never sent immediately. For an existing user WordPress
 * creates the key and the mail after the response, if PHP can finish it early (PHP-FPM, LiteSpeed), so that neither
 * their time nor their failure is visible.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Lost_Password {

	/** @var string[] Entered names and addresses that belong to a user. */
	private static $later = array();

	/** @var bool Whether the response was sent. */
	private static $answered = false;

	/**
	 * Filter `lostpassword_user_data`.
	 *
	 * @param WP_User|false $user   The user that WordPress found.
	 * @param WP_Error      $errors Errors so far.
	 * @return WP_User|false
	 */
	public static function hide_unknown( $user, $errors ) {
		if ( $user || is_user_logged_in() ) {
			return $user;
		}
		$errors->remove( 'invalid_email' );
		return new WP_User();
	}

	/**
	 * Filter `send_retrieve_password_email`.
	 *
	 * @param bool    $send  Whether to send the mail.
	 * @param string  $typed The entered name or address.
	 * @param WP_User $user  The user.
	 * @return bool
	 */
	public static function postpone( $send, $typed, $user ) {
		if ( ! $send || self::$answered || is_user_logged_in() ) {
			return $send;
		}
		if ( $user instanceof WP_User && $user->exists() ) {
			self::$later[] = $typed;
		}
		return false;
	}

	/**
	 * Action `shutdown`: runs the password retrieval again, now with the mail.
	 */
	public static function send() {
		if ( array() === self::$later ) {
			return;
		}
		foreach ( array( 'fastcgi_finish_request', 'litespeed_finish_request' ) as $finish ) {
			if ( function_exists( $finish ) ) {
				$finish();
			}
		}
		self::$answered = true;
		// Plugins have already allowed the request, and a captcha can be checked only once.
		remove_all_actions( 'lostpassword_post' );
		remove_all_filters( 'lostpassword_errors' );
		foreach ( self::$later as $typed ) {
			retrieve_password( wp_slash( $typed ) );
		}
	}
}
