<?php
/**
 * Tests that new salts and a reinstalled plugin follow no symbolic link in the site's folder.
 *
 * Only a test that runs as root can give a linked file another owner; the other checks need no privileges.
 *
 * Run: php test/symbolic-links.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

$base = sys_get_temp_dir() . '/links-' . bin2hex( random_bytes( 8 ) );
define( 'ABSPATH', $base . '/site/' );
define( 'WP_CONTENT_DIR', ABSPATH . 'wp-content' );
define( 'WP_PLUGIN_DIR', WP_CONTENT_DIR . '/plugins' );
define( 'AUTH_KEY', 'old' );
define( 'WPINC', 'wp-includes' );
define( 'SECURITY_OPTIMIZER_KEY', str_repeat( 'ab', 32 ) );
define( 'SECURITY_OPTIMIZER_FILE', WP_CONTENT_DIR . '/mu-plugins/security-optimizer.php' );
foreach ( array( '/site/wp-admin/includes', '/site/wp-content/plugins', '/site/wp-content/upgrade', '/neighbour' ) as $folder ) {
	mkdir( $base . $folder, 0755, true );
}
file_put_contents( ABSPATH . 'wp-admin/includes/file.php', "<?php\n" );

$options = array();
function delete_site_option( $name ) {
	unset( $GLOBALS['options'][ $name ] );
	return true;
}
function update_site_option( $name, $value ) {
	$GLOBALS['options'][ $name ] = $value;
	return true;
}
function get_site_option( $name ) {
	return isset( $GLOBALS['options'][ $name ] ) ? $GLOBALS['options'][ $name ] : false;
}
function wp_salt( $scheme ) {
	return 'old' . $scheme;
}
function trailingslashit( $path ) {
	return rtrim( $path, '/' ) . '/';
}
/** Called between the two renames, during maintenance mode. */
function wp_opcache_invalidate() {
	$GLOBALS['maintenance'] = array( is_link( ABSPATH . '.maintenance' ), @file_get_contents( ABSPATH . '.maintenance' ) );
}
function wp_opcache_invalidate_directory() {
	wp_opcache_invalidate();
}
load_classes( 'Database_Retry', 'Config_Keys', 'Protocol', 'Secret', 'Salts', 'Files', 'Plugin_Swap', 'Plugin_Download' );

/** @return string[] Names below a folder. */
function names_in( $folder ) {
	return array_values( array_diff( scandir( $folder ), array( '.', '..' ) ) );
}

$config = "<?php\n";
foreach ( Security_Optimizer_Salts::NAMES as $name ) {
	$config .= "define( '$name', 'old' );\n";
}
$victim = $base . '/neighbour/file.php';
$wp     = ABSPATH . 'wp-config.php';

if ( function_exists( 'posix_getuid' ) && 0 === posix_getuid() ) {
	file_put_contents( $victim, $config );
	chown( $victim, 65534 );
	symlink( $victim, $wp );
	check( "new salts refuse a configuration that is a link to another owner's file", 'not_writable', Security_Optimizer_Salts::replace()['change'] );
	check( "the other owner's file is as it was", $config, file_get_contents( $victim ) );
	check( 'nothing is left beside it', array( 'file.php' ), names_in( $base . '/neighbour' ) );
	unlink( $wp );
	unlink( $victim );

	mkdir( $base . '/neighbour/site' );
	file_put_contents( $base . '/neighbour/site/wp-config.php', $config );
	chown( $base . '/neighbour/site', 65534 );
	symlink( $base . '/neighbour/site/wp-config.php', $wp );
	check( 'new salts refuse a link into a folder of another owner, although the file in it is ours', 'not_writable', Security_Optimizer_Salts::replace()['change'] );
	check( 'the file in that folder is as it was', $config, file_get_contents( $base . '/neighbour/site/wp-config.php' ) );
	check( 'nothing is left in that folder', array( 'wp-config.php' ), names_in( $base . '/neighbour/site' ) );
	unlink( $wp );
	Security_Optimizer_Files::delete( $base . '/neighbour/site' );
}

file_put_contents( $victim, $config );
symlink( $victim, $wp );
check( "new salts reach the owner's own configuration through a link, as WordPress reads it", 'written', Security_Optimizer_Salts::replace()['change'] );
check( 'the link is still one', true, is_link( $wp ) );
check( 'what it leads to has new salts', false, strpos( file_get_contents( $victim ), "'old'" ) );
unlink( $wp );
unlink( $victim );

$plugin = WP_PLUGIN_DIR . '/shelf';
$data   = array(
	'Version' => '1.0',
	'Name'    => 'Shelf',
);
$copy   = new Security_Optimizer_Plugin_Download( 'shelf/shelf.php', $data, array() );
symlink( $base . '/neighbour', $plugin );
check( 'a plugin whose folder is a link is not reinstalled', 'linked', $copy->find_obstacle() );
unlink( $plugin );
symlink( $base . '/nowhere', $plugin );
check( 'nor one whose link leads nowhere', 'linked', $copy->find_obstacle() );
unlink( $plugin );
mkdir( $plugin );
check( 'a plugin in a folder of its own is', '', $copy->find_obstacle() );
rmdir( WP_CONTENT_DIR . '/upgrade' );
symlink( $base . '/neighbour', WP_CONTENT_DIR . '/upgrade' );
check( 'a plugin is not reinstalled by way of an upgrade folder that is a link', 'upgrade_linked', $copy->find_obstacle() );
unlink( WP_CONTENT_DIR . '/upgrade' );
mkdir( WP_CONTENT_DIR . '/upgrade' );

foreach ( array( 'leads to a file', 'leads nowhere' ) as $kind ) {
	$exists = 'leads to a file' === $kind;
	if ( $exists ) {
		file_put_contents( $victim, 'theirs' );
	}
	symlink( $victim, ABSPATH . '.maintenance' );
	file_put_contents( $plugin . '/shelf.php', 'changed' );
	symlink( $base . '/neighbour', $plugin . '/link' );
	mkdir( $base . '/fresh' );
	file_put_contents( $base . '/fresh/shelf.php', 'clean' );
	check( "a plugin is replaced although .maintenance is a link that $kind", '', Security_Optimizer_Plugin_Swap::run( $plugin, $base . '/fresh' ) );
	check( "visitors are told to wait by a file of ours, not by a link that $kind", false, $maintenance[0] );
	check( "and it says so: a link that $kind", true, false !== strpos( (string) $maintenance[1], '$upgrading' ) );
	check( "what the link leads to is as it was: $kind", $exists ? 'theirs' : false, @file_get_contents( $victim ) );
	check( "deleting the old copy does not follow a link in it: $kind", $exists ? array( 'file.php' ) : array(), names_in( $base . '/neighbour' ) );
	check( "the plugin is the clean copy: $kind", array( 'shelf.php' ), names_in( $plugin ) );
	check( "nothing else is left in the site: $kind", array( 'wp-admin', 'wp-content' ), names_in( ABSPATH ) );
	if ( $exists ) {
		unlink( $victim );
	}
}

Security_Optimizer_Files::delete( $base );
finish_checks();
