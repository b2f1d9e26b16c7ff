<?php
/**
 * Tests which files of the checkup guard may read, remove and restore.
 *
 * Run: php test/finding-files.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

$base = sys_get_temp_dir() . '/finding-' . bin2hex( random_bytes( 8 ) );
define( 'ABSPATH', $base . '/site/' );
const UPLOADS = ABSPATH . 'wp-content/uploads';
foreach ( array( UPLOADS . '/2024', ABSPATH . 'wp-admin/js', ABSPATH . 'wp-includes', ABSPATH . 'wp-content/plugins', $base . '/other' ) as $folder ) {
	mkdir( $folder, 0755, true );
}

$uploads = UPLOADS;
function wp_upload_dir() {
	return array( 'basedir' => $GLOBALS['uploads'] );
}
function wp_normalize_path( $path ) {
	return $path;
}
function untrailingslashit( $path ) {
	return rtrim( $path, '/' );
}
function wp_mkdir_p( $folder ) {
	return is_dir( $folder ) || @mkdir( $folder, 0755, true );
}

/** Stub of the rows that permit restoring a file. */
final class Security_Optimizer_Option_Rows {
	public static $rows    = array();
	public static $refuses = false;

	public static function time( $time ) {
		return sprintf( '%012d', $time );
	}
	public static function insert( $name, $value ) {
		if ( self::$refuses || isset( self::$rows[ $name ] ) ) {
			return self::$refuses ? false : 0;
		}
		self::$rows[ $name ] = $value;
		return 1;
	}
	public static function update( $name, $value ) {
		if ( self::$refuses ) {
			return false;
		}
		self::$rows[ $name ] = $value;
		return 1;
	}
	public static function read( $name ) {
		return isset( self::$rows[ $name ] ) ? self::$rows[ $name ] : null;
	}
	public static function delete_older( $prefix, $before ) {
		self::$rows = array_filter(
			self::$rows,
			static function ( $value ) use ( $before ) {
				return (int) $value >= $before;
			}
		);
	}
}

load_classes( 'Checkup_Files', 'Database_Retry', 'Finding_Files', 'Command_Checkup', 'Command_Finding_Files' );

const SHELL = "<?php system( \$_GET['c'] );\n";

/** Creates a file and returns what guard sends about it. */
function plant( $path, $check, $name, $text = SHELL ) {
	if ( ! is_dir( dirname( $path ) ) ) {
		mkdir( dirname( $path ), 0755, true );
	}
	file_put_contents( $path, $text );
	return found( $check, $name, $text );
}
function found( $check, $name, $text = SHELL ) {
	return array(
		'check' => $check,
		'path'  => base64_encode( $name ),
		'state' => hash( 'sha256', $text ),
	);
}
function remove( array $body ) {
	$result = Security_Optimizer_Command_Finding_Files::remove( $body );
	return is_array( $result ) ? $result['reason'] : $result;
}
/** Puts a file back in parts of the given length. */
function restore( array $body, $text = SHELL, $length = 1000000, $mode = 0640 ) {
	$offset = 0;
	$size   = strlen( $text );
	do {
		$part    = substr( $text, $offset, $length );
		$result  = Security_Optimizer_Command_Finding_Files::restore(
			$body + array(
				'offset'  => $offset,
				'size'    => $size,
				'mode'    => $mode,
				'at'      => 1700000000,
				'content' => base64_encode( $part ),
			)
		);
		$reason  = is_array( $result ) ? $result['reason'] : $result;
		$offset += strlen( $part );
	} while ( '' === $reason && $offset < $size );
	return $reason;
}

foreach (
	array(
		'a script in uploads'                 => array( UPLOADS . '/2024/x.php', 'uploads', '/wp-content/uploads/2024/x.php' ),
		'one whose name is no UTF-8'          => array( UPLOADS . "/\xff\xfe.phtml", 'uploads', "/wp-content/uploads/\xff\xfe.phtml" ),
		'one with a control character'        => array( UPLOADS . "/a\n\x1b[31m.php", 'uploads', "/wp-content/uploads/a\n\x1b[31m.php" ),
		'one that only looks like a way out'  => array( UPLOADS . '/..x/y..php', 'uploads', '/wp-content/uploads/..x/y..php' ),
		'a file that WordPress does not know' => array( ABSPATH . 'wp-admin/js/x.js', 'core', 'wp-admin/js/x.js' ),
		'one beside wp-config.php'            => array( ABSPATH . 'wp-x.php', 'core', 'wp-x.php' ),
	) as $name => list( $path, $check, $file )
) {
	$body = plant( $path, $check, $file );
	$read = Security_Optimizer_Command_Finding_Files::read( $body + array( 'offset' => 0 ) );
	check( "is read: $name", array( '', SHELL, strlen( SHELL ) ), array( $read['reason'], base64_decode( $read['content'] ), $read['size'] ) );
	check( "is removed: $name", array( '', false ), array( remove( $body ), file_exists( $path ) ) );
	check( "is gone, and said so: $name", 'gone', remove( $body ) );
	check( "is restored as it was: $name", array( '', SHELL, 0640, 1700000000 ), array( restore( $body ), file_get_contents( $path ), fileperms( $path ) & 0777, filemtime( $path ) ) );
	check( "may be restored twice: $name", '', restore( $body ) );
	unlink( $path );
}

