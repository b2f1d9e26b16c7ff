<?php
/**
 * Command `send-mail`: sends a mail of guard by the site's own mail transport.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Send_Mail {

	/** @var string Why the mail was not sent. */
	private static $error_message = '';

	/**
	 * @param array $body `to`, `subject`, `html` and `text`.
	 * @return array|string|WP_Error The response described in docs/developer/activity-log.md, or an error.
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
		add_action( 'wp_mail_failed', array( __CLASS__, 'record_error' ), PHP_INT_MIN );
		if ( ! Security_Optimizer_Html_Mail::send( $body['to'], $body['subject'], $body['html'], $body['text'] ) ) {
			return new WP_Error( 'not_sent', '', array( 'message' => self::$error_message ) );
		}
		return array( 'sent' => true );
	}

	/**
	 * Action `wp_mail_failed`.
	 *
	 * @param WP_Error $error The cause.
	 */
	public static function record_error( $error ) {
		self::$error_message = $error->get_error_message();
	}
}
