<?php
/**
 * Stub of a site, and of a network of sites, for the classes of the hidden login.
 *
 * The custom path of the login is `front-door`, that of the registration is `join-us`.
 *
 * @package Security_Optimizer
 */

define( 'ABSPATH', __DIR__ . '/' );

$multisite  = false;
$options    = array();
$network    = array();
$user_rows  = array();
$user_meta  = array();
$did        = array();
$doing_cron = false;
$hooked     = array();
$sites      = array();

/**
 * Starts a request of an anonymous client to a single site at shop.example.
 *
 * @param array $context Context that guard sends.
 */
function begin_request( array $context = array() ) {
	$GLOBALS['multisite']  = false;
	$GLOBALS['options']    = array(
		'home'                      => 'https://shop.example',
		'siteurl'                   => 'https://shop.example',
		'admin_email'               => 'owner@shop.example',
		'security_optimizer_policy' => array(
			'login_url_login'  => 'front-door',
			'login_url_signup' => 'join-us',
		),
	);
	$GLOBALS['network']    = array();
	$GLOBALS['did']        = array( 'plugins_loaded' => 1 );
	$GLOBALS['doing_cron'] = false;

	Security_Optimizer_Request_Gate::$through_guard = true;
	Security_Optimizer_Commands::$received          = false;
	Security_Optimizer_Session_User::$user          = 0;

	$_GET    = array();
	$_POST   = array();
	$_COOKIE = array();
	foreach ( array( 'CONTENT_TYPE', 'HTTP_USER_AGENT', 'HTTP_REFERER' ) as $name ) {
		unset( $_SERVER[ $name ] );
	}
	$_SERVER['HTTP_HOST']      = 'shop.example';
	$_SERVER['REQUEST_METHOD'] = 'POST';
	$_SERVER['REQUEST_URI']    = '/';
	Security_Optimizer_Context::load(
		$context,
		array(
			'is_repeated' => false,
			'is_decoy'    => false,
			'request_id'  => 'x',
		),
		'secret'
	);
	set_private( 'Security_Optimizer_Login_Url', 'shown', false );
	if ( class_exists( 'Security_Optimizer_Login_Mails', false ) ) {
		set_private( 'Security_Optimizer_Login_Mails', 'sent', null );
	}
	if ( class_exists( 'Security_Optimizer_Login_Forms', false ) ) {
		set_private( 'Security_Optimizer_Login_Forms', 'made', false );
	}
}

/**
 * The same at a site of a network: its main site, a site in a folder, or a site with its own domain.
 *
 * @param string $domain  Domain of the requested site.
 * @param string $path    Path of that site.
 * @param array  $context Context that guard sends.
 */
function begin_request_in_network( $domain, $path = '/', array $context = array() ) {
	begin_request( $context );
	$GLOBALS['multisite'] = true;
	$GLOBALS['sites']     = array(
		array( 'main.example', '/', 1 ),
		array( 'main.example', '/second/', 1 ),
		array( 'garden.example', '/', 1 ),
		array( 'kitchen.main.example', '/', 1 ),
		array( 'elsewhere.example', '/', 2 ),
	);
	$GLOBALS['network']   = array( 'admin_email' => 'network@main.example' );
	$GLOBALS['current']   = array( $domain, $path, 1 );
	$_SERVER['HTTP_HOST'] = $domain;
	foreach ( array( 'home', 'siteurl' ) as $name ) {
		$GLOBALS['options'][ $name ] = 'https://' . $domain . rtrim( $path, '/' );
	}
}

function set_private( $class_name, $property, $value ) {
	$reflected = new ReflectionProperty( $class_name, $property );
	$reflected->setAccessible( true );
	$reflected->setValue( null, $value );
}

/** A redirect that ends the request. */
final class Redirected extends Exception {
}

/** A request that ends with guard's 404. */
final class Found_Nothing extends Exception {
}

final class Security_Optimizer_Request_Gate {
	public static $through_guard = true;

	public static function is_via_guard() {
		return self::$through_guard;
	}

	public static function end_as_not_found() {
		throw new Found_Nothing();
	}
}

final class Security_Optimizer_Commands {
	public static $received = false;

	public static function is_received() {
		return self::$received;
	}
}

final class Security_Optimizer_Session_User {
	public static $user = 0;

	public static function id() {
		return self::$user;
	}
}

/** An account with capabilities. */
final class WP_User {
	public $ID;
	public $caps;

	public function __construct( $id, array $caps ) {
		$this->ID   = $id;
		$this->caps = $caps;
	}
}

final class Site_Of_Network {
	public $domain;
	public $path;
	public $id = 1;
	public $network_id;

	public function __construct( array $row ) {
		list( $this->domain, $this->path, $this->network_id ) = $row;
	}
}

