<?php
/**
 * Plugin Name: Security Optimizer
 * Description: Connects this site to the Security Optimizer service in front of it.
 * Version: 0.1.0
 * Requires at least: 6.2
 * Requires PHP: 7.4
 * License: GPL-2.0-or-later
 * Text Domain: security-optimizer
 *
 * The loader. It is in wp-content/mu-plugins, and the key is in the folder of the same name next to it. Everything else
 * is there as well, or in a folder that several sites share, whose path guard then writes into this file. The hooks of
 * the connector are listed in class-hooks.php. Each installed version has its own folder for its classes, so that no
 * request runs two versions: `includes-…`, which guard writes into this file instead of `includes`, or a shared folder.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

// A loader of one line that the operator has installed defines the place of the key and includes this file.
defined( 'SECURITY_OPTIMIZER_FILE' ) || define( 'SECURITY_OPTIMIZER_FILE', __FILE__ );
define( 'SECURITY_OPTIMIZER_DIR', __DIR__ . '/security-optimizer' );

// An incomplete copy must not break the site. Silenced, because `open_basedir` may forbid a shared folder.
if ( @is_readable( SECURITY_OPTIMIZER_DIR . '/includes/class-hooks.php' ) && @is_readable( SECURITY_OPTIMIZER_DIR . '/includes/classes.php' ) ) { // phpcs:ignore WordPress.PHP.NoSilencedErrors
	define( 'SECURITY_OPTIMIZER_VERSION', '0.1.0' );

	// PHP asks for every class that it does not know, also for those of other plugins.
	spl_autoload_register(
		static function ( $class_name ) {
			static $files = null;
			if ( null === $files ) {
				// PHP does not distinguish the case of class names.
				$files = array_change_key_case( require SECURITY_OPTIMIZER_DIR . '/includes/classes.php' );
			}
			$name = strtolower( $class_name );
			if ( isset( $files[ $name ] ) && is_file( SECURITY_OPTIMIZER_DIR . '/includes/' . $files[ $name ] ) ) {
				require_once SECURITY_OPTIMIZER_DIR . '/includes/' . $files[ $name ];
			}
		}
	);

	Security_Optimizer_Hooks::add();
} elseif ( dirname( SECURITY_OPTIMIZER_FILE ) . '/security-optimizer' !== SECURITY_OPTIMIZER_DIR ) {
	// The site's owner can't have removed a shared folder, so a site that requires guard stays closed without it.
	( static function () {
		error_log( 'Security Optimizer: PHP can not read ' . SECURITY_OPTIMIZER_DIR . '. Run `security-optimizer share-connector`, and check open_basedir.' ); // phpcs:ignore WordPress.PHP.DevelopmentFunctions
		// Finds the key like transport/class-secret.php, which can't be read either.
		$named = array();
		foreach ( array( 'KEY_FILE', 'REQUIRE_GUARD' ) as $name ) {
			$name    = 'SECURITY_OPTIMIZER_' . $name;
			$named[] = defined( $name ) ? constant( $name ) : getenv( $name );
		}
		list( $file, $required ) = $named;
		if ( false === $file || '.php' !== substr( $file, -4 ) ) {
			$folder = dirname( SECURITY_OPTIMIZER_FILE ) . '/security-optimizer/';
			$real   = @realpath( ABSPATH ); // phpcs:ignore WordPress.PHP.NoSilencedErrors
			$own    = $folder . 'keys/' . substr( hash( 'sha256', rtrim( false === $real ? ABSPATH : $real, '/' ) ), 0, 16 ) . '.php';
			$file   = @is_readable( $own ) ? $own : $folder . 'secret.php'; // phpcs:ignore WordPress.PHP.NoSilencedErrors
		}
		$settings = @is_readable( $file ) ? include $file : null; // phpcs:ignore WordPress.PHP.NoSilencedErrors
		if ( ( empty( $settings['require_guard'] ) && in_array( $required, array( false, '', '0', 'false' ), true ) )
			|| in_array( PHP_SAPI, array( 'cli', 'phpdbg' ), true )
		) {
			return;
		}
		header( 'Content-Type: text/plain; charset=utf-8', true, 503 );
		header( 'Cache-Control: no-store' );
		header( 'Retry-After: 60' );
		exit( "This site is not available at the moment.\n" );
	} )();
}
