<?php
/**
 * New salts for WordPress: every cookie and link that was signed with the old ones is void.
 *
 * The configuration file is valid at every moment: the new one is written beside, compared token by token, and renamed.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Salts {

	const NAMES = array(
		'AUTH_KEY',
		'SECURE_AUTH_KEY',
		'LOGGED_IN_KEY',
		'NONCE_KEY',
		'AUTH_SALT',
		'SECURE_AUTH_SALT',
		'LOGGED_IN_SALT',
		'NONCE_SALT',
	);

	/**
	 * @return string `replaced`; `not_writable` or `not_plain` (the constants come from elsewhere) when nothing was
	 *                changed in the file.
	 */
	public static function replace() {
		// What WordPress keeps for itself where a constant is missing; it makes new ones.
		foreach ( self::NAMES as $name ) {
			delete_site_option( strtolower( $name ) );
		}
		delete_site_option( 'secret_key' );
		if ( array() === array_filter( self::NAMES, 'defined' ) ) {
			return 'replaced';
		}
		$file = self::file();
		$text = null === $file ? false : file_get_contents( $file );
		$new  = false === $text ? null : self::rewrite( $text );
		if ( null === $new ) {
			return 'not_plain';
		}
		return self::write( $file, $new ) ? 'replaced' : 'not_writable';
	}

	/**
	 * @param string $text A configuration file.
	 * @return string|null The same with new values for all eight, or null when one is not a plain string, or when
	 *                     anything else would change.
	 */
	public static function rewrite( $text ) {
		$tokens = token_get_all( $text );
		$seen   = array();
		$new    = '';
		$name   = null;
		$step   = 0;
		// define ( 'NAME' , 'value' ): step counts the meaningful tokens that have come.
		foreach ( $tokens as $token ) {
			$kind  = is_array( $token ) ? $token[0] : null;
			$piece = is_array( $token ) ? $token[1] : $token;
			if ( ! in_array( $kind, array( T_WHITESPACE, T_COMMENT, T_DOC_COMMENT ), true ) ) {
				if ( T_STRING === $kind && 'define' === strtolower( $piece ) ) {
					$step = 1;
				} elseif ( 1 === $step && '(' === $piece || 3 === $step && ',' === $piece ) {
					++$step;
				} elseif ( 2 === $step && T_CONSTANT_ENCAPSED_STRING === $kind ) {
					$name = substr( $piece, 1, -1 );
					$step = in_array( $name, self::NAMES, true ) ? 3 : 0;
				} elseif ( 4 === $step && T_CONSTANT_ENCAPSED_STRING === $kind ) {
					$piece         = "'" . self::salt() . "'";
					$seen[ $name ] = isset( $seen[ $name ] ) ? 2 : 1;
					$step          = 5;
				} elseif ( 5 === $step && ')' === $piece ) {
					$step = 0;
				} else {
					if ( $step >= 3 ) {
						return null;
					}
					$step = 0;
				}
			}
			$new .= $piece;
		}
		$whole = count( self::NAMES ) === count( $seen ) && array( 1 ) === array_values( array_unique( $seen ) );
		return $whole && self::kinds( $new ) === self::kinds( $text ) ? $new : null;
	}

	/**
	 * Kinds of all tokens: only values of strings may differ.
	 */
	private static function kinds( $text ) {
		return array_map(
			static function ( $token ) {
				if ( ! is_array( $token ) ) {
					return $token;
				}
				return T_CONSTANT_ENCAPSED_STRING === $token[0] ? $token[0] : $token[0] . $token[1];
			},
			token_get_all( $text )
		);
	}

	/**
	 * 64 characters, none of which means anything inside single quotes.
	 */
	private static function salt() {
		$characters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!@#$%^&*()-_ []{}<>~`+=,.;:/?|';
		$salt       = '';
		for ( $i = 0; $i < 64; ++$i ) {
			$salt .= $characters[ random_int( 0, strlen( $characters ) - 1 ) ];
		}
		return $salt;
	}

	/**
	 * Where WordPress itself looks for it.
	 */
	private static function file() {
		foreach ( array( ABSPATH . 'wp-config.php', dirname( ABSPATH ) . '/wp-config.php' ) as $file ) {
			if ( is_file( $file ) ) {
				return $file;
			}
		}
		return null;
	}

	private static function write( $file, $text ) {
		// Where one user runs PHP for several sites, a link could lead to another site's configuration.
		$linked = is_link( $file );
		$file   = (string) realpath( $file );
		if ( $linked && array( fileowner( ABSPATH ) ) !== array_unique( array( fileowner( ABSPATH ), fileowner( $file ), fileowner( dirname( $file ) ) ) ) ) {
			return false;
		}
		// phpcs:disable WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- The answer says it.
		// The name ends in .php, so that a server never shows what a killed request has left behind.
		$beside = dirname( $file ) . '/wp-config-' . bin2hex( random_bytes( 8 ) ) . '.php';
		$mode   = (int) fileperms( $file ) & 0777;
		if ( ! is_writable( $file ) || ! is_writable( dirname( $file ) ) || ! @touch( $beside ) ) {
			return false;
		}
		$same = @chmod( $beside, 0600 ) && strlen( $text ) === @file_put_contents( $beside, $text ) && file_get_contents( $beside ) === $text
			&& @chmod( $beside, $mode )
			&& ( fileowner( $beside ) === fileowner( $file ) || @chown( $beside, fileowner( $file ) ) )
			&& ( filegroup( $beside ) === filegroup( $file ) || @chgrp( $beside, filegroup( $file ) ) );
		if ( ! $same || ! @rename( $beside, $file ) ) {
			@unlink( $beside );
			return false;
		}
		// phpcs:enable
		require_once ABSPATH . 'wp-admin/includes/file.php';
		wp_opcache_invalidate( $file, true );
		return true;
	}
}
