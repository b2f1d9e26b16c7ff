<?php
/**
 * Tests what the protection `wp_remove_version` treats as the version of WordPress, and what it does not change.
 *
 * Run: php test/version.test.php
 *
 * @package Security_Optimizer
 */

require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );
load_classes( 'Protocol', 'Version' );

// Stubs of WordPress: a site in /blog with two plugins and two themes.
$programs = sys_get_temp_dir() . '/connector-version-' . getmypid();
foreach ( array(
	'same'  => '7.1',
	'other' => '3.2.1',
) as $name => $version ) {
	mkdir( "$programs/$name", 0700, true );
	file_put_contents( "$programs/$name/$name.php", "<?php\n/*\nPlugin Name: $name\nVersion: $version\n*/\n" );
}
register_shutdown_function(
	static function () use ( $programs ) {
		foreach ( array( 'same', 'other' ) as $name ) {
			unlink( "$programs/$name/$name.php" );
			rmdir( "$programs/$name" );
		}
		rmdir( $programs );
	}
);
function wp_parse_url( $url, $part ) {
	return parse_url( 0 === strpos( $url, '//' ) ? 'http:' . $url : $url, $part );
}
function trailingslashit( $path ) {
	return rtrim( $path, '/' ) . '/';
}
function includes_url() {
	return 'https://shop.example/blog/wp-includes/';
}
function admin_url() {
	return 'https://shop.example/blog/wp-admin/';
}
function plugins_url() {
	return 'https://shop.example/blog/wp-content/plugins';
}
function get_theme_root_uri() {
	return 'https://shop.example/blog/wp-content/themes';
}
function is_multisite() {
	return false;
}
function wp_get_active_and_valid_plugins() {
	return array( $GLOBALS['programs'] . '/same/same.php', $GLOBALS['programs'] . '/other/other.php' );
}
function get_file_data( $file ) {
	preg_match( '/^Version: (.*)$/m', file_get_contents( $file ), $part );
	return array( $part[1] );
}
function wp_get_theme( $name ) {
	return new class( $name ) {
		private $name;
		public function __construct( $name ) {
			$this->name = $name;
		}
		public function get() {
			$versions = array(
				'same'  => '7.1',
				'other' => '2.0',
			);
			return isset( $versions[ $this->name ] ) ? $versions[ $this->name ] : false;
		}
	};
}

function prepare( $version ) {
	$GLOBALS['wp_version'] = $version;
	Security_Optimizer_Version::prepare( str_repeat( 'a1', 32 ) );
}
function agent( $agent, $url = 'https://elsewhere.example/' ) {
	return Security_Optimizer_Version::remove_from_user_agent( array( 'user-agent' => $agent ), $url )['user-agent'];
}

prepare( '7.1' );

foreach ( array(
	'WordPress/7.1; https://shop.example'      => 'WordPress; https://shop.example',
	'WordPress/7.1'                            => 'WordPress',
	'WordPress/7.1; https://shop.example; verifying pingback from 192.0.2.1' => 'WordPress; https://shop.example; verifying pingback from 192.0.2.1',
	'SomePlugin/7.1.2 WordPress/7.1'           => 'SomePlugin/7.1.2 WordPress',
	'SomePlugin/7.1 (WordPress/7.1; PHP/7.1)'  => 'SomePlugin/7.1 (WordPress; PHP/7.1)',
	'Mozilla/5.0 (compatible;WordPress/7.1)'   => 'Mozilla/5.0 (compatible;WordPress)',
	'plugin/1.0,WordPress/7.1,more/7.1'        => 'plugin/1.0,WordPress,more/7.1',
	'wordpress/7.1 plugin/7.1'                 => 'wordpress plugin/7.1',
	'Made with WordPress/7.1.'                 => 'Made with WordPress.',
	'WordPress/7.1 WordPress/7.1'              => 'WordPress WordPress',
	'WordPress/7.1; https://shop.example/7.1/' => 'WordPress; https://shop.example/7.1/',
) as $before => $after ) {
	check( "the version of WordPress, and nothing else, goes out of “{$before}”", $after, agent( $before ) );
}

foreach ( array(
	'SomePlugin/7.1',
	'SomePlugin/7.1.2',
	'SomePlugin/7.11',
	'SomePlugin/7.1-beta',
	'MyWordPress/7.1',
	'My-WordPress/7.1',
	'org.WordPress/7.1',
	'Vendor/WordPress/7.1',
	'WordPress/7.1.2; https://shop.example',
	'WordPress/7.10; https://shop.example',
	'WordPress/7.1-RC1; https://shop.example',
	'WordPress/7.1+build',
	'WordPress/7.1/more',
	'WordPress/17.1',
	'WordPress/71',
	'WordPressPlugin/7.1',
	'WordPress 7.1',
	'WooCommerce/7.1 PHP/7.1 cURL/7.1.0 OpenSSL/7.1',
	'https://elsewhere.example/WordPress/7.1',
	'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/7.1.0.0 Safari/537.36',
	'',
) as $agent ) {
	check( "other programs' user agents stay byte for byte: “{$agent}”", $agent, agent( $agent ) );
}

