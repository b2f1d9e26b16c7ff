<?php
/**
 * Tests that the Activity Log gets texts as WordPress's own lists show them: nothing is lost, entities are decoded
 * once.
 *
 * Run: php test/typed-text.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );
load_classes( 'Outbox' );

$shown = array(
	'what is no HTML'                           => array( 'Tea', 'Tea' ),
	'an ampersand of a user who may write HTML' => array( 'Tea & cake', 'Tea & cake' ),
	'an ampersand, as anybody else'             => array( 'Tea &amp; cake', 'Tea & cake' ),
	'signs of comparison'                       => array( '1 < 2 > 0', '1 < 2 > 0' ),
	'the same, stored with entities'            => array( '1 &lt; 2 &gt; 0', '1 < 2 > 0' ),
	'tags'                                      => array( '<b>x</b> <script>alert(1)</script><!-- y -->', '<b>x</b> <script>alert(1)</script><!-- y -->' ),
	'a tag that is not ended'                   => array( 'a <b', 'a <b' ),
	'an entity that was typed'                  => array( '&amp;lt; &amp;amp;', '&lt; &amp;' ),
	'quotation marks'                           => array( '&quot;x&quot; &#039;y&#039; &apos;z&apos; "q" \'r\'', '"x" \'y\' \'z\' "q" \'r\'' ),
	'backslashes'                               => array( 'a\\b \\\\ \\n \\"', 'a\\b \\\\ \\n \\"' ),
	'signs by number and by name'               => array( '&#8230; &hellip; &#x1F600; &copy;', '… … 😀 ©' ),
	'what only looks like an entity'            => array( 'a&b=1&copy2=2 &; &unknown; &#0;', 'a&b=1&copy2=2 &; &unknown; &#0;' ),
	'emoji of several signs'                    => array( '👩‍👩‍👧 👍🏽', '👩‍👩‍👧 👍🏽' ),
	'other directions of writing'               => array( 'שלום مرحبا', 'שלום مرحبا' ),
	'marks that nobody sees, for guard to show' => array( "a\u{202e}b\u{200b}c\x07", "a\u{202e}b\u{200b}c\x07" ),
	'several lines and spaces'                  => array( " a\n\tb  c ", " a\n\tb  c " ),
	'a number'                                  => array( 7, '7' ),
	'what is no text'                           => array( array( 'a' ), '' ),
	'200 characters'                            => array( str_repeat( '😀', 200 ), str_repeat( '😀', 200 ) ),
	'more of them, with dots where it is cut'   => array( str_repeat( '😀', 201 ), str_repeat( '😀', 199 ) . '…' ),
	'200 characters with entities'              => array( str_repeat( '&amp;', 200 ), str_repeat( '&', 200 ) ),
);
foreach ( $shown as $name => $pair ) {
	check( "is shown as typed: $name", $pair[1], Security_Optimizer_Outbox::text( $pair[0] ) );
}
check( 'a browser is named as it names itself', 'a &amp; <b>', Security_Optimizer_Outbox::shorten( 'a &amp; <b>' ) );

load_classes( 'Text_Escaper', 'Reset_Mails' );
define( 'DAY_IN_SECONDS', 86400 );
function is_multisite() {
	return false;
}
function get_option( $name ) {
	return 'blogname' === $name ? $GLOBALS['blogname'] : 'Y';
}
function apply_filters( $name, $value ) {
	return $value;
}
function network_site_url( $path ) {
	return 'https://example.com/' . $path;
}
function wp_date() {
	return '2026';
}
$values = new ReflectionMethod( 'Security_Optimizer_Reset_Mails', 'values' );
$values->setAccessible( true );
foreach ( array(
	'Tom &amp; &lt;b&gt; &quot;x&quot; &amp;lt; {{login}} %s' => 'Tom & <b> "x" &lt; {{login}} %s',
	"Shop\r\nBcc: a@example.com"                => 'Shop\u000d\u000aBcc: a@example.com',
	"pohS\u{202e} \u{2066}x \u{200b}\x1b[31m\0" => 'pohS\u202e \u2066x \u200b\u001b[31m\u0000',
	'👩‍👩‍👧 שלום'                                => '👩‍👩‍👧 שלום',
) as $stored => $shown ) {
	$blogname = $stored;
	$made     = $values->invoke( null, (object) array( 'user_login' => "a\u{202e}b\n" ), 'key', 'en_US' );
	check( "the mail of a reset names the site on one line, as the list would: $shown", $shown, $made['{{site}}'] );
	check( 'it names the user on one line', 'a\u202eb\u000a', $made['{{login}}'] );
	check( 'its link has the name as it is', true, false !== strpos( $made['{{link}}'], '&login=a%E2%80%AEb%0A&' ) );
}

finish_checks();
