<?php
/**
 * Command `reinstall-plugin`: replaces a plugin by a clean copy of the same version from the public directory.
 *
 * The copy is downloaded, unpacked and compared file by file with the directory's checksums before anything changes. If
 * anything fails, the old copy is kept. The plugin stays active or inactive, because its main file keeps its name.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Reinstall_Plugin {

	/** Maximum number of listed files of the old copy. */
	const LISTED = 50;

	/**
	 * @param array $body `file` (main file of the plugin) and `directory` (`api`, `downloads` and `checksums`: URLs
	 *                    without a trailing slash).
	 * @return array|string The response described in docs/developer/post-hack.md, or an error's code.
	 */
	public static function run( array $body ) {
		$directory = isset( $body['directory'] ) ? $body['directory'] : null;
		if ( ! isset( $body['file'] ) || ! is_string( $body['file'] ) || ! is_array( $directory )
			|| ! isset( $directory['api'], $directory['downloads'], $directory['checksums'] )
		) {
			return 'invalid_plugin';
		}
		require_once ABSPATH . 'wp-admin/includes/plugin.php';
		require_once ABSPATH . 'wp-admin/includes/file.php';
		if ( function_exists( 'set_time_limit' ) ) {
			@set_time_limit( 300 ); // phpcs:ignore WordPress.PHP.NoSilencedErrors.Discouraged -- Some hosts forbid it.
		}
		ignore_user_abort( true );

		$is_restored = Security_Optimizer_Plugin_Swap::finish_interrupted();
		$plugins     = get_plugins();
		if ( ! isset( $plugins[ $body['file'] ] ) ) {
			return $is_restored ? self::result( 'skipped', 'gone', '' ) : self::result( 'failed', 'not_put_back', '' );
		}
		if ( ! $is_restored ) {
			return self::result( 'failed', 'not_stored', (string) $plugins[ $body['file'] ]['Version'] );
		}
		$copy   = new Security_Optimizer_Plugin_Download( $body['file'], $plugins[ $body['file'] ], $directory );
		$result = self::reinstall( $copy );
		$copy->remove();
		return $result;
	}

	private static function reinstall( Security_Optimizer_Plugin_Download $copy ) {
		$reason = $copy->find_obstacle();
		if ( '' !== $reason ) {
			return self::result( 'skipped', $reason, $copy->version );
		}
		$reason = $copy->fetch();
		if ( '' !== $reason ) {
			$skipped = in_array( $reason, array( 'not_free', 'version_gone', 'another_plugin' ), true );
			return array( 'refused_file' => $copy->refused_file ) + self::result( $skipped ? 'skipped' : 'failed', $reason, $copy->version );
		}
		$unknown = array();
		$changed = 0;
		foreach ( Security_Optimizer_Files::list_below( $copy->get_installed_path() ) as $name ) {
			if ( ! is_file( $copy->get_copy_path() . $name ) ) {
				$unknown[] = ltrim( $name, '/' );
			} elseif ( md5_file( $copy->get_installed_path() . $name ) !== md5_file( $copy->get_copy_path() . $name ) ) {
				++$changed;
			}
		}
		$reason = Security_Optimizer_Plugin_Swap::run( $copy->get_installed_path(), $copy->get_copy_path() );
		if ( '' !== $reason ) {
			return self::result( 'failed', $reason, $copy->version );
		}
		wp_clean_plugins_cache( false );
		return array(
			'unknown_files' => array_slice( $unknown, 0, self::LISTED ),
			'changed_files' => $changed,
		) + self::result( 'done', '', $copy->version );
	}

	private static function result( $result, $reason, $version ) {
		return array(
			'result'        => $result,
			'reason'        => $reason,
			'version'       => $version,
			'unknown_files' => array(),
			'changed_files' => 0,
		);
	}
}
