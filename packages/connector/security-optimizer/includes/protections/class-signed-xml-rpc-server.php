<?php
/**
 * WordPress's XML-RPC server with the methods of one plugin alone. Loaded while xmlrpc.php runs, behind its own server.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Signed_Xml_Rpc_Server extends wp_xmlrpc_server {

	/**
	 * Called last before a request is carried out, by the base class, to add its own `system.…` methods.
	 */
	public function setCallbacks() { // phpcs:ignore WordPress.NamingConventions.ValidFunctionName.MethodNameInvalid -- Its name.
		$this->callbacks = Security_Optimizer_Signed_Xml_Rpc::only_own( $this->callbacks );
	}
}
