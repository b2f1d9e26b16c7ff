<?php
/**
 * Activity Log: log-ins and accounts. The methods take the arguments of the hooks listed in class-activity.php.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Activity_Users {

	/** Fields of a profile in the table of users, and those that WordPress keeps as meta. */
	const FIELDS = array( 'display_name', 'user_nicename', 'user_url' );
	const META   = array( 'nickname', 'first_name', 'last_name', 'description', 'locale' );

	/** @var bool Whether a user is being made: then the role is no change. */
	private static $creating = false;

	/** @var true[] Users being deleted. */
	private static $deleting = array();

	/** @var true[] Users whose profile has changed in the part that is kept as meta. */
	private static $changed = array();

	/** @var array[] What was told of the roles of users on a site in this request: `kind`, `before` and `uid`. */
	private static $roles = array();

	public static function log_in( $login, $user = null ) {
		$user = $user instanceof WP_User ? $user : get_user_by( 'login', $login );
		self::tell( 'login', $user, null, null, $user );
	}

	public static function fail_log_in( $name ) {
		$user = Security_Optimizer_Password_Checks::find( $name );
		// What was refused unchecked was no attempt: guard knows it already.
		if ( $user && ! Security_Optimizer_Login_Report::has_refused() ) {
			self::tell( 'login.failed', $user, null, null, $user );
		}
	}

	public static function fail_application() {
		// Inside `authenticate` the log-in as a whole counts.
		if ( isset( $_SERVER['PHP_AUTH_USER'] ) && ! doing_filter( 'authenticate' ) ) {
			self::fail_log_in( $_SERVER['PHP_AUTH_USER'] );
		}
	}

	public static function log_out( $user_id ) {
		$user = get_userdata( $user_id );
		self::tell( 'logout', $user, null, null, $user );
	}

	public static function notice_creation( $data, $update ) {
		self::$creating = ! $update;
	}

	public static function create( $user_id ) {
		self::$creating = false;
		self::tell_roles( 'user.created', $user_id, '', self::role_names( get_userdata( $user_id )->caps ) );
	}

	public static function notice_deletion( $user_id ) {
		self::$deleting[ $user_id ] = true;
	}

	public static function delete( $user_id, $reassign, $user ) {
		self::tell( 'user.deleted', $user );
	}

	public static function update( $user_id, $old ) {
		$user = get_userdata( $user_id );
		if ( ! $user || ! $old instanceof WP_User ) {
			return;
		}
		if ( $user->user_email !== $old->user_email ) {
			self::tell( 'user.email', $user, $old->user_email, $user->user_email );
		}
		if ( $user->user_pass !== $old->user_pass && Security_Optimizer_Activity::is_first( 'password ' . $user_id ) ) {
			self::tell( 'user.password', $user );
		}
		$changed = isset( self::$changed[ $user_id ] );
		foreach ( self::FIELDS as $field ) {
			$changed = $changed || $user->$field !== $old->$field;
		}
		// WordPress saves a user as well when somebody asks for a new password.
		if ( $changed ) {
			self::tell( 'user.profile', $user );
		}
		unset( self::$changed[ $user_id ] );
	}

	public static function set_password( $password, $user_id ) {
		// While somebody logs in, WordPress only hashes the same password anew.
		if ( ! doing_filter( 'authenticate' ) && Security_Optimizer_Activity::is_first( 'password ' . $user_id ) ) {
			self::tell( 'user.password', get_userdata( $user_id ) );
		}
	}

	/**
	 * Right before the change, and only when there is one. Whoever changes roles does it here.
	 */
	public static function change_meta( $meta_id, $user_id, $key, $value ) {
		if ( self::holds_roles( $key ) ) {
			self::change_roles( $user_id, get_user_meta( $user_id, $key, true ), $value );
		} elseif ( in_array( $key, self::META, true ) ) {
			self::$changed[ $user_id ] = true;
		}
	}

	public static function add_meta( $meta_id, $user_id, $key, $value ) {
		if ( self::holds_roles( $key ) && ! self::$creating ) {
			self::change_roles( $user_id, array(), $value );
		}
	}

	public static function remove_meta( $meta_ids, $user_id, $key ) {
		if ( self::holds_roles( $key ) && ! isset( self::$deleting[ $user_id ] ) ) {
			self::change_roles( $user_id, get_user_meta( $user_id, $key, true ), array() );
		}
	}

	public static function grant_network( $user_id ) {
		self::tell( 'user.role', get_userdata( $user_id ), '', 'Super Admin' );
	}

	public static function revoke_network( $user_id ) {
		self::tell( 'user.role', get_userdata( $user_id ), 'Super Admin', '' );
	}

	public static function add_application_password( $user_id, $item ) {
		self::tell( 'user.application-password', get_userdata( $user_id ), '', $item['name'] );
	}

	public static function remove_application_password( $user_id, $item ) {
		self::tell( 'user.application-password-removed', get_userdata( $user_id ), $item['name'], '' );
	}

	private static function tell( $kind, $user, $before = null, $after = null, $by = null ) {
		return $user instanceof WP_User
			? Security_Optimizer_Outbox::add( $kind, array( 'user', $user->ID, $user->user_login ), $before, $after, $by )
			: '';
	}

	private static function holds_roles( $key ) {
		global $wpdb;
		return $wpdb->get_blog_prefix() . 'capabilities' === $key;
	}

	/**
	 * WordPress often takes roles away and gives others one by one. That is one change: what was told is told anew,
	 * unless guard has fetched it already.
	 */
	private static function change_roles( $user_id, $before, $after ) {
		$kind   = 'user.role';
		$before = self::role_names( $before );
		$place  = $user_id . ' ' . get_current_blog_id();
		$told   = isset( self::$roles[ $place ] ) ? self::$roles[ $place ] : null;
		if ( $told && Security_Optimizer_Outbox::delete( array( $told['uid'] ) ) ) {
			$kind   = $told['kind'];
			$before = $told['before'];
		}
		self::tell_roles( $kind, $user_id, $before, self::role_names( $after ) );
	}

	private static function tell_roles( $kind, $user_id, $before, $after ) {
		$place = $user_id . ' ' . get_current_blog_id();
		unset( self::$roles[ $place ] );
		if ( $before !== $after || 'user.created' === $kind ) {
			$uid = self::tell( $kind, get_userdata( $user_id ), $before, '' === $after && 'user.created' === $kind ? null : $after );

			self::$roles[ $place ] = compact( 'kind', 'before', 'uid' );
		}
	}

	/**
	 * @param mixed $capabilities As WordPress stores them for a user: roles, and capabilities besides.
	 * @return string Their names.
	 */
	private static function role_names( $capabilities ) {
		$names = array();
		foreach ( array_keys( array_filter( is_array( $capabilities ) ? $capabilities : array() ) ) as $role ) {
			$names[] = isset( wp_roles()->role_names[ $role ] ) ? wp_roles()->role_names[ $role ] : $role;
		}
		return implode( ', ', $names );
	}
}
