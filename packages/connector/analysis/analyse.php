<?php
/**
 * Static analysis of the connector: names exist in WordPress or PHP, calls have the right number of arguments,
 * callbacks fit their hooks, variables are set, private members are used, comments name existing parameters, and PHP
 * 7.4 supports the syntax.
 *
 * Run: php packages/connector/analysis/analyse.php <folder of a WordPress>
 *
 * @package Security_Optimizer
 */

require 'PhpParser/autoload.php';
require __DIR__ . '/newer-syntax.php';
require __DIR__ . '/class-symbols.php';
require __DIR__ . '/class-checker.php';
require dirname( __DIR__ ) . '/test/checks.php';

ini_set( 'memory_limit', '512M' ); // phpcs:ignore
$connector = dirname( __DIR__ );
$files     = array_merge( array( "$connector/security-optimizer.php" ), array_values( list_class_files() ) );
preg_match( '/Requires at least: ([\d.]+)/', file_get_contents( $files[0] ), $oldest );

$wordpress = array();
foreach ( new RecursiveIteratorIterator( new RecursiveDirectoryIterator( $argv[1], FilesystemIterator::SKIP_DOTS ) ) as $path => $file ) {
	// noop.php holds empty functions of the same names.
	if ( preg_match( '/\.php\z/', $path ) && false === strpos( $path, '/wp-content/' ) && 'noop.php' !== basename( $path ) ) {
		$wordpress[] = $path;
	}
}
$symbols = new Symbols();
$symbols->read( $wordpress );
check( 'WordPress is there', true, isset( $symbols->functions['wp_signon'], $symbols->classes['wpdb'] ) );
$symbols->read( $files );
$symbols->read( array( __DIR__ . '/wp-cli-stubs.php' ) );
$checker = new Checker( $symbols, $oldest[1] );

// The analysis detects faults.
$samples = require __DIR__ . '/samples.php';
$number  = 0;
foreach ( $samples as $code => $fault ) {
	if ( false !== strpos( $fault, ' came with ' ) && '0' === $symbols->functions['wp_signon']['since'] ) {
		echo "This WordPress has no comments: what is newer than the oldest supported release is not found.\n";
		continue;
	}
	++$number;
	$fault = str_replace( 'Sample', "Sample$number", $fault );
	$found = $checker->check( "<?php final class Sample$number {\n$code\n}" );
	check( "sample: $code", $fault, preg_replace( '/\A\d+: /', '', implode( '; ', $found ) ) );
}
foreach ( $files as $file ) {
	check( 'faults of ' . basename( $file ), array(), $checker->check( file_get_contents( $file ) ) );
}
finish_checks();
