<?php
/**
 * Protection `disable_feed`: disables all feeds, and removes the links to them from the head of pages.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Feeds {

	/**
	 * Action `parse_request`: WordPress has parsed the path, the query and the body.
	 *
	 * @param WP $wp The request.
	 */
	public static function refuse_request( $wp ) {
		if ( isset( $wp->query_vars['feed'] ) && '' !== $wp->query_vars['feed'] ) {
			self::refuse();
		}
	}

	/**
	 * Action `template_redirect`: for a query that a plugin has turned into a feed.
	 */
	public static function refuse_query() {
		if ( is_feed() ) {
			self::refuse();
		}
	}

	public static function remove_links() {
		remove_action( 'wp_head', 'feed_links', 2 );
		remove_action( 'wp_head', 'feed_links_extra', 3 );
	}

	private static function refuse() {
		foreach ( array( 'Last-Modified', 'ETag', 'Link' ) as $name ) {
			header_remove( $name );
		}
		Security_Optimizer_Response::send_page( 404, 'Not found', 'There is nothing at this address.' );
	}
}
