<?php
/**
 * Sends a mail as HTML with a plain text part, by the site's own mail transport.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Html_Mail {

	/** @var string The plain text part. */
	private static $text = '';

	/**
	 * @param string          $to      Address.
	 * @param string          $subject Subject.
	 * @param string          $html    HTML document.
	 * @param string          $text    The plain text part.
	 * @param string|string[] $headers Further headers.
	 * @return bool Whether it was sent.
	 */
	public static function send( $to, $subject, $html, $text, $headers = array() ) {
		$headers    = is_array( $headers ) ? $headers : preg_split( '/[\r\n]+/', $headers, -1, PREG_SPLIT_NO_EMPTY );
		self::$text = self::with_links( $to, $text, $headers );
		$headers[]  = 'Content-Type: text/html; charset=UTF-8';
		add_action( 'phpmailer_init', array( __CLASS__, 'add_text' ), PHP_INT_MAX );
		$sent = wp_mail( $to, $subject, $html, $headers );
		remove_action( 'phpmailer_init', array( __CLASS__, 'add_text' ), PHP_INT_MAX );
		return $sent;
	}

	/**
	 * @return string The plain text with the same links as the HTML. WordPress has no filter for the plain text part.
	 */
	private static function with_links( $to, $text, $headers ) {
		$links = array( 'Security_Optimizer_Login_Mails', 'filter' );
		$mail  = array(
			'to'      => $to,
			'headers' => $headers,
			'message' => $text,
		);
		return false === has_filter( 'wp_mail', $links ) ? $text : call_user_func( $links, $mail )['message'];
	}

	/**
	 * Action `phpmailer_init`.
	 *
	 * @param PHPMailer\PHPMailer\PHPMailer $mailer The mailer.
	 */
	public static function add_text( $mailer ) {
		$mailer->AltBody = self::$text; // phpcs:ignore WordPress.NamingConventions.ValidVariableName
	}
}
