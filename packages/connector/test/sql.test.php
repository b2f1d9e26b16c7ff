<?php
/**
 * Tests that all databases that WordPress supports interpret the connector's SQL in the same way.
 *
 * MySQL 5.7 has the regular expressions of Henry Spencer, MySQL 8 those of ICU, MariaDB those of PCRE; SQLite has none.
 * They differ in nearly every escape (`\z`, `\d`, `\b`, `[[:<:]]`), and a string with a backslash has another meaning
 * under NO_BACKSLASH_ESCAPES.
 *
 * Run: php test/sql.test.php
 *
 * @package Security_Optimizer
 */

require __DIR__ . '/checks.php';

/** Operators of regular expressions, in SQL and in `compare` and `compare_key` of WordPress. */
const REGEXP_WORDS = '/\b(?:NOT\s+)?(?:REGEXP(?:_[A-Z]+)?|RLIKE|SIMILAR\s+TO)\b/i';

/** Beginnings of statements and clauses. */
const SQL = '/\A\s*(?:SELECT|INSERT|UPDATE|DELETE|REPLACE|CREATE|ALTER|DROP|SET|SHOW|WHERE|WHEN|AND|OR|ORDER BY|LIMIT)\s/';

/**
 * @param string $code PHP code.
 * @return array[] Line and value of each string in it, with the pieces of those that hold variables.
 */
function strings_of( $code ) {
	$found = array();
	foreach ( token_get_all( $code ) as $token ) {
		if ( is_array( $token ) && T_CONSTANT_ENCAPSED_STRING === $token[0] ) {
			$found[] = array( $token[2], substr( $token[1], 1, -1 ) );
		} elseif ( is_array( $token ) && T_ENCAPSED_AND_WHITESPACE === $token[0] ) {
			$found[] = array( $token[2], $token[1] );
		}
	}
	return $found;
}

/**
 * @param string $code PHP code.
 * @return string[] Faults: what databases interpret differently.
 */
function faults_of( $code ) {
	$faults = array();
	foreach ( strings_of( $code ) as list( $line, $text ) ) {
		if ( preg_match( REGEXP_WORDS, $text ) && ! preg_match( '/\A[\/#~]/', $text ) ) {
			$faults[] = "line $line: a regular expression ($text)";
		}
		if ( preg_match( SQL, $text ) && ( false !== strpos( $text, '\\' ) || preg_match( '/\[\[[.:=]|\|\|/', $text ) ) ) {
			$faults[] = "line $line: a character that is read differently ($text)";
		}
	}
	return $faults;
}

// The test detects faults.
foreach ( array(
	"'compare_key' => 'REGEXP'",
	"'compare' => 'NOT REGEXP'",
	'$wpdb->query( "SELECT ID FROM $wpdb->users WHERE user_login REGEXP %s" )',
	"\$wpdb->query( 'SELECT ID FROM t WHERE a RLIKE 1' )",
	"\$wpdb->query( 'SELECT REGEXP_REPLACE( a, b, c )' )",
	"\$wpdb->query( 'SELECT ID FROM t WHERE a LIKE \"x\\z\"' )",
	"\$wpdb->query( 'DELETE FROM t WHERE a LIKE \"[[:<:]]\"' )",
) as $code ) {
	check( "is found: $code", 1, count( faults_of( "<?php $code;" ) ) );
}
check( 'a regular expression of PHP is none of the database', array(), faults_of( "<?php preg_match( '/\\Aregexp\\z/', \$a );" ) );

$files = array_merge( array( dirname( __DIR__ ) . '/security-optimizer.php' ), array_values( list_class_files() ) );
check( 'the connector has files', true, count( $files ) > 50 );
foreach ( $files as $file ) {
	check(
		'no SQL in ' . basename( $file ) . ' holds a regular expression (REGEXP, RLIKE, REGEXP_…), a backslash, [[: or ||, which MySQL 5.7, MySQL 8 and MariaDB read differently',
		array(),
		faults_of( file_get_contents( $file ) )
	);
}

finish_checks();
