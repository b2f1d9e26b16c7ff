<?php
/**
 * WordPress's XML-RPC server with the methods of one plugin only. Loaded by xmlrpc.php after its own server class.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Signed_Xml_Rpc_Server extends wp_xmlrpc_server {

	/**
	 * The base class calls it before it handles a request, to add its own `system.…` methods.
	 */
	public function setCallbacks() { // phpcs:ignore WordPress.NamingConventions.ValidFunctionName.MethodNameInvalid -- Its name.
		$this->callbacks = Security_Optimizer_Signed_Xml_Rpc::filter_methods( $this->callbacks );
	}
}
