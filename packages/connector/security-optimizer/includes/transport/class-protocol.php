<?php
/**
 * The wire protocol between guard and the connector, version 1.
 *
 * Pure functions over plain text: no WordPress, no globals, no clock. docs/connector-protocol.md describes
 * the format and protocol-vectors.json holds samples that guard tests against as well.
 *
 * @package Security_Optimizer
 */

final class Security_Optimizer_Protocol {

	/** What guard may have to say of a request, likeliest first. It is part of what is signed, and takes no byte. */
	const NOTES = array( '', 'context', 'decoy', 'decoy context', 'repeated', 'repeated decoy', 'probe' );

	/** Seconds by which the clocks of guard and WordPress may differ. */
	const CLOCK_TOLERANCE = 60;

	/** Bytes of a body that come in a second on the slowest way that is waited for. */
	const MIN_BODY_RATE = 4096;

	/** Seconds after which no body is waited for any more, however long it is. */
	const MAX_BODY_TIME = 21600;

	/**
	 * Names a secret without showing it.
	 *
	 * @param string $secret 64 lower-case hexadecimal digits.
	 * @return string 8 hexadecimal digits.
	 */
	public static function key_id( $secret ) {
		return substr( hash( 'sha256', "security-optimizer key id\n" . $secret ), 0, 8 );
	}

	/**
	 * @param string $text   What is to be signed.
	 * @param string $secret 64 lower-case hexadecimal digits, used as text.
	 * @return string HMAC-SHA-256, 64 hexadecimal digits.
	 */
	public static function mac( $text, $secret ) {
		return hash_hmac( 'sha256', $text, $secret );
	}

	/**
	 * Reads the header that guard adds to each request. Guard signs it before the body goes on its way, and most web servers
	 * start PHP when all of the body has come: it may be older by the time that such a body takes.
	 *
	 * @param string $header Value of X-Security-Optimizer-Guard.
	 * @param string $secret The site's secret.
	 * @param int    $now    Unix seconds.
	 * @param int    $bytes  Length of the request's body.
	 * @return array|null `request_id`, `scheme` and `address`, and what guard says of the request without a byte for it:
	 *                    `has_context`, `is_decoy`, `is_repeated` and `is_probe`; null when the header is not to be believed.
	 */
	public static function read_guard_header( $header, $secret, $now, $bytes = 0 ) {
		$form = '/\A(1 ([0-9a-f]{8}) ([0-9]{1,12}) ([0-9a-f]{16}) (https?) ([0-9a-f.:]{2,45})) ([0-9a-f]{64})\z/';
		if ( ! is_string( $header ) || ! preg_match( $form, $header, $part ) ) {
			return null;
		}
		list( , $signed, $key_id, $time, $request_id, $scheme, $address, $mac ) = $part;

		$note = hash_equals( self::key_id( $secret ), $key_id ) ? self::note( $signed, $mac, $secret ) : null;
		if ( null === $note
			|| (int) $time - $now > self::CLOCK_TOLERANCE
			|| $now - (int) $time > self::CLOCK_TOLERANCE + min( self::MAX_BODY_TIME, max( 0, $bytes ) / self::MIN_BODY_RATE )
			|| false === filter_var( $address, FILTER_VALIDATE_IP )
		) {
			return null;
		}
		return array(
			'request_id'  => $request_id,
			'scheme'      => $scheme,
			'address'     => $address,
			'has_context' => false !== strpos( $note, 'context' ),
			'is_decoy'    => false !== strpos( $note, 'decoy' ),
			'is_repeated' => false !== strpos( $note, 'repeated' ),
			'is_probe'    => 'probe' === $note,
		);
	}

	/**
	 * @return string|null One of `NOTES`: what the header was signed for.
	 */
	private static function note( $signed, $mac, $secret ) {
		foreach ( self::NOTES as $note ) {
			if ( hash_equals( self::mac( rtrim( 'guard-request ' . $note ) . "\n" . $signed, $secret ), $mac ) ) {
				return $note;
			}
		}
		return null;
	}

	/**
	 * Writes the header by which the connector answers guard.
	 *
	 * @param string      $secret      The site's secret.
	 * @param string      $request_id  From the guard header of the same request.
	 * @param string|null $policy_hash Hash of the policy that WordPress runs, null for none.
	 * @param string      $version     Version of the connector.
	 * @param string      $flags       Letters, '' for none.
	 * @return string Value of X-Security-Optimizer-Signal.
	 */
	public static function signal_header( $secret, $request_id, $policy_hash, $version, $flags ) {
		$signed = implode(
			' ',
			array(
				'1',
				self::key_id( $secret ),
				$request_id,
				null === $policy_hash ? '-' : $policy_hash,
				$version,
				'' === $flags ? '-' : $flags,
			)
		);
		return $signed . ' ' . self::mac( "connector-signal\n" . $signed, $secret );
	}

	/**
	 * Answers a guard header that is not to be believed, so that guard can say that the keys differ.
	 *
	 * @param string $secret The site's secret.
	 * @return string Value of X-Security-Optimizer-Signal.
	 */
	public static function bare_signal_header( $secret ) {
		return '1 ' . self::key_id( $secret );
	}

