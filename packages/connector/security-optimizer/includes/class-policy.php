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

	/** @var array[] While `with_stored` runs: what the database holds, as its only element. */
	private static $stored = array();

	/**
	 * @return bool Whether guard has pushed one and the database still holds it.
	 */
	public static function exists() {
		return null !== self::read();
	}

	/**
	 * @param string $field Name of a protection.
	 * @return bool Whether it is on. Without a policy nothing is.
	 */
	public static function is_on( $field ) {
		$policy = self::read();
		return isset( $policy[ $field ] ) && 1 === $policy[ $field ];
	}

	/**
	 * @param string $field Name of a setting.
	 * @return string Its value; empty when there is none.
	 */
	public static function get_text( $field ) {
		$policy = self::read();
		return isset( $policy[ $field ] ) ? (string) $policy[ $field ] : '';
	}

	/**
	 * @param string $field Name of a setting that holds several values with commas between them.
	 * @return string[]
	 */
	public static function get_list( $field ) {
		return array_values( array_filter( explode( ',', self::get_text( $field ) ), 'strlen' ) );
	}

	/**
	 * @return string|null Hash of what is stored, computed afresh so that a changed or restored database shows;
	 *                     null when there is no policy.
	 */
	public static function hash() {
		$policy = self::read();
		return null === $policy ? null : Security_Optimizer_Protocol::policy_hash( $policy );
	}

	/**
	 * @param mixed $policy What guard sent.
	 * @return bool Whether it has the form of a policy: names to integers, booleans or strings.
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
				// The functions above say false for an unchanged value as well, so look.
				return self::read() === $policy;
			}
		);
	}

	/**
	 * Runs a function under the policy that the database holds now: guard may have pushed another one since this request
	 * began.
	 *
	 * @param callable $work Function without arguments.
	 * @return mixed What the function returns.
	 */
	public static function with_stored( $work ) {
		self::$stored = array( Security_Optimizer_Option_Rows::read_site_option( self::OPTION ) );
		try {
			return $work();
		} finally {
			self::$stored = array();
		}
	}

	/**
	 * Makes sure that WordPress loads the policy with its other options, as `store` has it: programs that tidy up the
	 * database, and imports, may have taken that away, and then each request would ask for it alone. A network has no
	 * such options.
	 */
	public static function keep_loaded() {
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
