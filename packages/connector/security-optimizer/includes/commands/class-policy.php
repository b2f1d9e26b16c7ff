<?php
/**
 * Command `policy`: stores the policy that is enforced inside WordPress.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Policy {

	/**
	 * @param array $body `hash`, `policy` and `reconcile` (true: WordPress ran another policy than guard expected).
	 * @return array|string The response described in docs/developer/connector-protocol.md, or an error's code.
	 */
	public static function run( array $body ) {
		if ( ! isset( $body['hash'], $body['policy'] ) || ! Security_Optimizer_Policy::is_valid( $body['policy'] ) ) {
			return 'invalid_policy';
		}
		// With a different hash guard would push the same policy again and again.
		if ( Security_Optimizer_Protocol::policy_hash( $body['policy'] ) !== $body['hash'] ) {
			return 'policy_hash_differs';
		}
		$required_factor = Security_Optimizer_Policy::is_on( 'sg2fa' );
		$required_roles  = Security_Optimizer_Second_Factor::roles();
		if ( ! Security_Optimizer_Policy::store( $body['policy'] ) ) {
			return 'policy_not_stored';
		}
		Security_Optimizer_Request_Gate::send_signal();
		Security_Optimizer_Throttled_Accounts::delete_stale();
		$is_applied = Security_Optimizer_Second_Factor_Sessions::apply_pause( time() );
		// When the owner switches the factor on or adds a role, guard sends `end-sessions`, which keeps the owner's session.
		$more_need_it = ! $required_factor || array() !== array_diff( Security_Optimizer_Second_Factor::roles(), $required_roles );
		if ( $more_need_it && ! empty( $body['reconcile'] ) && Security_Optimizer_Policy::is_on( 'sg2fa' ) ) {
			$is_applied = null !== Security_Optimizer_Second_Factor_Sessions::end_unmarked() && $is_applied;
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
		if ( ! $is_applied ) {
			return 'policy_not_stored';
		}
		return array(
			'policy' => $body['hash'],
			'notes'  => (object) $notes,
		);
	}
}
