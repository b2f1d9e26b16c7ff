<?php
/**
 * The shared secret of guard and this site.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Secret {

	/**
	 * Reads the key from the place that the site's configuration or environment names; otherwise from this site's file
	 * in the folder `keys`; otherwise from secret.php. A site that names a key never uses that of the folder.
	 *
	 * @return array|null `secret` (64 hexadecimal digits) and `require_guard` (boolean); null without a valid key.
	 */
	public static function read() {
		// A constant belongs to this site; the environment may be that of all sites of a pool.
		$has_constant = defined( 'SECURITY_OPTIMIZER_KEY' ) || defined( 'SECURITY_OPTIMIZER_KEY_FILE' );
		$key          = self::setting( 'SECURITY_OPTIMIZER_KEY', $has_constant );
		if ( null !== $key ) {
			return self::check( array( 'secret' => trim( $key ) ) + self::named_settings() );
		}
		$file = self::setting( 'SECURITY_OPTIMIZER_KEY_FILE', $has_constant );
		if ( null !== $file ) {
			// A PHP file is executed, so that a web server never prints the key. Any other file holds the digits alone.
			$settings = '.php' === substr( $file, -4 ) ? self::run( $file ) : self::read_digits( $file );
			return is_array( $settings ) ? self::check( self::named_settings() + $settings ) : null;
		}

		// Next to the loader, also where sites share the classes.
		$folder = dirname( SECURITY_OPTIMIZER_FILE ) . '/security-optimizer/';
		$own    = $folder . 'keys/' . self::file_name( ABSPATH );
		return self::check( self::run( @is_readable( $own ) ? $own : $folder . 'secret.php' ) ); // phpcs:ignore WordPress.PHP.NoSilencedErrors
	}

	/**
	 * Name of this site's file in a folder that several sites use. It depends on the folder of WordPress, which a
	 * client can't choose, unlike a host name.
	 *
	 * @param string $wordpress_dir Folder of WordPress.
	 * @return string
	 */
	public static function file_name( $wordpress_dir ) {
		$real = @realpath( $wordpress_dir ); // phpcs:ignore WordPress.PHP.NoSilencedErrors
		return substr( hash( 'sha256', rtrim( false === $real ? $wordpress_dir : $real, '/' ) ), 0, 16 ) . '.php';
	}

	/**
	 * A constant of wp-config.php, or a variable of the environment. Clients can set neither: their headers are in
	 * variables whose names begin with HTTP_.
	 *
	 * @param string $name         Name of both.
	 * @param bool   $has_constant Whether the environment is ignored.
	 * @return string|null Null when it is not set. An empty string is a value.
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
	 * @return array Whether the site requires guard, where the configuration says so.
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
		// Silenced, because `open_basedir` may forbid it.
		$text = @is_readable( $file ) ? file_get_contents( $file, false, null, 0, 200 ) : false; // phpcs:ignore WordPress.PHP.NoSilencedErrors
		return false === $text ? null : array( 'secret' => trim( $text ) );
	}

	/**
	 * The file may be truncated or hold anything. Neither its errors nor its output may reach a client.
	 *
	 * @param string $file A key file of guard.
	 * @return mixed What the file returns; null when it can't be read.
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
	 * @param mixed $settings Content of a file or of the configuration.
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
