<?php
/**
 * The lost-password form says the same whether the user exists or not.
 *
 * For a name that nobody has, WordPress is given a user that does not exist and told to send no mail. For a real one
 * the mail goes out after the answer, where PHP can end it early (PHP-FPM, LiteSpeed), so that neither its time nor
 * its failure tells.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Lost_Password {

	/** @var array|null The mail that is about to be sent: `to`, `subject`, `message`, `headers`. */
	private static $about_to_send = null;

	/** @var array[] Mails to send after the answer. */
	private static $later = array();

	/**
	 * Filter `lostpassword_user_data`.
	 *
	 * @param WP_User|false $user   Whom WordPress has found.
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
	 * @param string  $login What was typed.
	 * @param WP_User $user  The user.
	 * @return bool
	 */
	public static function decide( $send, $login, $user ) {
		if ( is_user_logged_in() || ! $user instanceof WP_User ) {
			return $send;
		}
		if ( ! $user->exists() || ! apply_filters( 'allow_password_reset', ! is_multisite() || ! is_user_spammy( $user ), $user->ID ) ) {
			// As long as making a key for the link takes.
			Security_Optimizer_Login_Errors::spend_time( $login );
			return false;
		}
		return $send;
	}

	/**
	 * Filter `retrieve_password_notification_email`, the last one before the mail.
	 *
	 * @param mixed $mail The mail.
	 * @return mixed
	 */
	public static function notice( $mail ) {
		$whole               = is_array( $mail ) && isset( $mail['to'], $mail['subject'], $mail['message'], $mail['headers'] );
		self::$about_to_send = $whole && ! is_user_logged_in() ? $mail : null;
		return $mail;
	}

	/**
	 * Filter `pre_wp_mail`.
	 *
	 * @param bool|null $sent Whether somebody else has sent the mail.
	 * @return bool|null
	 */
	public static function postpone( $sent ) {
		if ( null === $sent && null !== self::$about_to_send ) {
			self::$later[]       = self::$about_to_send;
			self::$about_to_send = null;
			return true;
		}
		return $sent;
	}

	/**
	 * Action `shutdown`.
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
		foreach ( self::$later as $mail ) {
			wp_mail( $mail['to'], wp_specialchars_decode( $mail['subject'] ), $mail['message'], $mail['headers'] );
		}
	}
}
