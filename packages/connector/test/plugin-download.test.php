<?php
/**
 * Tests which packages of the plugin directory are accepted: those whose every file is verified.
 *
 * Run: php test/plugin-download.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

$base = sys_get_temp_dir() . '/clean-copy-' . bin2hex( random_bytes( 8 ) );
define( 'ABSPATH', $base . '/site/' );
define( 'WP_CONTENT_DIR', ABSPATH . 'wp-content' );
define( 'WP_PLUGIN_DIR', WP_CONTENT_DIR . '/plugins' );
mkdir( WP_PLUGIN_DIR, 0755, true );

final class WP_Filesystem_Direct {
}
$wp_filesystem = new WP_Filesystem_Direct();
$transient     = false;
/** Content of the directory: `slug`, `version`, `package` (contents by path in the zip), `links` in it, `sums`. */
$offered = array();

function WP_Filesystem() { // phpcs:ignore WordPress.NamingConventions.ValidFunctionName
	return true;
}
function is_wp_error( $value ) {
	return false;
}
function build_query( array $data ) {
	return http_build_query( $data );
}
function wp_mkdir_p( $folder ) {
	return is_dir( $folder ) || mkdir( $folder, 0755, true );
}
function wp_strip_all_tags( $text ) {
	return trim( strip_tags( $text ) );
}
function sanitize_title( $text ) {
	return trim( preg_replace( '/[^a-z0-9]+/', '-', strtolower( $text ) ), '-' );
}
function get_site_transient( $name ) {
	return $GLOBALS['transient'];
}
function wp_remote_get( $url, array $options ) {
	$offered = $GLOBALS['offered'];
	if ( isset( $options['filename'] ) ) {
		file_put_contents( $options['filename'], 'a zip' );
		return array( 200, '' );
	}
	if ( false !== strpos( $url, '/plugin-checksums/' ) ) {
		return array( 200, json_encode( array( 'files' => $offered['sums'] ) ) );
	}
	return array( 200, json_encode( array_intersect_key( $offered, array_flip( array( 'slug', 'version' ) ) ) ) );
}
function wp_remote_retrieve_response_code( array $response ) {
	return $response[0];
}
function wp_remote_retrieve_body( array $response ) {
	return $response[1];
}
/** As WordPress: names that lead out of the folder are skipped. */
function unzip_file( $zip, $folder ) {
	foreach ( $GLOBALS['offered']['package'] as $name => $text ) {
		if ( false === strpos( $name, '..' ) ) {
			wp_mkdir_p( dirname( "$folder/$name" ) );
			file_put_contents( "$folder/$name", $text );
		}
	}
	foreach ( $GLOBALS['offered']['links'] as $name => $target ) {
		symlink( $target, "$folder/$name" );
	}
	return true;
}
function get_plugin_data( $file ) {
	preg_match( '/Plugin Name: (.*)/', file_get_contents( $file ), $found );
	return array(
		'Name'      => $found[1],
		'Author'    => '',
		'PluginURI' => '',
	);
}
load_classes( 'Files', 'Plugin_Download' );

const MAIN = "<?php\n// Plugin Name: Shelf\n";

/** @return array Checksums of contents, in the format of the directory. */
function sums_of( array $files ) {
	return array_map(
		static function ( $text ) {
			return array(
				'md5'    => md5( $text ),
				'sha256' => hash( 'sha256', $text ),
			);
		},
		$files
	);
}

/**
 * @param array  $package Contents by their path in the zip.
 * @param array  $sums    The directory's list.
 * @param string $file    Main file of the plugin.
 * @param array  $links   Targets by path in the zip.
 * @return string[] Code of the error, or '', and the refused file.
 */
function fetch( array $package, array $sums, $file = 'shelf/shelf.php', array $links = array() ) {
	$GLOBALS['offered'] = array(
		'slug'    => 'shelf',
		'version' => '1.0',
		'package' => $package,
		'links'   => $links,
		'sums'    => $sums,
	);
	$data               = array(
		'Version'   => '1.0',
		'Name'      => 'Shelf',
		'Author'    => '',
		'PluginURI' => '',
	);
	$copy               = new Security_Optimizer_Plugin_Download(
		$file,
		$data,
		array(
			'api'       => 'https://api.example.com',
			'downloads' => 'https://downloads.example.com',
			'checksums' => 'https://downloads.example.com',
		)
	);
	$reason             = $copy->fetch();
	$taken              = '' === $reason ? (string) @file_get_contents( $copy->get_copy_path() . ( is_dir( $copy->get_copy_path() ) ? '/shelf.php' : '' ) ) : MAIN;
	$copy->remove();
	check( 'what is taken is the main file of the package', MAIN, $taken );
	return array( $reason, $copy->refused_file );
}

$files = array(
	'shelf.php'        => MAIN,
	'includes/one.php' => '<?php return 1;',
	'readme.txt'       => '=== Shelf ===',
);
$zip   = array();
foreach ( $files as $name => $text ) {
	$zip[ "shelf/$name" ] = $text;
}
$sums    = sums_of( $files );
$several = static function ( array $one ) {
	return array(
		'md5'    => array( str_repeat( '0', 32 ), $one['md5'] ),
		'sha256' => array( str_repeat( '0', 64 ), $one['sha256'] ),
	);
};

