<?php
/**
 * Tests how a configuration file gets new salts: what is replaced, and that nothing else changes.
 *
 * Whole configurations in WordPress are tested by packages/e2e/src/suites/post-hack/new-salts.test.ts.
 *
 * Run: php test/salts.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );
load_classes( 'Config_Keys', 'Salts' );

/** @return string|null The file with new values, or null. */
function rewrite( $text ) {
	$keys = new Security_Optimizer_Config_Keys( $text, Security_Optimizer_Salts::NAMES );
	return $keys->with_new_values( array( 'Security_Optimizer_Salts', 'salt' ) );
}

/** @return string The file with a marker for each new value. */
function without_values( $text ) {
	return preg_replace( "/'[^'\\\\]{64}'/", "'NEW'", (string) $text );
}

$lines = array_map(
	static function ( $name ) {
		return "define( '$name', 'put your unique phrase here' );";
	},
	Security_Optimizer_Salts::NAMES
);
$file  = "<?php\n/* A comment with define( 'AUTH_KEY', 'not this' ) */\ndefine('DB_PASSWORD', 'se\\'cret');\n"
	. implode( "\n", $lines ) . "\n\$table_prefix = 'wp_';\nrequire_once ABSPATH . 'wp-settings.php';\n";

$new = rewrite( $file );
check( 'all eight get a new value', 0, substr_count( (string) $new, 'put your unique phrase here' ) );
preg_match_all( "/define\\( '[A-Z_]+', '([^']*)' \\);/", (string) $new, $values );
check( 'all are different', 8, count( array_unique( $values[1] ) ) );
check( 'each has 64 characters', array( 64 ), array_values( array_unique( array_map( 'strlen', $values[1] ) ) ) );
check( 'everything else stays', str_replace( "'put your unique phrase here'", "'NEW'", $file ), without_values( $new ) );

$replaced = array(
	'a string in double quotes'             => array( 'define("AUTH_KEY" , "a");', 'define("AUTH_KEY" , \'NEW\');' ),
	'upper case and a third argument'       => array( "DEFINE('AUTH_KEY', 'a', true);", "DEFINE('AUTH_KEY', 'NEW', true);" ),
	'a backslash in front'                  => array( "\\define( 'AUTH_KEY', 'a' );", "\\define( 'AUTH_KEY', 'NEW' );" ),
	'comments around the value'             => array( "define( 'AUTH_KEY' /* b */, 'a' # c\n);", "define( 'AUTH_KEY' /* b */, 'NEW' # c\n);" ),
	'text that is put together'             => array( "define( 'AUTH_KEY', ( 'a' . \"b\" ) . 'c' );", "define( 'AUTH_KEY', 'NEW' );" ),
	'nowdoc'                                => array( "define( 'AUTH_KEY', <<<'K'\na \$b\nK\n);", "define( 'AUTH_KEY', 'NEW'\n);" ),
	'one const for two'                     => array( "const AUTH_KEY = 'a', B = 1, NONCE_KEY = 'c';", "const AUTH_KEY = 'NEW', B = 1, NONCE_KEY = 'NEW';" ),
	'each of two with the same name'        => array( "if ( X ) { define( 'AUTH_KEY', 'a' ); } else { define( 'AUTH_KEY', 'b' ); }", "if ( X ) { define( 'AUTH_KEY', 'NEW' ); } else { define( 'AUTH_KEY', 'NEW' ); }" ),
	'const behind a class that has its own' => array( "class A { const AUTH_KEY = 'a'; function f() { return \"{\$x}\"; } } const AUTH_KEY = 'b';", "class A { const AUTH_KEY = 'a'; function f() { return \"{\$x}\"; } } const AUTH_KEY = 'NEW';" ),
	'const beside a name of a class'        => array( "\$a = A::class; const AUTH_KEY = 'b';", "\$a = A::class; const AUTH_KEY = 'NEW';" ),
	'the text among others of the database' => array( "define( 'DB_PASSWORD', 'AUTH_KEY' ); define( 'AUTH_KEY', 'b' );", "define( 'DB_PASSWORD', 'AUTH_KEY' ); define( 'AUTH_KEY', 'NEW' );" ),
);
foreach ( $replaced as $name => $pair ) {
	check( "replaced: $name", "<?php\n" . $pair[1], without_values( rewrite( "<?php\n" . $pair[0] ) ) );
	check( "as it was, with Windows line ends: $name", str_replace( "\n", "\r\n", "<?php\n" . $pair[1] ), without_values( rewrite( str_replace( "\n", "\r\n", "<?php\n" . $pair[0] ) ) ) );
}

$left_alone = array(
	'the environment'              => "define( 'AUTH_KEY', getenv( 'AUTH_KEY' ) ?: 'a' );",
	'a variable'                   => "define( 'AUTH_KEY', \"a \$b\" );",
	'a constant'                   => "define( 'AUTH_KEY', OTHER . 'a' );",
	'a comment inside the value'   => "define( 'AUTH_KEY', 'a' /* b */ . 'c' );",
	'a method of the same name'    => "Config::define( 'AUTH_KEY', 'a' ); \$config->define( 'AUTH_KEY', 'a' );",
	'a function of another name'   => "Keys\\define( 'AUTH_KEY', 'a' );",
	'a constant of a class'        => "class A { const AUTH_KEY = 'a'; }",
	'a constant of a namespace'    => "namespace A; const AUTH_KEY = 'a';",
	'one that is imported'         => 'use const A\AUTH_KEY;',
	'text in a string'             => "\$a = \"define( 'AUTH_KEY', 'a' );\";",
	'no keys'                      => "define( 'DB_NAME', 'a' );",
	'a call that is not ended'     => "define( 'AUTH_KEY', 'a'",
	'no value'                     => "define( 'AUTH_KEY', );",
	'behind the end of the script' => "__halt_compiler(); define( 'AUTH_KEY', 'a' );",
);
foreach ( $left_alone as $name => $text ) {
	check( 'left alone: ' . $name, null, rewrite( "<?php\n" . $text ) );
}
check( 'left alone: what is no PHP', null, rewrite( "define( 'AUTH_KEY', 'a' );" ) );

finish_checks();
