<?php
/**
 * The policy that guard has pushed: which protections WordPress itself has to enforce.
 *
 * One secret serves the whole installation, so in a network there is one policy for all its sites.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Policy {

	const OPTION = 'security_optimizer_policy';

	/** @var array[] While `run_with_stored` runs: what the database holds, as its only element. */
	private static $stored = array();

	/**
	 * @return bool Whether the database holds a policy from guard.
	 */
	public static function exists() {
		return null !== self::read();
	}

	/**
	 * @param string $field Name of a protection.
	 * @return bool Whether it is on. Without a policy every protection is off.
	 */
	public static function is_on( $field ) {
		$policy = self::read();
		return isset( $policy[ $field ] ) && 1 === $policy[ $field ];
	}

	/**
	 * @param string $field Name of a setting.
	 * @return string Its value; empty without one.
	 */
	public static function get_text( $field ) {
		$policy = self::read();
		return isset( $policy[ $field ] ) ? (string) $policy[ $field ] : '';
	}

	/**
	 * @param string $field Name of a setting with comma-separated values.
	 * @return string[]
	 */
	public static function get_list( $field ) {
		return array_values( array_filter( explode( ',', self::get_text( $field ) ), 'strlen' ) );
	}

	/**
	 * @return string|null Hash of the stored policy, computed each time so that a changed or restored database is
	 *                     detected; null without a policy.
	 */
	public static function hash() {
		$policy = self::read();
		return null === $policy ? null : Security_Optimizer_Protocol::policy_hash( $policy );
	}

	/**
	 * @param mixed $policy What guard sent.
	 * @return bool Whether it is a policy: names mapped to integers, booleans or strings.
	 */
	public static function is_valid( $policy ) {
		if ( ! is_array( $policy ) ) {
			return false;
		}
		foreach ( $policy as $field => $value ) {
			if ( ! preg_match( '/\A[a-z][a-z0-9_]{0,63}\z/', (string) $field )
				|| ! ( is_int( $value ) || is_bool( $value ) || is_string( $value ) )
			) {
				return false;
			}
		}
		return true;
	}

	/**
	 * @param array $policy A valid policy.
	 * @return bool Whether the database holds it now.
	 */
	public static function store( array $policy ) {
		return Security_Optimizer_Database_Retry::run(
			static function () use ( $policy ) {
				if ( is_multisite() ) {
					update_site_option( self::OPTION, $policy );
				} else {
					update_option( self::OPTION, $policy, true );
				}
				// These functions also return false for an unchanged value.
				return self::read() === $policy;
			}
		);
	}

	/**
	 * Runs a function with the policy that the database holds now. Guard may have pushed another one since this request
	 * began.
	 *
	 * @param callable $work Function without arguments.
	 * @return mixed What the function returns.
	 */
	public static function run_with_stored( $work ) {
		self::$stored = array( Security_Optimizer_Option_Rows::read_site_option( self::OPTION ) );
		try {
			return $work();
		} finally {
			self::$stored = array();
		}
	}

	/**
	 * Makes sure that WordPress autoloads the policy, as `store` sets it. Database clean-up plugins and imports may
	 * have removed the flag, and then each request needs a query for it. Options of a network have no such flag.
	 */
	public static function ensure_autoload() {
		global $wpdb;
		if ( is_multisite() || isset( wp_load_alloptions()[ self::OPTION ] ) ) {
			return;
		}
		// `yes` is what every version of WordPress understands.
		if ( $wpdb->update( $wpdb->options, array( 'autoload' => 'yes' ), array( 'option_name' => self::OPTION ) ) ) {
			wp_cache_delete( 'alloptions', 'options' );
		}
	}

	private static function read() {
		if ( array() !== self::$stored ) {
			return self::is_valid( self::$stored[0] ) ? self::$stored[0] : null;
		}
		$policy = is_multisite() ? get_site_option( self::OPTION, null ) : get_option( self::OPTION, null );
		return self::is_valid( $policy ) ? $policy : null;
	}
}
