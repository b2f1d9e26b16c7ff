<?php
/**
 * Where a visitor goes after the second factor, on its way to guard and back.
 *
 * A web server refuses the head of a response that is too long for it. So a long address, such as those of applications
 * that ask for access, waits here and guard gets its name in its place.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Login_Target {

	/** Longest address that is sent in the header, and longest that is kept; bytes. */
	const MAX_IN_HEADER = 1000;
	const MAX_LENGTH    = 8000;

	/** What the name of a kept address begins with. No address does: it is no scheme that WordPress redirects to. */
	const PREFIX = 'kept:';

	const TRANSIENT = 'security_optimizer_target_';

	/** Longer than guard waits for a code. */
	const LIFETIME = 900;

	/**
	 * @param string $target Where the visitor wanted to go, '' for the usual place.
	 * @return string The same, or the name under which it is kept; '' when it is too long for that, too.
	 */
	public static function pack( $target ) {
		if ( strlen( $target ) > self::MAX_LENGTH || 0 === strpos( $target, self::PREFIX ) ) {
			return '';
		}
		if ( strlen( $target ) <= self::MAX_IN_HEADER ) {
			return $target;
		}
		$name = wp_generate_password( 24, false );
		return set_site_transient( self::TRANSIENT . $name, $target, self::LIFETIME ) ? self::PREFIX . $name : '';
	}

	/**
	 * @param string $packed What `pack` made.
	 * @return string The address; '' when it is kept no longer.
	 */
	public static function unpack( $packed ) {
		if ( 0 !== strpos( $packed, self::PREFIX ) ) {
			return $packed;
		}
		$name   = self::TRANSIENT . substr( $packed, strlen( self::PREFIX ) );
		$target = get_site_transient( $name );
		delete_site_transient( $name );
		return is_string( $target ) ? $target : '';
	}
}
