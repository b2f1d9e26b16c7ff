<?php
/**
 * The lost-password form says the same whether the user exists or not.
 *
 * For a name that nobody has, WordPress is given a user that does not exist. For every name the mail is not sent
 * now; for a real user it makes the key and the mail after the answer, where PHP can end it early (PHP-FPM,
 * LiteSpeed), so that neither their time nor their failure tells.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Lost_Password {

	/** @var string[] What was typed and belongs to a user. */
	private static $later = array();

	/** @var bool Whether the answer has gone out. */
	private static $answered = false;

	/**
	 * Filter `lostpassword_user_data`.
	 *
	 * @param WP_User|false $user   The user that WordPress has found.
	 * @param WP_Error      $errors What was wrong so far.
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
	 * @param string  $typed What was typed.
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
	 * Action `shutdown`: the same once more, now with the mail.
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
		// Plugins that may refuse have been asked; a captcha can be checked only once.
		remove_all_actions( 'lostpassword_post' );
		remove_all_filters( 'lostpassword_errors' );
		foreach ( self::$later as $typed ) {
			retrieve_password( wp_slash( $typed ) );
		}
	}
}
