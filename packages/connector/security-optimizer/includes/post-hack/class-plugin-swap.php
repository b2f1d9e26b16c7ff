<?php
/**
 * Replaces a plugin by a clean copy with two renames, and restores the old one if the second rename fails.
 *
 * The paths are stored in the database meanwhile, so that the next command restores the plugin if this request dies.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Plugin_Swap {

	const OPTION = 'security_optimizer_swap';

	/**
	 * @param string $place Folder or file of the installed plugin.
	 * @param string $fresh Its replacement, on the same file system.
	 * @return string Code of the error, or ''.
	 */
	public static function run( $place, $fresh ) {
		$old       = WP_CONTENT_DIR . '/upgrade/security-optimizer-old-' . bin2hex( random_bytes( 8 ) );
		$paths     = array(
			'place' => $place,
			'old'   => $old,
		);
		$is_stored = Security_Optimizer_Database_Retry::run(
			static function () use ( $paths ) {
				return update_site_option( self::OPTION, $paths );
			}
		);
		if ( ! $is_stored ) {
			return 'not_stored';
		}
		self::set_maintenance_mode( true );
		$reason = self::rename_paths( $place, $fresh, $old );
		self::set_maintenance_mode( false );
		// If the old copy could not be restored, it is the only one, and the next step tries again.
		if ( 'not_put_back' !== $reason ) {
			self::delete_copy( $old );
		}
		return $reason;
	}

	/**
	 * Restores the plugin if an earlier request died between the two renames.
	 *
	 * @return bool False when it can't be restored. Then no other plugin may be swapped, because that would overwrite
	 *              the record of the only copy.
	 */
	public static function finish_interrupted() {
		$paths = get_site_option( self::OPTION );
		if ( ! is_array( $paths ) || ! isset( $paths['place'], $paths['old'] ) ) {
			return true;
		}
		// The paths come from the database, so they must not lead elsewhere.
		$inside = 0 === strpos( $paths['place'], WP_PLUGIN_DIR . '/' ) && 0 === strpos( $paths['old'], WP_CONTENT_DIR . '/upgrade/security-optimizer-old-' )
			&& false === strpos( $paths['place'] . $paths['old'], '..' );
		// phpcs:ignore WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- The result says it.
		if ( $inside && ! file_exists( $paths['place'] ) && file_exists( $paths['old'] ) && ! @rename( $paths['old'], $paths['place'] ) ) {
			return false;
		}
		self::set_maintenance_mode( false );
		self::delete_copy( $inside ? $paths['old'] : '' );
		return true;
	}

	/**
	 * Deletes an old copy and its record. The copy is renamed first, so that a remaining record can't restore a plugin
	 * that the owner deletes later.
	 */
	private static function delete_copy( $old ) {
		if ( '' !== $old && file_exists( $old ) ) {
			$gone = str_replace( '/security-optimizer-old-', '/security-optimizer-gone-', $old );
			// phpcs:ignore WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- Good to have, no more.
			Security_Optimizer_Files::delete( @rename( $old, $gone ) ? $gone : $old );
		}
		Security_Optimizer_Database_Retry::delete_site_option( self::OPTION );
	}

	private static function rename_paths( $place, $fresh, $old ) {
		// phpcs:disable WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- The result says it.
		if ( ! @rename( $place, $old ) ) {
			return 'not_writable';
		}
		if ( ! @rename( $fresh, $place ) ) {
			return @rename( $old, $place ) ? 'swap_failed' : 'not_put_back';
		}
		// phpcs:enable
		if ( is_dir( $place ) && function_exists( 'wp_opcache_invalidate_directory' ) ) {
			wp_opcache_invalidate_directory( $place );
		} else {
			wp_opcache_invalidate( $place, true );
		}
		return '';
	}

	/**
	 * WordPress shows its maintenance page while this file exists and is recent.
	 */
	private static function set_maintenance_mode( $begin ) {
		$file = ABSPATH . '.maintenance';
		// phpcs:disable WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- Good to have, no more.
		if ( $begin ) {
			// Renamed into place, because writing to a link would change its target.
			$temporary = $file . '-' . bin2hex( random_bytes( 8 ) ) . '.php';
			if ( false === @file_put_contents( $temporary, '<?php $upgrading = ' . time() . '; // security-optimizer' ) || ! @rename( $temporary, $file ) ) {
				Security_Optimizer_Files::delete( $temporary );
			}
		} elseif ( ! is_link( $file ) && is_file( $file ) && false !== strpos( (string) file_get_contents( $file ), '// security-optimizer' ) ) {
			Security_Optimizer_Files::delete( $file );
		}
		// phpcs:enable
	}
}
