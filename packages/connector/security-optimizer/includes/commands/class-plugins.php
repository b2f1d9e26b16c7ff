<?php
/**
 * Command `plugins`: installed plugins, and the number of users and sessions.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Plugins {

	/**
	 * @return array The response described in docs/developer/post-hack.md.
	 */
	public static function run() {
		global $wpdb;
		require_once ABSPATH . 'wp-admin/includes/plugin.php';
		$plugins = array();
		foreach ( get_plugins() as $file => $data ) {
			$plugins[] = self::entry( $file, $data, 'plugin' );
		}
		foreach ( get_mu_plugins() as $file => $data ) {
			$plugins[] = self::entry( $file, $data, 'must-use' );
		}
		foreach ( get_dropins() as $file => $data ) {
			$plugins[] = self::entry( $file, $data, 'drop-in' );
		}
		return array(
			'plugins'  => $plugins,
			'users'    => (int) $wpdb->get_var( "SELECT COUNT(*) FROM $wpdb->users" ),
			'sessions' => (int) $wpdb->get_var( "SELECT COUNT(*) FROM $wpdb->usermeta WHERE meta_key = 'session_tokens' AND meta_value <> ''" ),
		);
	}

	private static function entry( $file, array $data, $kind ) {
		$installed = 'plugin' === $kind;
		return array(
			'file'           => $file,
			'name'           => '' === $data['Name'] ? $file : Security_Optimizer_Outbox::text( $data['Name'] ),
			'version'        => (string) $data['Version'],
			'kind'           => $kind,
			'active'         => $installed && is_plugin_active( $file ),
			'network_active' => $installed && is_plugin_active_for_network( $file ),
		);
	}
}
