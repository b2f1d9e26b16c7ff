<?php
/**
 * Setting `signed_xml_rpc`: while XML-RPC is off, plugins still receive XML-RPC requests that they sign themselves.
 *
 * Guard allows requests of this form and marks them in the context header. A client that forges the form only reaches
 * the plugin's own methods, which verify the signature. It reaches no method of WordPress, and no password is checked.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Signed_Xml_Rpc {

	/** Folders of plugins that use Jetpack's connection. */
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
	 * @return array[] The active plugins that receive such requests, in the format of docs/developer/connector-protocol.md.
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
		 * Filters the plugins whose signed XML-RPC requests are allowed while XML-RPC is off.
		 *
		 * An entry has `id` (lower-case letters, digits, hyphens), `name`, `query` (parameters with a fixed value),
		 * `parameters` (name to form: `digits`, `hex`, `base64` or `text`; at least one is a signature, by its name,
		 * and `hex` or `base64`) and `methods` (prefixes of the plugin's methods, such as `shop.`). Guard ignores
		 * entries of another form, and entries that would allow methods of WordPress itself.
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
	 * The request has the form of a plugin's signed request: disables everything else in xmlrpc.php.
	 */
	public static function restrict() {
		// This parameter would make xmlrpc.php print its description.
		unset( $_GET['rsd'], $_REQUEST['rsd'] );
		add_filter( 'xmlrpc_enabled', '__return_false', PHP_INT_MAX );
		add_filter( 'xmlrpc_methods', array( __CLASS__, 'filter_methods' ), PHP_INT_MAX );
		add_filter( 'wp_xmlrpc_server_class', array( __CLASS__, 'server' ), PHP_INT_MAX );
		// Plugins have been loaded by then.
		add_action( 'plugins_loaded', array( __CLASS__, 'refuse_unknown' ), PHP_INT_MIN );
	}

	/**
	 * Action `plugins_loaded`: refuses requests for a plugin that is not active any more, even if guard does not know
	 * yet.
	 */
	public static function refuse_unknown() {
		if ( array() === self::methods() && defined( 'XMLRPC_REQUEST' ) && XMLRPC_REQUEST ) {
			Security_Optimizer_Response::send_page( 403, 'Forbidden', 'This service is turned off.' );
		}
	}

	/**
	 * Filter `wp_xmlrpc_server_class`, last: WordPress's server adds methods (`system.multicall`) that no filter can
	 * remove.
	 *
	 * @return string
	 */
	public static function server() {
		return 'Security_Optimizer_Signed_Xml_Rpc_Server';
	}

	/**
	 * Filter `xmlrpc_methods`, last.
	 *
	 * @param mixed $methods Callbacks by method name.
	 * @return array The methods of the plugin whose request this is.
	 */
	public static function filter_methods( $methods ) {
		$own = array();
		foreach ( is_array( $methods ) ? $methods : array() as $name => $callback ) {
			foreach ( self::methods() as $prefix ) {
				// Methods of WordPress's server are excluded under any name.
				if ( 0 === strpos( (string) $name, $prefix ) && ! ( is_string( $callback ) && 0 === strpos( $callback, 'this:' ) ) ) {
					$own[ $name ] = $callback;
				}
			}
		}
		return $own;
	}

	/**
	 * @return string[] Allowed prefixes of methods in this request.
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
	 * Actions `activated_plugin` and `deactivated_plugin`: makes guard fetch the list of plugins again.
	 */
	public static function notify_guard() {
		Security_Optimizer_Request_Gate::add_flag( 'p' );
	}
}
