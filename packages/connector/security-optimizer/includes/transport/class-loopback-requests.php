<?php
/**
 * Requests in which the site works for itself, although they hold the cookies of whoever's visit started them.
 *
 * Plugins work in the background by calling admin-ajax.php of their own site (Action Scheduler, WP_Background_Process),
 * often with the visitor's cookies. Each such call carries a proof that the site made it. The name of the header is none
 * of guard's, which guard takes out of every request; that anybody may send one does not matter, since nobody can sign it.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Loopback_Requests {

	const HEADER = 'X-Site-Request';

	/** How long a call may be on its way, seconds: it may wait for a free process of PHP. */
	const VALID_FOR = 120;

	/** @var string The site's secret. */
	private static $secret = '';

	/** @var bool|null Whether this request is such a call; null until somebody asks. */
	private static $is_own = null;

	/**
	 * @param string $secret The site's secret.
	 */
	public static function prepare( $secret ) {
		self::$secret = $secret;
	}

	/**
	 * Filter `http_request_args`, after everybody else: signs calls to admin-ajax.php of this site.
	 *
	 * @param mixed $args Of the request.
	 * @param mixed $url  Of the request.
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
	 * @return bool Whether what happens now is the site's own work, and not that of who is signed in: the queue of Action
	 *              Scheduler, a call of the site to itself, or the end of a request of somebody who works on nothing.
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
