<?php
/**
 * Protection `disable_xml_rpc`: disables XML-RPC and removes what announces it.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Xml_Rpc {

	/**
	 * Ends a request to xmlrpc.php at any path. The file defines the constant before it loads WordPress.
	 */
	public static function refuse_request() {
		if ( defined( 'XMLRPC_REQUEST' ) && XMLRPC_REQUEST ) {
			Security_Optimizer_Response::send_page( 403, 'Forbidden', 'This service is turned off.' );
		}
	}

	/**
	 * Filter `site_url`, also for bloginfo( 'pingback_url' ).
	 *
	 * @param string $url  The URL.
	 * @param string $path The requested path.
	 * @return string Empty for xmlrpc.php.
	 */
	public static function hide_url( $url, $path ) {
		return is_string( $path ) && 0 === strpos( ltrim( $path, '/' ), 'xmlrpc.php' ) ? '' : $url;
	}

	/**
	 * Filter `pings_open`: themes print their pingback link only for posts that accept pings. Only the head of a page
	 * is changed, so trackbacks and comment forms work as before.
	 *
	 * @param bool $open Whether the post accepts pings.
	 * @return bool
	 */
	public static function hide_pings_from_head( $open ) {
		$in_head = did_action( 'template_redirect' ) && ( ! did_action( 'wp_head' ) || doing_action( 'wp_head' ) );
		return $in_head && ! is_trackback() ? false : $open;
	}

	/**
	 * Filter `wp_headers`.
	 *
	 * @param array $headers Values by name.
	 * @return array
	 */
	public static function remove_header( $headers ) {
		unset( $headers['X-Pingback'] );
		return $headers;
	}

	/**
	 * WordPress sends the header itself when it handles a 404.
	 */
	public static function remove_sent_header() {
		if ( ! headers_sent() ) {
			header_remove( 'X-Pingback' );
		}
	}

	/**
	 * The second link only exists before WordPress 6.3.
	 */
	public static function remove_links() {
		remove_action( 'wp_head', 'rsd_link' );
		remove_action( 'wp_head', 'wlwmanifest_link' );
	}
}
