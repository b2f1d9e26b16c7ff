<?php
/**
 * Setting `login_url`: links of WordPress lead to the custom address, and only those see it who may.
 *
 * Guard serves the login at the custom address and answers the old one like any missing page.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Login_Url {

	/** A URL of the login or the registration: origin, path before the script, script, query. */
	const FORM = '#\A((?:https?:)?//[^/?\#]+)?((?:/[^?\#]*)?/)?(wp-(?:login|signup|register)\.php)(?:\?([^\#]*))?(\#.*)?\z#i';

	/** Actions of wp-login.php that visitors need: the old address stays theirs. */
	const FOR_VISITORS = array( 'postpass', 'confirmaction' );

	/** @var bool Whether the visitor has just shown to be a member. */
	private static $shown = false;

	/**
	 * @return bool Whether whoever reads the answer may know the custom address.
	 */
	public static function is_visible() {
		return self::$shown || Security_Optimizer_Context::came_by_slug() || Security_Optimizer_Member::id() > 0;
	}

	public static function show() {
		self::$shown = true;
	}

	/**
	 * @param string $url A URL of login or registration.
	 * @return bool Whether whoever reads the answer may know its custom address: strangers who came by that of the
	 *              registration know no other.
	 */
	private static function may_see( $url ) {
		return self::is_visible()
			&& ( self::$shown || ! Security_Optimizer_Context::came_by_signup() || Security_Optimizer_Member::id() > 0 || self::is_signup( $url ) );
	}

	/**
	 * @param string $url A URL of login or registration.
	 * @return bool Whether it is the registration's.
	 */
	public static function is_signup( $url ) {
		return preg_match( self::FORM, $url, $part )
			&& ( 'wp-login.php' !== strtolower( $part[3] ) || 'register' === self::action_in( isset( $part[4] ) ? $part[4] : '' ) );
	}

	/**
	 * @return string WordPress's own address of the login.
	 */
	public static function default_login() {
		return set_url_scheme( get_option( 'siteurl' ), 'login' ) . '/wp-login.php';
	}

	/**
	 * @return string WordPress's own address of the registration.
	 */
	public static function default_signup() {
		return is_multisite()
			? set_url_scheme( 'http://' . get_network()->domain . get_network()->path, 'login' ) . 'wp-signup.php'
			: self::default_login() . '?action=register';
	}

	/**
	 * Filters `site_url` and `network_site_url`.
	 *
	 * @param string $url  The URL.
	 * @param string $path The path that was asked for.
	 * @return string
	 */
	public static function in_site_url( $url, $path ) {
		return is_string( $path ) && false !== strpos( $path, 'wp-' ) && self::may_see( $url ) ? self::to_slug( $url ) : $url;
	}

	/**
	 * Filter `wp_redirect`. A stranger who would be sent to the login gets what guard answers for missing pages. A
	 * missing page itself may redirect to a tidier form of its own address.
	 *
	 * @param string $location Where to.
	 * @return string
	 */
	public static function in_redirect( $location ) {
		if ( Security_Optimizer_Context::is_decoy() ) {
			return $location;
		}
		$slug = self::to_slug( $location );
		if ( $slug === $location || self::may_see( $location ) ) {
			return $slug;
		}
		if ( Security_Optimizer_Context::came_by_signup() ) {
			return Security_Optimizer_Signup::instead_of( $location );
		}
		if ( Security_Optimizer_Gate::came_through_guard() ) {
			Security_Optimizer_Gate::end_without_trace();
		}
		return $location;
	}

	/**
	 * Action `login_init`: the login by any other road than the custom address.
	 */
	public static function refuse_request() {
		if ( ! self::is_visible()
			&& ! in_array( $GLOBALS['action'], self::FOR_VISITORS, true )
			&& Security_Optimizer_Gate::came_through_guard()
		) {
			Security_Optimizer_Gate::end_without_trace();
		}
	}

	/**
	 * Filter `do_parse_request`: the sign-up of a network would look for a page at the custom address and find none.
	 *
	 * @param bool $parse Whether WordPress looks what the address stands for.
	 * @return bool
	 */
	public static function know_address( $parse ) {
		return $parse && ! Security_Optimizer_Context::came_by_slug();
	}

	/**
	 * Action `before_signup_form`: the form of a network has its address written into it.
	 */
	public static function begin_form() {
		if ( Security_Optimizer_Context::came_by_slug() ) {
			ob_start(
				static function ( $html ) {
					return str_replace( 'action="wp-signup.php"', 'action="' . esc_url( self::to_slug( self::default_signup() ) ) . '"', $html );
				}
			);
		}
	}

	/**
	 * Filters `loginout` and `register`: no link for strangers to what is not there for them.
	 *
	 * @param string $link HTML.
	 * @return string
	 */
	public static function in_link( $link ) {
		return is_user_logged_in() || ( self::is_visible() && ! Security_Optimizer_Context::came_by_signup() ) ? $link : '';
	}

	/**
	 * Filter `wp_mail`: the custom address for members, the old one for everybody else, whichever member caused the mail.
	 * What a stranger causes holds the old one anyway, and what strangers typed is left as it is: put in place of the
	 * right guess among many, the old one would tell which it was.
	 *
	 * @param array $mail `to`, `subject`, `message`, `headers`.
	 * @return array
	 */
	public static function in_mail( $mail ) {
		$swap = self::goes_to_members_only( $mail ) ? 'to_slug' : 'to_default';
		if ( 'to_default' === $swap && Security_Optimizer_Gate::came_through_guard() && ! self::is_visible() && ! wp_doing_cron() ) {
			return $mail;
		}
		foreach ( array( 'subject', 'message' ) as $part ) {
			if ( isset( $mail[ $part ] ) && is_string( $mail[ $part ] ) ) {
				$mail[ $part ] = preg_replace_callback(
					'#https?://[^\s"\'<>]+#i',
					static function ( $url ) use ( $swap ) {
						return self::$swap( $url[0] );
					},
					$mail[ $part ]
				);
			}
		}
		return $mail;
	}

	/**
	 * @param string $url Any URL.
	 * @return string With the custom address, if it leads to the login or the registration of this site.
	 */
	public static function to_slug( $url ) {
		if ( ! is_string( $url ) || ! preg_match( self::FORM, $url, $part ) || ! self::is_own( $part[1] ) ) {
			return $url;
		}
		$query  = isset( $part[4] ) ? $part[4] : '';
		$action = self::action_in( $query );
		$signup = Security_Optimizer_Policy::text( 'login_url_signup' );
		if ( in_array( $action, self::FOR_VISITORS, true ) ) {
			return $url;
		}
		$slug = Security_Optimizer_Policy::text( 'login_url_login' );
		if ( 'wp-login.php' !== strtolower( $part[3] ) || 'register' === $action ) {
			if ( '' === $signup ) {
				return 'register' === $action ? self::put_together( $part, $slug, $query ) : $url;
			}
			$slug  = $signup;
			$query = trim( preg_replace( '/(\A|&|&amp;|&#038;)action=register(?=\z|&|;)/', '', $query ), '&' );
		}
		return self::put_together( $part, $slug, $query );
	}

	private static function action_in( $query ) {
		return preg_match( '/(?:\A|[&;])action=([^&;]*)/', $query, $found ) ? $found[1] : '';
	}

	private static function put_together( $part, $slug, $query ) {
		return $part[1] . self::home_path() . $slug . ( '' === $query ? '' : '?' . $query ) . ( isset( $part[5] ) ? $part[5] : '' );
	}

	private static function to_default( $url ) {
		$signup = Security_Optimizer_Policy::text( 'login_url_signup' );
		$slugs  = array( Security_Optimizer_Policy::text( 'login_url_login' ) => self::default_login() );
		if ( '' !== $signup ) {
			$slugs[ $signup ] = self::default_signup();
		}
		foreach ( $slugs as $slug => $plain ) {
			$form = '#\A(https?://[^/?\#]+)' . preg_quote( self::home_path() . $slug, '#' ) . '/?(?![\w/-])(?:\?(.*))?#i';
			if ( preg_match( $form, $url, $part ) && self::is_own( $part[1] ) ) {
				$rest = isset( $part[2] ) ? $part[2] : '';
				return $plain . ( '' === $rest ? '' : ( strpos( $plain, '?' ) ? '&' : '?' ) . $rest ) . substr( $url, strlen( $part[0] ) );
			}
		}
		return $url;
	}

	/**
	 * @param string $origin Scheme and host of a URL, '' for a URL without.
	 * @return bool Whether it is this site's.
	 */
	private static function is_own( $origin ) {
		$host = preg_replace( '#\A(https?:)?//#i', '', $origin );
		foreach ( array( get_option( 'home' ), get_option( 'siteurl' ) ) as $own ) {
			if ( 0 === strcasecmp( $host, preg_replace( '#\Ahttps?://([^/]+).*\z#i', '$1', $own ) ) ) {
				return true;
			}
		}
		return '' === $host || ( is_multisite() && 0 === strcasecmp( $host, get_network()->domain ) );
	}

	private static function home_path() {
		$path = is_multisite() ? get_network()->path : (string) wp_parse_url( get_option( 'home' ), PHP_URL_PATH );
		return '/' . ltrim( trailingslashit( $path ), '/' );
	}

	private static function goes_to_members_only( $mail ) {
		$lists = isset( $mail['to'] ) ? (array) $mail['to'] : array();
		$lines = isset( $mail['headers'] ) ? $mail['headers'] : array();
		foreach ( is_array( $lines ) ? $lines : explode( "\n", $lines ) as $line ) {
			if ( is_string( $line ) && preg_match( '/\A\s*b?cc\s*:(.*)\z/is', $line, $copy ) ) {
				$lists[] = $copy[1];
			}
		}
		$known = array( strtolower( (string) get_option( 'admin_email' ) ) );
		if ( defined( 'RECOVERY_MODE_EMAIL' ) ) {
			$known[] = strtolower( RECOVERY_MODE_EMAIL );
		}
		$seen = 0;
		foreach ( explode( ',', implode( ',', $lists ) ) as $entry ) {
			$email = trim( preg_match( '/<([^>]*)>/', $entry, $inside ) ? $inside[1] : $entry );
			if ( '' === $email ) {
				continue;
			}
			if ( ! in_array( strtolower( $email ), $known, true ) && ! get_user_by( 'email', $email ) ) {
				return false;
			}
			++$seen;
		}
		return $seen > 0;
	}
}
