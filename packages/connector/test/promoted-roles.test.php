<?php
/**
 * Tests which users become administrators when a role gets the right to manage the site.
 *
 * Run: php test/promoted-roles.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';
require __DIR__ . '/outbox-stub.php';

define( 'ABSPATH', __DIR__ . '/' );

final class Security_Optimizer_Activity_Users {
	public static function role_names( $capabilities ) {
		return implode( ', ', array_keys( array_filter( $capabilities ) ) );
	}
}
$site      = 0;
$multisite = false;
$users     = array();
$queries   = 0;
function get_current_blog_id() {
	return $GLOBALS['site'];
}
function is_multisite() {
	return $GLOBALS['multisite'];
}
function is_super_admin( $id ) {
	return 3 === $id;
}
/** @return object[] Users with one of the roles, newest first. */
function get_users( $query ) {
	++$GLOBALS['queries'];
	$found = array_filter(
		array_reverse( $GLOBALS['users'] ),
		static function ( $user ) use ( $query ) {
			return array() !== array_intersect( $query['role__in'], $user->roles );
		}
	);
	return array_slice( array_values( $found ), 0, $query['number'] );
}
function user( $id, array $roles, array $capabilities = array() ) {
	return (object) array(
		'ID'         => $id,
		'user_login' => "user$id",
		'roles'      => $roles,
		'caps'       => array_fill_keys( $roles, true ) + $capabilities,
	);
}
load_classes( 'Activity_Roles' );

/** @return array[] Value of the option for these roles; those of the second list manage the site. */
function roles( array $names, array $managing ) {
	$roles = array();
	foreach ( $names as $name ) {
		$roles[ $name ] = array( 'capabilities' => array( 'manage_options' => in_array( $name, $managing, true ) ) );
	}
	return $roles;
}
const ALL = array( 'administrator', 'editor', 'author', '5' );

/** One request changes the option step by step. */
function change( ...$steps ) {
	++$GLOBALS['site'];
	$GLOBALS['queries'] = 0;
	$old                = array_shift( $steps );
	foreach ( $steps as $value ) {
		Security_Optimizer_Activity_Roles::change( $old, $value );
		$old = $value;
	}
	return Security_Optimizer_Outbox::take();
}
$users = array(
	user( 1, array( 'administrator' ) ),
	user( 2, array( 'editor' ) ),
	user( 3, array( 'editor', 'author' ) ),
	user( 4, array( 'editor', 'administrator' ) ),
	user( 5, array( 'editor' ), array( 'manage_options' => false ) ),
	user( 6, array( 'editor' ), array( 'manage_options' => true ) ),
	user( 7, array( '5' ) ),
);

$usual = roles( ALL, array( 'administrator' ) );
$risen = roles( ALL, array( 'administrator', 'editor' ) );
$both  = array( 'user.role: user3 (editor, author > editor, author, manage_options) administrator', 'user.role: user2 (editor > editor, manage_options) administrator' );
check( 'all users of the role become administrators, except those who are, and who are denied it', $both, change( $usual, $risen ) );
check( 'once, however often the option is written', $both, change( $usual, $risen, $risen + array( 'x' => array() ), $risen ) );
check( 'another capability is none', array(), change( $risen, $risen + array( 'x' => array() ) ) );
check( 'and costs no query', 0, $queries );
check( 'losing the right is none', array(), change( $risen, $usual ) );
check( 'nor is a change that is undone', array(), change( $usual, $risen, $usual ) );
check( 'nor a role that is removed and added', array(), change( $usual, roles( ALL, array() ), array(), $usual ) );
check( 'a second role adds its users, and nobody twice', 3, count( change( $usual, $risen, roles( ALL, array( 'administrator', 'editor', 'author', '5' ) ) ) ) );
check( 'a role may be a number', array( 'user.role: user7 (5 > 5, manage_options) administrator' ), change( $usual, roles( ALL, array( 'administrator', '5' ) ) ) );
check( 'a new role without users is none', array(), change( $usual, $usual + roles( array( 'new' ), array( 'new' ) ) ) );
check(
	'values that are no roles do no harm', array(), change(
		false, 'x', array(
			'a' => 'b',
			'c' => array( 'capabilities' => 'manage' ),
		)
	)
);
$multisite = true;
check( 'a super administrator manages every site', array( $both[1] ), change( $usual, $risen ) );
$multisite = false;
for ( $id = 10; $id < 60; $id++ ) {
	$users[] = user( $id, array( 'author' ) );
}
$events = change( $usual, roles( ALL, array( 'administrator', 'author' ) ) );
check( 'at most 20 users, the newest', array( 20, 'user.role: user59 (author > author, manage_options) administrator' ), array( count( $events ), $events[0] ) );

finish_checks();
