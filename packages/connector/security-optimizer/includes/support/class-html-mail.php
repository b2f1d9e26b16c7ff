<?php
/**
 * Sends a mail as HTML with the same in plain text beside it, by the way in which this site sends its mails.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Html_Mail {

	/** @var string The mail in plain text. */
	private static $text = '';

	/**
	 * @param string          $to      Address.
	 * @param string          $subject Subject.
	 * @param string          $html    HTML document.
	 * @param string          $text    The same in plain text.
	 * @param string|string[] $headers Further headers.
	 * @return bool Whether it went out.
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
	 * @return string The text with the links that the HTML will have, too; WordPress has no filter for it.
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
	 * @param PHPMailer\PHPMailer\PHPMailer $mailer About to send.
	 */
	public static function add_text( $mailer ) {
		$mailer->AltBody = self::$text; // phpcs:ignore WordPress.NamingConventions.ValidVariableName
	}
}
