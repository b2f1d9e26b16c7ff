<?php
/**
 * WordPress's loopback requests to wp-cron.php are signed, so that guard does not list them as unknown clients. The
 * user agent proves nothing, because any client can send it.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Loopback_Cron {

	const HEADER = 'X-Security-Optimizer-Cron';

	/** @var string The site's secret. */
	private static $secret = '';

	/**
	 * @param string $secret The site's secret.
	 */
	public static function prepare( $secret ) {
		self::$secret = $secret;
	}

	/**
	 * Filter `cron_request`, last: signs the request. A request that a plugin sends elsewhere is not signed.
	 *
	 * @param mixed $request `url` and `args` of the request.
	 * @return mixed
	 */
	public static function sign( $request ) {
		if ( ! is_array( $request ) || ! isset( $request['url'] ) || ! is_string( $request['url'] )
			|| ( isset( $request['args']['headers'] ) && ! is_array( $request['args']['headers'] ) )
		) {
			return $request;
		}
		$url = wp_parse_url( $request['url'] );
		$own = wp_parse_url( site_url( 'wp-cron.php' ) );
		if ( ! isset( $url['host'], $url['path'], $own['host'], $own['path'] )
			|| strtolower( $url['host'] ) !== strtolower( $own['host'] )
			|| $url['path'] !== $own['path']
		) {
			return $request;
		}
		$target = $url['path'] . ( isset( $url['query'] ) ? '?' . $url['query'] : '' );

		$request['args']['headers'][ self::HEADER ] = Security_Optimizer_Protocol::cron_header( self::$secret, time(), $target );
		return $request;
	}
}
