<?php
/**
 * Methods with one fault each, and the report of the analysis; '' for none.
 *
 * @package Security_Optimizer
 */

return array(
	'public static function a() { return wp_no_such_function(); }' => 'there is no function wp_no_such_function() in WordPress and PHP 7.4',
	'public static function a() { return function_exists( "wp_no_such_function" ) ? wp_no_such_function() : 1; }' => '',
	'public static function a() { return mb_str_pad( "a", 2 ); }' => 'there is no function mb_str_pad() in WordPress and PHP 7.4',
	'public static function a() { return str_contains( "a", "b" ); }' => '',
	'public static function a() { return wp_is_development_mode( "core" ); }' => 'wp_is_development_mode() came with WordPress 6.3.0; the connector runs on 6.2',
	'public static function a() { return get_option(); }' => 'get_option() takes 1 to 2 arguments, and gets 0',
	'public static function a() { return self::b(); }'    => 'Sample has no b among its methods',
	'public static function a() { return Security_Optimizer_Policy::is_on(); }' => 'Security_Optimizer_Policy::is_on() takes 1 to 1 arguments, and gets 0',
	'public static function a() { return Security_Optimizer_Policy::read(); }' => 'Security_Optimizer_Policy::read is not public',
	'public static function a() { return new No_Such_Class(); }' => 'there is no class No_Such_Class in WordPress and PHP 7.4',
	'public static function a() { return Security_Optimizer_Policy::NO_SUCH; }' => 'Security_Optimizer_Policy has no NO_SUCH among its constants',
	'public static function a() { return NO_SUCH; }'      => 'there is no constant NO_SUCH',
	'public static function a() { global $wpdb; $wpdb->get_nothing( 1 ); }' => 'wpdb has no get_nothing among its methods',
	"/** @param WP_Error \$error A. */\npublic static function a( \$error ) { return \$error->has_nothing(); }" => 'WP_Error has no has_nothing among its methods',
	"/** @param WP_User \$other A. */\npublic static function a( \$user ) { return \$user; }" => 'the comment names parameters that a() does not have: other',
	'public static function a() { return $unset; }'       => '$unset is set nowhere',
	'public static function a() { preg_match( "/a/", "a", $found ); return $found; }' => '',
	'private static function a() { return 1; }'           => 'a is private and used nowhere',
	"public static function a() { add_filter( 'x', array( 'Security_Optimizer_Policy', 'no' ) ); }" => 'there is no method Security_Optimizer_Policy::no()',
	"public static function a() { add_filter( 'x', array( 'Security_Optimizer_Password_Checks', 'begin' ) ); }" => 'Security_Optimizer_Password_Checks::begin() takes 3 to 3 arguments, and gets 1',
	'public static function a( $x ) { return $x?->b; }'   => 'PHP 7.4 has no ?->',
	'public static function a( $x ) { return match ( $x ) { default => 1 }; }' => 'PHP 7.4 has no match',
	'public static function a( int|string $x ) { return $x; }' => 'PHP 7.4 has no union type',
	'public static function a( $x, ) { return $x; }'      => 'PHP 7.4 has no comma after the last parameter',
	'public static function a( $x ) { return trim( string: $x ); }' => 'PHP 7.4 has no named argument',
	'public static function a(): mixed { return 1; }'     => 'PHP 7.4 has no return type',
);
