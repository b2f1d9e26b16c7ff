<?php
/**
 * Tests that a policy is stored although the database refuses writes during a concurrent write.
 *
 * Run: php test/policy.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ );

require __DIR__ . '/database-stub.php';
load_classes( 'Database_Retry', 'Option_Rows', 'Policy' );

$policy = array( 'login_attempts' => 5 );
foreach ( array( false, true ) as $multisite ) {
	$where = $multisite ? 'in a network' : 'on a single site';

	$stored = array();
	check( "without a policy there is none, $where", false, Security_Optimizer_Policy::exists() );

	refuse_writes( 0 );
	check( "a policy is stored, $where", true, Security_Optimizer_Policy::store( $policy ) );
	check( "at the first try where nothing refuses it, $where", 1, $writes );
	check( "and is there then, $where", true, Security_Optimizer_Policy::exists() );
	check( "the same policy again is stored, too, $where", true, Security_Optimizer_Policy::store( $policy ) );

	refuse_writes( 2 );
	check( "a policy is stored after two refused writes, $where", true, Security_Optimizer_Policy::store( array( 'login_attempts' => 3 ) ) );
	check( "with its values, $where", '3', Security_Optimizer_Policy::get_text( 'login_attempts' ) );

	refuse_writes( FOR_GOOD );
	check( "a database that goes on refusing is told of, $where", false, Security_Optimizer_Policy::store( $policy ) );
	check( "and the policy before stays, $where", '3', Security_Optimizer_Policy::get_text( 'login_attempts' ) );
}

finish_checks();
