<?php
/**
 * What the tests of the connector share: one check, one line when it fails, an exit code.
 *
 * @package Security_Optimizer
 */

require_once __DIR__ . '/classes.php';

/**
 * @param string $name     A sentence that says what is checked.
 * @param mixed  $expected What should be.
 * @param mixed  $actual   What is.
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
 * Ends the test with what was counted.
 */
function finish_checks() {
	global $passed, $failed;
	echo (int) $passed, ' passed, ', (int) $failed, " failed\n";
	exit( 0 === (int) $failed && $passed > 0 ? 0 : 1 );
}
