<?php
/**
 * Stubs of WP-CLI for static analysis: names and parameters, no behaviour.
 *
 * @package Security_Optimizer
 */

namespace {
	define( 'WP_CLI', true );
	// Set in wp-config.php by the provider.
	define( 'SECURITY_OPTIMIZER_GUARD_URL', '' );

	class WP_CLI {

		/**
		 * @param string          $name     Words of the command.
		 * @param callable|string $callback A class, or what is called.
		 * @param array           $args     Options.
		 */
		public static function add_command( $name, $callback, $args = array() ) {}

		/**
		 * Prints the message and ends the command with exit code 1.
		 *
		 * @param string   $message Message.
		 * @param bool|int $leave   Exit code, or whether to end.
		 */
		public static function error( $message, $leave = true ) {}

		/**
		 * @param string $message Message.
		 */
		public static function success( $message ) {}

		/**
		 * @param string $message Message.
		 */
		public static function line( $message = '' ) {}
	}
}

namespace WP_CLI\Utils {
	/**
	 * @param string          $format `table`, `json`, `csv`, `yaml` or `count`.
	 * @param array           $items  Rows.
	 * @param string[]|string $fields Names of the columns.
	 */
	function format_items( $format, $items, $fields ) {}
}