foreach (
	array(
		'wp-config.php'                      => array( ABSPATH . 'wp-config.php', 'core', 'wp-config.php' ),
		'wp-config.php in capitals'          => array( ABSPATH . 'WP-CONFIG.PHP', 'core', 'WP-CONFIG.PHP' ),
		'a plugin'                           => array( ABSPATH . 'wp-content/plugins/x.php', 'core', 'wp-content/plugins/x.php' ),
		'a plugin as an upload'              => array( ABSPATH . 'wp-content/plugins/x.php', 'uploads', '/wp-content/plugins/x.php' ),
		'a way out of uploads'               => array( ABSPATH . 'wp-content/plugins/x.php', 'uploads', '/wp-content/uploads/../plugins/x.php' ),
		'a way out of a folder of WordPress' => array( ABSPATH . 'wp-content/plugins/x.php', 'core', 'wp-admin/../wp-content/plugins/x.php' ),
		'an empty folder name'               => array( UPLOADS . '/x.php', 'uploads', '/wp-content/uploads//x.php' ),
		'a full path elsewhere'              => array( $base . '/other/x.php', 'uploads', $base . '/other/x.php' ),
		'a picture in uploads'               => array( UPLOADS . '/x.jpg', 'uploads', '/wp-content/uploads/x.jpg' ),
		'a text beside wp-config.php'        => array( ABSPATH . 'x.txt', 'core', 'x.txt' ),
		'another check'                      => array( UPLOADS . '/x.php', 'plugins', '/wp-content/uploads/x.php' ),
		'a name that ends early'             => array( UPLOADS . '/x.php', 'uploads', "/wp-content/uploads/x.php\0.php" ),
	) as $name => list( $path, $check, $file )
) {
	$body = plant( $path, $check, $file );
	check( "is no file of a finding: $name", array( 'invalid_file', true ), array( remove( $body ), file_exists( $path ) ) );
	unlink( $path );
}
foreach ( array( array(), array( 'check' => 'core' ), found( 'uploads', '/wp-content/uploads/x.php' ) + array( 'offset' => -1 ), array( 'path' => '*' ) + found( 'core', 'x.php' ), array( 'state' => 'x' ) + found( 'core', 'x.php' ) ) as $number => $body ) {
	check( "a command that names no file is invalid ($number)", 'invalid_file', Security_Optimizer_Command_Finding_Files::read( $body ) );
}

$body = plant( UPLOADS . '/x.php', 'uploads', '/wp-content/uploads/x.php' );
file_put_contents( UPLOADS . '/x.php', '<?php echo 1;' );
check( 'stays: a file that has changed since', array( 'changed', true ), array( remove( $body ), file_exists( UPLOADS . '/x.php' ) ) );
$body = plant( UPLOADS . '/x.php', 'uploads', '/wp-content/uploads/x.php', "<?php\n// Silence is golden.\n" );
check( 'stays: a file without code', 'changed', remove( $body ) );
$body = plant( UPLOADS . '/x.php', 'uploads', '/wp-content/uploads/x.php', SHELL . str_repeat( ' ', 4194304 ) );
check( 'stays: a file of which no copy can be kept', 'too_large', remove( $body ) );
unlink( UPLOADS . '/x.php' );

$body = plant( ABSPATH . 'loader.php', 'core', 'loader.php', "<?php\n\$loaded = true;\n" );
require ABSPATH . 'loader.php';
check( 'stays: a file that every request loads', array( 'in_use', true ), array( remove( $body ), file_exists( ABSPATH . 'loader.php' ) ) );
unlink( ABSPATH . 'loader.php' );

file_put_contents( $base . '/other/x.php', SHELL );
symlink( $base . '/other/x.php', UPLOADS . '/x.php' );
check( 'stays: a link', array( 'linked', true ), array( remove( found( 'uploads', '/wp-content/uploads/x.php' ) ), is_link( UPLOADS . '/x.php' ) ) );
unlink( UPLOADS . '/x.php' );
symlink( $base . '/other', UPLOADS . '/away' );
check( 'stays: a file behind a link', array( 'linked', true ), array( remove( found( 'uploads', '/wp-content/uploads/away/x.php' ) ), file_exists( $base . '/other/x.php' ) ) );

