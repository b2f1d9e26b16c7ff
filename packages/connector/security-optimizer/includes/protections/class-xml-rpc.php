<?php
/**
 * Protection `disable_xml_rpc`: no XML-RPC, and nothing that announces it.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Xml_Rpc {

	/**
	 * Ends a request to xmlrpc.php, by whatever path it came. The file defines the constant before it loads WordPress.
	 */
	public static function refuse_request() {
		if ( defined( 'XMLRPC_REQUEST' ) && XMLRPC_REQUEST ) {
			Security_Optimizer_Response::send_page( 403, 'Forbidden', 'This service is turned off.' );
		}
	}

	/**
	 * Filter `site_url`: also what bloginfo( 'pingback_url' ) shows.
	 *
	 * @param string $url  The URL.
	 * @param string $path The path that was asked for.
	 * @return string Empty for xmlrpc.php.
	 */
	public static function hide_url( $url, $path ) {
		return is_string( $path ) && 0 === strpos( ltrim( $path, '/' ), 'xmlrpc.php' ) ? '' : $url;
	}

	/**
	 * Filter `pings_open`: themes print their pingback link only for posts that take pings. Asked anywhere but in
	 * the head of a page the answer stands, so trackbacks and comment forms do not change.
	 *
	 * @param bool $open Whether the post takes pings.
	 * @return bool
	 */
	public static function hide_pings_from_head( $open ) {
		$in_head = did_action( 'template_redirect' ) && ( ! did_action( 'wp_head' ) || doing_action( 'wp_head' ) );
		return $in_head && ! is_trackback() ? false : $open;
	}

	/**
	 * Filter `wp_headers`.
	 *
	 * @param array $headers Names to values.
	 * @return array
	 */
	public static function remove_header( $headers ) {
		unset( $headers['X-Pingback'] );
		return $headers;
	}

	/**
	 * WordPress sends the header by itself while it looks for a 404.
	 */
	public static function remove_sent_header() {
		if ( ! headers_sent() ) {
			header_remove( 'X-Pingback' );
		}
	}

	/**
	 * The second link is only there before WordPress 6.3.
	 */
	public static function remove_links() {
		remove_action( 'wp_head', 'rsd_link' );
		remove_action( 'wp_head', 'wlwmanifest_link' );
	}
}
