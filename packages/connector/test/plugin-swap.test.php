<?php
/**
 * Tests how a clean copy replaces a plugin while the database is busy, and what is restored after an interruption.
 *
 * Run: php test/plugin-swap.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

$base = sys_get_temp_dir() . '/swap-' . bin2hex( random_bytes( 8 ) );
define( 'ABSPATH', $base . '/site/' );
define( 'WP_CONTENT_DIR', ABSPATH . 'wp-content' );
define( 'WP_PLUGIN_DIR', WP_CONTENT_DIR . '/plugins' );
mkdir( WP_PLUGIN_DIR, 0755, true );
mkdir( WP_CONTENT_DIR . '/upgrade' );

require __DIR__ . '/database-stub.php';
load_classes( 'Database_Retry', 'Option_Rows', 'Plugin_Swap' );
/** Number of writes that the database refuses after the clean copy is installed. */
$refused_then = 0;
function wp_opcache_invalidate() {
	$GLOBALS['refusals'] = $GLOBALS['refused_then'];
}

/** Stub of the connector's class, whose files may resist deletion. */
final class Security_Optimizer_Files {
	public static $stay = false;

	public static function delete( $path ) {
		if ( self::$stay || ! file_exists( $path ) ) {
			return;
		}
		foreach ( is_dir( $path ) ? array_diff( scandir( $path ), array( '.', '..' ) ) : array() as $name ) {
			self::delete( "$path/$name" );
		}
		is_dir( $path ) ? rmdir( $path ) : unlink( $path );
	}
}

const PLACE = WP_PLUGIN_DIR . '/shelf';
const FRESH = WP_CONTENT_DIR . '/upgrade/fresh';
const OLD   = WP_CONTENT_DIR . '/upgrade/security-optimizer-old-1';

/** Creates a plugin with one file, or removes it (null). */
function put( $folder, $text ) {
	Security_Optimizer_Files::delete( $folder );
	if ( null !== $text ) {
		mkdir( $folder, 0755, true );
		file_put_contents( "$folder/shelf.php", $text );
	}
}

/** @return string|null Content of the plugin's file; null without it. */
function installed( $folder = PLACE ) {
	return is_file( "$folder/shelf.php" ) ? file_get_contents( "$folder/shelf.php" ) : null;
}

/** @return string[] Files in the temporary folder. */
function list_temporary() {
	return array_values( array_diff( scandir( WP_CONTENT_DIR . '/upgrade' ), array( '.', '..' ) ) );
}

/**
 * Swaps the plugin while the database refuses writes.
 *
 * @param int  $refused Number of refused writes.
 * @param bool $stay    Whether its files can't be deleted.
 * @return string Code of the error, or ''.
 */
function swap( $refused, $stay = false ) {
	put( PLACE, 'hacked' );
	put( FRESH, 'clean' );
	$GLOBALS['stored'] = array();
	$GLOBALS['cached'] = array();
	refuse_writes( $refused );
	Security_Optimizer_Files::$stay = $stay;
	$reason                         = Security_Optimizer_Plugin_Swap::run( PLACE, FRESH );
	Security_Optimizer_Files::$stay = false;
	return $reason;
}

foreach ( array( 0, 1, 2, 3 ) as $refused ) {
	$times = "when the database was busy $refused times before";
	check( "a plugin is swapped $times", '', swap( $refused ) );
	check( "the clean copy is in its place $times", 'clean', installed() );
	check( "nothing is left beside the plugins $times", array(), list_temporary() );
	check( "nothing is left in the database $times", array(), $stored );
	check( "visitors are served again $times", false, file_exists( ABSPATH . '.maintenance' ) );
}

check( 'a plugin is not swapped while the database goes on being busy', 'not_stored', swap( FOR_GOOD ) );
check( 'the old copy is where it was then', 'hacked', installed() );
check( 'the clean copy is where it was, too', array( 'fresh' ), list_temporary() );
check( 'and visitors are served all the time', false, file_exists( ABSPATH . '.maintenance' ) );

// A request was interrupted, or could not delete the record.
$record = array(
	'security_optimizer_swap' => array(
		'place' => PLACE,
		'old'   => OLD,
	),
);

