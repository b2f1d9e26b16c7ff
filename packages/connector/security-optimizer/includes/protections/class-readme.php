<?php
/**
 * Protection `delete_readme`: deletes the readme of WordPress, now and after each update.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Readme {

	/** Name of the daily cron event that deletes the file again. */
	const DAILY = 'security_optimizer_delete_readme';

	/**
	 * @return string `deleted`, `absent` or `not_deleted`.
	 */
	public static function delete() {
		$file = ABSPATH . 'readme.html';
		clearstatcache( true, $file );
		if ( ! file_exists( $file ) && ! is_link( $file ) ) {
			return 'absent';
		}
		return @unlink( $file ) ? 'deleted' : 'not_deleted'; // phpcs:ignore WordPress.PHP.NoSilencedErrors.Discouraged -- The result says it.
	}

	public static function schedule() {
		if ( ! wp_next_scheduled( self::DAILY ) ) {
			wp_schedule_event( time() + DAY_IN_SECONDS, 'daily', self::DAILY );
		}
	}

	public static function unschedule() {
		wp_clear_scheduled_hook( self::DAILY );
	}
}
