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
	public static function text( $field ) {
		$policy = self::read();
		return isset( $policy[ $field ] ) ? (string) $policy[ $field ] : '';
	}

	/**
	 * @param string $field Name of a setting that holds several values with commas between them.
	 * @return string[]
	 */
	public static function words( $field ) {
		return array_values( array_filter( explode( ',', self::text( $field ) ), 'strlen' ) );
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
		if ( is_multisite() ) {
			update_site_option( self::OPTION, $policy );
		} else {
			update_option( self::OPTION, $policy, true );
		}
		// The functions above say false for an unchanged value as well, so look.
		return self::read() === $policy;
	}

	private static function read() {
		$policy = is_multisite() ? get_site_option( self::OPTION, null ) : get_option( self::OPTION, null );
		return self::is_valid( $policy ) ? $policy : null;
	}
}