$uploads = $base . '/linked';
symlink( UPLOADS, $uploads );
$body = plant( UPLOADS . '/2024/x.php', 'uploads', $uploads . '/2024/x.php' );
check( 'is removed: a script in an uploads folder that is a link itself', array( '', false ), array( remove( $body ), file_exists( UPLOADS . '/2024/x.php' ) ) );
$uploads = UPLOADS;

$body = plant( UPLOADS . '/x.php', 'uploads', '/wp-content/uploads/x.php' );

Security_Optimizer_Option_Rows::$refuses   = true;
Security_Optimizer_Database_Retry::$paused = Security_Optimizer_Database_Retry::MAX_PAUSED;
check( 'stays while the database can’t note that it may come back', array( 'not_stored', true ), array( remove( $body ), file_exists( UPLOADS . '/x.php' ) ) );
Security_Optimizer_Option_Rows::$refuses = false;

check( 'is not written: a file that was not removed here', 'not_removed_here', restore( found( 'uploads', '/wp-content/uploads/new.php' ) ) );
remove( $body );
check( 'is not written: other content than the removed one', array( 'interrupted', false ), array( restore( $body, '<?php echo 2;' ), file_exists( UPLOADS . '/x.php' ) ) );
check( 'is not written: a file with another hash', 'not_removed_here', restore( found( 'uploads', '/wp-content/uploads/x.php', '<?php echo 2;' ), '<?php echo 2;' ) );
check( 'is not written: a file by another name', 'not_removed_here', restore( found( 'uploads', '/wp-content/uploads/y.php' ) ) );
check( 'leaves nothing behind after a refusal', array(), glob( UPLOADS . '/.restoring-*' ) );
file_put_contents( UPLOADS . '/x.php', 'mine' );
check( 'is not written over another file', array( 'another_file', 'mine' ), array( restore( $body ), file_get_contents( UPLOADS . '/x.php' ) ) );
unlink( UPLOADS . '/x.php' );
symlink( $base . '/other/new.php', UPLOADS . '/.restoring-' . substr( $body['state'], 0, 16 ) );
check( 'is written through no link', array( '', false, false ), array( restore( $body ), file_exists( $base . '/other/new.php' ), is_link( UPLOADS . '/x.php' ) ) );

$long = SHELL . str_repeat( "// A line.\n", 40000 );
$body = plant( UPLOADS . '/deep/er/long.php', 'uploads', '/wp-content/uploads/deep/er/long.php', $long );
$text = '';
do {
	$read  = Security_Optimizer_Command_Finding_Files::read( $body + array( 'offset' => strlen( $text ) ) );
	$text .= base64_decode( $read['content'] );
	$left  = $read['size'] - strlen( $text );
} while ( $left > 0 );
check( 'is read in parts', $long, $text );
remove( $body );
rmdir( UPLOADS . '/deep/er' );
rmdir( UPLOADS . '/deep' );
check( 'comes back in parts, with its folder', array( '', $long ), array( restore( $body, $long, 100000 ), file_get_contents( UPLOADS . '/deep/er/long.php' ) ) );
remove( $body );
$second = array(
	'offset'  => 100000,
	'size'    => strlen( $long ),
	'mode'    => 0644,
	'at'      => 1,
	'content' => base64_encode( 'x' ),
);
check( 'does not begin in the middle', array( 'reason' => 'interrupted' ), Security_Optimizer_Command_Finding_Files::restore( $body + $second ) );
rmdir( UPLOADS . '/deep/er' );
symlink( $base . '/other', UPLOADS . '/deep/er' );
check( 'does not follow a folder that has become a link', array( 'not_writable', false ), array( restore( $body, $long ), file_exists( $base . '/other/long.php' ) ) );

foreach ( array_keys( Security_Optimizer_Option_Rows::$rows ) as $row ) {
	Security_Optimizer_Option_Rows::$rows[ $row ] = sprintf( '%012d', time() - 32 * 86400 );
}
check( 'is not restored after its time', 'not_removed_here', restore( $body, $long ) );

$names = array();
for ( $number = 0; $number < 200; $number++ ) {
	$names[] = str_pad( "$number", 200, "\x1b" ) . '.php';
	file_put_contents( ABSPATH . 'wp-includes/' . end( $names ), 'x' );
}
$described = Security_Optimizer_Checkup_Files::describe( ABSPATH . 'wp-includes/', $names );
check( 'a list of endless names fits into a response', array( true, 200 ), array( strlen( json_encode( $described ) ) < 70000 && count( $described['files'] ) > 20, $described['count'] ) );

exec( 'rm -rf ' . escapeshellarg( $base ) );
finish_checks();
