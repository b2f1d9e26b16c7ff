<?php
/**
 * The redirect after the second factor, as it is passed to guard and back.
 *
 * Web servers limit the head of a response. So a long URL, such as an OAuth request, is stored here, and guard gets a
 * name for it.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Login_Target {

	/** Longest URL that is sent in the header, and longest that is stored; bytes. */
	const MAX_IN_HEADER = 1000;
	const MAX_LENGTH    = 8000;

	/** Prefix of the name of a stored URL. It is no scheme to which WordPress redirects, so no URL begins with it. */
	const PREFIX = 'kept:';

	const TRANSIENT = 'security_optimizer_target_';

	/** How long a URL is stored, seconds: longer than guard waits for a code. */
	const LIFETIME = 900;

	/**
	 * @param string $target Requested redirect, '' for the default.
	 * @return string The URL, or the name under which it is stored; '' when it is too long.
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
	 * @param string $packed Result of `pack`.
	 * @return string The URL; '' when it is not stored any more.
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