	/**
	 * Writes the header by which guard knows a call that WordPress makes to itself.
	 *
	 * @param string $secret The site's secret.
	 * @param int    $time   Unix seconds.
	 * @param string $target Path and query of the call, as they will stand on its request line.
	 * @return string Value of X-Security-Optimizer-Cron.
	 */
	public static function cron_header( $secret, $time, $target ) {
		$signed = '1 ' . self::key_id( $secret ) . ' ' . (int) $time;
		return $signed . ' ' . self::mac( "own-cron\n" . $signed . "\nPOST " . $target, $secret );
	}

	/**
	 * Writes the header by which guard believes a call of its API that the site's PHP makes.
	 *
	 * @param string $secret The site's secret.
	 * @param int    $time   Unix seconds.
	 * @param string $nonce  32 hexadecimal digits, never used before.
	 * @param string $method Method of the request.
	 * @param string $route  Route below the namespace of the API.
	 * @param string $body   The request's body as it will be sent.
	 * @return string Value of X-Security-Optimizer-Call.
	 */
	public static function call_header( $secret, $time, $nonce, $method, $route, $body ) {
		$signed = implode( ' ', array( '1', self::key_id( $secret ), (int) $time, $nonce, hash( 'sha256', $body ) ) );
		return $signed . ' ' . self::mac( "site-call\n" . $signed . "\n" . $method . ' ' . $route, $secret );
	}

	/**
	 * Reads the header that makes a request a command. Whether the nonce was used before is for the caller to check.
	 *
	 * @param string $header  Value of X-Security-Optimizer-Command.
	 * @param string $command Name of the command.
	 * @param string $body    The request's body as it came.
	 * @param string $secret  The site's secret.
	 * @param int    $now     Unix seconds.
	 * @return array|null `time` (Unix seconds) and `nonce`; null when the header is not to be believed.
	 */
	public static function read_command_header( $header, $command, $body, $secret, $now ) {
		if ( ! is_string( $header )
			|| ! preg_match( '/\A1 ([0-9]{1,12}) ([0-9a-f]{32}) ([0-9a-f]{64})\z/', $header, $part )
		) {
			return null;
		}
		list( , $time, $nonce, $mac ) = $part;

		$signed = implode( "\n", array( 'guard-command', 'POST', $command, $time, $nonce, hash( 'sha256', $body ) ) );
		if ( ! hash_equals( self::mac( $signed, $secret ), $mac )
			|| abs( $now - (int) $time ) > self::CLOCK_TOLERANCE
		) {
			return null;
		}
		return array(
			'time'  => (int) $time,
			'nonce' => $nonce,
		);
	}

	/**
	 * Reads the header by which guard says what it has found out about a request.
	 *
	 * @param string $header     Value of X-Security-Optimizer-Context.
	 * @param string $request_id From the guard header of the same request, to which this one is bound.
	 * @param string $secret     The site's secret.
	 * @return array|null The payload; null when the header is not to be believed.
	 */
	public static function read_context_header( $header, $request_id, $secret ) {
		$form = '/\A(1 ([0-9a-f]{16}) ([A-Za-z0-9_-]{1,6000})) ([0-9a-f]{64})\z/';
		if ( ! is_string( $header ) || ! preg_match( $form, $header, $part ) ) {
			return null;
		}
		list( , $signed, $bound_to, $payload, $mac ) = $part;

		if ( $request_id !== $bound_to || ! hash_equals( self::mac( "guard-context\n" . $signed, $secret ), $mac ) ) {
			return null;
		}
		$context = json_decode( (string) base64_decode( strtr( $payload, '-_', '+/' ), true ), true );
		return is_array( $context ) ? $context : null;
	}

	/**
	 * Writes the header by which the connector says how password checks have ended.
	 *
	 * @param string $secret     The site's secret.
	 * @param string $request_id From the guard header of the same request.
	 * @param array  $report     `failed`, `refused`, `ok` and `factor`.
	 * @return string Value of X-Security-Optimizer-Login.
	 */
	public static function login_header( $secret, $request_id, array $report ) {
		$json   = json_encode( $report, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_LINE_TERMINATORS | JSON_INVALID_UTF8_SUBSTITUTE );
		$signed = '1 ' . $request_id . ' ' . rtrim( strtr( base64_encode( $json ), '+/', '-_' ), '=' );
		return $signed . ' ' . self::mac( "connector-login\n" . $signed, $secret );
	}

	/**
	 * Names a policy by its content.
	 *
	 * @param array $policy Flat: names to integers, booleans or strings.
	 * @return string 16 hexadecimal digits.
	 */
	public static function policy_hash( array $policy ) {
		ksort( $policy, SORT_STRING );
		// The flags make PHP write the same text as JSON.stringify does in guard.
		$json = json_encode( (object) $policy, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_LINE_TERMINATORS );
		return substr( hash( 'sha256', $json ), 0, 16 );
	}
}
