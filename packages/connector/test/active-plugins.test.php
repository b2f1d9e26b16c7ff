<?php
/**
 * Tests which changes of the list of active plugins are recorded as activations.
 *
 * Run: php test/active-plugins.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';
require __DIR__ . '/outbox-stub.php';

define( 'ABSPATH', __DIR__ . '/' );
define( 'WP_PLUGIN_DIR', sys_get_temp_dir() . '/security-optimizer-plugins-' . getmypid() );

/** Loads an empty file of this name, as a drop-in, WordPress or a plugin does. */
function load_file( $name ) {
	$file = WP_PLUGIN_DIR . '/' . $name;
	mkdir( dirname( $file ), 0700, true );
	file_put_contents( $file, '<?php' );
	require $file;
	unlink( $file );
	rmdir( dirname( $file ) );
}

final class Security_Optimizer_Option_Rows {
	public static $rows = array();

	public static function time( $time ) {
		return sprintf( '%012d', $time );
	}

	public static function insert( $name, $value ) {
		if ( isset( self::$rows[ $name ] ) ) {
			return 0;
		}
		self::$rows[ $name ] = $value;
		return 1;
	}

	public static function update( $name, $value ) {
		self::$rows[ $name ] = $value;
	}

	public static function delete_older( $prefix, $before ) {
		foreach ( self::$rows as $name => $value ) {
			if ( 0 === strpos( $name, $prefix ) && $value < self::time( $before ) ) {
				unset( self::$rows[ $name ] );
			}
		}
	}

	public static function read( $name ) {
		return isset( self::$rows[ $name ] ) ? self::$rows[ $name ] : null;
	}
}
$updating = false;
function doing_filter( $name ) {
	return 'upgrader_pre_install' === $name && $GLOBALS['updating'];
}
function get_current_blog_id() {
	return 1;
}
load_classes( 'Activity_Active_Plugins', 'Activity_Software' );

$active = array();

/** A new request. */
function begin() {
	Security_Optimizer_Outbox::take();
	foreach ( array( 'events', 'removed', 'deactivated' ) as $name ) {
		$property = new ReflectionProperty( 'Security_Optimizer_Activity_Active_Plugins', $name );
		$property->setAccessible( true );
		$property->setValue( null, array() );
	}
}
/** Somebody writes the option. */
function write( array $list ) {
	global $active;
	$old    = $active;
	$active = $list;
	Security_Optimizer_Activity_Active_Plugins::change( $old, $list );
}
/** As WordPress's function; silently it runs no hook. */
function activate( $file, $is_silent = false ) {
	write( array_merge( $GLOBALS['active'], array( $file ) ) );
	if ( ! $is_silent ) {
		Security_Optimizer_Activity_Software::activate_plugin( $file );
	}
}
function deactivate( $file, $is_silent = false ) {
	if ( ! $is_silent ) {
		Security_Optimizer_Activity_Software::deactivate_plugin( $file );
	}
	write( array_values( array_diff( array_filter( $GLOBALS['active'], 'is_string' ), array( $file ) ) ) );
}
function recorded() {
	return str_replace( array( 'plugin.', ' ( > )' ), '', Security_Optimizer_Outbox::take() );
}

begin();
activate( 'a.php' );
check( 'an ordinary activation is recorded once', array( 'activated: a.php' ), recorded() );
activate( 'b.php' );
activate( 'c.php' );
check( 'so is each of several', array( 'activated: b.php', 'activated: c.php' ), recorded() );
begin();
write( array( 'c.php', 'b.php', 'a.php' ) );
check( 'another order is none', array(), recorded() );
write( array( 'a.php', 'b.php', 'c.php', 'd.php', 'e.php', 'd.php', array( 'x' ), 7 ) );
check( 'plugins that are written to the list are recorded', array( 'activated: d.php', 'activated: e.php' ), recorded() );
begin();
activate( 'f.php', true );
check( 'so is one that WordPress activates silently', array( 'activated: f.php' ), recorded() );
begin();
deactivate( 'f.php' );
deactivate( 'e.php', true );
check( 'a deactivation is as before', array( 'deactivated: f.php' ), recorded() );
begin();
write( array( 'a.php', 'x.php' ) );
write( array( 'a.php' ) );
check( 'what is undone in the same request is none', array(), recorded() );
activate( 'y.php' );
deactivate( 'y.php', true );
check( 'nor is an activation that is undone silently', array(), recorded() );
activate( 'y.php' );
deactivate( 'y.php' );
check( 'one that is undone openly is both', array( 'activated: y.php', 'deactivated: y.php' ), recorded() );
begin();
deactivate( 'a.php', true );
activate( 'a.php', true );
check( 'a plugin that was active before the request is not new', array(), recorded() );
deactivate( 'a.php' );
activate( 'a.php', true );
check( 'unless it was openly deactivated', array( 'deactivated: a.php', 'activated: a.php' ), recorded() );

begin();
$updating = true;
deactivate( 'a.php', true );
$updating = false;
begin();
activate( 'a.php', true );
check( 'activating it again after its update in another request is none', array(), recorded() );
begin();
deactivate( 'a.php' );
begin();
activate( 'a.php', true );
check( 'which excuses one activation only', array( 'activated: a.php' ), recorded() );
begin();
$updating = true;
deactivate( 'a.php', true );
$updating = false;
foreach ( Security_Optimizer_Option_Rows::$rows as $name => $value ) {
	Security_Optimizer_Option_Rows::$rows[ $name ] = Security_Optimizer_Option_Rows::time( time() - 3700 );
}
begin();
activate( 'a.php', true );
check( 'and only for an hour', array( 'activated: a.php' ), recorded() );
check( 'nothing is left', array(), Security_Optimizer_Option_Rows::$rows );

begin();
Security_Optimizer_Activity_Active_Plugins::change_network(
	array( 'n.php' => 1 ), array(
		'n.php' => 1,
		'm.php' => 2,
	)
);
check( 'the list of a network has the plugins as keys', array( 'activated: m.php' ), recorded() );
Security_Optimizer_Activity_Software::activate_plugin( 'm.php', true );
check( 'and the hook records it no second time', array(), recorded() );
begin();
Security_Optimizer_Activity_Software::activate_plugin( 'z.php' );
check( 'without a change of a list, the hook does', array( 'activated: z.php' ), recorded() );
Security_Optimizer_Activity_Active_Plugins::change( 'x', false );
Security_Optimizer_Activity_Active_Plugins::change_network( false, 'x' );
check( 'values that are no lists do no harm', array(), recorded() );

begin();
load_file( 'drop-in-runs-me/db.php' );
load_file( 'wordpress/wp-includes/default-filters.php' );
load_file( 'ordinary/load.php' );
activate( 'ordinary/load.php', true );
activate( 'drop-in-runs-me-too/load.php', true );
check( 'a plugin that WordPress has loaded is recorded', array( 'activated: ordinary/load.php', 'activated: drop-in-runs-me-too/load.php' ), recorded() );
activate( 'drop-in-runs-me/load.php', true );
check( 'a plugin that a drop-in has run before is not', array(), recorded() );
rmdir( WP_PLUGIN_DIR . '/wordpress' );
rmdir( WP_PLUGIN_DIR );

finish_checks();
