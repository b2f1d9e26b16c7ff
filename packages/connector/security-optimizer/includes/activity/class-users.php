<?php
/**
 * Activity Log: logins and accounts. The methods take the arguments of the hooks listed in class-activity.php.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Activity_Users {

	/** Fields of a profile in the table of users, and in the user meta. */
	const FIELDS = array( 'display_name', 'user_nicename', 'user_url' );
	const META   = array( 'nickname', 'first_name', 'last_name', 'description', 'locale' );

	/** @var bool Whether a user is being created; its role is then no change. */
	private static $creating = false;

	/** @var true[] Users being deleted. */
	private static $deleting = array();

	/** @var true[] Users whose profile meta has changed, by id. */
	private static $changed = array();

	/** @var array[] Role events recorded in this request, by user and site: `kind`, `before` and `uid`. */
	private static $roles = array();

	public static function log_in( $login, $user = null ) {
		self::record_login( $user instanceof WP_User ? $user : get_user_by( 'login', $login ) );
	}

	/**
	 * @param WP_User|false $user User who has logged in.
	 */
	public static function record_login( $user ) {
		if ( ! $user instanceof WP_User || ! self::manages( $user->allcaps ) ) {
			self::record( 'login', $user, null, null, $user );
			return;
		}
		$agent = isset( $_SERVER['HTTP_USER_AGENT'] ) ? Security_Optimizer_Outbox::shorten( wp_unslash( $_SERVER['HTTP_USER_AGENT'] ) ) : '';
		$more  = array(
			'administrator' => true,
			'agent'         => $agent,
		);
		self::record( 'login', $user, null, null, $user, $more );
	}

	public static function fail_log_in( $name, $error = null ) {
		if ( Security_Optimizer_Application_Passwords::is_correct_but_refused( $error ) ) {
			return;
		}
		$user = Security_Optimizer_Password_Checks::find_user( $name );
		// A login that was refused without a check is no attempt, and guard knows it already.
		if ( $user && ! Security_Optimizer_Login_Report::has_refused() ) {
			self::record( 'login.failed', $user, null, null, $user );
		}
	}

	public static function fail_application( $error ) {
		// Within `authenticate` the whole login is one attempt.
		if ( isset( $_SERVER['PHP_AUTH_USER'] ) && ! doing_filter( 'authenticate' ) ) {
			self::fail_log_in( $_SERVER['PHP_AUTH_USER'], $error );
		}
	}

	public static function log_out( $user_id ) {
		$user = get_userdata( $user_id );
		self::record( 'logout', $user, null, null, $user );
	}

	public static function remember_creation( $data, $update ) {
		self::$creating = ! $update;
	}

	public static function create( $user_id ) {
		self::$creating = false;
		self::record_roles( 'user.created', $user_id, array(), get_userdata( $user_id )->caps );
	}

	public static function remember_deletion( $user_id ) {
		self::$deleting[ $user_id ] = true;
	}

	public static function delete( $user_id, $reassign, $user ) {
		self::record( 'user.deleted', $user );
	}

	public static function update( $user_id, $old ) {
		$user = get_userdata( $user_id );
		if ( ! $user || ! $old instanceof WP_User ) {
			return;
		}
		if ( $user->user_email !== $old->user_email ) {
			self::record( 'user.email', $user, $old->user_email, $user->user_email );
		}
		if ( $user->user_pass !== $old->user_pass && Security_Optimizer_Activity::is_first( 'password ' . $user_id ) ) {
			self::record( 'user.password', $user );
		}
		$changed = isset( self::$changed[ $user_id ] );
		foreach ( self::FIELDS as $field ) {
			$changed = $changed || $user->$field !== $old->$field;
		}
		// WordPress also saves a user when a password link is requested.
		if ( $changed ) {
			self::record( 'user.profile', $user );
		}
		unset( self::$changed[ $user_id ] );
	}

	public static function set_password( $password, $user_id, $before = null ) {
		$user = get_userdata( $user_id );
		// Since WordPress 7.1 this also runs for a new user, whose creation is recorded, and before a profile is
		// stored, which `update` records. In both cases the stored password has not changed yet.
		$is_stored = ! $user || ! $before instanceof WP_User || $before->user_pass !== $user->user_pass;
		// During a login WordPress only rehashes the same password.
		if ( $is_stored && ! doing_filter( 'authenticate' ) && Security_Optimizer_Activity::is_first( 'password ' . $user_id ) ) {
			self::record( 'user.password', $user );
		}
	}

	/**
	 * Runs right before a change, and only if the value changes. Every change of roles runs this.
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
		self::record( 'user.role', get_userdata( $user_id ), '', 'Super Admin', null, array( 'administrator' => true ) );
	}

	public static function revoke_network( $user_id ) {
		self::record( 'user.role', get_userdata( $user_id ), 'Super Admin', '' );
	}

	public static function add_application_password( $user_id, $item ) {
		self::record( 'user.application-password', get_userdata( $user_id ), '', $item['name'] );
	}

	public static function remove_application_password( $user_id, $item ) {
		self::record( 'user.application-password-removed', get_userdata( $user_id ), $item['name'], '' );
	}

	private static function record( $kind, $user, $before = null, $after = null, $by = null, array $more = array() ) {
		if ( $user instanceof WP_User ) {
			Security_Optimizer_Outbox::add( $kind, array( 'user', $user->ID, $user->user_login ), $before, $after, $by, $more );
		}
	}

	private static function record_provisionally( $kind, $user, $before, $after, array $more ) {
		return $user instanceof WP_User
			? Security_Optimizer_Outbox::add_provisional( $kind, array( 'user', $user->ID, $user->user_login ), $before, $after, null, $more )
			: '';
	}

	private static function holds_roles( $key ) {
		global $wpdb;
		return $wpdb->get_blog_prefix() . 'capabilities' === $key;
	}

	/**
	 * WordPress often removes and adds roles one by one. That is one change, so the recorded event is replaced, unless
	 * guard has fetched it already.
	 */
	private static function change_roles( $user_id, $before, $after ) {
		$kind     = 'user.role';
		$place    = $user_id . ' ' . get_current_blog_id();
		$recorded = isset( self::$roles[ $place ] ) ? self::$roles[ $place ] : null;
		if ( $recorded && Security_Optimizer_Outbox::delete( array( $recorded['uid'] ) ) ) {
			$kind   = $recorded['kind'];
			$before = $recorded['before'];
		}
		self::record_roles( $kind, $user_id, $before, $after );
	}

	/**
	 * @param string $kind    Kind of the event.
	 * @param int    $user_id User with these roles.
	 * @param mixed  $before  Capabilities as WordPress stores them for a user.
	 * @param mixed  $after   The new capabilities, in the same form.
	 */
	private static function record_roles( $kind, $user_id, $before, $after ) {
		$place = $user_id . ' ' . get_current_blog_id();
		$was   = self::role_names( $before );
		$is    = self::role_names( $after );
		$more  = array( 'administrator' => self::manages( $after ) && ! self::manages( $before ) );
		unset( self::$roles[ $place ] );
		if ( $was !== $is || 'user.created' === $kind ) {
			$uid = self::record_provisionally( $kind, get_userdata( $user_id ), $was, '' === $is && 'user.created' === $kind ? null : $is, $more );

			self::$roles[ $place ] = compact( 'kind', 'before', 'uid' );
		}
	}

	/**
	 * @param mixed $capabilities As WordPress stores them for a user: roles and single capabilities.
	 * @return bool Whether they include managing the site.
	 */
	private static function manages( $capabilities ) {
		foreach ( array_keys( array_filter( is_array( $capabilities ) ? $capabilities : array() ) ) as $name ) {
			$role = wp_roles()->get_role( $name );
			if ( 'manage_options' === $name || ( $role && $role->has_cap( 'manage_options' ) ) ) {
				return true;
			}
		}
		return false;
	}

	/**
	 * @param mixed $capabilities As WordPress stores them for a user: roles and single capabilities.
	 * @return string Their names, comma-separated.
	 */
	public static function role_names( $capabilities ) {
		$names = array();
		foreach ( array_keys( array_filter( is_array( $capabilities ) ? $capabilities : array() ) ) as $role ) {
			$names[] = isset( wp_roles()->role_names[ $role ] ) ? wp_roles()->role_names[ $role ] : $role;
		}
		return implode( ', ', $names );
	}
}
