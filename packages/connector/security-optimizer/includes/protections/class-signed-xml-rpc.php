<?php
/**
 * Plugins that need `xmlrpc.php` for requests that they sign themselves, while XML-RPC is off (`signed_xml_rpc`).
 *
 * Guard lets requests of their shape through and says so in the context header. A client that forges the shape reaches the
 * plugin's own methods, which check the signature, and nothing else: no method of WordPress's own, and no password.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Signed_Xml_Rpc {

	/** Folders of plugins that are reached by Jetpack's connection. */
	const JETPACK = array(
		'jetpack',
		'jetpack-backup',
		'jetpack-boost',
		'jetpack-protect',
		'jetpack-search',
		'jetpack-social',
		'jetpack-videopress',
		'woocommerce-payments',
	);

	/** Namespaces of WordPress's own methods. */
	const CORE = array( 'wp.', 'metaweblog.', 'blogger.', 'mt.', 'pingback.', 'demo.', 'system.' );

	/**
	 * @return array[] The active plugins that have such requests sent to them, in the form of docs/connector-protocol.md.
	 */
	public static function plugins() {
		$plugins = array();
		if ( self::has_jetpack() ) {
			$plugins[] = array(
				'id'         => 'jetpack',
				'name'       => 'Jetpack',
				'query'      => array( 'for' => 'jetpack' ),
				'parameters' => array(
					'token'     => 'text',
					'timestamp' => 'digits',
					'nonce'     => 'text',
					'body-hash' => 'base64',
					'signature' => 'base64',
				),
				'methods'    => array( 'jetpack.' ),
			);
		}
		/**
		 * Filters the plugins whose signed XML-RPC requests are let through while XML-RPC is off.
		 *
		 * An entry has `id` (lower-case letters, digits, hyphens), `name`, `query` (parameters with a fixed value),
		 * `parameters` (name to form: `digits`, `hex`, `base64` or `text`; at least one is a signature, by its name, and
		 * `hex` or `base64`) and `methods` (what the names of the plugin's methods begin with, such as `shop.`). Guard
		 * leaves out what has another form, and what would open methods of WordPress itself.
		 *
		 * @param array[] $plugins The entries.
		 */
		$plugins = apply_filters( 'security_optimizer_signed_xml_rpc', $plugins );
		return is_array( $plugins ) ? array_values( array_filter( $plugins, 'is_array' ) ) : array();
	}

	private static function has_jetpack() {
		$active = (array) get_option( 'active_plugins', array() );
		if ( is_multisite() ) {
			$active = array_merge( $active, array_keys( (array) get_site_option( 'active_sitewide_plugins', array() ) ) );
		}
		foreach ( $active as $file ) {
			if ( is_string( $file ) && in_array( strtok( $file, '/' ), self::JETPACK, true ) ) {
				return true;
			}
		}
		return false;
	}

	/**
	 * The request has the shape of a plugin's signed one: takes everything else away from xmlrpc.php.
	 */
	public static function restrict() {
		// Would make xmlrpc.php print what it offers.
		unset( $_GET['rsd'], $_REQUEST['rsd'] );
		add_filter( 'xmlrpc_enabled', '__return_false', PHP_INT_MAX );
		add_filter( 'xmlrpc_methods', array( __CLASS__, 'only_own' ), PHP_INT_MAX );
		add_filter( 'wp_xmlrpc_server_class', array( __CLASS__, 'server' ), PHP_INT_MAX );
		// Plugins are loaded then, and have named themselves.
		add_action( 'plugins_loaded', array( __CLASS__, 'refuse_unknown' ), PHP_INT_MIN );
	}

	/**
	 * Action `plugins_loaded`: a plugin that is no longer active gets no requests, whatever guard knows.
	 */
	public static function refuse_unknown() {
		if ( array() === self::methods() && defined( 'XMLRPC_REQUEST' ) && XMLRPC_REQUEST ) {
			Security_Optimizer_Response::send_page( 403, 'Forbidden', 'This service is turned off.' );
		}
	}

	/**
	 * Filter `wp_xmlrpc_server_class`, after everybody else: WordPress's server adds methods (`system.multicall`) that no
	 * filter sees.
	 *
	 * @return string
	 */
	public static function server() {
		return 'Security_Optimizer_Signed_Xml_Rpc_Server';
	}

	/**
	 * Filter `xmlrpc_methods`, after everybody else.
	 *
	 * @param mixed $methods Names to what carries them out.
	 * @return array Those of the plugin whose request it is.
	 */
	public static function only_own( $methods ) {
		$own = array();
		foreach ( is_array( $methods ) ? $methods : array() as $name => $callback ) {
			foreach ( self::methods() as $prefix ) {
				// What is WordPress's own stays away by any name.
				if ( 0 === strpos( (string) $name, $prefix ) && ! ( is_string( $callback ) && 0 === strpos( $callback, 'this:' ) ) ) {
					$own[ $name ] = $callback;
				}
			}
		}
		return $own;
	}

	/**
	 * @return string[] What names of methods may begin with in this request.
	 */
	private static function methods() {
		foreach ( self::plugins() as $plugin ) {
			if ( isset( $plugin['id'], $plugin['methods'] ) && Security_Optimizer_Context::signed_xml_rpc() === $plugin['id'] ) {
				return array_filter(
					(array) $plugin['methods'],
					static function ( $prefix ) {
						return is_string( $prefix ) && preg_match( '/\A[A-Za-z][A-Za-z0-9_-]{0,39}\.\z/', $prefix )
							&& ! in_array( strtolower( $prefix ), self::CORE, true );
					}
				);
			}
		}
		return array();
	}

	/**
	 * Actions `activated_plugin` and `deactivated_plugin`: guard asks anew what there is.
	 */
	public static function notify_guard() {
		Security_Optimizer_Request_Gate::add_flag( 'p' );
	}
}
