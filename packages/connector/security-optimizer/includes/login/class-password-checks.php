<?php
/**
 * Every password check: refuses what must not be checked, and reports the outcome to guard.
 *
 * Forms, XML-RPC and most plugins use the filter `authenticate`; code that calls wp_check_password() directly is seen by
 * the filter `check_password`. Application passwords are in class-application-passwords.php.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Password_Checks {

	/** @var bool Whether a login is under way, so that single checks belong to it. */
	private static $checking = false;

	/** @var bool Whether there was a login in this request. */
	private static $checked = false;

	/** @var bool Whether the login under way was refused unchecked. */
	private static $refused = false;

	/** @var int Hashes computed for the login under way, as slow as those that WordPress makes now. */
	private static $hashes = 0;

	/** @var bool Whether the password of the login under way was right. */
	private static $right = false;

	/** @var bool Whether it was compared with that of an account. */
	private static $compared = false;

	/** @var string The name that was typed for it. */
	private static $username = '';

	/** @var string The password that was typed for it. */
	private static $password = '';

	/** @var bool Whether an application password was right. */
	private static $by_application = false;

	/** @var bool Whether the form asked to be remembered. */
	private static $remember = false;

	/**
	 * Filter `secure_signon_cookie`, through which wp_signon() shows what the form asked for.
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
	 * Filter `authenticate`, before anybody else.
	 *
	 * @param mixed  $user     Passed on.
	 * @param string $username What was typed.
	 * @param string $password What was typed.
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
	 * Filter `authenticate`, after WordPress has looked for the account. A plugin may end the request from here on, and a
	 * name that nobody has costs as many queries as a wrong password.
	 *
	 * @param mixed $user WP_User, WP_Error or null.
	 * @return mixed
	 */
	public static function record_unknown_name( $user ) {
		if ( self::$checking && ! self::$compared && ! self::$right && is_wp_error( $user ) && null === self::find_user( self::$username ) ) {
			self::record_so_far();
		}
		return $user;
	}

	/**
	 * Filter `authenticate`, after everybody else.
	 *
	 * @param mixed  $user     WP_User, WP_Error or null.
	 * @param string $username What was typed.
	 * @param string $password What was typed.
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
		if ( ! self::$right && ! self::$compared ) {
			// A plugin has refused before WordPress compared anything: whether this was a guess, only the password shows.
			self::compare();
		}
		self::$checking = false;
		if ( self::$right ) {
			// Another plugin has its own reasons to refuse. That is no guess at a password.
			Security_Optimizer_Login_Report::send();
			return $user;
		}
		self::record_failure( $username, $password, self::get_route( $username ) );
		return Security_Optimizer_Login_Errors::hide_cause( $user );
	}

	/**
	 * Filter `check_password`.
	 *
	 * @param bool       $right    Whether the password is right.
	 * @param string     $password What was typed.
	 * @param string     $hash     What it was compared with.
	 * @param int|string $user_id  Its user; empty for keys that are no passwords.
	 * @return bool
	 */
	public static function count_check( $right, $password, $hash, $user_id ) {
		if ( Security_Optimizer_Password_Reset::is_comparing() ) {
			return $right;
		}
		if ( self::$checking ) {
			// Since WordPress 6.8 hashes from before are far quicker than new ones: an answer that came sooner would tell
			// that the account exists, and that it is old.
			if ( ! function_exists( 'wp_password_needs_rehash' ) || ! wp_password_needs_rehash( $hash, $user_id ) ) {
				++self::$hashes;
			}
			// Codes of plugins are compared by the same function, without an account.
			if ( $user_id ) {
				$account        = get_userdata( $user_id );
				self::$compared = self::$compared || ( $account && $account->user_pass === $hash );
				self::$right    = self::$right || $right;
				self::record_so_far();
			}
			return $right;
		}
		$user = $user_id ? get_userdata( $user_id ) : false;
		if ( ! $user || Security_Optimizer_Session_User::id() === $user->ID ) {
			return $right;
		}
		if ( self::must_refuse( $user ) ) {
			Security_Optimizer_Login_Report::add_refused();
			return false;
		}
		if ( ! $right ) {
			Security_Optimizer_Login_Report::add_failed( $user->user_login, $user, 'other' );
		}
		return $right;
	}

	/**
	 * Reports what the login under way would end with if a plugin ended the request now, by a redirect or a page of its
	 * own: then `finish` is never called, and a wrong password would count for nothing.
	 */
	private static function record_so_far() {
		if ( self::$right ) {
			Security_Optimizer_Login_Report::clear_pending();
		} else {
			Security_Optimizer_Login_Report::set_pending( self::$username, self::find_user( self::$username ), self::get_route( self::$username ) );
		}
		Security_Optimizer_Login_Report::send();
	}

	/**
	 * Action `set_auth_cookie`: a plugin has logged the user in by other means, although WordPress has another password.
	 *
	 * @param string $cookie     The cookie.
	 * @param int    $expire     When it ends.
	 * @param int    $expiration When the session ends.
	 * @param int    $user_id    The session's user.
	 */
	public static function record_session( $cookie, $expire, $expiration, $user_id ) {
		if ( Security_Optimizer_Login_Report::clear_pending_of( (int) $user_id ) ) {
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
	 * A login begins: single checks belong to it until `end_attempt`.
	 *
	 * @param string $username What was typed.
	 * @param string $password What was typed.
	 */
	public static function start_attempt( $username, $password ) {
		// One before it in this request did not come to its end.
		Security_Optimizer_Login_Report::keep_pending();
		self::$checking       = true;
		self::$checked        = true;
		self::$refused        = false;
		self::$hashes         = 0;
		self::$right          = false;
		self::$compared       = false;
		self::$username       = (string) $username;
		self::$password       = (string) $password;
		self::$by_application = false;
	}

	public static function end_attempt() {
		self::$checking = false;
	}

	/**
	 * @return string[] Name and password of the login under way.
	 */
	public static function get_typed() {
		return array( self::$username, self::$password );
	}

	/**
	 * The password was right, even if it is refused for another reason.
	 */
	public static function accept_password() {
		self::$right = true;
		Security_Optimizer_Login_Report::clear_pending();
	}

	/**
	 * The right password of this login is an application password.
	 */
	public static function set_application_password() {
		self::$by_application = true;
		Security_Optimizer_Login_Report::clear_pending();
	}

	/**
	 * @return bool Whether a login is under way right now.
	 */
	public static function is_checking() {
		return self::$checking;
	}

	/**
	 * @return bool Whether a login came by here in this request.
	 */
	public static function has_checked() {
		return self::$checked;
	}

	/**
	 * A check whose end could not be reported is not made: hence the look at the head of the answer.
	 *
	 * @param WP_User|null $user The user whose password it would be.
	 * @return bool Whether no password of theirs may be checked now.
	 */
	public static function must_refuse( $user ) {
		return self::is_blocked( $user ) || ( Security_Optimizer_Request_Gate::came_through_guard() && (
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
		// A locked address gets an error that says so, so the time of the response reveals nothing more.
		if ( ! Security_Optimizer_Context::is_locked() ) {
			Security_Optimizer_Login_Errors::simulate_check( $password );
		}
		Security_Optimizer_Login_Report::add_refused();
		return Security_Optimizer_Login_Errors::get_error();
	}

	/**
	 * Takes everybody else off the filter that is running, which ends it, and puts them back for the next time.
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
	 * @param string $username What was typed.
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
	 * A script of a page logs in by the REST API: guard tells it where its visitor goes on. Whoever sends these headers
	 * without a page is told the same, and gets no session either.
	 *
	 * @return bool Whether a browser sent the request, and not by `Authorization: Basic`.
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
