<?php
/**
 * Tests that the autoloader's list has every class file of the connector, and nothing else.
 *
 * Run: php test/classes.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

/** Folders whose classes have a prefix in their names that their files do not have. */
const PREFIXES = array(
	'activity' => 'Activity_',
	'cli'      => 'Cli_',
	'commands' => 'Command_',
);

$folder = dirname( __DIR__ ) . '/security-optimizer/includes/';
$listed = require $folder . 'classes.php';
$found  = array();
foreach ( new RecursiveIteratorIterator( new RecursiveDirectoryIterator( $folder, FilesystemIterator::SKIP_DOTS ) ) as $file ) {
	$found[] = substr( $file->getPathname(), strlen( $folder ) );
}
sort( $found );
$expected = array_merge( array( 'classes.php' ), array_values( $listed ) );
sort( $expected );
check( 'the list has each file once, and every file is there', $expected, $found );
check( 'no two names differ by their case alone', count( $listed ), count( array_change_key_case( $listed ) ) );

foreach ( array_intersect( $listed, $found ) as $class_name => $path ) {
	preg_match_all( '/^(?:(?:final|abstract) )*(?:class|interface|trait) (\w+)/m', file_get_contents( $folder . $path ), $declared );
	check( "$path declares the class that the list names, and no other", array( $class_name ), $declared[1] );
	$prefix = isset( PREFIXES[ dirname( $path ) ] ) ? PREFIXES[ dirname( $path ) ] : '';
	$stem   = preg_replace( "/\ASecurity_Optimizer_(?:$prefix)?/", '', $class_name );
	check( "$path is named after its class", 'class-' . strtolower( str_replace( '_', '-', $stem ) ) . '.php', basename( $path ) );
}

finish_checks();
