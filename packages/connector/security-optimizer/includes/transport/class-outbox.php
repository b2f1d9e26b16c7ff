<?php
/**
 * Events that guard has not fetched yet. One table serves the whole installation.
 *
 * A row is written in the request in which the event happened, in the same transaction if there is one. Guard fetches
 * it later. A provisional row, which a later hook of the same request may replace, is held until the request ends, or
 * for a few seconds if PHP dies before.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Outbox {

	/** Most rows that are kept while guard does not fetch them. */
	const MAX_ROWS = 50000;

	/** Longest value, characters. */
	const MAX_TEXT = 200;

	/** Longest batch, bytes. Guard reads no longer responses. */
	const MAX_BATCH = 200000;

	/** Longest time for which a row is held, seconds. */
	const HELD_FOR = 5;

	/** @var int[] Provisional rows of this request: until when they are held (Unix seconds), by uid. */
	private static $held = array();

	/**
	 * Writes an event. The request continues even if the database fails.
	 *
	 * @param string       $kind   Kind, as in packages/contract/src/activity/event-kinds.ts.
	 * @param array        $object `type`, `id` and `name` of the object.
	 * @param string|null  $before Value before.
	 * @param string|null  $after  Value after.
	 * @param WP_User|null $user   The acting user; by default the current user.
	 * @param array        $more   Further fields of the event, for alerts: `administrator` and `agent`.
	 * @return string The event's uid.
	 */
	public static function add( $kind, array $object, $before = null, $after = null, $user = null, array $more = array() ) {
		return self::insert( self::event( $kind, $object, $before, $after, $user, $more ), 0 );
	}

	/**
	 * Writes an event that this request may still replace (`delete`). Guard gets it after the request has ended or
	 * `HELD_FOR` seconds have passed. It is written immediately, because PHP may die before the end.
	 *
	 * @param string       $kind   As for `add`.
	 * @param array        $object `type`, `id` and `name` of the object.
	 * @param string|null  $before Value before.
	 * @param string|null  $after  Value after.
	 * @param WP_User|null $user   The acting user; by default the current user.
	 * @param array        $more   Further fields of the event.
	 * @return string The event's uid.
	 */
	public static function add_provisional( $kind, array $object, $before = null, $after = null, $user = null, array $more = array() ) {
		$until = time() + self::HELD_FOR;
		$uid   = self::insert( self::event( $kind, $object, $before, $after, $user, $more ), $until );
		if ( array() === self::$held ) {
			// At the last priority: other shutdown callbacks may still replace an event.
			add_action( 'shutdown', array( __CLASS__, 'release' ), PHP_INT_MAX );
		}
		self::$held[ $uid ] = $until;
		return $uid;
	}

	/**
	 * Action `shutdown`: releases the provisional rows of this request.
	 */
	public static function release() {
		$now  = time();
		$uids = array();
		foreach ( self::$held as $uid => $until ) {
			// A long import writes many rows, but only the last ones are still held.
			if ( $until > $now ) {
				$uids[] = $uid;
			}
		}
		self::$held = array();
		self::run_quietly(
			static function () use ( $uids ) {
				global $wpdb;
				$table = self::table();
				foreach ( array_chunk( $uids, 500 ) as $some ) {
					$marks = implode( ',', array_fill( 0, count( $some ), '%s' ) );
					$wpdb->query( $wpdb->prepare( "UPDATE $table SET held_until = 0 WHERE uid IN ($marks)", $some ) ); // phpcs:ignore WordPress.DB.PreparedSQL
				}
			}
		);
	}

	/**
	 * @param string[] $uids Events to delete.
	 * @return bool Whether any of them was still stored.
	 */
	public static function delete( array $uids ) {
		global $wpdb;
		$table      = self::table();
		$marks      = implode( ',', array_fill( 0, count( $uids ), '%s' ) );
		self::$held = array_diff_key( self::$held, array_flip( $uids ) );
		return (bool) $wpdb->query( $wpdb->prepare( "DELETE FROM $table WHERE uid IN ($marks)", $uids ) ); // phpcs:ignore WordPress.DB.PreparedSQL
	}

	/**
	 * @param int $limit Maximum number of events.
	 * @return array `events`, oldest first; `more`; and `held`: seconds until a held row is released at the latest, 0
	 *               for none.
	 */
	public static function read( $limit ) {
		// Read first: a row that is released meanwhile is then among the events.
		$held   = self::run_quietly( array( __CLASS__, 'seconds_held' ) );
		$rows   = self::read_released( $limit + 1 );
		$events = array();
		$bytes  = 0;
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
			'held'   => $held,
		);
	}

	/**
	 * Creates the table, and adds the columns that a table of an earlier connector lacks.
	 *
	 * @return bool Whether the table exists and is complete.
	 */
	public static function create() {
		global $wpdb;
		$table = self::table();
		// Checked first: on SQLite, IF NOT EXISTS fails for a table with an index.
		return self::run_quietly( array( __CLASS__, 'add_missing_column' ) )
			|| false !== $wpdb->query( "CREATE TABLE IF NOT EXISTS $table (id bigint(20) unsigned NOT NULL AUTO_INCREMENT, uid char(32) NOT NULL, event text NOT NULL, held_until bigint(20) unsigned NOT NULL DEFAULT 0, PRIMARY KEY (id), UNIQUE KEY uid (uid)) " . $wpdb->get_charset_collate() ); // phpcs:ignore WordPress.DB.PreparedSQL
	}

	/**
	 * Drops the table, for a command of guard.
	 *
	 * @return bool Whether the table is gone.
	 */
	public static function drop() {
		return Security_Optimizer_Database_Retry::query( 'DROP TABLE IF EXISTS ' . self::table() );
	}

	/**
	 * @return string `web`, `cli`, or `cron` for background work such as automatic updates.
	 */
	public static function origin() {
		if ( wp_doing_cron() ) {
			return 'cron';
		}
		if ( Security_Optimizer_Request_Gate::is_command_line() ) {
			return 'cli';
		}
		return Security_Optimizer_Loopback_Requests::is_background() ? 'cron' : 'web';
	}

	/**
	 * Decodes a text as WordPress's own lists show it. WordPress stores titles, names and settings with entities.
	 * Nothing is removed; guard escapes control characters and invisible marks.
	 *
	 * @param mixed $value Anything.
	 * @return string The decoded text, shortened.
	 */
	public static function text( $value ) {
		return is_scalar( $value ) ? self::shorten( html_entity_decode( (string) $value, ENT_QUOTES | ENT_HTML5, 'UTF-8' ) ) : '';
	}

	/**
	 * @param string $text Text without entities.
	 * @return string The text, shortened.
	 */
	public static function shorten( $text ) {
		return mb_strlen( $text, 'UTF-8' ) > self::MAX_TEXT ? mb_substr( $text, 0, self::MAX_TEXT - 1, 'UTF-8' ) . '…' : $text;
	}

	private static function event( $kind, array $object, $before, $after, $user, array $more ) {
		$origin = self::origin();
		return array(
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
	}

	/**
	 * @param array $event      The event.
	 * @param int   $held_until Unix seconds; 0 for a row that guard may have at once.
	 * @return string The event's uid.
	 */
	private static function insert( array $event, $held_until ) {
		$uid = bin2hex( random_bytes( 16 ) );
		// JSON in ASCII fits into any character set, so WordPress does not query that of the table.
		$row = self::row( $uid, json_encode( $event, JSON_INVALID_UTF8_SUBSTITUTE ), $held_until );
		self::run_quietly(
			static function () use ( $row ) {
				global $wpdb;
				if ( $wpdb->query( $row ) || ( self::create() && $wpdb->query( $row ) ) ) { // phpcs:ignore WordPress.DB.PreparedSQL.NotPrepared
					if ( 0 === $wpdb->insert_id % 1000 ) {
						self::drop_oldest();
					}
					Security_Optimizer_Request_Gate::add_flag( 'o' );
				}
			}
		);
		return $uid;
	}

	private static function row( $uid, $event, $held_until ) {
		global $wpdb;
		$table = self::table();
		// Most rows fit into a table of an earlier connector. Adding the column would end an open transaction.
		return 0 === $held_until
			? $wpdb->prepare( "INSERT INTO $table (uid, event) VALUES (%s, %s)", $uid, $event ) // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
			: $wpdb->prepare( "INSERT INTO $table (uid, event, held_until) VALUES (%s, %s, %d)", $uid, $event, $held_until ); // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
	}

	/**
	 * A row that is held for longer than `HELD_FOR` was written before the clock was set back. It is released.
	 */
	private static function read_released( $limit ) {
		return self::run_quietly(
			static function () use ( $limit ) {
				global $wpdb;
				$table = self::table();
				$now   = time();
				return (array) $wpdb->get_results( $wpdb->prepare( "SELECT id, uid, event FROM $table WHERE held_until <= %d OR held_until > %d ORDER BY id LIMIT %d", $now, $now + self::HELD_FOR, $limit ) ); // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
			}
		);
	}

	private static function seconds_held() {
		global $wpdb;
		$table = self::table();
		$now   = time();
		$next  = (int) $wpdb->get_var( $wpdb->prepare( "SELECT MIN(held_until) FROM $table WHERE held_until > %d AND held_until <= %d", $now, $now + self::HELD_FOR ) ); // phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared
		if ( '' !== $wpdb->last_error ) {
			// `create` would restore a table that `forget` has just dropped.
			self::add_missing_column();
		}
		return 0 === $next ? 0 : $next - $now;
	}

	/**
	 * Adds the column that the first versions did not have. Creates no table.
	 *
	 * @return bool Whether the table exists and is complete.
	 */
	private static function add_missing_column() {
		global $wpdb;
		$table = self::table();
		$look  = "SELECT held_until FROM $table LIMIT 1";
		if ( false !== $wpdb->query( $look ) ) { // phpcs:ignore WordPress.DB.PreparedSQL
			return true;
		}
		$wpdb->query( "ALTER TABLE $table ADD COLUMN held_until bigint(20) unsigned NOT NULL DEFAULT 0" ); // phpcs:ignore WordPress.DB
		// Another process may have added it first.
		return false !== $wpdb->query( $look ); // phpcs:ignore WordPress.DB.PreparedSQL
	}

	/**
	 * Runs queries without side effects: plugins read the last id and error after the query that triggered this hook.
	 *
	 * @param callable $work Function that runs the queries.
	 * @return mixed Its result.
	 */
	private static function run_quietly( $work ) {
		global $wpdb;
		$kept  = array( $wpdb->insert_id, $wpdb->last_error );
		$quiet = $wpdb->suppress_errors( true );
		try {
			return call_user_func( $work );
		} finally {
			$wpdb->suppress_errors( $quiet );
			list( $wpdb->insert_id, $wpdb->last_error ) = $kept;
		}
	}

	private static function user( $user, $origin ) {
		if ( null === $user ) {
			// Cron runs as the user whose request started it.
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
