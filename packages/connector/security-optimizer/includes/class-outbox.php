<?php
/**
 * What has happened here and guard does not know yet. One table for the whole installation, as there is one guard.
 *
 * A row is written in the request in which it happened, in the same transaction if there is one; guard fetches it
 * whenever it can.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Outbox {

	/** Rows kept while guard does not come. */
	const MAX_ROWS = 50000;

	/** Characters of a value. */
	const MAX_TEXT = 200;

	/** Bytes of one batch: guard reads no longer answers. */
	const MAX_BATCH = 200000;

	/**
	 * Writes an event. Whatever the database says, the request goes on.
	 *
	 * @param string       $kind   Of packages/contract/src/activity-kinds.ts.
	 * @param array        $object `type`, `id` and `name` of what was touched.
	 * @param string|null  $before Value before.
	 * @param string|null  $after  Value after.
	 * @param WP_User|null $user   Who did it; the current user when left out.
	 * @param array        $more   Further fields of the event, for alerts: `administrator` and `agent`.
	 * @return string The event's uid.
	 */
	public static function add( $kind, array $object, $before = null, $after = null, $user = null, array $more = array() ) {
		global $wpdb;
		$origin = self::origin();
		$event  = array(
			'at'      => time(),
			'kind'    => $kind,
			'user'    => self::user( $user, $origin ),
			'address' => 'web' === $origin && isset( $_SERVER['REMOTE_ADDR'] ) && filter_var( $_SERVER['REMOTE_ADDR'], FILTER_VALIDATE_IP ) ? $_SERVER['REMOTE_ADDR'] : '',
			'origin'  => $origin,
			'object'  => array(
				'type' => self::text( $object[0] ),
				'id'   => self::text( $object[1] ),
				'name' => self::text( $object[2] ),
			),
			'before'  => null === $before ? null : self::text( $before ),
			'after'   => null === $after ? null : self::text( $after ),
		) + $more;
		$table  = self::table();
		$uid    = bin2hex( random_bytes( 16 ) );
		// JSON in ASCII, so that it fits into any character set and WordPress need not ask for the table's.
		$row = $wpdb->prepare( "INSERT INTO $table (uid, event) VALUES (%s, %s)", $uid, json_encode( $event, JSON_INVALID_UTF8_SUBSTITUTE ) ); // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared

		// Plugins look at these after a query of their own that brought us here.
		$kept  = array( $wpdb->insert_id, $wpdb->last_error );
		$quiet = $wpdb->suppress_errors( true );
		if ( $wpdb->query( $row ) || ( self::create() && $wpdb->query( $row ) ) ) { // phpcs:ignore WordPress.DB.PreparedSQL.NotPrepared
			if ( 0 === $wpdb->insert_id % 1000 ) {
				self::drop_oldest();
			}
			Security_Optimizer_Gate::add_flag( 'o' );
		}
		$wpdb->suppress_errors( $quiet );
		list( $wpdb->insert_id, $wpdb->last_error ) = $kept;
		return $uid;
	}

	/**
	 * @param string[] $uids Events that another one replaces.
	 * @return bool Whether any of them was still here.
	 */
	public static function delete( array $uids ) {
		global $wpdb;
		$table = self::table();
		$marks = implode( ',', array_fill( 0, count( $uids ), '%s' ) );
		return (bool) $wpdb->query( $wpdb->prepare( "DELETE FROM $table WHERE uid IN ($marks)", $uids ) ); // phpcs:ignore WordPress.DB.PreparedSQL
	}

	/**
	 * @param int $limit Most events wanted.
	 * @return array `events`, oldest first, and `more`.
	 */
	public static function read( $limit ) {
		global $wpdb;
		$table  = self::table();
		$quiet  = $wpdb->suppress_errors( true );
		$rows   = (array) $wpdb->get_results( $wpdb->prepare( "SELECT id, uid, event FROM $table ORDER BY id LIMIT %d", $limit + 1 ) ); // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
		$events = array();
		$bytes  = 0;
		$wpdb->suppress_errors( $quiet );
		foreach ( $rows as $row ) {
			$bytes += strlen( $row->event ) + 80;
			if ( count( $events ) === $limit || ( $bytes > self::MAX_BATCH && array() !== $events ) ) {
				break;
			}
			$events[] = array(
				'id'  => (int) $row->id,
				'uid' => $row->uid,
			) + (array) json_decode( $row->event, true );
		}
		return array(
			'events' => $events,
			'more'   => count( $rows ) > count( $events ),
		);
	}

	/**
	 * @return bool Whether the table is there now.
	 */
	public static function create() {
		global $wpdb;
		$table = self::table();
		return false !== $wpdb->query( "CREATE TABLE IF NOT EXISTS $table (id bigint(20) unsigned NOT NULL AUTO_INCREMENT, uid char(32) NOT NULL, event text NOT NULL, PRIMARY KEY (id), UNIQUE KEY uid (uid)) " . $wpdb->get_charset_collate() ); // phpcs:ignore WordPress.DB.PreparedSQL
	}

	public static function drop() {
		global $wpdb;
		$wpdb->query( 'DROP TABLE IF EXISTS ' . self::table() ); // phpcs:ignore WordPress.DB
	}

	/**
	 * @return string `web`, `cli`, or `cron` for what runs by itself, automatic updates for example.
	 */
	public static function origin() {
		if ( wp_doing_cron() ) {
			return 'cron';
		}
		return Security_Optimizer_Gate::is_command_line() ? 'cli' : 'web';
	}

	/**
	 * @param mixed $value Anything.
	 * @return string Plain text, not too long.
	 */
	public static function text( $value ) {
		$value = is_scalar( $value ) ? html_entity_decode( wp_strip_all_tags( (string) $value, true ), ENT_QUOTES, 'UTF-8' ) : '';
		return mb_strlen( $value, 'UTF-8' ) > self::MAX_TEXT ? mb_substr( $value, 0, self::MAX_TEXT - 1, 'UTF-8' ) . '…' : $value;
	}

	private static function user( $user, $origin ) {
		if ( null === $user ) {
			// Cron runs as the user whose visit started it.
			$user = 'cron' === $origin ? null : wp_get_current_user();
		}
		return $user && $user->exists() ? array(
			'id'    => $user->ID,
			'login' => $user->user_login,
		) : null;
	}

	private static function drop_oldest() {
		global $wpdb;
		$table = self::table();
		$last  = $wpdb->get_var( $wpdb->prepare( "SELECT id FROM $table ORDER BY id DESC LIMIT 1 OFFSET %d", self::MAX_ROWS ) ); // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
		if ( null !== $last ) {
			$wpdb->query( $wpdb->prepare( "DELETE FROM $table WHERE id <= %d", $last ) ); // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
		}
	}

	private static function table() {
		global $wpdb;
		return $wpdb->base_prefix . 'security_optimizer_outbox';
	}
}
