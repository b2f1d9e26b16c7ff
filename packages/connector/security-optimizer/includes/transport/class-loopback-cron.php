<?php
/**
 * The calls that WordPress makes to its own wp-cron.php carry a proof of it, so that guard need not list them among
 * unknown visitors. A user agent would be none: anybody can send one.
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
	 * Filter `cron_request`, after everybody else: signs the call as it is going to be made. One that a plugin has led
	 * to another place is not signed.
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