$taken = array(
	'as it should be'                                 => array( $zip, $sums ),
	'a list with files that the package lacks'        => array( $zip, $sums + sums_of( array( 'old.php' => 'a', 'img/a.png' => 'b' ) ) ), // phpcs:ignore WordPress.Arrays
	'a list with names that lead elsewhere'           => array( $zip, $sums + sums_of( array( '../../wp-config.php' => 'a', '/etc/passwd' => 'b', '7' => 'c', '' => 'd' ) ) ), // phpcs:ignore WordPress.Arrays
	'a list with names in other cases besides'        => array( $zip, $sums + sums_of( array( 'SHELF.PHP' => 'a', 'Includes/One.php' => 'b' ) ) ), // phpcs:ignore WordPress.Arrays
	'several sums for a file'                         => array( $zip, array_map( $several, $sums ) ),
	'SHA-256 alone'                                   => array( $zip, array_map( static function ( $one ) { return array( 'sha256' => $one['sha256'] ); }, $sums ) ), // phpcs:ignore
	'MD5 alone'                                       => array( $zip, array_map( static function ( $one ) { return array( 'md5' => $one['md5'], 'sha256' => array() ); }, $sums ) ), // phpcs:ignore
	'sums in capital letters'                         => array( $zip, array_map( static function ( $one ) { return array_map( 'strtoupper', $one ); }, $sums ) ), // phpcs:ignore
	'another readme'                                  => array( array( 'shelf/readme.txt' => 'newer' ) + $zip, $sums ),
	'a readme that the list lacks'                    => array( $zip, array_diff_key( $sums, array( 'readme.txt' => 1 ) ) ),
	'a single file out of the package'                => array( $zip, $sums, 'shelf.php' ),
	'a single file that is the whole package'         => array( array( 'shelf/shelf.php' => MAIN ), $sums, 'shelf.php' ),
	'a package with a name that WordPress leaves out' => array( $zip + array( 'shelf/../../evil.php' => '<?php' ), $sums ),
);
foreach ( $taken as $name => $given ) {
	check( "taken: $name", array( '', '' ), fetch( ...$given ) );
}

$refused = array(
	'a file that differs'                        => array( 'checksum_differs', 'includes/one.php', array( 'shelf/includes/one.php' => '<?php return 2;' ) + $zip, $sums ),
	'a file that has the sum of another'         => array( 'checksum_differs', 'includes/one.php', array( 'shelf/includes/one.php' => MAIN ) + $zip, $sums ),
	'a file that is not on the list'             => array( 'not_on_list', 'more.php', $zip + array( 'shelf/more.php' => '<?php' ), $sums ),
	'a picture that is not on the list'          => array( 'not_on_list', 'a.png', $zip + array( 'shelf/a.png' => 'a' ), $sums ),
	'a readme elsewhere that is not on the list' => array( 'not_on_list', 'includes/readme.txt', $zip + array( 'shelf/includes/readme.txt' => 'a' ), $sums ),
	'a name in another case'                     => array( 'not_on_list', 'includes/One.php', $zip + array( 'shelf/includes/One.php' => '<?php return 1;' ), $sums ),
	'a name with a backslash'                    => array( 'not_on_list', 'includes\one.php', $zip + array( 'shelf/includes\one.php' => '<?php evil();' ), $sums ),
	'a name with a space behind'                 => array( 'not_on_list', 'shelf.php ', $zip + array( 'shelf/shelf.php ' => MAIN ), $sums ),
	'a hidden file'                              => array( 'not_on_list', '.htaccess', $zip + array( 'shelf/.htaccess' => 'a' ), $sums ),
	'a file beside the folder'                   => array( 'not_on_list', '../evil.php', $zip + array( 'evil.php' => '<?php' ), $sums ),
	'a second folder'                            => array( 'not_on_list', '../other', $zip + array( 'other/evil.php' => '<?php' ), $sums ),
	'a sum of no known kind'                     => array( 'checksum_differs', 'shelf.php', $zip, array( 'shelf.php' => array( 'crc' => '1' ) ) + $sums ),
	'a sum that is no sum'                       => array( 'checksum_differs', 'shelf.php', $zip, array( 'shelf.php' => array( 'md5' => array( array(), 0, true, null ) ) ) + $sums ),
	'a link to a file'                           => array( 'not_on_list', 'link.php', $zip, $sums, 'shelf/shelf.php', array( 'shelf/link.php' => 'shelf.php' ) ),
	'a link with the name of a file on the list' => array( 'checksum_differs', 'old.php', $zip, $sums + sums_of( array( 'old.php' => MAIN ) ), 'shelf/shelf.php', array( 'shelf/old.php' => 'shelf.php' ) ), // phpcs:ignore WordPress.Arrays
	'a link to a folder'                         => array( 'not_on_list', 'more', $zip, $sums, 'shelf/shelf.php', array( 'shelf/more' => 'includes' ) ),
	'a single file that differs'                 => array( 'checksum_differs', 'shelf.php', array( 'shelf/shelf.php' => MAIN . 'evil();' ) + $zip, $sums, 'shelf.php' ),
	'a package without the main file'            => array( 'another_plugin', '', array_diff_key( $zip, array( 'shelf/shelf.php' => 1 ) ), $sums ),
	'a package without its folder'               => array( 'not_on_list', '../includes', $files, $sums ),
	'an empty package'                           => array( 'download_failed', '', array(), $sums ),
);
foreach ( $refused as $name => $given ) {
	check( "refused: $name", array_slice( $given, 0, 2 ), fetch( ...array_slice( $given, 2 ) ) );
}
check( 'nothing is left beside the plugins', array( '.', '..' ), scandir( WP_CONTENT_DIR . '/upgrade' ) );

Security_Optimizer_Files::delete( $base );
finish_checks();
