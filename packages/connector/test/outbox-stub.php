<?php
/**
 * Stub of the outbox: its events, in order. Those of `$provisional` can still be deleted.
 *
 * @package Security_Optimizer
 */
final class Security_Optimizer_Outbox {
	public static $events = array();

	private static $last = 0;

	public static function add( $kind, array $object, $before = null, $after = null, $user = null, array $more = array() ) {
		$uid = 'uid ' . ( ++self::$last );

		self::$events[ $uid ] = rtrim( "$kind: $object[2] ($before > $after)" . ( empty( $more['administrator'] ) ? '' : ' administrator' ) );
		return $uid;
	}

	public static function add_provisional( ...$arguments ) {
		return self::add( ...$arguments );
	}

	public static function delete( array $uids ) {
		self::$events = array_diff_key( self::$events, array_flip( $uids ) );
	}

	/** @return string[] The events since the last call. */
	public static function take() {
		$events       = array_values( self::$events );
		self::$events = array();
		return $events;
	}
}
