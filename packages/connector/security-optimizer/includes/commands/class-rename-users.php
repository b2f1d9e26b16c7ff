<?php
/**
 * Command `rename-users`: renames administrators with a name that attackers try first.
 *
 * Id, display name, content and the sessions of other users do not change. A cookie contains the username, so renamed
 * users have to log in again. Only the browser whose cookie was sent with the command gets a new cookie for its
 * session.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Rename_Users {

	/**
	 * @param array $body `users`: list of `ID` and `user_login` (the new name).
	 * @return array|string|WP_Error The response described in docs/developer/login-security.md, or an error.
	 */
	public static function run( array $body ) {
		if ( empty( $body['users'] ) || ! is_array( $body['users'] ) ) {
			return 'invalid_users';
		}
		$names  = array();
		$fields = array();
		foreach ( $body['users'] as $entry ) {
			if ( ! isset( $entry['ID'], $entry['user_login'] ) || ! is_int( $entry['ID'] ) || ! is_string( $entry['user_login'] ) ) {
				return 'invalid_users';
			}
			$problem = isset( $names[ $entry['ID'] ] ) ? 'typed' : self::find_problem( $entry['ID'], $entry['user_login'], $names );
			if ( '' !== $problem ) {
				$fields[ $entry['ID'] ] = $problem;
			}
			$names[ $entry['ID'] ] = $entry['user_login'];
		}
		if ( array() !== $fields ) {
			return new WP_Error( 'not_renamed', '', array( 'fields' => (object) $fields ) );
		}

		$own    = Security_Optimizer_Session_User::id();
		$cookie = isset( $names[ $own ] ) ? wp_parse_auth_cookie( '', 'logged_in' ) : false;
		if ( ! self::write( $names ) ) {
			return 'not_stored';
		}
		if ( $cookie ) {
			// As WordPress does it when users change their own password.
			$short = apply_filters( 'auth_cookie_expiration', 2 * DAY_IN_SECONDS, $own, false );
			wp_set_auth_cookie( $own, (int) $cookie['expiration'] - time() > $short, '', $cookie['token'] );
		}
		return array( 'renamed' => count( $names ) );
	}

	/**
	 * @return string Code of the reason why the name can't be used, '' if it can.
	 */
	private static function find_problem( $id, $name, array $typed ) {
		$lower = strtolower( $name );
		if ( ! isset( Security_Optimizer_Usernames::matches()[ $id ] ) ) {
			return 'no_match';
		}
		if ( ! preg_match( '/\A[A-Za-z0-9 _.\-@]{1,60}\z/', $name ) || sanitize_user( $name, true ) !== $name || '' === sanitize_title( $name ) ) {
			return 'invalid';
		}
		if ( in_array( $lower, Security_Optimizer_Usernames::disallowed(), true )
			|| in_array( $lower, array_map( 'strtolower', (array) apply_filters( 'illegal_user_logins', array() ) ), true )
		) {
			return 'not_allowed';
		}
		if ( in_array( $lower, array_map( 'strtolower', $typed ), true ) ) {
			return 'typed';
		}
		return array() === Security_Optimizer_Usernames::in_use( array( $lower ) ) ? '' : 'exists';
	}

	/**
	 * A single statement, so that either all names change or none.
	 */
	private static function write( array $names ) {
		global $wpdb;
		$logins    = '';
		$nicenames = '';
		$taken     = array();
		foreach ( $names as $id => $name ) {
			$nicename   = self::nicename( $name, $taken );
			$taken[]    = $nicename;
			$logins    .= $wpdb->prepare( ' WHEN %d THEN %s', $id, $name );
			$nicenames .= $wpdb->prepare( ' WHEN %d THEN %s', $id, $nicename );
		}
		$ids    = implode( ',', array_map( 'intval', array_keys( $names ) ) );
		$before = array_map( 'get_userdata', array_keys( $names ) );
		$done   = false;
		Security_Optimizer_Database_Retry::run(
			static function () use ( $wpdb, $logins, $nicenames, $ids, &$done ) {
				$done = $wpdb->query( "UPDATE $wpdb->users SET user_login = CASE ID $logins END, user_nicename = CASE ID $nicenames END WHERE ID IN ($ids)" ); // phpcs:ignore WordPress.DB.PreparedSQL
				return false !== $done;
			}
		);
		if ( count( $names ) !== (int) $done ) {
			return false;
		}
		foreach ( $before as $user ) {
			clean_user_cache( $user );
			self::rename_super_admin( $user->user_login, $names[ $user->ID ] );
		}
		return true;
	}

	private static function nicename( $name, array $taken ) {
		global $wpdb;
		$base   = sanitize_title( mb_substr( $name, 0, 50 ) );
		$try    = $base;
		$suffix = 2;
		while ( in_array( $try, $taken, true ) || $wpdb->get_var( $wpdb->prepare( "SELECT ID FROM $wpdb->users WHERE user_nicename = %s LIMIT 1", $try ) ) ) {
			$try = mb_substr( $base, 0, 49 - strlen( (string) $suffix ) ) . '-' . $suffix;
			++$suffix;
		}
		return $try;
	}

	/**
	 * A network stores its super admins by name.
	 */
	private static function rename_super_admin( $old, $new ) {
		$admins = is_multisite() ? get_site_option( 'site_admins', array() ) : array();
		$place  = array_search( $old, (array) $admins, true );
		if ( false !== $place ) {
			$admins[ $place ] = $new;
			Security_Optimizer_Database_Retry::run(
				static function () use ( $admins ) {
					return update_site_option( 'site_admins', $admins );
				}
			);
		}
	}
}
