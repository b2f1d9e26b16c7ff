<?php
/**
 * Tests the autoloader. PHP calls it for every unknown class.
 *
 * Run: php test/autoloader.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

/**
 * Evaluates an expression as another plugin would, in a new process, because a fatal error ends the process.
 *
 * @param string $expression PHP expression.
 * @return string Its value as JSON, or PHP's errors.
 */
function run_in_new_process( $expression ) {
	$loader = var_export( dirname( __DIR__ ) . '/security-optimizer.php', true );
	$code   = "define( 'ABSPATH', '/' ); function add_action() {} require $loader; echo json_encode( $expression );";
	exec( escapeshellarg( PHP_BINARY ) . ' -d display_errors=1 -d error_reporting=-1 -r ' . escapeshellarg( $code ) . ' 2>&1', $lines );
	return trim( implode( "\n", $lines ) );
}

foreach ( array(
	'of another plugin that is named like ours'    => 'Security_Optimizer_Pro',
	'in lower case'                                => 'security_optimizer_pro',
	'in upper case'                                => 'SECURITY_OPTIMIZER_PRO',
	'without anything behind the prefix'           => 'Security_Optimizer_',
	'with two underscores'                         => 'Security_Optimizer__Hooks',
	'with an underscore at the end'                => 'Security_Optimizer_Hooks_',
	'of a namespace below ours'                    => 'Security_Optimizer_Hooks\\Pro',
	'of another namespace'                         => 'Vendor\\Security_Optimizer_Pro',
	'of another namespace, named like one of ours' => 'Vendor\\Security_Optimizer_Hooks',
	'with letters beyond ASCII'                    => "Security_Optimizer_Pr\xc3\xb6",
	'with broken UTF-8'                            => "Security_Optimizer_\xff\xfe",
	'with a thousand letters'                      => 'Security_Optimizer_' . str_repeat( 'a', 1000 ),
	'of five thousand letters'                     => 'Security_Optimizer_' . str_repeat( 'a', 5000 ),
) as $kind => $name ) {
	$literal = "hex2bin( '" . bin2hex( $name ) . "' )";
	check( "class_exists() of a class $kind is false and no error", 'false', run_in_new_process( "class_exists( $literal )" ) );
	check( "interface_exists() of one $kind is false and no error", 'false', run_in_new_process( "interface_exists( $literal )" ) );
}

// PHP itself never passes such names, but plugins may call autoloaders directly.
foreach ( array(
	'that climbs to another folder'     => 'Security_Optimizer_/../../../protocol-vectors',
	'that is a path of one of ours'     => 'Security_Optimizer_./../includes/class-Hooks',
	'with a NUL byte'                   => "Security_Optimizer_Hooks\0",
	'with a line break at the end'      => "Security_Optimizer_Hooks\n",
	'with a hyphen, as the file has it' => 'Security_Optimizer_Activity-Users',
	'with a blank'                      => 'Security_Optimizer_ Hooks',
	'with a full stop'                  => 'Security_Optimizer_Hooks.php',
	'with a scheme'                     => 'Security_Optimizer_php://input',
) as $kind => $name ) {
	$literal = "hex2bin( '" . bin2hex( $name ) . "' )";
	check( "a name $kind loads nothing and is no error", '"done"', run_in_new_process( "[ spl_autoload_call( $literal ), 'done' ][1]" ) );
}

check( 'one of ours is found', 'true', run_in_new_process( "class_exists( 'Security_Optimizer_Outbox' )" ) );
check( 'one of ours is found in lower case, as PHP finds any class', 'true', run_in_new_process( "class_exists( 'security_optimizer_outbox' )" ) );
check( 'one of ours is found with a leading backslash', 'true', run_in_new_process( "class_exists( '\\\\Security_Optimizer_Activity_Users' )" ) );
check( 'one of ours that is loaded already is not loaded twice', '"done"', run_in_new_process( "[ class_exists( 'Security_Optimizer_Outbox' ), spl_autoload_call( 'SECURITY_optimizer_OUTBOX' ), 'done' ][2]" ) );

finish_checks();
