<?php
/**
 * Installs WordPress if it is new, and makes sure that the owner can log in.
 * The environment variable SANDBOX_INSTALL contains JSON with wordpress, url, title, user, email, password and reset.
 * The password is set only if WordPress is new or `reset` is true. Prints one line of JSON.
 */

$sandbox = json_decode( getenv( 'SANDBOX_INSTALL' ), true );
$address = parse_url( $sandbox['url'] );

// The variables of a web request, from which WordPress derives addresses.
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

// The server does not run yet, so WordPress must not test addresses. It must not send the welcome mail either.
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
	// Taxonomies were registered without permalinks. The first request creates the rules with theirs.
	delete_option( 'rewrite_rules' );
	// Avatars come from gravatar.com; the sandbox sends no requests to other servers.
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
