<?php
/**
 * Command `mail-password-links`: sends the next users a link to choose a new password.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Mail_Password_Links {

	/** Maximum number of users in one step. */
	const MAX_USERS = 200;

	/** Longest step, seconds. Sending mails may be slow. */
	const SECONDS = 10;

	/**
	 * @param array $body `after` (id of the last user of the previous step, 0 at first), `limit`, `partitions` and
	 *                    `partition` (number of partitions and index of this one: partitions divide the users and may
	 *                    run in parallel) and `mails`, by locale.
	 * @return array|string The response described in docs/developer/post-hack.md, or an error's code.
	 */
	public static function run( array $body ) {
		foreach ( array( 'after', 'limit', 'partition', 'partitions' ) as $name ) {
			if ( ! isset( $body[ $name ] ) || ! is_int( $body[ $name ] ) ) {
				return 'invalid_users';
			}
		}
		if ( ! isset( $body['mails'] ) || ! Security_Optimizer_Reset_Mails::are_mails( $body['mails'] ) ) {
			return 'invalid_mails';
		}
		$partitions = max( 1, $body['partitions'] );
		$limit      = max( 1, min( self::MAX_USERS, $body['limit'] ) );
		$users      = self::users( $body['after'], $partitions, $body['partition'], $limit );
		$until      = microtime( true ) + self::SECONDS;
		$last       = $body['after'];
		$sums       = array(
			'mailed' => 0,
			'failed' => 0,
			'left'   => 0,
		);
		cache_users( $users );
		$users = array_combine( $users, array_map( 'get_userdata', $users ) );
		$due   = array_filter( $users, array( __CLASS__, 'needs_mail' ) );
		$keys  = Security_Optimizer_Reset_Mails::write_keys( array_filter( $due, array( 'Security_Optimizer_Reset_Mails', 'may_reset' ) ) );
		foreach ( $users as $id => $user ) {
			if ( ! isset( $due[ $id ] ) ) {
				++$sums['left'];
			} elseif ( isset( $keys[ $id ] ) && Security_Optimizer_Reset_Mails::send( $user, $keys[ $id ], $body['mails'] ) ) {
				++$sums['mailed'];
			} else {
				++$sums['failed'];
			}
			$last = (int) $id;
			if ( microtime( true ) > $until ) {
				break;
			}
		}
		return $sums + array(
			'last' => $last,
			'more' => array() !== self::users( $last, $partitions, $body['partition'], 1 ),
		);
	}

	private static function users( $after, $partitions, $partition, $limit ) {
		global $wpdb;
		return $wpdb->get_col( $wpdb->prepare( "SELECT ID FROM $wpdb->users WHERE ID > %d AND MOD( ID, %d ) = %d ORDER BY ID LIMIT %d", $after, $partitions, $partition, $limit ) );
	}

	/**
	 * Users who already have a new password, for example by the lost-password form, get no mail.
	 *
	 * @param WP_User|false $user A user; false for a deleted one.
	 * @return bool
	 */
	public static function needs_mail( $user ) {
		return $user && '' !== $user->user_email && Security_Optimizer_Password_Reset::is_due( $user );
	}
}
