<?php
/**
 * New salts for WordPress: every cookie and link that was signed with the old ones becomes invalid.
 *
 * The configuration file is always valid: the new one is written to a temporary file, read back, and renamed.
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

	/** WordPress's schemes for cookies and nonces. */
	const SCHEMES = array( 'auth', 'secure_auth', 'logged_in', 'nonce' );

	/** Largest file that is searched for the constants, bytes. */
	const MAX_FILE_SIZE = 262144;

	/**
	 * Replaces the site's salts where possible. Only a new request can tell whether WordPress uses them:
	 * `fingerprints`.
	 *
	 * @return array `change`: `written`, `not_writable`, or `nothing` (no value in wp-config.php could be replaced;
	 *               salts in the database are always replaced); `mark` and `before`, argument and result of
	 *               `fingerprints`; `elsewhere`: constants that wp-config.php does not set; `files`: at most three
	 *               files that seem to set them.
	 */
	public static function replace() {
		$mark   = bin2hex( random_bytes( 16 ) );
		$before = self::fingerprints( $mark );
		// WordPress stores salts for missing constants, and creates new ones after this.
		foreach ( self::NAMES as $name ) {
			Security_Optimizer_Database_Retry::delete_site_option( strtolower( $name ) );
		}
		Security_Optimizer_Database_Retry::delete_site_option( 'secret_key' );
		$file      = self::file();
		$text      = null === $file ? false : file_get_contents( $file );
		$keys      = new Security_Optimizer_Config_Keys( (string) $text, self::NAMES );
		$elsewhere = self::find_external( $keys );
		$new       = $keys->with_new_values( array( __CLASS__, 'salt' ) );
		$change    = 'nothing';
		if ( null !== $new ) {
			$change = self::write( $file, (string) $text, $new ) ? 'written' : 'not_writable';
		}
		return array(
			'change'    => $change,
			'mark'      => $mark,
			'before'    => $before,
			'elsewhere' => $elsewhere,
			'files'     => array() === $elsewhere ? array() : self::find_files( $elsewhere ),
		);
	}

	/**
	 * Fingerprints of the salts of this request, which only show whether they have changed.
	 *
	 * @param string $mark Key of the fingerprints. Those with the same mark can be compared.
	 * @return array By constant: of the value that WordPress uses, from the constant or from the database; null when a
	 *               plugin creates the salts and the constant is missing. By scheme: of the result of `wp_salt`.
	 */
	public static function fingerprints( $mark ) {
		$settings       = Security_Optimizer_Secret::read();
		$to_fingerprint = static function ( $name, $value ) use ( $mark, $settings ) {
			return Security_Optimizer_Protocol::mac( "salts\n$mark\n$name\n$value", $settings['secret'] );
		};
		$fingerprints   = array();
		foreach ( self::SCHEMES as $scheme ) {
			$salt                    = wp_salt( $scheme );
			$fingerprints[ $scheme ] = $to_fingerprint( $scheme, $salt );
			$parts                   = self::split_salt( $scheme, $salt );
			foreach ( array( '_KEY', '_SALT' ) as $at => $end ) {
				$name                  = strtoupper( $scheme ) . $end;
				$value                 = null === $parts ? ( defined( $name ) ? constant( $name ) : null ) : $parts[ $at ];
				$fingerprints[ $name ] = null === $value ? null : $to_fingerprint( $name, $value );
			}
		}
		return $fingerprints;
	}

	/**
	 * WordPress ignores a constant that is empty, has the sample's text, or equals another one.
	 *
	 * @return string[]|null Key and salt from which WordPress built this salt; null when it used other values.
	 */
	private static function split_salt( $scheme, $salt ) {
		$keys   = array( $scheme . '_key', 'SECRET_KEY' );
		$salts  = array( $scheme . '_salt', 'SECRET_SALT' );
		$values = static function ( array $names ) {
			$constant = strtoupper( $names[0] );
			return array_filter(
				array(
					defined( $constant ) ? constant( $constant ) : '',
					get_site_option( $names[0] ),
					defined( $names[1] ) ? constant( $names[1] ) : '',
				),
				static function ( $value ) {
					return is_scalar( $value ) && '' !== (string) $value;
				}
			);
		};
		foreach ( $values( $keys ) as $key ) {
			foreach ( $values( $salts ) as $other ) {
				if ( $key . $other === $salt ) {
					return array( (string) $key, (string) $other );
				}
			}
		}
		return null;
	}

	/**
	 * @return string[] Constants whose value does not come from a literal in wp-config.php.
	 */
	private static function find_external( Security_Optimizer_Config_Keys $keys ) {
		return array_values(
			array_filter(
				self::NAMES,
				static function ( $name ) use ( $keys ) {
					if ( ! defined( $name ) ) {
						return false;
					}
					foreach ( $keys->definitions() as $one ) {
						if ( $name === $one['name'] && $one['plain'] && self::may_be_in_force( $one ) ) {
							return false;
						}
					}
					return true;
				}
			)
		);
	}

	private static function may_be_in_force( array $definition ) {
		return null === $definition['value'] || constant( $definition['name'] ) === $definition['value'];
	}

	/**
	 * @param string[] $names Constants.
	 * @return string[] Included files that define one of them, except those of WordPress and its plugins.
	 */
	private static function find_files( array $names ) {
		$found   = array();
		$folders = array_map( 'trailingslashit', array( ABSPATH . WPINC, ABSPATH . 'wp-admin', WP_CONTENT_DIR, dirname( SECURITY_OPTIMIZER_FILE ) ) );
		foreach ( get_included_files() as $file ) {
			$excluded = array_filter(
				$folders,
				static function ( $folder ) use ( $file ) {
					$real = realpath( $folder );
					return 0 === strpos( $file, $folder ) || false !== $real && 0 === strpos( $file, $real . '/' );
				}
			);
			if ( array() !== $excluded || ! is_readable( $file ) || filesize( $file ) > self::MAX_FILE_SIZE ) {
				continue;
			}
			$text = (string) file_get_contents( $file );
			if ( str_replace( $names, '', $text ) === $text ) {
				continue;
			}
			$keys = new Security_Optimizer_Config_Keys( $text, $names );
			if ( array() !== array_filter( array_map( array( __CLASS__, 'may_be_in_force' ), $keys->definitions() ) ) ) {
				$found[] = $file;
			}
		}
		return array_slice( $found, 0, 3 );
	}

	/**
	 * @return string 64 characters that need no escaping in single quotes.
	 */
	public static function salt() {
		$characters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!@#$%^&*()-_ []{}<>~`+=,.;:/?|';
		$salt       = '';
		for ( $i = 0; $i < 64; ++$i ) {
			$salt .= $characters[ random_int( 0, strlen( $characters ) - 1 ) ];
		}
		return $salt;
	}

	/**
	 * Path of wp-config.php, found as WordPress does it: also one folder above, unless that is another WordPress.
	 */
	private static function file() {
		$above = dirname( ABSPATH );
		if ( is_file( ABSPATH . 'wp-config.php' ) ) {
			return ABSPATH . 'wp-config.php';
		}
		return is_file( $above . '/wp-config.php' ) && ! file_exists( $above . '/wp-settings.php' ) ? $above . '/wp-config.php' : null;
	}

	private static function write( $file, $old, $text ) {
		// If one user runs PHP for several sites, a link could lead to another site's configuration.
		$linked = is_link( $file );
		$file   = (string) realpath( $file );
		if ( $linked && array( fileowner( ABSPATH ) ) !== array_unique( array( fileowner( ABSPATH ), fileowner( $file ), fileowner( dirname( $file ) ) ) ) ) {
			return false;
		}
		// phpcs:disable WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- The result says it.
		// The name ends in .php, so that a web server never shows the file of a killed request.
		$temporary = dirname( $file ) . '/wp-config-' . bin2hex( random_bytes( 8 ) ) . '.php';
		$mode      = (int) fileperms( $file ) & 0777;
		if ( ! is_writable( $file ) || ! is_writable( dirname( $file ) ) || ! @touch( $temporary ) ) {
			return false;
		}
		$same = @chmod( $temporary, 0600 ) && strlen( $text ) === @file_put_contents( $temporary, $text ) && file_get_contents( $temporary ) === $text
			&& @chmod( $temporary, $mode )
			&& ( fileowner( $temporary ) === fileowner( $file ) || @chown( $temporary, fileowner( $file ) ) )
			&& ( filegroup( $temporary ) === filegroup( $file ) || @chgrp( $temporary, filegroup( $file ) ) );
		// A concurrent change of the file has precedence.
		if ( ! $same || file_get_contents( $file ) !== $old || ! @rename( $temporary, $file ) ) {
			@unlink( $temporary );
			return false;
		}
		// phpcs:enable
		require_once ABSPATH . 'wp-admin/includes/file.php';
		wp_opcache_invalidate( $file, true );
		return true;
	}
}
