<?php
/**
 * Tests how a configuration file gets new salts.
 *
 * Run: php test/salts.test.php
 *
 * @package Security_Optimizer
 */

define( 'ABSPATH', __DIR__ . '/' );
require dirname( __DIR__ ) . '/security-optimizer/includes/class-salts.php';

$passed = 0;
$failed = 0;
$check  = function ( $name, $right ) use ( &$passed, &$failed ) {
	if ( $right ) {
		++$passed;
		return;
	}
	++$failed;
	echo 'FAILED: ', $name, "\n";
};

$lines = array_map(
	static function ( $name ) {
		return "define( '$name', 'put your unique phrase here' );";
	},
	Security_Optimizer_Salts::NAMES
);
$file  = "<?php\n/* A comment with define( 'AUTH_KEY', 'not this' ) */\ndefine('DB_PASSWORD', 'se\\'cret');\n"
	. implode( "\n", $lines ) . "\n\$table_prefix = 'wp_';\nrequire_once ABSPATH . 'wp-settings.php';\n";

$new = Security_Optimizer_Salts::rewrite( $file );
$check( 'all eight get a new value', is_string( $new ) && 0 === substr_count( $new, 'put your unique phrase here' ) );
preg_match_all( "/define\\( '[A-Z_]+', '([^']*)' \\);/", (string) $new, $values );
$check( 'each of 64 characters, all different', 8 === count( array_unique( $values[1] ) ) && array( 64 ) === array_unique( array_map( 'strlen', $values[1] ) ) );
$strip = static function ( $text ) {
	return preg_replace( "/(define\\( '[A-Z_]+_(?:KEY|SALT)', ')[^']*(' \\);)/", '$1$2', $text );
};
$check( 'everything else stays', $strip( (string) $new ) === $strip( $file ) );
$check( 'the result is PHP', false !== token_get_all( (string) $new, TOKEN_PARSE ) );
$check( 'other ways of writing are understood', is_string( Security_Optimizer_Salts::rewrite( str_replace( "define( 'AUTH_KEY', 'put", "DEFINE(\"AUTH_KEY\" ,\n 'put", $file ) ) ) );

$left_alone = array(
	'one of them missing'              => str_replace( $lines[3], '', $file ),
	'one of them from the environment' => str_replace( $lines[0], "define( 'AUTH_KEY', getenv( 'AUTH_KEY' ) );", $file ),
	'one of them put together'         => str_replace( $lines[0], "define( 'AUTH_KEY', 'a' . 'b' );", $file ),
	'one of them twice'                => $file . $lines[0],
	'none of them'                     => "<?php\n",
);
foreach ( $left_alone as $name => $text ) {
	$rewritten = Security_Optimizer_Salts::rewrite( $text );
	$check( 'left alone: ' . $name, null === $rewritten );
}

echo $passed, ' passed, ', $failed, " failed\n";
exit( 0 === $failed && $passed > 0 ? 0 : 1 );
