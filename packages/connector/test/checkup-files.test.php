<?php
/**
 * Tests which files in WordPress's folders count as harmless files of the host.
 *
 * Run: php test/checkup-files.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );
load_classes( 'Checkup_Files', 'Files' );

$folder = sys_get_temp_dir() . '/checkup-files-' . bin2hex( random_bytes( 8 ) );
mkdir( $folder, 0700 );

/** @return bool Whether a file with this name and content counts as left by the host. */
function is_left( $name, $text ) {
	$path = $GLOBALS['folder'] . '/' . $name;
	file_put_contents( $path, $text );
	$is_left = Security_Optimizer_Checkup_Files::is_left_by_server( $path );
	unlink( $path );
	return $is_left;
}

$left = array(
	'a log of PHP'                   => array( 'error_log', "[27-Nov-2026 10:00:00 UTC] PHP Warning:  Undefined variable \$x in /srv/site/index.php on line 7\n" ),
	'a log by another name'          => array( 'php_errorlog', "PHP Notice:  x\n" ),
	'an empty log'                   => array( 'error_log', '' ),
	'a wall with a password'         => array( '.htaccess', "AuthType Basic\nAuthName \"Staff\"\nAuthUserFile /srv/.htpasswd\nRequire valid-user\n" ),
	'the names for it'               => array( '.htpasswd', 'staff:$apr1$abc$def' ),
	'limits of PHP'                  => array( 'php.ini', "memory_limit = 256M\nupload_max_filesize = 64M\n" ),
	'the same by folder'             => array( '.user.ini', "max_execution_time = 120\n" ),
	'what a desktop leaves'          => array( '.DS_Store', "\0\0\0\1Bud1" ),
	'what another leaves'            => array( 'Thumbs.db', "\xd0\xcf\x11\xe0" ),
	'what the same leaves elsewhere' => array( 'desktop.ini', "[.ShellClassInfo]\n" ),
	'a name in capital letters'      => array( 'PHP.INI', 'memory_limit = 1G' ),
	'a log of almost a megabyte'     => array( 'error_log', str_repeat( 'x', 1048576 ) ),
);
foreach ( $left as $name => list( $file, $text ) ) {
	check( "is left by the host, and harmless: $name", true, is_left( $file, $text ) );
}

$found = array(
	'a log with PHP in it'            => array( 'error_log', "PHP Warning: x\n<?php system( \$_GET['c'] );" ),
	'a log with a short tag'          => array( 'error_log', '<?= 1 ?>' ),
	'a log with a script'             => array( 'error_log', "<SCRIPT language='php'>" ),
	'settings that load a file'       => array( '.user.ini', 'auto_prepend_file = /tmp/x.png' ),
	'settings that load one behind'   => array( 'php.ini', 'Auto_Append_File=x' ),
	'settings that load an extension' => array( 'php.ini', 'zend_extension = /tmp/x.so' ),
	'pictures that run as PHP'        => array( '.htaccess', 'AddType application/x-httpd-php .png' ),
	'the same by a handler'           => array( '.htaccess', 'SetHandler application/x-httpd-php' ),
	'the same for one file'           => array( '.htaccess', "<Files x.png>\nForceType application/x-httpd-php\n</Files>" ),
	'settings of PHP in Apache'       => array( '.htaccess', 'php_value auto_prepend_file x.png' ),
	'a rewritten URL'                 => array( '.htaccess', "RewriteEngine On\nRewriteRule ^(.*)$ x.png\n" ),
	'scripts of another kind'         => array( '.htaccess', 'Options +ExecCGI' ),
	'a file by another name'          => array( 'x.php', 'memory_limit = 1G' ),
	'a name that only begins so'      => array( 'error_log.php', 'x' ),
	'a name that only ends so'        => array( 'x.htaccess', 'x' ),
	'a log that is too long to read'  => array( 'error_log', str_repeat( 'x', 1048577 ) ),
);
foreach ( $found as $name => list( $file, $text ) ) {
	check( "is a finding: $name", false, is_left( $file, $text ) );
}
file_put_contents( "$folder/notes", 'x' );
symlink( "$folder/notes", "$folder/error_log" );
check( 'is a finding: a link to another file', false, Security_Optimizer_Checkup_Files::is_left_by_server( "$folder/error_log" ) );
unlink( "$folder/error_log" );
unlink( "$folder/notes" );
check( 'is a finding: what is gone again', false, Security_Optimizer_Checkup_Files::is_left_by_server( "$folder/error_log" ) );
rmdir( $folder );

mkdir( "$folder/includes", 0700, true );
file_put_contents( "$folder/includes/load.php", '' );
file_put_contents( "$folder/includes\\load.php", 'planted' );
check( 'a name with a backslash is not that of the file in a folder', array( '/includes/load.php', '/includes\\load.php' ), Security_Optimizer_Files::list_below( $folder ) );
Security_Optimizer_Files::delete( $folder );

finish_checks();
