<?php
/**
 * The secret that guard and this site share.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Secret {

	/**
	 * Reads the key: the one that the site's configuration or its environment names; else the file of this site in the
	 * folder `keys`; else secret.php. A site that names a key has that one or none, never that of the folder.
	 *
	 * @return array|null `secret` (64 hexadecimal digits) and `require_guard` (boolean); null when there is no key, or not
	 *                    one as it should be.
	 */
	public static function read() {
		// A constant is this site's own; the environment may be that of all sites of a pool.
		$has_constant = defined( 'SECURITY_OPTIMIZER_KEY' ) || defined( 'SECURITY_OPTIMIZER_KEY_FILE' );
		$key          = self::setting( 'SECURITY_OPTIMIZER_KEY', $has_constant );
		if ( null !== $key ) {
			return self::check( array( 'secret' => trim( $key ) ) + self::named_settings() );
		}
		$file = self::setting( 'SECURITY_OPTIMIZER_KEY_FILE', $has_constant );
		if ( null !== $file ) {
			// What runs as PHP is run, so that it prints nothing; anything else holds the digits alone.
			$settings = '.php' === substr( $file, -4 ) ? self::run( $file ) : self::read_digits( $file );
			return is_array( $settings ) ? self::check( self::named_settings() + $settings ) : null;
		}

		// Beside the loader, also where the classes are shared with other sites.
		$folder = dirname( SECURITY_OPTIMIZER_FILE ) . '/security-optimizer/';
		$own    = $folder . 'keys/' . self::file_name( ABSPATH );
		return self::check( self::run( @is_readable( $own ) ? $own : $folder . 'secret.php' ) ); // phpcs:ignore WordPress.PHP.NoSilencedErrors
	}

	/**
	 * Name of this site's file in a folder that several sites use. What counts is the folder of WordPress, which is the
	 * site's own and which no visitor chooses, unlike a host name.
	 *
	 * @param string $wordpress_dir Folder of WordPress.
	 * @return string
	 */
	public static function file_name( $wordpress_dir ) {
		$real = @realpath( $wordpress_dir ); // phpcs:ignore WordPress.PHP.NoSilencedErrors
		return substr( hash( 'sha256', rtrim( false === $real ? $wordpress_dir : $real, '/' ) ), 0, 16 ) . '.php';
	}

	/**
	 * A constant of wp-config.php, else a variable of the environment. Visitors set neither: what they send is in variables
	 * whose names begin with HTTP_.
	 *
	 * @param string $name         Name of both.
	 * @param bool   $has_constant Whether the environment does not count.
	 * @return string|null Null when it is not set; an empty one is.
	 */
	private static function setting( $name, $has_constant = false ) {
		if ( defined( $name ) ) {
			$value = constant( $name );
			return is_bool( $value ) ? (string) (int) $value : (string) $value;
		}
		$value = $has_constant ? false : getenv( $name );
		return false === $value ? null : $value;
	}

	/**
	 * @return array Whether the site requires guard, where that is said beside the key.
	 */
	private static function named_settings() {
		$required = self::setting( 'SECURITY_OPTIMIZER_REQUIRE_GUARD' );
		return null === $required ? array() : array( 'require_guard' => ! in_array( $required, array( '', '0', 'false' ), true ) );
	}

	/**
	 * @param string $file A file with 64 hexadecimal digits, as containers mount secrets.
	 * @return array|null
	 */
	private static function read_digits( $file ) {
		// Silenced, since `open_basedir` may close it.
		$text = @is_readable( $file ) ? file_get_contents( $file, false, null, 0, 200 ) : false; // phpcs:ignore WordPress.PHP.NoSilencedErrors
		return false === $text ? null : array( 'secret' => trim( $text ) );
	}

	/**
	 * The file may be cut short or hold anything: neither an error nor output of it may reach a visitor.
	 *
	 * @param string $file A key file of guard.
	 * @return mixed What it returns; null when it can't be read.
	 */
	private static function run( $file ) {
		if ( ! @is_readable( $file ) ) { // phpcs:ignore WordPress.PHP.NoSilencedErrors
			return null;
		}
		ob_start();
		try {
			$settings = include $file;
		} catch ( Throwable $error ) {
			$settings = null;
		}
		ob_end_clean();
		return $settings;
	}

	/**
	 * @param mixed $settings What a file or the configuration says.
	 * @return array|null
	 */
	private static function check( $settings ) {
		if ( ! is_array( $settings )
			|| ! isset( $settings['secret'] )
			|| ! is_string( $settings['secret'] )
			|| ! preg_match( '/\A[0-9a-f]{64}\z/', $settings['secret'] )
		) {
			return null;
		}
		// `only_through_guard` is the name that earlier versions wrote.
		$key = isset( $settings['require_guard'] ) ? 'require_guard' : 'only_through_guard';
		return array(
			'secret'        => $settings['secret'],
			'require_guard' => ! empty( $settings[ $key ] ),
		);
	}
}
