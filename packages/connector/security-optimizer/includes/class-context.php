<?php
/**
 * What guard knows about this request and WordPress needs.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Context {

	/** @var array Payload of the context header. */
	private static $context = array();

	/**
	 * A path for which WordPress has a rewrite rule (`WP_Rewrite::rewrite_rules`): it redirects the old registration to
	 * the present one.
	 */
	const REGISTER_RULE = '/wp-register\.php/i';

	/** @var string|null The URL that the client requested, while WordPress must not see it yet. */
	private static $address = null;

	/** @var string|null The value of `PHP_SELF` after WordPress has resolved the URL. */
	private static $script = null;

	/** @var bool Whether the client requested a hidden URL, which guard has replaced by another name. */
	private static $decoy = false;

	/** @var bool Whether WordPress has already received this request. */
	private static $repeated = false;

	/**
	 * @param array  $context   Payload of a valid context header; empty without one.
	 * @param array  $facts  Content of the guard header.
	 * @param string $secret The site's secret.
	 */
	public static function load( array $context, array $facts, $secret ) {
		self::$context  = $context;
		self::$repeated = $facts['is_repeated'];
		$requested      = self::get_requested_target( $facts, $secret );
		self::$decoy    = $facts['is_decoy'] || ( null !== $requested && ! self::uses_custom_url() );
		if ( null === $requested ) {
			return;
		}
		if ( ! self::uses_custom_url() && preg_match( self::REGISTER_RULE, rawurldecode( $requested ) ) ) {
			self::$address = $requested;
		} else {
			self::restore_url( $requested );
		}
	}

	/**
	 * @return string|null Path and query that the client requested; null when WordPress has received them unchanged.
	 */
	private static function get_requested_target( array $facts, $secret ) {
		$target = isset( $_SERVER['REQUEST_URI'] ) ? (string) $_SERVER['REQUEST_URI'] : '/';
		if ( $facts['is_decoy'] ) {
			return Security_Optimizer_Decoy_404::reveal( $target, Security_Optimizer_Decoy_404::key( $secret, $facts['request_id'] ) );
		}
		if ( ! isset( self::$context['path'] ) || ! is_string( self::$context['path'] ) || 0 !== strpos( self::$context['path'], '/' ) ) {
			return null;
		}
		$query = (string) strstr( $target, '?' );
		if ( self::uses_signup_url() && ! is_multisite() ) {
			// Guard has added this parameter, which makes wp-login.php the registration.
			$query = preg_replace( '/[?&]action=register\z/', '', $query );
		}
		return self::$context['path'] . $query;
	}

	/**
	 * @return bool Whether no password may be checked in this request.
	 */
	public static function refuses_passwords() {
		return self::$repeated || null !== self::signed_xml_rpc() || ( isset( self::$context['login'] ) && 'refuse' === self::$context['login'] );
	}

	/**
	 * @return string|null The plugin whose signed XML-RPC request this resembles, while only such requests are allowed.
	 */
	public static function signed_xml_rpc() {
		return isset( self::$context['xml_rpc'] ) && is_string( self::$context['xml_rpc'] ) ? self::$context['xml_rpc'] : null;
	}

	/**
	 * @return bool Whether the client's address is locked out after too many failures.
	 */
	public static function is_locked() {
		return self::refuses_passwords() && isset( self::$context['why'] ) && 'locked' === self::$context['why'];
	}

	/**
	 * @return string The message for the client, with the time that is left. Plain text.
	 */
	public static function lock_message() {
		return isset( self::$context['message'] ) && is_string( self::$context['message'] ) ? self::$context['message'] : '';
	}

	/**
	 * @return int|null When the lockout ends, Unix seconds.
	 */
	public static function locked_until() {
		return isset( self::$context['until'] ) && is_int( self::$context['until'] ) ? self::$context['until'] : null;
	}

	/**
	 * @return bool Whether `Authorization: Basic` holds credentials for the web server in front of PHP, and no login of
	 *              WordPress.
	 */
	public static function is_web_server_auth() {
		return isset( self::$context['basic'] ) && 'web-server' === self::$context['basic'];
	}

	/**
	 * @return int How long guard needs the records of password checks, seconds; 0 for the default.
	 */
	public static function record_retention() {
		return isset( self::$context['keep'] ) && is_int( self::$context['keep'] ) ? self::$context['keep'] : 0;
	}

	/**
	 * @return bool Whether Away Mode is active.
	 */
	public static function is_away() {
		return self::refuses_passwords() && isset( self::$context['why'] ) && 'away' === self::$context['why'];
	}

	/**
	 * @return bool Whether a page of another site made the browser send this password.
	 */
	public static function is_cross_site() {
		return self::refuses_passwords() && isset( self::$context['why'] ) && 'other-site' === self::$context['why'];
	}

	/**
	 * @return bool Whether the request used the custom URL of login or registration.
	 */
	public static function uses_custom_url() {
		return isset( self::$context['page'] ) && in_array( self::$context['page'], array( 'login', 'signup' ), true );
	}

	/**
	 * @return string|null Folder of the network below which the request used the custom login URL.
	 */
	public static function folder() {
		return isset( self::$context['folder'] ) && is_string( self::$context['folder'] ) ? self::$context['folder'] : null;
	}

	/**
	 * @return bool Whether the request used the custom URL of the registration.
	 */
	public static function uses_signup_url() {
		return isset( self::$context['page'] ) && 'signup' === self::$context['page'];
	}

	/**
	 * @return bool Whether the client requested a hidden URL, which guard has replaced by another name.
	 */
	public static function is_decoy() {
		return self::$decoy;
	}

	/**
	 * @param int $user_id A user.
	 * @return bool Whether this browser has logged in to the account before.
	 */
	public static function knows_browser( $user_id ) {
		return self::includes( 'devices', $user_id );
	}

	/**
	 * @param int $user_id A user.
	 * @return bool Whether this browser is trusted, so that the account needs no second factor in it.
	 */
	public static function trusts_device( $user_id ) {
		return self::includes( 'trusted', $user_id );
	}

	private static function includes( $name, $user_id ) {
		return isset( self::$context[ $name ] ) && is_array( self::$context[ $name ] ) && in_array( (int) $user_id, self::$context[ $name ], true );
	}

	/**
	 * Restores the URL that the client requested.
	 *
	 * @param string $uri Path and query.
	 */
	private static function restore_url( $uri ) {
		$forwarded              = rawurldecode( (string) strtok( $_SERVER['REQUEST_URI'], '?' ) );
		$requested              = rawurldecode( (string) strtok( $uri, '?' ) );
		$_SERVER['REQUEST_URI'] = $uri;
		if ( self::uses_custom_url() ) {
			// WordPress determines from the other variables which script runs: wp-login.php.
			return;
		}
		$started_as = isset( $_SERVER['PHP_SELF'] ) ? (string) $_SERVER['PHP_SELF'] : '';
		foreach ( array( 'PATH_INFO', 'ORIG_PATH_INFO', 'PHP_SELF', 'REDIRECT_URL', 'SCRIPT_URL' ) as $name ) {
			$value = isset( $_SERVER[ $name ] ) ? (string) $_SERVER[ $name ] : '';
			$start = strlen( $forwarded ) - strlen( $value );
			if ( '' !== $value && $start >= 0 && substr( $forwarded, $start ) === $value
				&& substr( $forwarded, 0, $start ) === substr( $requested, 0, $start )
			) {
				$_SERVER[ $name ] = (string) substr( $requested, $start );
			}
		}
		// For a path below `wp-admin/` WordPress would show the front page instead of a 404, and would determine the
		// running script from it. Neither happens after the URL is resolved.
		self::$script        = isset( $_SERVER['PHP_SELF'] ) ? (string) $_SERVER['PHP_SELF'] : '';
		$_SERVER['PHP_SELF'] = $started_as;
	}

	/**
	 * Action `parse_request`: WordPress has resolved the URL.
	 */
	public static function restore_script() {
		if ( null !== self::$address ) {
			self::restore_url( self::$address );
			self::$address = null;
		}
		if ( null !== self::$script ) {
			$_SERVER['PHP_SELF'] = self::$script;
		}
	}
}
