<?php
/**
 * Tests which values WordPress and plugins see as the client's address, in each header that may name it.
 *
 * Run: php test/visitor-headers.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );
load_classes( 'Request_Gate' );

$set_visitor = new ReflectionMethod( 'Security_Optimizer_Request_Gate', 'set_visitor' );
$set_visitor->setAccessible( true );

/** @return array What `$_SERVER` contains afterwards. */
function server_for( $headers ) {
	$_SERVER = array_merge(
		array(
			'REMOTE_ADDR' => '127.0.0.1',
			'HTTP_HOST'   => 'shop.example',
		), $headers
	);
	$GLOBALS['set_visitor']->invoke( null, '203.0.113.7', 'https' );
	return $_SERVER;
}

foreach ( array( 'X_REAL_IP', 'X_CLIENT_IP', 'X_CLUSTER_CLIENT_IP', 'CLIENT_IP', 'CF_CONNECTING_IP', 'TRUE_CLIENT_IP' ) as $name ) {
	$server = server_for( array( "HTTP_$name" => '198.51.100.9' ) );
	check( "a header with one address has the client's, so that plugins may read it: $name", '203.0.113.7', $server[ "HTTP_$name" ] ?? null );
	check( "no such header is added: $name", false, isset( server_for( array() )[ "HTTP_$name" ] ) );
}
foreach ( array( 'FORWARDED', 'FORWARDED_FOR', 'X_FORWARDED', 'X_FORWARDED_HOST', 'FRONT_END_HTTPS' ) as $name ) {
	$server = server_for( array( "HTTP_$name" => 'for=198.51.100.9' ) );
	check( "any other header of a proxy is removed: $name", false, isset( $server[ "HTTP_$name" ] ) );
}
$server = server_for(
	array(
		'HTTP_X_FORWARDED_FOR'   => '198.51.100.9, 127.0.0.1',
		'HTTP_X_FORWARDED_PROTO' => 'http',
		'HTTP_X_SHIPPING_IP'     => '198.51.100.9',
	)
);
check( 'the list of proxies has the client alone', '203.0.113.7', $server['HTTP_X_FORWARDED_FOR'] );
check( 'the scheme is the client’s', 'https', $server['HTTP_X_FORWARDED_PROTO'] );
check( 'headers that guard let through otherwise stay as they are', '198.51.100.9', $server['HTTP_X_SHIPPING_IP'] );

finish_checks();
