<?php
/**
 * Tests which names and URLs of a site the connector reports: those of requests, not the results of filters.
 *
 * Run: php test/site-names.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

$root = sys_get_temp_dir() . '/site-names-' . bin2hex( random_bytes( 8 ) );
mkdir( "$root/core", 0700, true );
mkdir( "$root/shop", 0700, true );
register_shutdown_function(
	static function () use ( $root ) {
		foreach ( array( '/core', '/shop', '' ) as $folder ) {
			rmdir( $root . $folder );
		}
	}
);
$_SERVER['DOCUMENT_ROOT'] = $root;
define( 'ABSPATH', "$root/core/" );
define( 'WPINC', 'wp-includes' );
define( 'WP_CONTENT_DIR', "$root/assets" );
define( 'WP_CONTENT_URL', 'https://cdn.example/files' );
define( 'WPMU_PLUGIN_DIR', "$root/assets/musts" );
define( 'WPMU_PLUGIN_URL', 'https://shop.example/assets/musts' );
define( 'WP_LANG_DIR', ABSPATH . 'wp-includes/languages' );
define( 'LOGGED_IN_COOKIE', 'member_pass' );
define( 'AUTH_COOKIE', 'staff' );
define( 'SECURE_AUTH_COOKIE', 'staff_tls' );

$options = array(
	'home'                => 'https://shop.example',
	'siteurl'             => 'https://shop.example/core',
	'permalink_structure' => '/%postname%/',
	'rewrite_rules'       => array(),
);
$shown   = array(
	'home'  => 'https://shop.example/en',
	'admin' => 'https://shop.example/core/wp-admin/',
);
function get_option( $name ) {
	return $GLOBALS['options'][ $name ];
}
function home_url() {
	return $GLOBALS['shown']['home'];
}
function site_url() {
	return $GLOBALS['options']['siteurl'];
}
function admin_url( $path = '' ) {
	return in_array( $path, array( '', 'profile.php' ), true ) ? 'https://shop.example/my-account' : $GLOBALS['shown']['admin'] . $path;
}
function set_url_scheme( $url ) {
	return $url;
}
function includes_url( $path = '' ) {
	return 'https://cdn.example/wp-includes/' . $path;
}
function content_url( $path = '' ) {
	return 'https://shop.example/static/' . $path;
}
function rest_get_url_prefix() {
	return 'api/data';
}
function wp_upload_dir() {
	return array(
		'basedir' => "$GLOBALS[root]/assets/up",
		'baseurl' => 'https://cdn.example',
	);
}
function wp_get_font_dir() {
	return array( 'basedir' => '/elsewhere/fonts' );
}
function wp_parse_url( $url, $part ) {
	return parse_url( $url, $part );
}
function untrailingslashit( $path ) {
	return rtrim( $path, '/' );
}
function trailingslashit( $path ) {
	return rtrim( $path, '/' ) . '/';
}
function wp_normalize_path( $path ) {
	return $path;
}
function wp_json_encode( $data ) {
	return json_encode( $data );
}
function apply_filters( $hook, $value ) {
	if ( 'wpml_active_languages' === $hook ) {
		return array(
			'de' => array( 'url' => 'https://shop.example/deutsch/' ),
			'fr' => array( 'url' => 'https://fr.shop.example/' ),
		);
	}
	return array_merge( $value, array( 'Latin-America', '../x', 7 ) );
}
load_classes( 'Site_Names' );

$rules = array(
	'a base before anything'            => array( 'category/(.+?)/feed/(feed|rdf)/?$', 'category', array() ),
	'a base of two folders'             => array( 'shop/kinds/([^/]+)/?$', 'shop/kinds', array() ),
	'index.php in front'                => array( '^index.php/tag/([^/]+)/?$', 'tag', array() ),
	'folders of languages in front'     => array( '(en|pt-br)/search/(.+)/?$', 'search', array( 'en', 'pt-br' ) ),
	'letters of any script'             => array( 'категория/(.+?)/?$', 'категория', array() ),
	'letters of any script, encoded'    => array( '%d1%82/(.+?)/?$', 'т', array() ),
	'posts at the root'                 => array( '(.?.+?)(?:/([0-9]+))?/?$', '', array() ),
	'parts behind what may be anything' => array( 'docs/(.?.+?)/attachment/([^/]+)/?$', 'docs', array() ),
);
foreach ( $rules as $name => list( $rule, $base, $languages ) ) {
	check(
		"reads $name",
		array(
			'base'      => $base,
			'languages' => $languages,
		),
		Security_Optimizer_Site_Names::read_rule( $rule )
	);
}
foreach ( array( '([0-9]{4})/([0-9]{1,2})/?$', 'feed/(feed|rdf|atom)/?$', 'page/?([0-9]{1,})/?$', '[^/]+/attachment/([^/]+)/?$', 'robots\.txt$', 'a.c/(.+)', 'sitemap_([a-z]+)/(.*)', '' ) as $rule ) {
	check( "nothing may stand behind: $rule", null, Security_Optimizer_Site_Names::read_rule( $rule ) );
}

$options['rewrite_rules'] = array(
	'topics/(.+?)/feed/(feed|rdf)/?$'  => 'index.php?category_name=$matches[1]&feed=$matches[2]',
	'topics/(.+?)/?$'                  => 'index.php?category_name=$matches[1]',
	'find/(.+)/feed/(feed|rdf)/?$'     => 'index.php?s=$matches[1]&feed=$matches[2]',
	'kinds/([^/]+)/feed/(feed|rdf)/?$' => 'index.php?kind=$matches[1]&feed=$matches[2]',
	'shop/(.+?)/?$'                    => 'index.php?product=$matches[1]',
	'(es|it)/topics/(.+?)/?$'          => 'index.php?lang=$matches[1]&category_name=$matches[2]',
	'files/(.+)'                       => 'wp-content/$1',
);
$all                      = Security_Optimizer_Site_Names::all();
check( 'the home page is told without the folder of a language', 'https://shop.example', $all['home'] );
check( 'a page of a plugin is not taken for wp-admin', 'https://shop.example/core/wp-admin', $all['admin_url'] );
check(
	'paths are those of this host, also where links name another',
	array(
		'admin'      => '/core/wp-admin',
		'includes'   => '/core/wp-includes',
		'content'    => '/assets',
		'uploads'    => '/assets/up',
		'rest'       => '/api/data',
		'mu_plugins' => '/assets/musts',
	),
	$all['paths']
);
check(
	'other addresses of the same host are told besides, those of another are not',
	array(
		'admin'    => array(),
		'includes' => array(),
		'content'  => array( '/static' ),
		'uploads'  => array(),
	),
	$all['also']
);
check( 'folders outside of the web root have no address', array( '/core/wp-includes/languages' ), $all['files'] );
check(
	'cookies',
	array(
		'logged_in' => 'member_pass',
		'auth'      => array( 'staff', 'staff_tls' ),
	),
	$all['cookies']
);
check( 'languages', array( 'deutsch', 'en', 'es', 'fr', 'it', 'latin-america' ), $all['languages'] );
check( 'bases, but for one that is a folder', array( 'find', 'kinds', 'topics' ), $all['bases']['text'] );
check( 'bases with feeds by WordPress\'s own rules', array( 'find', 'topics' ), $all['bases']['feed'] );

$hash = Security_Optimizer_Site_Names::hash( $all );
check( 'the hash is the same for the same names', $hash, Security_Optimizer_Site_Names::hash( Security_Optimizer_Site_Names::all() ) );
$shown['admin'] = 'https://shop.example/manage/';
$changed        = Security_Optimizer_Site_Names::all();
check( 'a folder that a plugin shows under another address is told', array( '/manage' ), $changed['also']['admin'] );
check( 'and is the address for links', 'https://shop.example/manage', $changed['admin_url'] );
check( 'and changes the hash', true, Security_Optimizer_Site_Names::hash( $changed ) !== $hash );
$options['rewrite_rules'] = '';
check( 'bases are not known while WordPress has still to make its rules', null, Security_Optimizer_Site_Names::all()['bases'] );
$options['permalink_structure'] = '';
check(
	'there are none without permalinks',
	array(
		'text' => array(),
		'feed' => array(),
	),
	Security_Optimizer_Site_Names::all()['bases']
);
finish_checks();
