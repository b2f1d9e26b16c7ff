<?php
/**
 * Responses that end a request.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Response {

	/**
	 * Ends the request with a short page. Works before WordPress has loaded. The text names no product.
	 *
	 * @param int    $status HTTP status.
	 * @param string $title  Plain text without HTML.
	 * @param string $text   Plain text without HTML.
	 */
	public static function send_page( $status, $title, $text ) {
		self::send_head( $status, 'text/html; charset=utf-8' );
		echo '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
			'<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">',
			'<title>', $title, '</title></head><body><h1>', $title, '</h1><p>', $text, "</p></body></html>\n"; // phpcs:ignore WordPress.Security.EscapeOutput.OutputNotEscaped -- Fixed texts.
		exit;
	}

	/**
	 * Ends the request with JSON.
	 *
	 * @param int   $status HTTP status.
	 * @param array $data   Content of the JSON object.
	 */
	public static function send_json( $status, array $data ) {
		self::send_head( $status, 'application/json; charset=utf-8' );
		echo json_encode( (object) $data, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE );
		exit;
	}

	/**
	 * Ends the request with an empty response, which guard replaces by its own.
	 */
	public static function send_empty() {
		self::send_head( 200, 'text/plain; charset=utf-8' );
		header_remove( 'Location' );
		exit;
	}

	private static function send_head( $status, $type ) {
		// Page caches store any printed page, whatever its headers say. This constant prevents that.
		if ( ! defined( 'DONOTCACHEPAGE' ) ) {
			define( 'DONOTCACHEPAGE', true );
		}
		// Output of other plugins must not become part of the response.
		while ( ob_get_level() > 0 && ob_end_clean() ) {
			continue;
		}
		if ( headers_sent() ) {
			return;
		}
		// Not http_response_code(): it would keep a status line that WordPress has set before.
		header( 'Content-Type: ' . $type, true, $status );
		header( 'Cache-Control: no-store' );
		header( 'X-Content-Type-Options: nosniff' );
	}
}
