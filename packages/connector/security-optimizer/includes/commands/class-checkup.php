<?php
/**
 * Command `checkup`: searches for traces of a break-in without changing anything.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Checkup {

	/** Longest list in a response. */
	const LISTED = 200;

	/**
	 * @param array $body `part`; for `core` the URL of the checksums (`checksums`, without a query), for `plugin` also
	 *                    `file`, and `checksums` of the plugin directory.
	 * @return array|string The response described in docs/developer/post-hack.md, or an error's code.
	 */
	public static function run( array $body ) {
		switch ( isset( $body['part'] ) ? $body['part'] : '' ) {
			case 'core':
				return isset( $body['checksums'] ) && is_string( $body['checksums'] ) ? self::core( $body['checksums'] ) : 'invalid_part';
			case 'plugin':
				if ( ! isset( $body['file'], $body['checksums'] ) || ! is_string( $body['file'] ) || ! is_string( $body['checksums'] ) ) {
					return 'invalid_part';
				}
				return Security_Optimizer_Checkup_Files::compare_plugin( $body['file'], $body['checksums'] );
			case 'uploads':
				return Security_Optimizer_Checkup_Files::find_scripts_in_uploads();
			case 'administrators':
				return self::administrators();
			case 'options':
				return self::options();
			case 'tasks':
				return self::tasks();
		}
		return 'invalid_part';
	}

	private static function core( $address ) {
		require ABSPATH . WPINC . '/version.php';
		$locale   = isset( $wp_local_package ) ? $wp_local_package : 'en_US';
		$response = wp_remote_get( $address . '?' . build_query( compact( 'locale' ) + array( 'version' => $wp_version ) ), array( 'timeout' => 30 ) );
		if ( is_wp_error( $response ) || 200 !== wp_remote_retrieve_response_code( $response ) ) {
			return 'checksums_unreachable';
		}
		$known = json_decode( wp_remote_retrieve_body( $response ), true );
		if ( ! is_array( $known ) || empty( $known['checksums'] ) || ! is_array( $known['checksums'] ) ) {
			return 'no_checksums';
		}
		$sums  = $known['checksums'];
		$found = array(
			'changed' => array(),
			'missing' => array(),
			'unknown' => array(),
			'left'    => array(),
		);
		foreach ( $sums as $name => $sum ) {
			// The owner may change or remove bundled themes and plugins.
			if ( 0 === strpos( $name, 'wp-content/' ) ) {
				continue;
			}
			if ( ! is_file( ABSPATH . $name ) ) {
				$found['missing'][] = $name;
			} elseif ( md5_file( ABSPATH . $name ) !== $sum ) {
				$found['changed'][] = $name;
			}
		}
		foreach ( array( 'wp-admin', 'wp-includes' ) as $folder ) {
			foreach ( Security_Optimizer_Files::list_below( ABSPATH . $folder ) as $name ) {
				if ( ! isset( $sums[ $folder . $name ] ) ) {
					$is_harmless = Security_Optimizer_Checkup_Files::is_left_by_server( ABSPATH . $folder . $name );

					$found[ $is_harmless ? 'left' : 'unknown' ][] = $folder . $name;
				}
			}
		}
		foreach ( glob( ABSPATH . '*.php' ) as $file ) {
			$name = basename( $file );
			if ( ! isset( $sums[ $name ] ) && 'wp-config.php' !== $name ) {
				$found['unknown'][] = $name;
			}
		}
		return array(
			'version' => $wp_version,
			'changed' => Security_Optimizer_Checkup_Files::describe( ABSPATH, $found['changed'] ),
			'missing' => array_slice( $found['missing'], 0, self::LISTED ),
			'unknown' => Security_Optimizer_Checkup_Files::describe( ABSPATH, $found['unknown'] ),
			'left'    => array_slice( $found['left'], 0, self::LISTED ),
		);
	}

	private static function administrators() {
		$list  = array();
		$query = array(
			'capability' => 'manage_options',
			'orderby'    => 'ID',
			'number'     => self::LISTED,
		);
		foreach ( get_users( $query ) as $user ) {
			$sessions = get_user_meta( $user->ID, 'session_tokens', true );
			$logins   = is_array( $sessions ) ? wp_list_pluck( $sessions, 'login' ) : array();
			$list[]   = array(
				'id'         => $user->ID,
				'login'      => $user->user_login,
				'email'      => $user->user_email,
				'registered' => (int) strtotime( $user->user_registered . ' UTC' ),
				'last_login' => array() === $logins ? null : (int) max( $logins ),
				'sessions'   => count( $logins ),
				'link'       => get_edit_user_link( $user->ID ),
			);
		}
		return array( 'administrators' => $list );
	}

	private static function options() {
		return array(
			'site_url'      => site_url(),
			'home'          => home_url(),
			'admin_email'   => (string) get_option( 'admin_email' ),
			'default_role'  => (string) get_option( 'default_role' ),
			'registration'  => (bool) get_option( 'users_can_register' ),
			'strong_roles'  => self::strong_roles(),
			'settings_link' => admin_url( 'options-general.php' ),
		);
	}

	/**
	 * Roles other than administrator with capabilities that only administrators should have.
	 */
	private static function strong_roles() {
		$strong = array();
		foreach ( wp_roles()->roles as $name => $role ) {
			$all = isset( $role['capabilities'] ) ? array_keys( array_filter( (array) $role['capabilities'] ) ) : array();
			if ( 'administrator' !== $name && array_intersect( array( 'manage_options', 'edit_plugins', 'install_plugins', 'promote_users', 'edit_files' ), $all ) ) {
				$strong[] = $name;
			}
		}
		return $strong;
	}

	private static function tasks() {
		$tasks = array();
		foreach ( (array) _get_cron_array() as $time => $hooks ) {
			foreach ( (array) $hooks as $hook => $events ) {
				if ( ! isset( $tasks[ $hook ] ) && count( $tasks ) < self::LISTED ) {
					$tasks[ $hook ] = array(
						'hook'  => (string) $hook,
						'next'  => (int) $time,
						'owner' => self::get_hook_owner( $hook ),
					);
				}
			}
		}
		return array( 'tasks' => array_values( $tasks ) );
	}

	/**
	 * @return string `wordpress`, `plugin:<folder>`, `theme:<folder>`, `must-use`, or '' without a callback.
	 */
	private static function get_hook_owner( $hook ) {
		global $wp_filter;
		foreach ( isset( $wp_filter[ $hook ] ) ? $wp_filter[ $hook ]->callbacks : array() as $callbacks ) {
			foreach ( $callbacks as $callback ) {
				$file = wp_normalize_path( (string) self::get_callback_file( $callback['function'] ) );
				foreach ( array(
					'must-use' => WPMU_PLUGIN_DIR,
					'plugin'   => WP_PLUGIN_DIR,
					'theme'    => get_theme_root(),
				) as $kind => $folder ) {
					$folder = trailingslashit( wp_normalize_path( $folder ) );
					if ( 0 === strpos( $file, $folder ) ) {
						return 'must-use' === $kind ? $kind : $kind . ':' . strtok( substr( $file, strlen( $folder ) ), '/' );
					}
				}
				if ( 0 === strpos( $file, wp_normalize_path( ABSPATH ) ) ) {
					return 'wordpress';
				}
			}
		}
		// WordPress adds the callbacks of these hooks only while cron runs.
		$own = array( 'delete_expired_transients', 'wp_scheduled_auto_draft_delete', 'importer_scheduled_cleanup', 'publish_future_post', 'do_pings', 'wp_update_user_counts', 'wp_delete_temp_updater_backups', 'wp_https_detection', 'wp_site_health_scheduled_check', 'recovery_mode_clean_expired_keys', 'wp_privacy_delete_old_export_files', 'wp_update_themes', 'wp_update_plugins', 'wp_version_check', 'wp_scheduled_delete', 'wp_split_shared_term_batch', 'upgrader_scheduled_cleanup', 'wp_maybe_auto_update' );
		return in_array( $hook, $own, true ) ? 'wordpress' : '';
	}

	private static function get_callback_file( $function ) {
		try {
			if ( is_string( $function ) && false !== strpos( $function, '::' ) ) {
				$function = explode( '::', $function, 2 );
			}
			$at = is_array( $function ) ? new ReflectionMethod( $function[0], $function[1] ) : new ReflectionFunction( Closure::fromCallable( $function ) );
			return $at->getFileName();
		} catch ( Throwable $e ) {
			return '';
		}
	}
}
