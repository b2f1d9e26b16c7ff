<?php
/**
 * Tests which requests count as background work: signed loopback requests, and background tasks of other requests.
 *
 * Run: php test/loopback-requests.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );

$doing    = array();
$may_edit = false;
function wp_parse_url( $url ) {
	return parse_url( $url );
}
function admin_url( $path ) {
	return 'https://shop.example/blog/wp-admin/' . $path;
}
function doing_action( $name ) {
	return in_array( $name, $GLOBALS['doing'], true );
}
function current_user_can() {
	return $GLOBALS['may_edit'];
}
function wp_unslash( $value ) {
	return stripslashes( $value );
}
load_classes( 'Protocol', 'Loopback_Requests' );

const AJAX = 'https://shop.example/blog/wp-admin/admin-ajax.php';

/** @return string|null The signature of a request. */
function sign( $url, $args = array() ) {
	$args = Security_Optimizer_Loopback_Requests::sign( $args, $url );
	return isset( $args['headers']['X-Site-Request'] ) ? $args['headers']['X-Site-Request'] : null;
}
/** @return bool Whether a request with this header counts as background work. */
function is_own( $header, $target, $secret = 'secret' ) {
	Security_Optimizer_Loopback_Requests::prepare( $secret );
	$known = new ReflectionProperty( 'Security_Optimizer_Loopback_Requests', 'is_own' );
	$known->setAccessible( true );
	$known->setValue( null, null );
	$_SERVER['HTTP_X_SITE_REQUEST'] = $header;
	$_SERVER['REQUEST_URI']         = addslashes( $target );
	if ( null === $header ) {
		unset( $_SERVER['HTTP_X_SITE_REQUEST'] );
	}
	return Security_Optimizer_Loopback_Requests::is_background();
}
/** @return string A signature from some seconds ago. */
function proof( $ago, $target, $secret = 'secret' ) {
	$time = time() - $ago;
	return $time . ' ' . Security_Optimizer_Protocol::mac( "own-request\n$time\n$target", $secret );
}

Security_Optimizer_Loopback_Requests::prepare( 'secret' );
$path = '/blog/wp-admin/admin-ajax.php';
foreach ( array( '', '?action=run&nonce=1', "?action=it's" ) as $query ) {
	$header = sign( AJAX . $query );
	check( "a call of the site to itself is signed, and known again: $query", true, is_own( $header, $path . $query ) );
	check( "for no other address: $query", false, is_own( $header, $path . '?action=other' ) );
}
check( 'the name of a host is in any letters', true, is_own( sign( 'HTTPS://SHOP.example/blog/wp-admin/admin-ajax.php' ), $path ) );
foreach ( array( 'https://outside.example/blog/wp-admin/admin-ajax.php', 'https://shop.example/wp-admin/admin-ajax.php', 'https://shop.example/', AJAX . '/x', '/blog/wp-admin/admin-ajax.php', '' ) as $url ) {
	check( "nothing else is signed: $url", null, sign( $url ) );
}
$args   = array(
	'timeout' => 1,
	'headers' => array( 'X-A' => 'b' ),
);
$signed = Security_Optimizer_Loopback_Requests::sign( $args, AJAX );
unset( $signed['headers']['X-Site-Request'] );
check( 'what a call holds already stays', $args, $signed );
foreach ( array( null, 'x', array( 'headers' => 'X-A: b' ) ) as $args ) {
	check( 'arguments of another form stay as they are: ' . json_encode( $args ), $args, Security_Optimizer_Loopback_Requests::sign( $args, AJAX ) );
}
check( 'nor is what has no address', array(), Security_Optimizer_Loopback_Requests::sign( array(), null ) );

check( 'a proof holds for two minutes', true, is_own( proof( 110, $path ), $path ) );
check( 'an older one does not', false, is_own( proof( 130, $path ), $path ) );
check( 'nor one that is of later', false, is_own( proof( -130, $path ), $path ) );
foreach ( array( null, '', 'x', time() . ' ', time() . ' x', time() . ' x y', '-1 x', proof( 0, $path ) . ' x', proof( 0, $path, 'other' ) ) as $header ) {
	check( 'an invented header proves nothing: ' . json_encode( $header ), false, is_own( $header, $path ) );
}
check( 'nor does one while there is no secret', false, is_own( proof( 0, $path, '' ), $path, '' ) );

$doing = array( 'action_scheduler_run_queue' );
check( 'the queue of Action Scheduler is background work, whichever request runs it', true, is_own( null, '/' ) );
$doing = array( 'shutdown' );
check( 'so is the shutdown of a request of a user without editing rights', true, is_own( null, '/' ) );
$may_edit = true;
check( 'but not that of a request of a user with editing rights', false, is_own( null, '/' ) );
$doing = array();
check( 'and not what a visitor does', false, is_own( null, '/' ) );

finish_checks();
