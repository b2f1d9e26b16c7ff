<?php
/**
 * Tests that the redirect after the second factor is passed to guard and back unchanged, also a long URL.
 *
 * Run: php test/login-target.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );

$kept    = array();
$refuses = false;
function set_site_transient( $name, $value, $seconds ) {
	$GLOBALS['lasts'] = $seconds;
	if ( ! $GLOBALS['refuses'] ) {
		$GLOBALS['kept'][ $name ] = $value;
	}
	return ! $GLOBALS['refuses'];
}
function get_site_transient( $name ) {
	return isset( $GLOBALS['kept'][ $name ] ) ? $GLOBALS['kept'][ $name ] : false;
}
function delete_site_transient( $name ) {
	unset( $GLOBALS['kept'][ $name ] );
}
function wp_generate_password( $length ) {
	return substr( bin2hex( random_bytes( $length ) ), 0, $length );
}
load_classes( 'Login_Target' );

foreach ( array( '', '/wp-admin/?a=1&b=%20', 'https://shop.example/' . str_repeat( 'x', 979 ) ) as $target ) {
	check( 'an address of ' . strlen( $target ) . ' bytes is sent as it is', $target, Security_Optimizer_Login_Target::pack( $target ) );
	check( 'and comes back: ' . strlen( $target ) . ' bytes', $target, Security_Optimizer_Login_Target::unpack( $target ) );
	check( 'nothing is kept for it: ' . strlen( $target ) . ' bytes', array(), $kept );
}
foreach ( array( 1001, 8000 ) as $length ) {
	$target = str_pad( '/wp-admin/?state=', $length, 'x' );
	$packed = Security_Optimizer_Login_Target::pack( $target );
	check( "of an address of $length bytes only a name is sent", 1, preg_match( '/\Akept:[0-9a-f]{24}\z/', $packed ) );
	check( "it is kept longer than guard waits for a code: $length bytes", 900, $lasts );
	check( "it comes back: $length bytes", $target, Security_Optimizer_Login_Target::unpack( $packed ) );
	check( "once: $length bytes", '', Security_Optimizer_Login_Target::unpack( $packed ) );
	check( "and then nothing of it is kept: $length bytes", array(), $kept );
}
check( 'a longer one leads to the usual place', '', Security_Optimizer_Login_Target::pack( str_repeat( 'x', 8001 ) ) );
check( 'a name that was typed is none', '', Security_Optimizer_Login_Target::pack( 'kept:0123456789abcdef01234567' ) );
check( 'a name that nobody made leads to the usual place', '', Security_Optimizer_Login_Target::unpack( 'kept:invented' ) );
$refuses = true;
check( 'so does one that the database does not keep', '', Security_Optimizer_Login_Target::pack( str_repeat( 'x', 2000 ) ) );

finish_checks();