check( 'wordpress.org is told the version, for updates', 'WordPress/7.1; https://shop.example', agent( 'WordPress/7.1; https://shop.example', 'https://api.wordpress.org/core/' ) );
check( 'a host that only ends like wordpress.org is not', 'WordPress', agent( 'WordPress/7.1', 'https://notwordpress.org/' ) );

// Products of others are kept in any context.
mt_srand( 7 );
$letters = str_split( 'WordPres/.7.1-_ ();,+~ab' );
for ( $n = 0; $n < 5000; $n++ ) {
	$text = '';
	for ( $length = mt_rand( 0, 30 ); $length > 0; $length-- ) {
		$text .= $letters[ mt_rand( 0, count( $letters ) - 1 ) ];
	}
	$after = agent( $text );
	if ( false === stripos( $text, 'WordPress/7.1' ) ) {
		check( "without WordPress's own product nothing changes: “{$text}”", $text, $after );
	}
	$wrapped = agent( "Some/1.2 $text x WordPress/7.1 y" );
	check( "with it, only it changes: “{$text}”", agent( "Some/1.2 $text x" ) . ' WordPress y', $wrapped );
}

prepare( '6.5.5' );
check( 'a version of three parts goes too', 'WordPress; x', agent( 'WordPress/6.5.5; x' ) );
check( 'the full stops of a version are full stops', 'WordPress/6x5.5; x', agent( 'WordPress/6x5.5; x' ) );
prepare( '7.2-alpha-61000' );
check( 'so does that of a development version', 'WordPress; x', agent( 'WordPress/7.2-alpha-61000; x' ) );

prepare( '7.1' );
$token = substr( Security_Optimizer_Protocol::mac( "version-token\n7.1", str_repeat( 'a1', 32 ) ), 0, 8 );
$url   = array( 'Security_Optimizer_Version', 'replace_in_url' );
$base  = 'https://shop.example/blog';
foreach ( array(
	"$base/wp-includes/js/x.js?ver=7.1"                   => "$base/wp-includes/js/x.js?ver=$token",
	"$base/wp-includes/js/x.js?a=7.1&ver=7.1&b=7.1"       => "$base/wp-includes/js/x.js?a=7.1&ver=$token&b=7.1",
	"$base/wp-includes/js/x.js?a=1&#038;ver=7.1&#038;b=1" => "$base/wp-includes/js/x.js?a=1&#038;ver=$token&#038;b=1",
	"$base/wp-admin/css/x.css?version=7.1#top"            => "$base/wp-admin/css/x.css?version=$token#top",
	"$base/wp-admin/load-styles.php?load%5B%5D=a,b&ver=7.1" => "$base/wp-admin/load-styles.php?load%5B%5D=a,b&ver=$token",
	'/blog/wp-includes/js/x.js?ver=7.1'                   => "/blog/wp-includes/js/x.js?ver=$token",
	'//cdn.example/blog/wp-includes/js/x.js?ver=7.1'      => "//cdn.example/blog/wp-includes/js/x.js?ver=$token",
	"$base/wp-content/plugins/other/x.js?ver=7.1"         => "$base/wp-content/plugins/other/x.js?ver=$token",
	"$base/wp-content/themes/other/x.css?ver=7.1"         => "$base/wp-content/themes/other/x.css?ver=$token",
	"$base/wp-includes/a.css?ver=7.1,$base/wp-content/plugins/same/b.css?ver=7.1,$base/wp-includes/c.css?ver=7.1"
		=> "$base/wp-includes/a.css?ver=$token,$base/wp-content/plugins/same/b.css?ver=7.1,$base/wp-includes/c.css?ver=$token",
) as $before => $after ) {
	check( "the version of WordPress in an address gets the token: $before", $after, $url( $before ) );
}
foreach ( array(
	"$base/wp-content/plugins/same/x.js?ver=7.1",
	"$base/wp-content/themes/same/x.css?ver=7.1",
	"$base/wp-content/plugins/unknown/x.js?ver=7.1",
	"$base/wp-content/uploads/x.css?ver=7.1",
	"$base/wp-includes/js/x.js?ver=7.1.2",
	"$base/wp-includes/js/x.js?ver=7.1_2",
	"$base/wp-includes/js/x.js?ver=7.1%2B2",
	"$base/wp-includes/js/x.js?ver=7.11",
	"$base/wp-includes/js/x.js?server=7.1",
	"$base/wp-includes/js/x.js?tinymce_ver=7.1",
	"$base/wp-includes/js/7.1/x.js?ver=1.0",
	'https://maps.example/api/js?version=7.1&key=k',
	'https://elsewhere.example/wp-includes/x.js?ver=7.1',
) as $same ) {
	check( "versions of plugins and themes are kept, also an equal one: $same", $same, $url( $same ) );
}
check( 'what is no text stays', false, $url( false ) );
check(
	'the editor keeps what is not a style sheet',
	array(
		'content_css'   => "$base/wp-includes/a.css?ver=$token",
		'cache_suffix'  => 'ver=7.1',
		'external_tool' => "$base/wp-includes/a.js?ver=7.1",
	),
	Security_Optimizer_Version::replace_in_editor(
		array(
			'content_css'   => "$base/wp-includes/a.css?ver=7.1",
			'cache_suffix'  => 'ver=7.1',
			'external_tool' => "$base/wp-includes/a.js?ver=7.1",
		)
	)
);

finish_checks();
