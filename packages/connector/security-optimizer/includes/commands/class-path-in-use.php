<?php
/**
 * Command `path-in-use`: whether the site already has something at a path.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Path_In_Use {

	/** First segments that are reserved by WordPress. */
	const RESERVED = array( 'admin', 'dashboard', 'embed', 'favicon', 'feed', 'index', 'login', 'readme', 'license', 'robots', 'sitemap', 'trackback', 'xmlrpc' );

	/** Query variables for names. A match of their rules does not mean that there is content. */
	const BY_NAME = array( 'name', 'pagename', 'attachment', 'category_name', 'tag', 'author_name', 'error', 'page' );

	/**
	 * @param array $body `path`: without leading and trailing slashes.
	 * @return array|string The response described in docs/developer/login-security.md, or an error's code.
	 */
	public static function run( array $body ) {
		if ( ! isset( $body['path'] ) || ! is_string( $body['path'] ) || ! preg_match( '#\A[\w-]+(/[\w-]+)*\z#', $body['path'] ) ) {
			return 'invalid_path';
		}
		$by = self::find_usage( $body['path'] );
		return null === $by ? array( 'used' => false ) : array(
			'used' => true,
			'by'   => $by,
		);
	}

	private static function find_usage( $path ) {
		$first = strtolower( (string) strtok( $path, '/' ) );
		if ( in_array( $first, self::RESERVED, true ) || 0 === strpos( $first, 'wp-' ) || strtolower( (string) strtok( rest_get_url_prefix(), '/' ) ) === $first ) {
			return 'WordPress';
		}
		$folders = array( ABSPATH );
		if ( ! empty( $_SERVER['DOCUMENT_ROOT'] ) ) {
			$folders[] = trailingslashit( $_SERVER['DOCUMENT_ROOT'] ) . ltrim( (string) wp_parse_url( home_url( '/' ), PHP_URL_PATH ), '/' );
		}
		foreach ( $folders as $folder ) {
			foreach ( array( $path, $first, $path . '.php', $path . '.html' ) as $file ) {
				if ( file_exists( trailingslashit( $folder ) . $file ) ) {
					return 'a file or folder';
				}
			}
		}
		if ( is_multisite() && ! is_subdomain_install() && get_site_by_path( get_network()->domain, get_network()->path . $first . '/', 1 )->path === get_network()->path . $first . '/' ) {
			return 'a site of the network';
		}
		if ( self::is_base( $first ) ) {
			return 'an archive';
		}
		return self::find_by_rules( $path );
	}

	/**
	 * @return bool Whether URLs of archives begin with this segment.
	 */
	private static function is_base( $first ) {
		global $wp_rewrite;
		$bases = array( $wp_rewrite->front, $wp_rewrite->author_base, $wp_rewrite->search_base, $wp_rewrite->comments_base, $wp_rewrite->pagination_base, $wp_rewrite->comments_pagination_base, $wp_rewrite->feed_base );
		$kinds = array_merge( get_taxonomies( array(), 'objects' ), get_post_types( array(), 'objects' ) );
		foreach ( $kinds as $kind ) {
			$bases[] = is_array( $kind->rewrite ) && isset( $kind->rewrite['slug'] ) ? $kind->rewrite['slug'] : '';
			$bases[] = isset( $kind->has_archive ) && is_string( $kind->has_archive ) ? $kind->has_archive : '';
		}
		foreach ( $bases as $base ) {
			if ( strtolower( (string) strtok( trim( (string) $base, '/' ), '/' ) ) === $first ) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Applies WordPress's rewrite rules and checks whether there is content.
	 */
	private static function find_by_rules( $path ) {
		global $wpdb, $wp_rewrite;
		$types = get_post_types( array( 'public' => true ) );
		if ( get_page_by_path( $path, OBJECT, array_values( $types ) ) ) {
			return 'a page';
		}
		// Also drafts, and posts whose current URL has further segments.
		$name = sanitize_title( basename( $path ) );
		if ( false === strpos( $path, '/' ) && $wpdb->get_var( $wpdb->prepare( "SELECT ID FROM $wpdb->posts WHERE post_name = %s AND post_type IN ('" . implode( "','", array_map( 'esc_sql', $types ) ) . "') AND post_status <> 'trash' LIMIT 1", $name ) ) ) { // phpcs:ignore WordPress.DB.PreparedSQL
			return 'a page';
		}
		foreach ( (array) $wp_rewrite->wp_rewrite_rules() as $rule => $query ) {
			if ( ! preg_match( "#^$rule#", $path, $matches ) ) {
				continue;
			}
			parse_str( WP_MatchesMapRegex::apply( preg_replace( '!^.+\?!', '', $query ), $matches ), $variables );
			$variables = array_filter( $variables, 'strlen' );
			if ( isset( $variables['pagename'] ) && ! get_page_by_path( $variables['pagename'] ) ) {
				continue;
			}
			if ( array_diff( array_keys( $variables ), self::BY_NAME ) ) {
				return 'an address of WordPress or a plugin';
			}
			$found = new WP_Query( $variables + array( 'posts_per_page' => 1 ) );
			return $found->have_posts() || $found->get_queried_object() ? 'a page' : null;
		}
		return null;
	}
}
