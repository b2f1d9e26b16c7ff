<?php
/**
 * Command `overview`: data of WordPress for the Security Dashboard.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Overview {

	/**
	 * @return array The response described in docs/developer/overview.md. Updates are read from WordPress's cache, without
	 *               network requests.
	 */
	public static function run() {
		$core    = get_site_transient( 'update_core' );
		$newer   = array();
		$offered = isset( $core->updates ) && is_array( $core->updates ) ? $core->updates : array();
		foreach ( $offered as $update ) {
			if ( isset( $update->response, $update->current ) && 'upgrade' === $update->response
				&& version_compare( (string) $update->current, self::version(), '>' )
			) {
				$newer[] = (string) $update->current;
			}
		}
		usort( $newer, 'version_compare' );
		return array(
			'core_update'    => array() === $newer ? null : end( $newer ),
			'plugin_updates' => self::count_updates( 'update_plugins' ),
			'theme_updates'  => self::count_updates( 'update_themes' ),
			'salts'          => self::salts(),
			'shows_errors'   => defined( 'WP_DEBUG' ) && WP_DEBUG && ( ! defined( 'WP_DEBUG_DISPLAY' ) || WP_DEBUG_DISPLAY ),
			'can_edit_files' => ! ( defined( 'DISALLOW_FILE_EDIT' ) && DISALLOW_FILE_EDIT ),
			'administrators' => self::administrators(),
			'default_role'   => (string) get_option( 'default_role' ),
			'registration'   => (bool) get_option( 'users_can_register' ),
			'https'          => 'https' === wp_parse_url( home_url(), PHP_URL_SCHEME ),
		);
	}

	private static function version() {
		require ABSPATH . WPINC . '/version.php';
		return $wp_version;
	}

	private static function count_updates( $transient ) {
		$known = get_site_transient( $transient );
		return isset( $known->response ) && is_array( $known->response ) ? count( $known->response ) : 0;
	}

	/**
	 * @return string `set`, `in-database` (WordPress has created them, so they are readable with the database), or
	 *                `default` (the text of the sample file).
	 */
	private static function salts() {
		$found = 'set';
		foreach ( Security_Optimizer_Salts::NAMES as $name ) {
			if ( ! defined( $name ) || '' === constant( $name ) ) {
				$found = 'in-database';
			} elseif ( 'put your unique phrase here' === constant( $name ) ) {
				return 'default';
			}
		}
		return $found;
	}

	/**
	 * @return array Ids and logins of at most 200 administrators.
	 */
	private static function administrators() {
		$list  = array();
		$query = array(
			'capability' => 'manage_options',
			'number'     => 200,
			'orderby'    => 'ID',
		);
		foreach ( get_users( $query ) as $user ) {
			$list[] = array(
				'id'    => $user->ID,
				'login' => $user->user_login,
			);
		}
		return $list;
	}
}
