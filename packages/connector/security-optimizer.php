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
 * The loader. It lives in wp-content/mu-plugins, everything else in the folder of the same name beside it.
 * What the connector hooks into WordPress is listed in class-hooks.php. Each installed version has a folder of its own
 * for its classes, `includes-…`, which is written into this file in place of `includes`.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

// An incomplete copy must not take the site down.
if ( is_readable( __DIR__ . '/security-optimizer/includes/class-hooks.php' ) ) {
	define( 'SECURITY_OPTIMIZER_VERSION', '0.1.0' );
	define( 'SECURITY_OPTIMIZER_FILE', __FILE__ );
	define( 'SECURITY_OPTIMIZER_DIR', __DIR__ . '/security-optimizer' );

	spl_autoload_register(
		static function ( $class_name ) {
			if ( 0 === strpos( $class_name, 'Security_Optimizer_' ) ) {
				$name = strtolower( str_replace( '_', '-', substr( $class_name, strlen( 'Security_Optimizer_' ) ) ) );
				require SECURITY_OPTIMIZER_DIR . '/includes/class-' . $name . '.php';
			}
		}
	);

	Security_Optimizer_Hooks::add();
}