function add_account( $id, $email, array $caps ) {
	$GLOBALS['user_rows'][ strtolower( $email ) ] = new WP_User( $id, $caps );
}
function get_user_by( $field, $value ) {
	$known = $GLOBALS['user_rows'];
	return 'email' === $field && isset( $known[ strtolower( $value ) ] ) ? $known[ strtolower( $value ) ] : false;
}
function user_can( $user, $capability ) {
	return in_array( $capability, $user->caps, true );
}
function current_user_can( $capability ) {
	foreach ( $GLOBALS['user_rows'] as $user ) {
		if ( Security_Optimizer_Session_User::$user === $user->ID ) {
			return user_can( $user, $capability );
		}
	}
	return false;
}
function is_user_logged_in() {
	return Security_Optimizer_Session_User::$user > 0;
}
function get_user_meta( $id, $name ) {
	return isset( $GLOBALS['user_meta'][ $id ][ $name ] ) ? $GLOBALS['user_meta'][ $id ][ $name ] : '';
}
/** As WordPress's LIKE query. */
function get_users( array $query ) {
	$found = array();
	foreach ( $GLOBALS['user_meta'] as $id => $values ) {
		if ( isset( $values[ $query['meta_key'] ] ) && false !== strpos( serialize( $values[ $query['meta_key'] ] ), $query['meta_value'] ) ) {
			$found[] = (string) $id;
		}
	}
	return array_slice( $found, 0, $query['number'] );
}
function is_multisite() {
	return $GLOBALS['multisite'];
}
function get_option( $name, $otherwise = false ) {
	return isset( $GLOBALS['options'][ $name ] ) ? $GLOBALS['options'][ $name ] : $otherwise;
}
function get_site_option( $name, $otherwise = false ) {
	$values = $GLOBALS['multisite'] && isset( $GLOBALS['network'][ $name ] ) ? $GLOBALS['network'] : $GLOBALS['options'];
	return isset( $values[ $name ] ) ? $values[ $name ] : $otherwise;
}
function get_site() {
	return new Site_Of_Network( $GLOBALS['current'] );
}
function get_network() {
	return new Site_Of_Network( $GLOBALS['sites'][0] );
}
/** As WordPress: the site with the longest matching path. */
function get_site_by_path( $domain, $path ) {
	$found = false;
	foreach ( $GLOBALS['sites'] as $row ) {
		if ( $domain === $row[0] && 0 === strpos( rtrim( $path, '/' ) . '/', $row[1] ) && ( ! $found || strlen( $found->path ) < strlen( $row[1] ) ) ) {
			$found = new Site_Of_Network( $row );
		}
	}
	return $found;
}
function wp_doing_cron() {
	return $GLOBALS['doing_cron'];
}
function did_action( $name ) {
	return isset( $GLOBALS['did'][ $name ] ) ? $GLOBALS['did'][ $name ] : 0;
}
function apply_filters( $name, $value ) {
	return $value;
}
function has_filter( $name, $callback ) {
	return in_array( array( $name, $callback ), $GLOBALS['hooked'], true );
}
function add_filter( $name, $callback ) {
	$GLOBALS['hooked'][] = array( $name, $callback );
}
function site_url( $path = '' ) {
	return get_option( 'siteurl' ) . '/' . ltrim( $path, '/' );
}
function home_url( $path = '' ) {
	return get_option( 'home' ) . '/' . ltrim( $path, '/' );
}
function admin_url( $path = '' ) {
	return Security_Optimizer_Admin_Links::filter_url( get_option( 'siteurl' ) . '/wp-admin/' . $path );
}
function set_url_scheme( $url ) {
	return preg_replace( '#\Ahttp:#', 'https:', $url );
}
function wp_parse_url( $url, $part = -1 ) {
	return parse_url( $url, $part );
}
function esc_url( $url ) {
	return str_replace( '&', '&#038;', $url );
}
function trailingslashit( $path ) {
	return rtrim( $path, '/' ) . '/';
}
function untrailingslashit( $path ) {
	return rtrim( $path, '/' );
}
function wp_unslash( $value ) {
	return is_array( $value ) ? array_map( 'wp_unslash', $value ) : ( is_string( $value ) ? stripslashes( $value ) : $value );
}
function wp_strip_all_tags( $html ) {
	return trim( strip_tags( $html ) );
}
function wp_sanitize_redirect( $location ) {
	return preg_replace( '/[\x00-\x20]/', '', $location );
}
/** As WordPress: allows a path, or a URL of this host. */
function wp_validate_redirect( $location, $otherwise ) {
	$host = parse_url( $location, PHP_URL_HOST );
	return ( null === $host && 0 !== strpos( $location, '//' ) ) || 0 === strcasecmp( (string) $host, $_SERVER['HTTP_HOST'] ) ? $location : $otherwise;
}
function wp_safe_redirect( $location ) {
	throw new Redirected( $location );
}

load_classes( 'Context', 'Policy', 'Site_Names', 'Login_Url', 'Admin_Links', 'Signup' );