/**
 * Finishes an interrupted swap.
 *
 * @param string|null $in_place The installed plugin.
 * @param string|null $old      The old copy.
 * @param int         $refused  Number of refused writes.
 * @param bool        $stay     Whether files can't be deleted.
 * @return bool Whether nothing is left to restore.
 */
function finish( $in_place, $old, $refused = 0, $stay = false ) {
	put( FRESH, null );
	put( PLACE, $in_place );
	put( OLD, $old );
	$GLOBALS['stored'] = $GLOBALS['record'];
	$GLOBALS['cached'] = array();
	refuse_writes( $refused );
	Security_Optimizer_Files::$stay = $stay;
	$is_finished                    = Security_Optimizer_Plugin_Swap::finish_interrupted();
	Security_Optimizer_Files::$stay = false;
	return $is_finished;
}

check( 'a swap that was cut off half-way is undone', true, finish( null, 'old' ) );
check( 'the old copy is back', 'old', installed() );
check( 'and the record is gone', array( array(), array() ), array( $stored, list_temporary() ) );

check( 'of a swap that was cut off at its end, the old copy is deleted', true, finish( 'clean', 'old' ) );
check( 'and the clean one stays', array( 'clean', array(), array() ), array( installed(), $stored, list_temporary() ) );

check( 'a record that is busy three times is deleted all the same', true, finish( 'clean', 'old', 3 ) );
check( 'at the fourth try', array( array(), 4 ), array( $stored, $writes ) );

check( 'a record that can not be deleted holds up nothing', true, finish( 'clean', 'old', FOR_GOOD ) );
check( 'it names an old copy that is gone', array( 'clean', $record, array() ), array( installed(), $stored, list_temporary() ) );
put( PLACE, null );
refuse_writes( 0 );
$cached = array();
check( 'and does no harm when the owner has deleted the plugin since', true, Security_Optimizer_Plugin_Swap::finish_interrupted() );
check( 'which stays deleted', array( null, array() ), array( installed(), $stored ) );

// If the old copy can't be deleted, a remaining record must not restore it.
foreach ( array( 'swap', 'finish' ) as $work ) {
	$name         = 'swap' === $work ? 'a swap' : 'a swap that was cut off at its end';
	$refused_then = FOR_GOOD;
	if ( 'swap' === $work ) {
		put( OLD, null );
		check( "$name succeeds although its record stays", '', swap( 0, true ) );
	} else {
		check( "$name is finished although its record stays", true, finish( 'clean', 'hacked', FOR_GOOD, true ) );
	}
	$refused_then = 0;
	check( "after $name the record is there", array( 'security_optimizer_swap' ), array_keys( $stored ) );
	check( "and the old copy is, after $name", 1, count( list_temporary() ) );
	put( PLACE, null );
	$cached = array();
	refuse_writes( 0 );
	check( "the record of $name is gone later", array( true, array() ), array( Security_Optimizer_Plugin_Swap::finish_interrupted(), $stored ) );
	check( "and a plugin that the owner has deleted after $name does not come back", null, installed() );
	Security_Optimizer_Files::delete( WP_CONTENT_DIR . '/upgrade' );
	mkdir( WP_CONTENT_DIR . '/upgrade' );
}

// An old copy that can't be restored is the only one: no other swap may overwrite its record.
$stored = $record;
$cached = array();
put( PLACE, null );
put( OLD, 'old' );
rename( WP_PLUGIN_DIR, WP_PLUGIN_DIR . '-away' );
refuse_writes( 0 );
check( 'a plugin that can not be restored is told of', false, @Security_Optimizer_Plugin_Swap::finish_interrupted() );
check( 'its record and its copy stay', array( $record, 'old' ), array( $stored, installed( OLD ) ) );
rename( WP_PLUGIN_DIR . '-away', WP_PLUGIN_DIR );
check( 'and it is restored as soon as that is possible', array( true, 'old' ), array( Security_Optimizer_Plugin_Swap::finish_interrupted(), installed() ) );

Security_Optimizer_Files::delete( $base );
finish_checks();
