<?php
/**
 * Protection `disable_usernames`: new users can't have a name that attackers try first. Existing users keep theirs.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Usernames {

	/** @var string[]|null Disallowed names that are not in use. Cached, because an import saves many users. */
	private static $free = null;

	/**
	 * @return string[] Disallowed names in lower case.
	 */
	public static function disallowed() {
		return array_map( 'strtolower', Security_Optimizer_Policy::get_list( 'disallowed_usernames' ) );
	}

	/**
	 * Filter `illegal_user_logins`. WordPress also applies it to existing users, so names in use are excluded. They
	 * can't be registered anyway.
	 *
	 * @param string[] $names Disallowed names.
	 * @return string[]
	 */
	public static function add_illegal( $names ) {
		if ( null === self::$free ) {
			self::$free = array_diff( self::disallowed(), array_map( 'strtolower', self::in_use( self::disallowed() ) ) );
		}
		return array_merge( (array) $names, self::$free );
	}

	/**
	 * Filter `wp_pre_insert_user_data`, the last one before a user is written. It also refuses names that differ from
	 * one in use only by case. Without data WordPress writes nothing and returns an error.
	 *
	 * @param array $data   Data of the user.
	 * @param bool  $update Whether the user exists.
	 * @return array
	 */
	public static function refuse_new( $data, $update ) {
		$name = ! $update && isset( $data['user_login'] ) ? strtolower( $data['user_login'] ) : '';
		return in_array( $name, self::disallowed(), true ) ? array() : $data;
	}

	/**
	 * @param string[] $names Names in lower case.
	 * @return string[] Those that users have, by user id, in their original case.
	 */
	public static function in_use( array $names ) {
		global $wpdb;
		if ( array() === $names ) {
			return array();
		}
		$marks = implode( ',', array_fill( 0, count( $names ), '%s' ) );
		$rows  = $wpdb->get_results( $wpdb->prepare( "SELECT ID, user_login FROM $wpdb->users WHERE LOWER(user_login) IN ($marks) ORDER BY ID", $names ) ); // phpcs:ignore WordPress.DB.PreparedSQL
		return array_column( (array) $rows, 'user_login', 'ID' );
	}

	/**
	 * @return string[] Names of administrators with a disallowed name, by user id.
	 */
	public static function matches() {
		$matches = array();
		foreach ( self::in_use( self::disallowed() ) as $id => $login ) {
			$user = get_userdata( $id );
			if ( $user && ( in_array( 'administrator', $user->roles, true ) || ( is_multisite() && is_super_admin( $id ) ) ) ) {
				$matches[ $id ] = $login;
			}
		}
		return $matches;
	}
}
