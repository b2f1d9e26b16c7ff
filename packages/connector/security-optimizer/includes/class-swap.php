<?php
/**
 * Puts a clean copy in the place of an old one by two renames, and the old one back if the second fails.
 *
 * What is under way stands in the database, so that a request that died between the two is made good by the next.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Swap {

	const OPTION = 'security_optimizer_swap';

	/**
	 * @param string $place Folder or file in use.
	 * @param string $fresh What takes its place, on the same disk.
	 * @return string Why not, or ''.
	 */
	public static function run( $place, $fresh ) {
		$old = WP_CONTENT_DIR . '/upgrade/security-optimizer-old-' . bin2hex( random_bytes( 8 ) );
		$way = array(
			'place' => $place,
			'old'   => $old,
		);
		if ( ! update_site_option( self::OPTION, $way ) ) {
			return 'not_stored';
		}
		self::maintain( true );
		$reason = self::rename_both( $place, $fresh, $old );
		self::maintain( false );
		// The old copy is the only one when it could not be put back; the next step tries again.
		if ( 'not_put_back' !== $reason ) {
			Security_Optimizer_Files::delete( $old );
			delete_site_option( self::OPTION );
		}
		return $reason;
	}

	/**
	 * A request that died half-way leaves the plugin without its folder: puts the old one back.
	 */
	public static function finish_interrupted() {
		$way = get_site_option( self::OPTION );
		if ( ! is_array( $way ) || ! isset( $way['place'], $way['old'] ) ) {
			return;
		}
		// The place itself comes from the database, so it must not lead elsewhere.
		$inside = 0 === strpos( $way['place'], WP_PLUGIN_DIR . '/' ) && 0 === strpos( $way['old'], WP_CONTENT_DIR . '/upgrade/security-optimizer-old-' )
			&& false === strpos( $way['place'] . $way['old'], '..' );
		if ( $inside ) {
			if ( ! file_exists( $way['place'] ) && file_exists( $way['old'] ) && ! rename( $way['old'], $way['place'] ) ) { // phpcs:ignore WordPress.WP.AlternativeFunctions
				return;
			}
			Security_Optimizer_Files::delete( $way['old'] );
		}
		self::maintain( false );
		delete_site_option( self::OPTION );
	}

	private static function rename_both( $place, $fresh, $old ) {
		// phpcs:disable WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- The answer says it.
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
	 * WordPress tells visitors to come back in a minute while this file is there and young.
	 */
	private static function maintain( $begin ) {
		$file = ABSPATH . '.maintenance';
		if ( $begin ) {
			@file_put_contents( $file, '<?php $upgrading = ' . time() . '; // security-optimizer' ); // phpcs:ignore WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- Good to have, no more.
		} elseif ( is_file( $file ) && false !== strpos( (string) file_get_contents( $file ), '// security-optimizer' ) ) {
			Security_Optimizer_Files::delete( $file );
		}
	}
}
