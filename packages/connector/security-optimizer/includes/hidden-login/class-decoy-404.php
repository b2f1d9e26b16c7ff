<?php
/**
 * Decoy requests: guard requests a missing page instead of a hidden one. This class restores the original names.
 *
 * Guard shifts the letters of hidden names by a key of the request, so that the request needs no further data. Pure
 * functions over plain text.
 *
 * @package Security_Optimizer
 */

final class Security_Optimizer_Decoy_404 {

	/** Hidden names without their extension. */
	const NAMES = array( 'wp-login', 'wp-admin', 'wp-register', 'wp-signup', 'wp-activate' );

	/** Characters that are shifted among each other. */
	const PLAIN = array( 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789' );

	/**
	 * @param string $secret     The site's secret.
	 * @param string $request_id From the guard header of the request.
	 * @return string 32 bytes.
	 */
	public static function key( $secret, $request_id ) {
		return hash_hmac( 'sha256', "guard-decoy\n" . $request_id, $secret, true );
	}

	/**
	 * @param string $target Path and query that guard requested.
	 * @param string $key    Key of the request.
	 * @return string What the client requested.
	 */
	public static function reveal( $target, $key ) {
		$parts    = explode( '?', $target, 2 );
		$parts[0] = preg_replace_callback(
			'#%2f|(?:(?!%2f)[^/])+#i',
			static function ( $name ) use ( $key ) {
				if ( 0 === strcasecmp( $name[0], '%2f' ) ) {
					return $name[0];
				}
				$original = self::shift_back( $name[0], $key );
				return null === $original ? $name[0] : $original;
			},
			$parts[0]
		);
		return implode( '?', $parts );
	}

	/**
	 * @param string $name A name of a path, still encoded.
	 * @param string $key  Key of the request.
	 * @return string|null The original name; null when it was not disguised.
	 */
	private static function shift_back( $name, $key ) {
		preg_match_all( '/%[0-9a-f]{2}|./is', $name, $found );
		$units  = $found[0];
		$bytes  = array_map(
			static function ( $unit ) {
				return 3 === strlen( $unit ) ? (int) hexdec( substr( $unit, 1 ) ) : ord( $unit );
			},
			$units
		);
		$result = '';
		$stem   = '';
		$beyond = false;
		foreach ( $units as $i => $unit ) {
			if ( false !== strpos( '.;:?', chr( $bytes[ $i ] ) ) ) {
				$result .= implode( '', array_slice( $units, $i ) );
				break;
			}
			$is_last = ! isset( $bytes[ $i + 1 ] ) || ! self::is_continuation( $bytes[ $i + 1 ] );
			$beyond  = $beyond || $bytes[ $i ] >= 0x80;
			$unit    = self::shift_unit( $unit, $bytes[ $i ], $is_last, ord( $key[ $i % strlen( $key ) ] ) );
			$result .= $unit;
			$stem   .= rawurldecode( $unit );
		}
		// Names with non-ASCII characters are always disguised, because guard recognises many spellings of hidden
		// names.
		return $beyond || in_array( strtolower( rtrim( $stem, ' ' ) ), self::NAMES, true ) ? $result : null;
	}

	private static function is_continuation( $byte ) {
		return $byte >= 0x80 && $byte < 0xc0;
	}

	private static function shift_unit( $unit, $byte, $is_last, $by ) {
		if ( 1 === strlen( $unit ) ) {
			if ( self::is_continuation( $byte ) && $is_last ) {
				return chr( ( $byte & 0xf0 ) | ( ( ( $byte & 15 ) - $by ) & 15 ) );
			}
			return self::rotate( $unit, self::PLAIN, $by );
		}
		$kinds = self::kinds( $unit[1] );
		if ( null === $kinds || ( $byte >= 0x80 && ! $is_last ) ) {
			return $unit;
		}
		return '%' . $unit[1] . self::rotate( $unit[2], $kinds, $by );
	}

	/**
	 * @param string $first First digit of an encoded byte.
	 * @return string[]|null Second digits that are shifted among each other; null for none.
	 */
	private static function kinds( $first ) {
		switch ( strtolower( $first ) ) {
			case '3':
			case '5':
			case '7':
				return array( '0123456789' );
			case '4':
			case '6':
				return array( '123456789', 'abcdef', 'ABCDEF' );
			case '8':
			case '9':
			case 'a':
			case 'b':
				return array( '0123456789', 'abcdef', 'ABCDEF' );
		}
		return null;
	}

	private static function rotate( $character, array $kinds, $by ) {
		foreach ( $kinds as $letters ) {
			$at = strpos( $letters, $character );
			if ( false !== $at ) {
				$length = strlen( $letters );
				return $letters[ ( $at + $length - $by % $length ) % $length ];
			}
		}
		return $character;
	}
}
