<?php
/**
 * Activity Log: logins of programs, for which WordPress runs no `wp_login`: by XML-RPC, and with application passwords.
 * The methods take the arguments of the hooks listed in class-activity.php.
 *
 * Programs send the password with each request. A login is recorded once a day for each user and network. The user's
 * meta data list the networks: WordPress has read them with the user, so a further request costs no query, and a failed
 * login writes nothing.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Activity_Program_Logins {

	/** Name of the user meta: time of the recorded login (Unix seconds) by hash of the network, oldest first. */
	const META = 'security_optimizer_logins';

	/** How long a login is not recorded again, seconds. */
	const PERIOD = 86400;

	/** Most networks that are kept for a user. */
	const MAX = 50;

	/** @var int User whose application password was correct in the current login. */
	private static $by_application = 0;

	/**
	 * Filter `authenticate`, last: no other callback has refused the login. Only XML-RPC, and other uses of an application
	 * password: forms run `wp_login`.
	 */
	public static function log_in( $user, $name = '', $password = '' ) {
		$by_application       = self::$by_application;
		self::$by_application = 0;
		// Without a password a plugin has verified a signature.
		if ( $user instanceof WP_User && $user->exists() && '' !== (string) $password
			&& ( $by_application === $user->ID || Security_Optimizer_Password_Checks::is_xml_rpc() )
			&& null === Security_Optimizer_Context::signed_xml_rpc()
		) {
			self::record( $user );
		}
	}

	public static function log_in_by_application( $user ) {
		if ( ! $user instanceof WP_User ) {
			return;
		}
		if ( doing_filter( 'authenticate' ) ) {
			// Another callback may still refuse the login.
			self::$by_application = $user->ID;
		} else {
			self::record( $user );
		}
	}

	/**
	 * @param WP_User $user User who has logged in.
	 */
	private static function record( $user ) {
		// One request may contain many calls.
		if ( ! Security_Optimizer_Activity::is_first( 'login ' . $user->ID ) ) {
			return;
		}
		$key = self::network_key();
		if ( self::claim( $user->ID, $key ) ) {
			Security_Optimizer_Activity_Users::record_login( $user );
		}
	}

	/**
	 * @param int    $user_id A user.
	 * @param string $key     Hash of a network.
	 * @return bool Whether this login has to be recorded. Of simultaneous requests only one gets true, except for the
	 *              first login of a user.
	 */
	private static function claim( $user_id, $key ) {
		for ( $attempt = 0; $attempt < 2; $attempt++ ) {
			$stored = get_user_meta( $user_id, self::META, true );
			$kept   = self::recent( $stored );
			if ( isset( $kept[ $key ] ) ) {
				return false;
			}
			$kept[ $key ] = time();
			// Only changes the value that was read.
			if ( update_user_meta( $user_id, self::META, array_slice( $kept, -self::MAX, null, true ), $stored ) ) {
				return true;
			}
			wp_cache_delete( $user_id, 'user_meta' );
		}
		// The database refuses the list. A login that is recorded twice is better than none.
		return true;
	}

	/**
	 * @param mixed $stored The user meta.
	 * @return int[] Its entries of the last day. Entries in the future are from before the clock was set back.
	 */
	private static function recent( $stored ) {
		$now = time();
		return array_filter(
			is_array( $stored ) ? $stored : array(),
			static function ( $at ) use ( $now ) {
				return is_int( $at ) && $at > $now - self::PERIOD && $at <= $now;
			}
		);
	}

	/**
	 * @return string Hash of the client's network (IPv4 /24, IPv6 /64). Phones change their address within it.
	 */
	private static function network_key() {
		$address = isset( $_SERVER['REMOTE_ADDR'] ) && filter_var( $_SERVER['REMOTE_ADDR'], FILTER_VALIDATE_IP ) ? inet_pton( $_SERVER['REMOTE_ADDR'] ) : '';
		$bytes   = 4 === strlen( $address ) ? 3 : 8;
		return substr( wp_hash( 'network ' . bin2hex( substr( $address, 0, $bytes ) ) ), 0, 10 );
	}
}
