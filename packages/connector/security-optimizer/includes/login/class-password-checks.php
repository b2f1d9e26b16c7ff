<?php
/**
 * Handles every password check: refuses checks that are not allowed, and reports the outcome to guard.
 *
 * Forms, XML-RPC and most plugins use the filter `authenticate`; code that calls wp_check_password() directly runs the
 * filter `check_password`. Application passwords are in class-application-passwords.php.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Password_Checks {

	/** @var bool Whether a login is in progress, so that single checks belong to it. */
	private static $checking = false;

	/** @var bool Whether there was a login in this request. */
	private static $checked = false;

	/** @var bool Whether the current login was refused without a check. */
	private static $refused = false;

	/** @var int Number of hashes computed for the current login that are as slow as current hashes of WordPress. */
	private static $hashes = 0;

	/** @var bool Whether the password of the current login was correct. */
	private static $is_correct = false;

	/** @var bool Whether it was compared with the password of an account. */
	private static $compared = false;

	/** @var string The entered name. */
	private static $username = '';

	/** @var string The entered password. */
	private static $password = '';

	/** @var bool Whether an application password was correct. */
	private static $by_application = false;

	/** @var bool Whether the form asked to be remembered. */
	private static $remember = false;

	/**
	 * Filter `secure_signon_cookie`, which gets the credentials of wp_signon().
	 *
	 * @param bool  $secure      Passed on.
	 * @param array $credentials With `remember`.
	 * @return bool
	 */
	public static function record_remember( $secure, $credentials ) {
		self::$remember = ! empty( $credentials['remember'] );
		return $secure;
	}

	/**
	 * Filter `authenticate`, first.
	 *
	 * @param mixed  $user     Passed on.
	 * @param string $username The entered name.
	 * @param string $password The entered password.
	 * @return mixed
	 */
	public static function begin( $user, $username, $password ) {
		if ( self::is_empty( $username, $password ) ) {
			return $user;
		}
		self::start_attempt( $username, $password );
		if ( ! self::must_refuse( self::find_user( $username ) ) && Security_Optimizer_Login_Report::begin() ) {
			return $user;
		}
		self::$refused = true;
		self::skip_other_callbacks();
		self::$checking = false;
		return self::refuse( $password );
	}

	/**
	 * Filter `authenticate`, after WordPress has loaded the account. Records an unknown name now, because a plugin may
	 * end the request later, and because it then needs as many queries as a wrong password.
	 *
	 * @param mixed $user WP_User, WP_Error or null.
	 * @return mixed
	 */
	public static function record_unknown_name( $user ) {
		if ( self::$checking && ! self::$compared && ! self::$is_correct && is_wp_error( $user ) && null === self::find_user( self::$username ) ) {
			self::record_so_far();
		}
		return $user;
	}

	/**
	 * Filter `authenticate`, last.
	 *
	 * @param mixed  $user     WP_User, WP_Error or null.
	 * @param string $username The entered name.
	 * @param string $password The entered password.
	 * @return mixed
	 */
	public static function finish( $user, $username, $password ) {
		if ( self::is_empty( $username, $password ) ) {
			return $user;
		}
		if ( self::$refused ) {
			self::$checking = false;
			return Security_Optimizer_Login_Errors::get_error();
		}
		if ( $user instanceof WP_User && $user->exists() ) {
			self::$checking = false;
			Security_Optimizer_Login_Report::clear_pending();
			return self::accept( $user, $username );
		}
		if ( ! self::$is_correct && ! self::$compared ) {
			// A plugin has refused the login before WordPress compared the password, which shows whether this was a
			// guess.
			self::compare();
		}
		self::$checking = false;
		if ( self::$is_correct ) {
			// A plugin has refused a correct password. That is no failed attempt.
			Security_Optimizer_Login_Report::send();
			return $user;
		}
		self::record_failure( $username, $password, self::get_route( $username ) );
		return Security_Optimizer_Login_Errors::hide_cause( $user );
	}

	/**
	 * Filter `check_password`.
	 *
	 * @param bool       $is_correct Whether the password is correct.
	 * @param string     $password   The entered password.
	 * @param string     $hash       The hash it was compared with.
	 * @param int|string $user_id    Id of its user; empty for keys that are no passwords.
	 * @return bool
	 */
	public static function count_check( $is_correct, $password, $hash, $user_id ) {
		if ( Security_Optimizer_Password_Reset::is_comparing() ) {
			return $is_correct;
		}
		if ( self::$checking ) {
			// Hashes from before WordPress 6.8 are much faster than new ones. A faster response would reveal that the
			// account exists and is old.
			if ( ! function_exists( 'wp_password_needs_rehash' ) || ! wp_password_needs_rehash( $hash, $user_id ) ) {
				++self::$hashes;
			}
			// Plugins compare their codes with the same function, without an account.
			if ( $user_id ) {
				$account          = get_userdata( $user_id );
				self::$compared   = self::$compared || ( $account && $account->user_pass === $hash );
				self::$is_correct = self::$is_correct || $is_correct;
				self::record_so_far();
			}
			return $is_correct;
		}
		$user = $user_id ? get_userdata( $user_id ) : false;
		if ( ! $user || Security_Optimizer_Session_User::id() === $user->ID ) {
			return $is_correct;
		}
		if ( self::must_refuse( $user ) ) {
			Security_Optimizer_Login_Report::add_refused();
			return false;
		}
		if ( ! $is_correct ) {
			Security_Optimizer_Login_Report::add_failed( $user->user_login, $user, 'other' );
		}
		return $is_correct;
	}

	/**
	 * Reports the outcome that the current login has if a plugin ends the request now by a redirect or its own page.
	 * Then `finish` is never called, and a wrong password would not be counted.
	 */
	private static function record_so_far() {
		if ( self::$is_correct ) {
			Security_Optimizer_Login_Report::clear_pending();
		} else {
			Security_Optimizer_Login_Report::set_pending( self::$username, self::find_user( self::$username ), self::get_route( self::$username ) );
		}
		Security_Optimizer_Login_Report::send();
	}

	/**
	 * Action `set_auth_cookie`: a plugin has logged the user in by other means, although the password of WordPress
	 * differs.
	 *
	 * @param string $cookie     The cookie.
	 * @param int    $expire     When it expires.
	 * @param int    $expiration When the session expires.
	 * @param int    $user_id    The session's user.
	 */
	public static function record_session( $cookie, $expire, $expiration, $user_id ) {
		if ( Security_Optimizer_Login_Report::clear_pending_for( (int) $user_id ) ) {
			Security_Optimizer_Login_Report::send();
		}
	}

	private static function compare() {
		$user = self::find_user( self::$username );
		if ( $user ) {
			wp_check_password( self::$password, $user->user_pass, $user->ID );
		}
	}

	private static function is_empty( $username, $password ) {
		return '' === (string) $username || '' === (string) $password;
	}

	/**
	 * Starts a login. Single checks belong to it until `end_attempt`.
	 *
	 * @param string $username The entered name.
	 * @param string $password The entered password.
	 */
	public static function start_attempt( $username, $password ) {
		// An earlier login of this request may not have finished.
		Security_Optimizer_Login_Report::keep_pending();
		self::$checking       = true;
		self::$checked        = true;
		self::$refused        = false;
		self::$hashes         = 0;
		self::$is_correct     = false;
		self::$compared       = false;
		self::$username       = (string) $username;
		self::$password       = (string) $password;
		self::$by_application = false;
	}

	public static function end_attempt() {
		self::$checking = false;
	}

	/**
	 * @return string[] Name and password of the current login.
	 */
	public static function get_credentials() {
		return array( self::$username, self::$password );
	}

	/**
	 * Records that the password was correct, even if it is refused for another reason.
	 */
	public static function accept_password() {
		self::$is_correct = true;
		Security_Optimizer_Login_Report::clear_pending();
	}

	/**
	 * Records that the correct password of this login is an application password.
	 */
	public static function set_application_password() {
		self::$by_application = true;
		Security_Optimizer_Login_Report::clear_pending();
	}

	/**
	 * @return bool Whether a login is in progress.
	 */
	public static function is_checking() {
		return self::$checking;
	}

	/**
	 * @return bool Whether there was a login in this request.
	 */
	public static function has_checked() {
		return self::$checked;
	}

	/**
	 * A check that can't be reported is refused, so the head of the response must not be sent yet.
	 *
	 * @param WP_User|null $user The user.
	 * @return bool Whether no password of this user may be checked now.
	 */
	public static function must_refuse( $user ) {
		return self::is_blocked( $user ) || ( Security_Optimizer_Request_Gate::is_via_guard() && (
			Security_Optimizer_Context::refuses_passwords()
			|| Security_Optimizer_Login_Report::has_failed()
			|| headers_sent()
			|| Security_Optimizer_Throttled_Accounts::must_wait( $user )
		) );
	}

	public static function is_blocked( $user ) {
		return $user && Security_Optimizer_Blocked_Users::has( $user->ID );
	}

	public static function refuse( $password ) {
		// A locked address gets a special error anyway, so its response time reveals nothing.
		if ( ! Security_Optimizer_Context::is_locked() ) {
			Security_Optimizer_Login_Errors::simulate_check( $password );
		}
		Security_Optimizer_Login_Report::add_refused();
		return Security_Optimizer_Login_Errors::get_error();
	}

	/**
	 * Removes all callbacks from the running filter, which ends it, and adds them again for the next call.
	 */
	private static function skip_other_callbacks() {
		$hooked = $GLOBALS['wp_filter']['authenticate']->callbacks;
		remove_all_filters( 'authenticate' );
		foreach ( $hooked as $priority => $callbacks ) {
			foreach ( $callbacks as $callback ) {
				add_filter( 'authenticate', $callback['function'], $priority, $callback['accepted_args'] );
			}
		}
	}

	public static function record_failure( $username, $password, $route ) {
		if ( 0 === self::$hashes ) {
			Security_Optimizer_Login_Errors::simulate_check( $password );
		}
		Security_Optimizer_Login_Report::add_failed( $username, self::find_user( $username ), $route );
	}

	private static function accept( $user, $username ) {
		$route = self::$by_application ? 'application-password' : self::get_route( $username );
		if ( 'application-password' !== $route
			&& Security_Optimizer_Second_Factor::is_missing( $user )
			&& Security_Optimizer_Session_User::id() !== $user->ID
		) {
			if ( 'xmlrpc' === $route || ( 'rest' === $route && ! self::is_from_page() ) ) {
				Security_Optimizer_Login_Report::send();
				return Security_Optimizer_Second_Factor::get_refusal();
			}
			Security_Optimizer_Second_Factor::start_challenge( $user, self::$remember );
		}
		Security_Optimizer_Login_Report::set_ok( $user, $route );
		return $user;
	}

	/**
	 * @param string $username The entered name.
	 * @return WP_User|null The user that WordPress finds by this name.
	 */
	public static function find_user( $username ) {
		$user = get_user_by( 'login', $username );
		if ( ! $user && is_email( $username ) ) {
			$user = get_user_by( 'email', $username );
		}
		return $user ? $user : null;
	}

	private static function get_route( $username ) {
		if ( self::is_xml_rpc() ) {
			return 'xmlrpc';
		}
		if ( self::is_rest() || ( isset( $_SERVER['PHP_AUTH_USER'] ) && sanitize_user( $_SERVER['PHP_AUTH_USER'] ) === $username ) ) {
			return 'rest';
		}
		return 'POST' === $_SERVER['REQUEST_METHOD'] && ! wp_doing_ajax() ? 'form' : 'other';
	}

	/**
	 * Scripts of pages log in by the REST API. Guard tells them where to give the second factor. A client that sends
	 * these headers without a page gets the same response and no session.
	 *
	 * @return bool Whether a browser sent the request, without `Authorization: Basic`.
	 */
	private static function is_from_page() {
		if ( isset( $_SERVER['PHP_AUTH_USER'] ) || isset( $_SERVER['HTTP_AUTHORIZATION'] ) ) {
			return false;
		}
		foreach ( array( 'HTTP_SEC_FETCH_MODE', 'HTTP_X_REQUESTED_WITH', 'HTTP_X_WP_NONCE', 'HTTP_ORIGIN', 'HTTP_REFERER' ) as $name ) {
			if ( ! empty( $_SERVER[ $name ] ) ) {
				return true;
			}
		}
		return false;
	}

	public static function is_xml_rpc() {
		return defined( 'XMLRPC_REQUEST' ) && XMLRPC_REQUEST;
	}

	public static function is_rest() {
		return defined( 'REST_REQUEST' ) && REST_REQUEST;
	}
}
