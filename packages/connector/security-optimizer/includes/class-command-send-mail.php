<?php
/**
 * Command `send-mail`: a mail of guard's, by the way in which this site sends its mails.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Send_Mail {

	/** @var string The same in plain text. */
	private static $text = '';

	/** @var string Why the mail was not sent. */
	private static $problem = '';

	/**
	 * @param array $body `to`, `subject`, `html` and `text`.
	 * @return array|string|WP_Error The answer described in docs/activity-log.md, or an error.
	 */
	public static function run( array $body ) {
		foreach ( array( 'to', 'subject', 'html', 'text' ) as $name ) {
			if ( ! isset( $body[ $name ] ) || ! is_string( $body[ $name ] ) ) {
				return 'invalid_mail';
			}
		}
		if ( ! is_email( $body['to'] ) ) {
			return 'invalid_mail';
		}
		self::$text = $body['text'];
		add_action( 'phpmailer_init', array( __CLASS__, 'add_text' ), PHP_INT_MAX );
		add_action( 'wp_mail_failed', array( __CLASS__, 'keep_problem' ), PHP_INT_MIN );
		if ( ! wp_mail( $body['to'], $body['subject'], $body['html'], array( 'Content-Type: text/html; charset=UTF-8' ) ) ) {
			return new WP_Error( 'not_sent', '', array( 'message' => self::$problem ) );
		}
		return array( 'sent' => true );
	}

	/**
	 * Action `phpmailer_init`.
	 *
	 * @param PHPMailer\PHPMailer\PHPMailer $mailer About to send.
	 */
	public static function add_text( $mailer ) {
		$mailer->AltBody = self::$text; // phpcs:ignore WordPress.NamingConventions.ValidVariableName
	}

	/**
	 * Action `wp_mail_failed`.
	 *
	 * @param WP_Error $error Why.
	 */
	public static function keep_problem( $error ) {
		self::$problem = $error->get_error_message();
	}
}
