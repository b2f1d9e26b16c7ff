<?php
/**
 * Setting `login_url`: WordPress's links use the custom URL, but only for users who may know it.
 *
 * Guard serves the login at the custom URL and sends a 404 for the old one.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Login_Url {

	/** A URL of the login or the registration: origin, path before the script, script, query. */
	const FORM = '#\A((?:https?:)?//[^/?\#]+)?((?:/[^?\#]*)?/)?(wp-(?:login|signup|register)\.php)(?:\?([^\#]*))?(\#.*)?\z#i';

	/** Actions of wp-login.php for anonymous clients, which keep the old URL. */
	const FOR_VISITORS = array( 'postpass', 'confirmaction' );

	/** @var bool Whether the client has just authenticated. */
	private static $shown = false;

	/**
	 * @return bool Whether the client may know the custom URL.
	 */
	public static function is_visible() {
		return self::$shown || Security_Optimizer_Context::uses_custom_url() || Security_Optimizer_Session_User::id() > 0;
	}

	public static function show() {
		self::$shown = true;
	}

	/**
	 * @param string $url A URL of login or registration.
	 * @return bool Whether the client may know its custom URL. Anonymous clients that use the custom URL of the
	 *              registration only know that one.
	 */
	private static function is_url_visible( $url ) {
		return self::is_login_visible() || ( self::is_visible() && self::is_signup( $url ) );
	}

	/**
	 * @return bool Whether the client may know the custom URL of the login.
	 */
	public static function is_login_visible() {
		return self::is_visible()
			&& ( self::$shown || ! Security_Optimizer_Context::uses_signup_url() || Security_Optimizer_Session_User::id() > 0 );
	}

	/**
	 * @param string $url A URL of login or registration.
	 * @return bool Whether it is a URL of the registration.
	 */
	public static function is_signup( $url ) {
		return preg_match( self::FORM, $url, $part )
			&& ( 'wp-login.php' !== strtolower( $part[3] ) || 'register' === self::get_action( isset( $part[4] ) ? $part[4] : '' ) );
	}

	/**
	 * @return string WordPress's own URL of the login.
	 */
	public static function default_login() {
		return set_url_scheme( get_option( 'siteurl' ), 'login' ) . '/wp-login.php';
	}

	/**
	 * @return string WordPress's own URL of the registration.
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
	 * @param string $path The requested path.
	 * @return string
	 */
	public static function filter_site_url( $url, $path ) {
		return is_string( $path ) && false !== strpos( $path, 'wp-' ) && self::is_url_visible( $url ) ? self::to_slug( $url ) : $url;
	}

	/**
	 * Filter `wp_redirect`. An anonymous client that would be redirected to the login gets guard's 404. A decoy may
	 * redirect to the canonical form of its own URL.
	 *
	 * @param string $location Target of the redirect.
	 * @return string
	 */
	public static function filter_redirect( $location ) {
		if ( Security_Optimizer_Context::is_decoy() ) {
			return $location;
		}
		$slug = self::to_slug( $location );
		if ( $slug === $location ) {
			return self::get_reachable_url( $location );
		}
		if ( self::is_url_visible( $location ) ) {
			return $slug;
		}
		if ( Security_Optimizer_Context::uses_signup_url() ) {
			return Security_Optimizer_Signup::get_redirect( $location );
		}
		if ( Security_Optimizer_Request_Gate::is_via_guard() ) {
			Security_Optimizer_Request_Gate::end_as_not_found();
		}
		return $location;
	}

	/**
	 * @param string $location Target of a redirect.
	 * @return string The target. For users who may know the custom URL or have just logged in, wp-admin of another
	 *                domain of the network, where the session is not valid, is replaced by the login there.
	 */
	public static function get_reachable_url( $location ) {
		return self::is_login_visible() || did_action( 'wp_login' ) ? Security_Optimizer_Admin_Links::get_reachable_url( $location ) : $location;
	}

	/**
	 * Action `login_init`: refuses the login at any other URL than the custom one. In a network guard can't know which
	 * folders are sites: below a folder that is no site there is no login.
	 */
	public static function refuse_request() {
		$is_refused = ! self::is_visible() && ! in_array( $GLOBALS['action'], self::FOR_VISITORS, true );
		$folder     = Security_Optimizer_Context::folder();
		if ( null !== $folder ) {
			$is_refused = ! is_multisite() || get_site()->path !== get_network()->path . $folder . '/';
		}
		if ( $is_refused && Security_Optimizer_Request_Gate::is_via_guard() ) {
			Security_Optimizer_Request_Gate::end_as_not_found();
		}
	}

	/**
	 * @param string $path Path of a URL.
	 * @return bool Whether it is the custom path of the login or the registration of this site.
	 */
	private static function is_custom( $path ) {
		$path = self::segments( $path );
		foreach ( self::home_paths() as $home ) {
			$home = self::segments( $home );
			if ( array_slice( $path, 0, count( $home ) ) !== $home ) {
				continue;
			}
			$route = array_slice( $path, count( $home ) );
			$route = 'index.php' === current( $route ) ? array_slice( $route, 1 ) : $route;
			foreach ( array( 'login_url_login', 'login_url_signup' ) as $field ) {
				$slug = self::segments( Security_Optimizer_Policy::get_text( $field ) );
				if ( array() !== $slug && $slug === $route ) {
					return true;
				}
			}
		}
		return false;
	}

	/**
	 * Filter `do_parse_request`: prevents that the sign-up of a network resolves the custom URL as a page.
	 *
	 * @param bool $parse Whether WordPress resolves the URL.
	 * @return bool
	 */
	public static function skip_parsing( $parse ) {
		return $parse && ! Security_Optimizer_Context::uses_custom_url();
	}

	/**
	 * Action `before_signup_form`: the form of a network contains a fixed URL.
	 */
	public static function buffer_form() {
		if ( Security_Optimizer_Context::uses_custom_url() ) {
			ob_start(
				static function ( $html ) {
					return str_replace( 'action="wp-signup.php"', 'action="' . esc_url( self::to_slug( self::default_signup() ) ) . '"', $html );
				}
			);
		}
	}

	/**
	 * Filters `loginout`, `register`, `comment_reply_link` and `post_comments_link`: removes links to hidden URLs for
	 * anonymous clients. Links that a plugin has changed to a public page are kept.
	 *
	 * @param string $html      HTML with links.
	 * @param bool   $keep_text Whether the text of the links is kept.
	 * @return string The HTML without links to hidden URLs; empty when nothing is left.
	 */
	public static function filter_link( $html, $keep_text = false ) {
		if ( ! is_string( $html ) || is_user_logged_in() || self::is_login_visible() ) {
			return $html;
		}
		$left = preg_replace_callback(
			'#<a\b[^>]*?\bhref\s*=\s*("[^"]*"|\'[^\']*\'|[^\s>"\']+)[^>]*>(.*?)</a>#is',
			static function ( $link ) use ( $keep_text ) {
				if ( ! self::is_hidden( html_entity_decode( trim( $link[1], '"\'' ), ENT_QUOTES ) ) ) {
					return $link[0];
				}
				return $keep_text ? $link[2] : '';
			},
			$html
		);
		return $left !== $html && '' === trim( wp_strip_all_tags( (string) $left ) ) && false === stripos( $left, '<a' ) ? '' : $left;
	}

	/**
	 * @param string $url Any URL, absolute or relative to this site.
	 * @return bool Whether it is a hidden page: the login or the registration of this site, by their own or the custom
	 *              URLs, or wp-admin.
	 */
	public static function is_hidden( $url ) {
		// Browsers remove line breaks and tabs, and treat a backslash as a slash.
		$url = str_replace( '\\', '/', preg_replace( '/[\x00-\x20]+/', '', (string) $url ) );
		return preg_match( '%\A((?:https?:)?//[^/?#]*)?([^?#]*)(?:\?([^#]*))?%i', $url, $part )
			&& ! preg_match( '%\A[a-z][a-z0-9+.-]*:%i', $part[2] )
			&& self::is_hidden_path( $part[2], isset( $part[3] ) ? $part[3] : '' )
			&& null !== self::find_home_path( $part[1], $part[2] );
	}

	private static function is_hidden_path( $path, $query ) {
		$segments = self::segments( $path );
		if ( array() !== array_intersect( $segments, array( 'wp-register.php', 'wp-signup.php', 'wp-activate.php' ) ) ) {
			return true;
		}
		if ( in_array( 'wp-login.php', $segments, true ) ) {
			return ! in_array( self::get_action( $query ), self::FOR_VISITORS, true );
		}
		foreach ( Security_Optimizer_Site_Names::admin_urls() as $url ) {
			$admin = self::segments( (string) wp_parse_url( $url, PHP_URL_PATH ) );
			if ( array_slice( $segments, 0, count( $admin ) ) === $admin ) {
				return ! self::is_open_script( array_slice( $segments, count( $admin ) ) );
			}
		}
		return self::is_custom( $path ) || self::is_custom( self::home_path() . $path );
	}

	/**
	 * @param string[] $segments Segments of a path after wp-admin.
	 * @return bool Whether it is a script that public pages use as well.
	 */
	public static function is_open_script( array $segments ) {
		return in_array( (string) current( $segments ), array( 'admin-ajax.php', 'admin-post.php' ), true );
	}

	/**
	 * @param string $path Path of a URL.
	 * @return string[] Its normalized segments: decoded, lower-case, without empty segments, dot segments and
	 *                  parameters.
	 */
	public static function segments( $path ) {
		$segments = array();
		foreach ( explode( '/', strtolower( rawurldecode( $path ) ) ) as $segment ) {
			$segment = '..' === $segment ? $segment : rtrim( preg_replace( '/;.*\z/s', '', $segment ), '. ' );
			if ( '..' === $segment ) {
				array_pop( $segments );
			} elseif ( '' !== $segment ) {
				$segments[] = $segment;
			}
		}
		return $segments;
	}

	/**
	 * @return bool Whether the site is a shop, where anybody may register as a customer.
	 */
	public static function has_shop() {
		return function_exists( 'wc_get_account_endpoint_url' ) && function_exists( 'wc_get_page_id' );
	}

	/**
	 * Filter `logout_url`: customers get the logout URL of WooCommerce, which verifies its nonce. Anybody may become a
	 * customer, so pages for customers must not contain the custom URL.
	 *
	 * @param string $url The URL.
	 * @return string
	 */
	public static function filter_logout_url( $url ) {
		return self::has_shop()
			&& is_user_logged_in()
			&& ! current_user_can( 'edit_posts' )
			&& 0 < wc_get_page_id( 'myaccount' )
			? wc_get_account_endpoint_url( 'customer-logout' )
			: $url;
	}

	/**
	 * @param string $url Any URL.
	 * @return string The custom URL, if it is a URL of the login or the registration of this site.
	 */
	public static function to_slug( $url ) {
		if ( ! is_string( $url ) || ! preg_match( self::FORM, $url, $part ) ) {
			return $url;
		}
		$query  = isset( $part[4] ) ? $part[4] : '';
		$action = self::get_action( $query );
		$signup = Security_Optimizer_Policy::get_text( 'login_url_signup' );
		// The registration belongs to the network.
		if ( 'wp-login.php' !== strtolower( $part[3] ) || 'register' === $action ) {
			if ( ! self::is_own( $part[1] ) || ( '' === $signup && 'register' !== $action ) ) {
				return $url;
			}
			if ( '' !== $signup ) {
				$query = trim( preg_replace( '/(\A|&|&amp;|&#038;)action=register(?=\z|&|;)/', '', $query ), '&' );
				return self::build_url( $part, self::home_path() . $signup, $query );
			}
		}
		$home = self::find_home_path( $part[1], $part[2] );
		if ( null === $home || in_array( $action, self::FOR_VISITORS, true ) ) {
			return $url;
		}
		// Each site has the login below its own URL. WordPress uses the network's URL for example for a lost password.
		// That works for a site in a folder, but not for a site with its own domain, where sessions of the network are
		// not valid.
		$own = self::own_host();
		if ( is_multisite() && self::names_host( $part[1], get_network()->domain ) && 0 !== strcasecmp( $own, get_network()->domain ) ) {
			$part[1] = preg_replace( '#//.*\z#s', '//', $part[1] ) . $own;
			$home    = get_site()->path;
		}
		return self::build_url( $part, $home . Security_Optimizer_Policy::get_text( 'login_url_login' ), $query );
	}

	private static function get_action( $query ) {
		return preg_match( '/(?:\A|[&;])action=([^&;]*)/', $query, $found ) ? $found[1] : '';
	}

	private static function build_url( $part, $path, $query ) {
		return $part[1] . $path . ( '' === $query ? '' : '?' . $query ) . ( isset( $part[5] ) ? $part[5] : '' );
	}

	/**
	 * @param string $url Any URL.
	 * @return string WordPress's own URL instead of a custom one; for a link to wp-admin the target of `redirect_to`.
	 */
	public static function to_default( $url ) {
		if ( ! preg_match( '#\A(https?://[^/?\#]+)(/[^?\#]*)#i', $url, $at ) ) {
			return $url;
		}
		$signup = Security_Optimizer_Policy::get_text( 'login_url_signup' );
		$slugs  = array( Security_Optimizer_Policy::get_text( 'login_url_login' ) => self::default_login() );
		if ( '' !== $signup ) {
			$slugs[ $signup ] = self::default_signup();
		}
		foreach ( $slugs as $slug => $plain ) {
			if ( false === stripos( $at[2], '/' . $slug ) ) {
				continue;
			}
			$home = self::find_home_path( $at[1], $at[2] );
			if ( null === $home ) {
				return $url;
			}
			$homes = array_map( 'preg_quote', array_unique( array_merge( array( $home ), self::home_paths() ) ) );
			$form  = '#\A(https?://[^/?\#]+)(?:' . implode( '|', $homes ) . ')' . preg_quote( $slug, '#' ) . '/?(?![\w/-])(?:\?(.*))?#i';
			if ( preg_match( $form, $url, $part ) ) {
				$rest = isset( $part[2] ) ? $part[2] : '';
				if ( preg_match( '/(?:\A|[&;])redirect_to=([^&;\#]+)/', $rest, $to ) ) {
					$to = rawurldecode( $to[1] );
					if ( ! preg_match( '/[\s"\'<>\\\\]/', $to ) && Security_Optimizer_Admin_Links::to_login( $to ) !== $to ) {
						return $to;
					}
				}
				return $plain . ( '' === $rest ? '' : ( strpos( $plain, '?' ) ? '&' : '?' ) . $rest ) . substr( $url, strlen( $part[0] ) );
			}
		}
		return $url;
	}

	/**
	 * @param string $origin Scheme and host of a URL, '' for a URL without them.
	 * @param string $path   Path of the URL.
	 * @return string|null Path below which the URL's site has its login; null for another host.
	 */
	public static function find_home_path( $origin, $path ) {
		$is_own = self::is_own( $origin );
		if ( ! is_multisite() ) {
			return $is_own ? self::home_path() : null;
		}
		$own  = get_site()->path;
		$host = '' === $origin ? self::own_host() : preg_replace( '#\A(?:https?:)?//#i', '', $origin );
		if ( '' === $origin && '/' !== substr( $path, 0, 1 ) ) {
			return $own;
		}
		// Only the network's main site can have other sites in its folders.
		$may_hold_sites = self::home_path() === $own && $own !== $path;
		if ( 0 === strcasecmp( $host, self::own_host() ) && 0 === strpos( $path, $own ) && ! $may_hold_sites ) {
			return $own;
		}
		$site = get_site_by_path( strtolower( $host ), $path );
		if ( $site && (int) get_network()->id === (int) $site->network_id ) {
			return $site->path;
		}
		// A plugin may serve this site at a domain that WordPress does not know.
		return $is_own ? $own : null;
	}

	/**
	 * @return string Host of this site's login.
	 */
	private static function own_host() {
		return preg_replace( '#\Ahttps?://([^/]+).*\z#is', '$1', get_option( 'siteurl' ) );
	}

	private static function names_host( $origin, $host ) {
		return 0 === strcasecmp( preg_replace( '#\A(?:https?:)?//#i', '', $origin ), $host );
	}

	/**
	 * @param string $origin Scheme and host of a URL, '' for a URL without them.
	 * @return bool Whether it belongs to this site or its network.
	 */
	private static function is_own( $origin ) {
		foreach ( array( get_option( 'home' ), get_option( 'siteurl' ) ) as $own ) {
			if ( self::names_host( $origin, preg_replace( '#\Ahttps?://([^/]+).*\z#i', '$1', $own ) ) ) {
				return true;
			}
		}
		return '' === $origin || ( is_multisite() && self::names_host( $origin, get_network()->domain ) );
	}

	/**
	 * @return string[] Paths below which the custom login URL exists: of this site and of its network.
	 */
	private static function home_paths() {
		$network = self::home_path();
		return is_multisite() ? array_unique( array( get_site()->path, $network ) ) : array( $network );
	}

	private static function home_path() {
		$path = is_multisite() ? get_network()->path : (string) wp_parse_url( get_option( 'home' ), PHP_URL_PATH );
		return '/' . ltrim( trailingslashit( $path ), '/' );
	}
}
