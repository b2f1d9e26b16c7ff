<?php
/**
 * The classes of the connector, for tests that run without its autoloader.
 *
 * @package Security_Optimizer
 */

/**
 * @return string[] Path of each class's file by the class's name.
 */
function list_class_files() {
	$folder = dirname( __DIR__ ) . '/security-optimizer/includes/';
	return array_map(
		static function ( $path ) use ( $folder ) {
			return $folder . $path;
		},
		require $folder . 'classes.php'
	);
}

/**
 * @param string ...$names Names of classes without `Security_Optimizer_`.
 */
function load_classes( ...$names ) {
	$files = list_class_files();
	foreach ( $names as $name ) {
		require_once $files[ 'Security_Optimizer_' . $name ];
	}
}
