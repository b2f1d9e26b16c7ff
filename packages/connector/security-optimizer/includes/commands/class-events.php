<?php
/**
 * Command `events`: returns a batch of events, and deletes those that guard has stored.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Events {

	const MAX_EVENTS = 1000;

	/**
	 * @param array $body `ack` (list of uids) and `limit`.
	 * @return array|string The response described in docs/developer/activity-log.md, or an error's code.
	 */
	public static function run( array $body ) {
		if ( ! isset( $body['ack'], $body['limit'] ) || ! is_array( $body['ack'] ) || ! is_int( $body['limit'] ) || $body['limit'] < 1 ) {
			return 'invalid_events';
		}
		$stored = array_slice( array_filter( $body['ack'], 'is_string' ), 0, self::MAX_EVENTS );
		if ( array() !== $stored ) {
			Security_Optimizer_Outbox::delete( $stored );
		}
		$batch = Security_Optimizer_Outbox::read( min( $body['limit'], self::MAX_EVENTS ) );
		// Guard sends this command every half minute while the site is in use, so it detects changed names by this
		// hash.
		return is_array( $batch ) ? $batch + array( 'names' => Security_Optimizer_Site_Names::hash( Security_Optimizer_Site_Names::all() ) ) : $batch;
	}
}
