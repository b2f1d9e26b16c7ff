<?php
/**
 * Loopback requests: background work of the site that runs with the cookies of the client whose request started it.
 *
 * Plugins send requests to admin-ajax.php of their own site (Action Scheduler, WP_Background_Process), often with the
 * client's cookies. Each such request gets a signature. The header has no name of guard's, because guard removes those
 * from every request. Clients may send the header, but they can't sign it.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Loopback_Requests {

	const HEADER = 'X-Site-Request';

	/** How long a signature is valid, seconds. A request may wait for a free process of PHP. */
	const VALID_FOR = 120;

	/** @var string The site's secret. */
	private static $secret = '';

	/** @var bool|null Whether this request has a valid signature; null while unknown. */
	private static $is_own = null;

	/**
	 * @param string $secret The site's secret.
	 */
	public static function prepare( $secret ) {
		self::$secret = $secret;
	}

	/**
	 * Filter `http_request_args`, last: signs requests to admin-ajax.php of this site.
	 *
	 * @param mixed $args Arguments of the request.
	 * @param mixed $url  URL of the request.
	 * @return mixed
	 */
	public static function sign( $args, $url ) {
		if ( ! is_array( $args ) || ! is_string( $url ) || ( isset( $args['headers'] ) && ! is_array( $args['headers'] ) ) ) {
			return $args;
		}
		$to  = wp_parse_url( $url );
		$own = wp_parse_url( admin_url( 'admin-ajax.php' ) );
		if ( ! isset( $to['host'], $to['path'], $own['host'], $own['path'] )
			|| strtolower( $to['host'] ) !== strtolower( $own['host'] )
			|| $to['path'] !== $own['path']
		) {
			return $args;
		}
		$time   = time();
		$target = $to['path'] . ( isset( $to['query'] ) ? '?' . $to['query'] : '' );

		$args['headers'][ self::HEADER ] = $time . ' ' . self::proof( $time, $target );
		return $args;
	}

	/**
	 * @return bool Whether this is background work of the site, and not an action of the current user: the queue of
	 *              Action Scheduler, a loopback request, or the shutdown of a request of a user who can't edit.
	 */
	public static function is_background() {
		return doing_action( 'action_scheduler_run_queue' )
			|| ( doing_action( 'shutdown' ) && ! current_user_can( 'edit_posts' ) )
			|| self::is_own();
	}

	private static function is_own() {
		if ( null === self::$is_own ) {
			$name   = 'HTTP_' . strtoupper( str_replace( '-', '_', self::HEADER ) );
			$header = isset( $_SERVER[ $name ] ) ? explode( ' ', (string) $_SERVER[ $name ] ) : array();
			$target = isset( $_SERVER['REQUEST_URI'] ) ? wp_unslash( $_SERVER['REQUEST_URI'] ) : '';

			self::$is_own = '' !== self::$secret && 2 === count( $header ) && ctype_digit( $header[0] )
				&& abs( time() - (int) $header[0] ) <= self::VALID_FOR
				&& hash_equals( self::proof( $header[0], $target ), $header[1] );
		}
		return self::$is_own;
	}

	private static function proof( $time, $target ) {
		return Security_Optimizer_Protocol::mac( "own-request\n" . (int) $time . "\n" . $target, self::$secret );
	}
}
