<?php
/**
 * Runs first: decides whether a request came through guard, and sets the client's address.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Request_Gate {

	/** @var string The site's secret. */
	private static $secret = '';

	/**
	 * @var string Flags of the signal. `S` is always set: while Away Mode is active, this version refuses changes by
	 *             staff (login/class-away-mode.php), so guard may allow requests of other users.
	 */
	private static $flags = 'S';

	/** @var string|null Identifier that guard gave this request; null when it did not come through guard. */
	private static $request_id = null;

	/** @var bool|null Whether the web server sees the clients' addresses itself; null where that is unknown. */
	private static $is_address_seen = null;

	/**
	 * Verifies, refuses or allows the request.
	 *
	 * @param string $secret        The site's secret.
	 * @param bool   $require_guard Whether all other web requests are refused.
	 */
	public static function check_request( $secret, $require_guard ) {
		// Users of the command line can change these files anyway.
		if ( self::is_command_line() ) {
			return;
		}
		self::$secret = $secret;

		$header = isset( $_SERVER['HTTP_X_SECURITY_OPTIMIZER_GUARD'] ) ? $_SERVER['HTTP_X_SECURITY_OPTIMIZER_GUARD'] : null;
		$bytes  = isset( $_SERVER['CONTENT_LENGTH'] ) ? (int) $_SERVER['CONTENT_LENGTH'] : 0;
		$facts  = null === $header ? null : Security_Optimizer_Protocol::read_guard_header( $header, $secret, time(), $bytes );

		$context = isset( $_SERVER['HTTP_X_SECURITY_OPTIMIZER_CONTEXT'] ) ? $_SERVER['HTTP_X_SECURITY_OPTIMIZER_CONTEXT'] : null;
		unset( $_SERVER['HTTP_X_SECURITY_OPTIMIZER_GUARD'], $_SERVER['HTTP_X_SECURITY_OPTIMIZER_CONTEXT'] );

		if ( null !== $facts ) {
			self::$request_id      = $facts['request_id'];
			self::$is_address_seen = self::compare_address( $facts['address'] );
			self::set_visitor( $facts['address'], $facts['scheme'] );
			if ( $facts['is_probe'] ) {
				// Guard only tests whether such a request reaches the connector. It may have been sent before.
				self::send_signal();
				Security_Optimizer_Response::send_empty();
			}
			$payload = Security_Optimizer_Protocol::read_context_header( $context, $facts['request_id'], $secret );
			if ( null === $payload && ( null !== $context || $facts['has_context'] ) ) {
				// The lost context may have forbidden password checks or logins.
				self::send_signal();
				Security_Optimizer_Response::send_page( 400, 'Bad Request', 'This request could not be read.' );
			}
			Security_Optimizer_Context::load( null === $payload ? array() : $payload, $facts, $secret );
			self::send_signal();
			return;
		}
		if ( null !== $header ) {
			self::send( 'Signal', Security_Optimizer_Protocol::bare_signal_header( $secret ) );
		}
		if ( $require_guard ) {
			Security_Optimizer_Response::send_page( 403, 'Forbidden', 'This address is not available here.' );
		}
	}

	/**
	 * @return bool Whether PHP runs from a command line. PHP's built-in web server is `cli-server`.
	 */
	public static function is_command_line() {
		return in_array( PHP_SAPI, array( 'cli', 'phpdbg' ), true );
	}

	/**
	 * @return bool Whether the request came through guard.
	 */
	public static function is_via_guard() {
		return null !== self::$request_id;
	}

	/**
	 * @return bool|null Whether the web server reports the address that guard has signed, and not guard's own; null
	 *                   where that is unknown. It proves nothing for a command that guard sends from its own address.
	 */
	public static function is_address_seen() {
		return self::$is_address_seen;
	}

	/**
	 * @param string $address Address that guard has signed.
	 * @return bool|null See `is_address_seen()`.
	 */
	private static function compare_address( $address ) {
		// PHP's built-in web server does not support proxies.
		if ( 'cli-server' === PHP_SAPI ) {
			return null;
		}
		// The value of the web server: wp-config.php may have changed `$_SERVER`.
		$seen = getenv( 'REMOTE_ADDR' );
		if ( false === $seen ) {
			$seen = isset( $_SERVER['REMOTE_ADDR'] ) ? $_SERVER['REMOTE_ADDR'] : '';
		}
		if ( ! filter_var( $seen, FILTER_VALIDATE_IP ) || ! filter_var( $address, FILTER_VALIDATE_IP ) ) {
			return null;
		}
		// An IPv6 address has several spellings.
		return inet_pton( $seen ) === inet_pton( $address );
	}

	/**
	 * Sends the state of the connector to guard. It is sent at the start of the request, so that redirects, errors and
	 * early exits have it as well. It is replaced when something changes during the request.
	 */
	public static function send_signal() {
		self::send(
			'Signal',
			Security_Optimizer_Protocol::signal_header(
				self::$secret,
				self::$request_id,
				Security_Optimizer_Policy::hash(),
				SECURITY_OPTIMIZER_VERSION,
				self::$flags
			)
		);
	}

	/**
	 * @param string $letter A flag of the signal, see docs/developer/connector-protocol.md.
	 */
	public static function add_flag( $letter ) {
		if ( self::is_via_guard() && false === strpos( self::$flags, $letter ) ) {
			self::$flags .= $letter;
			self::send_signal();
		}
	}

	/**
	 * Ends a request whose response would reveal the hidden login to an anonymous client. Guard sends its 404 instead.
	 */
	public static function end_as_not_found() {
		self::add_flag( 'a' );
		Security_Optimizer_Response::send_empty();
	}

	/**
	 * Sends the outcome of password checks to guard. It is replaced when there is more to report.
	 *
	 * @param array $report `failed`, `refused`, `ok` and `factor`.
	 */
	public static function send_login_report( array $report ) {
		if ( self::is_via_guard() ) {
			self::send( 'Login', Security_Optimizer_Protocol::login_header( self::$secret, self::$request_id, $report ) );
		}
	}

	/**
	 * Records the state of this request's password checks, in case the header gets lost.
	 *
	 * @param array|null $report `failed`, `refused`, `ok` and `factor`; null before a check.
	 * @return bool False when the record could not be written, so that no password may be checked.
	 */
	public static function record_checks( $report ) {
		return ! self::is_via_guard() || Security_Optimizer_Password_Check_Log::write( self::$request_id, $report );
	}

	private static function send( $name, $value ) {
		if ( ! headers_sent() ) {
			header( 'X-Security-Optimizer-' . $name . ': ' . $value );
		}
	}

	/**
	 * Makes WordPress and all plugins see the client's address instead of guard's.
	 *
	 * @param string $address Address of the client.
	 * @param string $scheme  `http` or `https`, as the client used it.
	 */
	private static function set_visitor( $address, $scheme ) {
		// Plugins read any of these headers. Only what guard has signed may remain: the lists end here, and a header with one
		// address, which a trusted proxy has set, holds the client's.
		$lists   = '/\AHTTP_(X_FORWARDED(_.+)?|FORWARDED(_.+)?|FRONT_END_HTTPS)\z/';
		$clients = '/\AHTTP_(X_REAL_IP|X_CLIENT_IP|X_CLUSTER_CLIENT_IP|CLIENT_IP|CF_CONNECTING_IP|TRUE_CLIENT_IP)\z/';
		foreach ( array_keys( $_SERVER ) as $name ) {
			if ( preg_match( $lists, $name ) ) {
				unset( $_SERVER[ $name ] );
			} elseif ( preg_match( $clients, $name ) ) {
				$_SERVER[ $name ] = $address;
			}
		}
		unset( $_SERVER['REMOTE_HOST'], $_SERVER['REMOTE_PORT'], $_SERVER['HTTPS'] );

		$host = isset( $_SERVER['HTTP_HOST'] ) ? $_SERVER['HTTP_HOST'] : '';
		$port = preg_match( '/:([0-9]{1,5})\z/', $host, $part ) ? $part[1] : '';
		if ( 'https' === $scheme ) {
			$_SERVER['HTTPS'] = 'on';
			$port             = '' === $port ? '443' : $port;
		} elseif ( '' === $port || '443' === $port ) {
			// WordPress treats port 443 as HTTPS.
			$port = '80';
		}
		$_SERVER['SERVER_PORT']            = $port;
		$_SERVER['REQUEST_SCHEME']         = $scheme;
		$_SERVER['REMOTE_ADDR']            = $address;
		$_SERVER['HTTP_X_FORWARDED_FOR']   = $address;
		$_SERVER['HTTP_X_FORWARDED_PROTO'] = $scheme;
	}
}
