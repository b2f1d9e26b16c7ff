<?php
/**
 * Shared by the tests of the connector: checks, output of failures, exit code.
 *
 * @package Security_Optimizer
 */

require_once __DIR__ . '/classes.php';

/**
 * @param string $name     Sentence that describes the check.
 * @param mixed  $expected Expected value.
 * @param mixed  $actual   Actual value.
 */
function check( $name, $expected, $actual ) {
	global $passed, $failed;
	if ( $expected === $actual ) {
		++$passed;
		return;
	}
	++$failed;
	echo 'FAILED: ', $name, "\n  expected ", var_export( $expected, true ), "\n  got      ", var_export( $actual, true ), "\n";
}

/**
 * Prints the result and ends the test.
 */
function finish_checks() {
	global $passed, $failed;
	echo (int) $passed, ' passed, ', (int) $failed, " failed\n";
	exit( 0 === (int) $failed && $passed > 0 ? 0 : 1 );
}
