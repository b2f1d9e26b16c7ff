<?php
/**
 * Installs WordPress when it is not yet, and makes sure that the owner can log in.
 * Called with the environment variable SANDBOX_INSTALL: JSON with wordpress, url, title, user, email and password.
 * The password is set only when `reset` is true or WordPress is new. Prints one line of JSON.
 */

$sandbox = json_decode( getenv( 'SANDBOX_INSTALL' ), true );
$address = parse_url( $sandbox['url'] );

// What WordPress expects of a web request; it uses these to guess addresses.
$_SERVER['HTTP_HOST']       = $address['host'] . ( isset( $address['port'] ) ? ':' . $address['port'] : '' );
$_SERVER['SERVER_NAME']     = $address['host'];
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
$_SERVER['REQUEST_METHOD']  = 'GET';
$_SERVER['REQUEST_URI']     = '/wp-admin/install.php';
$_SERVER['SCRIPT_NAME']     = '/wp-admin/install.php';
$_SERVER['PHP_SELF']        = '/wp-admin/install.php';

define( 'WP_INSTALLING', true );
require $sandbox['wordpress'] . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/file.php';
require_once ABSPATH . 'wp-admin/includes/misc.php';

// The server is not up yet: WordPress must neither ask it whether addresses work nor send the welcome mail.
add_filter( 'pre_http_request', static function () {
	return new WP_Error( 'sandbox_install', 'No requests while installing.' );
} );
add_filter( 'pre_wp_mail', '__return_true' );

$new = ! is_blog_installed();
if ( $new ) {
	$result = wp_install( $sandbox['title'], $sandbox['user'], $sandbox['email'], true, '', $sandbox['password'] );
	if ( is_wp_error( $result ) ) {
		fwrite( STDERR, $result->get_error_message() . "\n" );
		exit( 1 );
	}
	global $wp_rewrite;
	$wp_rewrite->init();
	$wp_rewrite->set_permalink_structure( '/%postname%/' );
	// Categories and tags were set up without pretty addresses: the first request makes the rules, with theirs.
	delete_option( 'rewrite_rules' );
	// Avatars come from gravatar.com; the sandbox asks nothing of other servers.
	update_option( 'show_avatars', 0 );
} elseif ( ! empty( $sandbox['reset'] ) ) {
	$owner = get_user_by( 'login', $sandbox['user'] );
	if ( $owner ) {
		wp_set_password( $sandbox['password'], $owner->ID );
	} else {
		$id = wp_create_user( $sandbox['user'], $sandbox['password'], $sandbox['email'] );
		( new WP_User( $id ) )->set_role( 'administrator' );
	}
}

echo json_encode(
	array(
		'installed' => is_blog_installed(),
		'new'       => $new,
		'version'   => $GLOBALS['wp_version'],
	)
), "\n";
