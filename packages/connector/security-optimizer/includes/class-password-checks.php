<?php
/**
 * Every road to a password: refuses what must not be checked, and tells guard how each check ended.
 *
 * All roads but one lead through the filter `authenticate`: forms, XML-RPC, plugins. Application passwords in REST
 * have their own hooks, and whoever calls wp_check_password() directly is seen by the filter `check_password`.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Password_Checks {

	/** @var bool Whether a log-in is being examined, so that single checks belong to it. */
	private static $examining = false;

	/** @var bool Whether a log-in was examined in this request. */
	private static $examined = false;

	/** @var bool Whether the log-in being examined was refused unchecked. */
	private static $refused = false;

	/** @var int Hashes computed for the log-in being examined. */
	private static $hashes = 0;

	/** @var bool Whether one of them was right. */
	private static $right = false;

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
	public static function notice_remember( $secure, $credentials ) {
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
		self::examine();
		if ( ! self::must_refuse( self::find( $username ) ) ) {
			Security_Optimizer_Login_Report::begin();
			return $user;
		}
		self::$refused = true;
		self::skip_the_others();
		self::$examining = false;
		return self::refuse( $password );
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
		self::$examining = false;
		if ( self::$refused ) {
			return Security_Optimizer_Login_Errors::sentence();
		}
		if ( $user instanceof WP_User && $user->exists() ) {
			return self::welcome( $user, $username );
		}
		if ( self::$right ) {
			// Another plugin has its own reasons to refuse. That is no guess at a password.
			Security_Optimizer_Login_Report::send();
			return $user;
		}
		self::fail( $username, $password, self::road( $username ) );
		return Security_Optimizer_Login_Errors::without_telling( $user );
	}

	/**
	 * Filter `determine_current_user`, right before WordPress checks an application password in REST.
	 *
	 * @param int|false $user_id Passed on.
	 * @return int|false
	 */
	public static function begin_application( $user_id ) {
		if ( ! empty( $user_id )
			|| ! isset( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'] )
			|| ! wp_is_application_passwords_available()
			|| ! WP_Application_Passwords::is_in_use()
			|| ! apply_filters( 'application_password_is_api_request', self::is_xml_rpc() || self::is_rest() )
		) {
			return $user_id;
		}
		self::examine();
		// Nobody guesses an application password, and programs have no cookie that shows a known device.
		if ( self::must_refuse( null ) || self::is_blocked( self::find( $_SERVER['PHP_AUTH_USER'] ) ) ) {
			self::refuse( $_SERVER['PHP_AUTH_PW'] );
			self::answer_rest();
			remove_filter( 'determine_current_user', 'wp_validate_application_password', 20 );
		} else {
			Security_Optimizer_Login_Report::begin();
		}
		return $user_id;
	}

	/**
	 * Filter `determine_current_user`, right after it.
	 *
	 * @param int|false $user_id Passed on.
	 * @return int|false
	 */
	public static function finish_application( $user_id ) {
		self::$examining = false;
		return $user_id;
	}

	/**
	 * Action `application_password_failed_authentication`. Inside `authenticate` the log-in as a whole counts.
	 */
	public static function fail_application() {
		if ( isset( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'] ) && ! doing_filter( 'authenticate' ) ) {
			self::fail( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'], 'application-password' );
			self::answer_rest();
		}
	}

	/**
	 * Action `application_password_did_authenticate`.
	 *
	 * @param WP_User $user Who gave the right one.
	 */
	public static function accept_application( $user ) {
		if ( doing_filter( 'authenticate' ) ) {
			self::$by_application = true;
		} else {
			Security_Optimizer_Login_Report::set_ok( $user, 'application-password' );
		}
	}

	/**
	 * Filter `check_password`.
	 *
	 * @param bool       $right    Whether the password is right.
	 * @param string     $password What was typed.
	 * @param string     $hash     What it was compared with.
	 * @param int|string $user_id  Whose it is; empty for keys that are no passwords.
	 * @return bool
	 */
	public static function count_check( $right, $password, $hash, $user_id ) {
		if ( Security_Optimizer_Password_Reset::is_comparing() ) {
			return $right;
		}
		if ( self::$examining ) {
			++self::$hashes;
			self::$right = self::$right || $right;
			return $right;
		}
		$user = $user_id ? get_userdata( $user_id ) : false;
		if ( ! $user || Security_Optimizer_Member::id() === $user->ID ) {
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

	private static function is_empty( $username, $password ) {
		return '' === (string) $username || '' === (string) $password;
	}

	private static function examine() {
		self::$examining      = true;
		self::$examined       = true;
		self::$refused        = false;
		self::$hashes         = 0;
		self::$right          = false;
		self::$by_application = false;
	}

	/**
	 * @return bool Whether a log-in came by here in this request.
	 */
	public static function has_examined() {
		return self::$examined;
	}

	/**
	 * A check whose end could not be reported is not made: hence the look at the head of the answer.
	 *
	 * @param WP_User|null $user Whose password it would be.
	 * @return bool Whether no password of theirs may be checked now.
	 */
	public static function must_refuse( $user ) {
		return self::is_blocked( $user ) || ( Security_Optimizer_Gate::came_through_guard() && (
			Security_Optimizer_Context::refuses_passwords()
			|| Security_Optimizer_Login_Report::has_failed()
			|| headers_sent()
			|| Security_Optimizer_Slow_Users::must_wait( $user )
		) );
	}

	private static function is_blocked( $user ) {
		return $user && Security_Optimizer_Blocked_Users::has( $user->ID );
	}

	private static function refuse( $password ) {
		Security_Optimizer_Login_Errors::spend_time( $password );
		Security_Optimizer_Login_Report::add_refused();
		return Security_Optimizer_Login_Errors::sentence();
	}

	/**
	 * Takes everybody else off the filter that is running, which ends it, and puts them back for the next time.
	 */
	private static function skip_the_others() {
		$hooked = $GLOBALS['wp_filter']['authenticate']->callbacks;
		remove_all_filters( 'authenticate' );
		foreach ( $hooked as $priority => $callbacks ) {
			foreach ( $callbacks as $callback ) {
				add_filter( 'authenticate', $callback['function'], $priority, $callback['accepted_args'] );
			}
		}
	}

	private static function fail( $username, $password, $road ) {
		if ( 0 === self::$hashes ) {
			Security_Optimizer_Login_Errors::spend_time( $password );
		}
		Security_Optimizer_Login_Report::add_failed( $username, self::find( $username ), $road );
	}

	private static function welcome( $user, $username ) {
		$road = self::$by_application ? 'application-password' : self::road( $username );
		if ( 'application-password' !== $road
			&& Security_Optimizer_Second_Factor::is_missing( $user )
			&& Security_Optimizer_Member::id() !== $user->ID
		) {
			if ( 'xmlrpc' === $road || 'rest' === $road ) {
				Security_Optimizer_Login_Report::send();
				return Security_Optimizer_Second_Factor::refusal();
			}
			Security_Optimizer_Second_Factor::ask( $user, self::$remember );
		}
		Security_Optimizer_Login_Report::set_ok( $user, $road );
		return $user;
	}

	private static function answer_rest() {
		$GLOBALS['wp_rest_application_password_status'] = Security_Optimizer_Login_Errors::plain_sentence(); // phpcs:ignore WordPress.WP.GlobalVariablesOverride -- Where WordPress keeps it.
	}

	/**
	 * @param string $username What was typed.
	 * @return WP_User|null Whom WordPress means by this name.
	 */
	public static function find( $username ) {
		$user = get_user_by( 'login', $username );
		if ( ! $user && is_email( $username ) ) {
			$user = get_user_by( 'email', $username );
		}
		return $user ? $user : null;
	}

	private static function road( $username ) {
		if ( self::is_xml_rpc() ) {
			return 'xmlrpc';
		}
		if ( self::is_rest() || ( isset( $_SERVER['PHP_AUTH_USER'] ) && sanitize_user( $_SERVER['PHP_AUTH_USER'] ) === $username ) ) {
			return 'rest';
		}
		return 'POST' === $_SERVER['REQUEST_METHOD'] && ! wp_doing_ajax() ? 'form' : 'other';
	}

	private static function is_xml_rpc() {
		return defined( 'XMLRPC_REQUEST' ) && XMLRPC_REQUEST;
	}

	private static function is_rest() {
		return defined( 'REST_REQUEST' ) && REST_REQUEST;
	}
}
