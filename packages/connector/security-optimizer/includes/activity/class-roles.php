<?php
/**
 * Activity Log: a role gets the right to manage the site, so that all its users become administrators.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Activity_Roles {

	/** Most users that are recorded. The change of the role itself is an event, too. */
	const MAX_USERS = 20;

	/** Most users that are read, because some of them may manage the site already. */
	const MAX_READ = 100;

	/** @var array[] Roles that managed the site before the first change in this request, by site. */
	private static $before = array();

	/** @var array[] Roles that have gained the right in this request, by site. */
	private static $gained = array();

	/** @var array[] Provisional events of this request, by site. */
	private static $uids = array();

	/**
	 * Plugins write the option once for each capability, and replace roles by removing and adding them. Only the
	 * difference to the state before the request counts.
	 *
	 * @param mixed $old   Value of the option `user_roles` before the change.
	 * @param mixed $value Value after it.
	 */
	public static function change( $old, $value ) {
		$site = get_current_blog_id();
		if ( ! isset( self::$before[ $site ] ) ) {
			self::$before[ $site ] = self::managing( $old );
			self::$gained[ $site ] = array();
			self::$uids[ $site ]   = array();
		}
		$gained = array_values( array_diff( self::managing( $value ), self::$before[ $site ] ) );
		if ( $gained === self::$gained[ $site ] ) {
			return;
		}
		self::$gained[ $site ] = $gained;
		if ( array() !== self::$uids[ $site ] ) {
			Security_Optimizer_Outbox::delete( self::$uids[ $site ] );
		}
		self::$uids[ $site ] = array() === $gained ? array() : self::record( $gained, self::$before[ $site ] );
	}

	/**
	 * @param string[] $gained Roles that manage the site from now on.
	 * @param string[] $before Roles that managed it before.
	 * @return string[] Uids of the events.
	 */
	private static function record( array $gained, array $before ) {
		$uids  = array();
		$users = get_users(
			array(
				'role__in'    => $gained,
				// The account of an attacker is most likely a new one.
				'orderby'     => 'ID',
				'order'       => 'DESC',
				'number'      => self::MAX_READ,
				'count_total' => false,
			)
		);
		foreach ( $users as $user ) {
			// The right of a user itself takes precedence over that of the role.
			if ( isset( $user->caps['manage_options'] ) || array() !== array_intersect( $user->roles, $before ) || ( is_multisite() && is_super_admin( $user->ID ) ) ) {
				continue;
			}
			$was    = Security_Optimizer_Activity_Users::role_names( $user->caps );
			$uids[] = Security_Optimizer_Outbox::add_provisional( 'user.role', array( 'user', $user->ID, $user->user_login ), $was, $was . ', manage_options', null, array( 'administrator' => true ) );
			if ( count( $uids ) === self::MAX_USERS ) {
				break;
			}
		}
		return $uids;
	}

	/**
	 * @param mixed $roles Value of the option.
	 * @return string[] Names of the roles that may manage the site.
	 */
	private static function managing( $roles ) {
		$names = array();
		foreach ( is_array( $roles ) ? $roles : array() as $name => $role ) {
			if ( ! empty( $role['capabilities']['manage_options'] ) ) {
				$names[] = (string) $name;
			}
		}
		return $names;
	}
}
