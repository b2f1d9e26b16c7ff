<?php
/**
 * Command `policy`: stores what guard wants enforced inside WordPress.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Policy {

	/**
	 * @param array $body `hash`, `policy` and `healing` (true: WordPress ran another one than guard thought).
	 * @return array|string The answer described in docs/connector-protocol.md, or an error's code.
	 */
	public static function run( array $body ) {
		if ( ! isset( $body['hash'], $body['policy'] ) || ! Security_Optimizer_Policy::is_valid( $body['policy'] ) ) {
			return 'invalid_policy';
		}
		// A hash of another kind would make guard push the same policy again and again.
		if ( Security_Optimizer_Protocol::policy_hash( $body['policy'] ) !== $body['hash'] ) {
			return 'policy_hash_differs';
		}
		$asked_for_factor = Security_Optimizer_Policy::is_on( 'sg2fa' );
		if ( ! Security_Optimizer_Policy::store( $body['policy'] ) ) {
			return 'policy_not_stored';
		}
		Security_Optimizer_Gate::send_signal();
		Security_Optimizer_Slow_Users::forget_others();
		Security_Optimizer_Second_Factor::follow_pause( time() );
		// Whoever switches it on has the sessions ended by a command of its own, which keeps the caller's.
		if ( ! $asked_for_factor && ! empty( $body['healing'] ) && Security_Optimizer_Policy::is_on( 'sg2fa' ) ) {
			Security_Optimizer_Second_Factor::end_unmarked();
		}

		if ( Security_Optimizer_Policy::is_on( 'activity_events' ) ) {
			Security_Optimizer_Outbox::create();
		}

		$notes = array();
		if ( Security_Optimizer_Policy::is_on( 'delete_readme' ) ) {
			$notes['delete_readme'] = Security_Optimizer_Readme::delete();
			Security_Optimizer_Readme::schedule();
		} else {
			Security_Optimizer_Readme::unschedule();
		}
		return array(
			'policy' => $body['hash'],
			'notes'  => (object) $notes,
		);
	}
}
