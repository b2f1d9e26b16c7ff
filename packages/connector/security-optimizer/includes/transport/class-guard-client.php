<?php
/**
 * Client of guard's REST API, for the commands of WP-CLI. Each request is signed with the site's key for its method,
 * route and body. The signature is valid once and for one minute. Guard checks the input as for an administrator.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Guard_Client {

	const HEADER = 'X-Security-Optimizer-Call';

	/** Seconds. Guard may send a request to WordPress before it responds. */
	const TIMEOUT = 40;

	/** @var string The site's secret. */
	private $secret;

	/**
	 * @param string $secret The site's secret.
	 */
	public function __construct( $secret ) {
		$this->secret = $secret;
	}

	/**
	 * Sends a request.
	 *
	 * @param string     $method `GET` or `POST`.
	 * @param string     $route  Route below the namespace, for example `/away-mode`.
	 * @param array|null $input  Fields of the JSON body; null for none.
	 * @return array|WP_Error `data` and `message` of the response; or an error with a code of guard or of the
	 *                        transport.
	 */
	public function call( $method, $route, $input = null ) {
		$body   = null === $input ? '' : (string) json_encode( (object) $input );
		$nonce  = bin2hex( random_bytes( 16 ) );
		$header = Security_Optimizer_Protocol::call_header( $this->secret, time(), $nonce, $method, $route, $body );
		$home   = network_home_url( '/' );
		$args   = array(
			'method'      => $method,
			'timeout'     => self::TIMEOUT,
			// The target of a redirect would get a request that is signed for guard.
			'redirection' => 0,
			'headers'     => array(
				self::HEADER   => $header,
				'Content-Type' => 'application/json',
			),
		);
		if ( '' !== $body ) {
			$args['body'] = $body;
		}
		// For machines that can't reach their own public address.
		if ( defined( 'SECURITY_OPTIMIZER_GUARD_URL' ) ) {
			$args['headers']['Host'] = self::authority( $home );

			$path = (string) wp_parse_url( $home, PHP_URL_PATH );
			$home = untrailingslashit( (string) constant( 'SECURITY_OPTIMIZER_GUARD_URL' ) ) . $path;
		}
		return self::read( wp_remote_request( $home . '?rest_route=/security-optimizer/v1' . $route, $args ), $home );
	}

	/**
	 * @param array|WP_Error $response Response.
	 * @param string         $address  URL of the request.
	 * @return array|WP_Error
	 */
	private static function read( $response, $address ) {
		if ( is_wp_error( $response ) ) {
			return new WP_Error( 'guard_unreachable', 'Guard can’t be reached at ' . $address . ' (' . $response->get_error_message() . ').' );
		}
		$content = json_decode( wp_remote_retrieve_body( $response ), true );
		if ( ! is_array( $content ) || ! isset( $content['status'], $content['message'] ) || ! is_string( $content['message'] ) ) {
			$status = wp_remote_retrieve_response_code( $response );
			return new WP_Error( 'not_guard', 'What answers at ' . $address . ' is not guard (HTTP status ' . $status . '). Set SECURITY_OPTIMIZER_GUARD_URL in wp-config.php to the address that guard listens on.' );
		}
		if ( 200 === $content['status'] ) {
			return array(
				'data'    => isset( $content['data'] ) ? $content['data'] : null,
				'message' => $content['message'],
			);
		}
		$message = $content['message'];
		$code    = isset( $content['code'] ) ? (string) $content['code'] : 'unknown';
		if ( 'rest_forbidden' === $code ) {
			$message .= ' Guard does not accept this call: it has to come from the machine of guard or of the site’s web server (see SECURITY_OPTIMIZER_GUARD_URL), with the site’s present key and a clock that is right.';
		}
		foreach ( isset( $content['fields'] ) && is_array( $content['fields'] ) ? $content['fields'] : array() as $field => $text ) {
			$message .= ' ' . $field . ': ' . $text;
		}
		return new WP_Error( $code, $message );
	}

	/**
	 * @param string $url A URL.
	 * @return string Host and port for the header `Host`.
	 */
	private static function authority( $url ) {
		$port = wp_parse_url( $url, PHP_URL_PORT );
		return wp_parse_url( $url, PHP_URL_HOST ) . ( null === $port ? '' : ':' . $port );
	}
}
