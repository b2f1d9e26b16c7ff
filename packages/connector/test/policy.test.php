<?php
/**
 * Tests that a policy is stored although the database refuses a write while another request writes.
 *
 * Run: php test/policy.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ );

$stored   = array();
$refusals = 0;
$writes   = 0;
function is_multisite() {
	return $GLOBALS['multisite'];
}
/** As WordPress: false where nothing was written. */
function update_option( $name, $value ) {
	++$GLOBALS['writes'];
	if ( $GLOBALS['refusals']-- > 0 ) {
		return false;
	}
	$changed                    = ! isset( $GLOBALS['stored'][ $name ] ) || $GLOBALS['stored'][ $name ] !== $value;
	$GLOBALS['stored'][ $name ] = $value;
	return $changed;
}
function update_site_option( $name, $value ) {
	return update_option( $name, $value );
}
function get_option( $name, $otherwise ) {
	return isset( $GLOBALS['stored'][ $name ] ) ? $GLOBALS['stored'][ $name ] : $otherwise;
}
function get_site_option( $name, $otherwise ) {
	return get_option( $name, $otherwise );
}
require dirname( __DIR__ ) . '/security-optimizer/includes/class-policy.php';

$policy = array( 'login_attempts' => 5 );
foreach ( array( false, true ) as $multisite ) {
	$where = $multisite ? 'in a network' : 'on a single site';

	$stored = array();
	check( "without a policy there is none, $where", false, Security_Optimizer_Policy::exists() );

	$writes = 0;
	check( "a policy is stored, $where", true, Security_Optimizer_Policy::store( $policy ) );
	check( "at the first try where nothing refuses it, $where", 1, $writes );
	check( "and is there then, $where", true, Security_Optimizer_Policy::exists() );
	check( "the same policy again is stored, too, $where", true, Security_Optimizer_Policy::store( $policy ) );

	$refusals = 2;
	check( "a policy is stored after two refused writes, $where", true, Security_Optimizer_Policy::store( array( 'login_attempts' => 3 ) ) );
	check( "with its values, $where", '3', Security_Optimizer_Policy::get_text( 'login_attempts' ) );

	$refusals = 3;
	check( "a database that goes on refusing is told of, $where", false, Security_Optimizer_Policy::store( $policy ) );
	check( "and the policy before stays, $where", '3', Security_Optimizer_Policy::get_text( 'login_attempts' ) );
	$refusals = 0;
}

finish_checks();
