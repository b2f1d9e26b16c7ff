<?php
/**
 * The wire protocol between guard and the connector, version 1.
 *
 * Pure functions over plain text: no WordPress, no globals, no clock. docs/developer/connector-protocol.md describes
 * the format and protocol-vectors.json holds samples that guard tests against as well.
 *
 * @package Security_Optimizer
 */

final class Security_Optimizer_Protocol {

	/**
	 * Notes that guard may have signed with a request, most frequent first. They are part of the signed text and are
	 * not sent.
	 */
	const NOTES = array( '', 'context', 'decoy', 'decoy context', 'repeated', 'repeated decoy', 'probe' );

	/** Seconds by which the clocks of guard and WordPress may differ. */
	const CLOCK_TOLERANCE = 60;

	/** Slowest accepted transfer of a request body, bytes per second. */
	const MIN_BODY_RATE = 4096;

	/** Longest accepted transfer of a request body, seconds. */
	const MAX_BODY_TIME = 21600;

	/**
	 * Identifies a secret without revealing it.
	 *
	 * @param string $secret 64 lower-case hexadecimal digits.
	 * @return string 8 hexadecimal digits.
	 */
	public static function key_id( $secret ) {
		return substr( hash( 'sha256', "security-optimizer key id\n" . $secret ), 0, 8 );
	}

	/**
	 * @param string $text   Text to sign.
	 * @param string $secret 64 lower-case hexadecimal digits, used as text.
	 * @return string HMAC-SHA-256, 64 hexadecimal digits.
	 */
	public static function mac( $text, $secret ) {
		return hash_hmac( 'sha256', $text, $secret );
	}

	/**
	 * Reads the header that guard adds to each request. Guard signs it before it sends the body, and most web servers
	 * start PHP after the whole body has arrived. So the header may be older by the time that the transfer takes.
	 *
	 * @param string $header Value of X-Security-Optimizer-Guard.
	 * @param string $secret The site's secret.
	 * @param int    $now    Unix seconds.
	 * @param int    $bytes  Length of the request's body.
	 * @return array|null `request_id`, `scheme` and `address`, and from the note: `has_context`, `is_decoy`,
	 *                    `is_repeated` and `is_probe`; null when the header is invalid.
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
	 * @return string|null One of `NOTES`: the note that the header was signed with.
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
	 * Creates the header with which the connector responds to guard.
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
	 * Creates the response to an invalid guard header, so that guard can report that the keys differ.
	 *
	 * @param string $secret The site's secret.
	 * @return string Value of X-Security-Optimizer-Signal.
	 */
	public static function bare_signal_header( $secret ) {
		return '1 ' . self::key_id( $secret );
	}

	/**
	 * Creates the header by which guard recognises a loopback request of WordPress.
	 *
	 * @param string $secret The site's secret.
	 * @param int    $time   Unix seconds.
	 * @param string $target Path and query of the request line.
	 * @return string Value of X-Security-Optimizer-Cron.
	 */
	public static function cron_header( $secret, $time, $target ) {
		$signed = '1 ' . self::key_id( $secret ) . ' ' . (int) $time;
		return $signed . ' ' . self::mac( "own-cron\n" . $signed . "\nPOST " . $target, $secret );
	}

	/**
	 * Creates the header that authenticates a request of the site's PHP to guard's API.
	 *
	 * @param string $secret The site's secret.
	 * @param int    $time   Unix seconds.
	 * @param string $nonce  32 hexadecimal digits, never used before.
	 * @param string $method Method of the request.
	 * @param string $route  Route below the namespace of the API.
	 * @param string $body   Body of the request.
	 * @return string Value of X-Security-Optimizer-Call.
	 */
	public static function call_header( $secret, $time, $nonce, $method, $route, $body ) {
		$signed = implode( ' ', array( '1', self::key_id( $secret ), (int) $time, $nonce, hash( 'sha256', $body ) ) );
		return $signed . ' ' . self::mac( "site-call\n" . $signed . "\n" . $method . ' ' . $route, $secret );
	}

	/**
	 * Reads the header of a command. The caller has to check whether the nonce was used before.
	 *
	 * @param string $header  Value of X-Security-Optimizer-Command.
	 * @param string $command Name of the command.
	 * @param string $body    Body of the request.
	 * @param string $secret  The site's secret.
	 * @param int    $now     Unix seconds.
	 * @return array|null `time` (Unix seconds) and `nonce`; null when the header is invalid.
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
	 * Reads the header with guard's context of a request.
	 *
	 * @param string $header     Value of X-Security-Optimizer-Context.
	 * @param string $request_id From the guard header of the same request, to which this one is bound.
	 * @param string $secret     The site's secret.
	 * @return array|null The payload; null when the header is invalid.
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
	 * Creates the header with the outcome of password checks.
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
	 * Computes the hash of a policy.
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
