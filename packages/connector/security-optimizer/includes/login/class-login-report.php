<?php
/**
 * The outcome of the password checks of this request, for guard.
 *
 * Written to a response header as soon as there is something to report, so that it is there however the request ends, and
 * to the database, where guard finds it when the header gets lost. Nothing can be reported once the head of the response
 * is sent, so no password is checked after that.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Login_Report {

	/** @var array Content of the header. */
	private static $report = array(
		'failed'  => array(),
		'refused' => 0,
		'ok'      => null,
		'factor'  => null,
	);

	/** @var array|null The failure with which the login under way ends unless it goes on; one of `failed`. */
	private static $pending = null;

	/** @var array|null What is in the database. */
	private static $recorded = null;

	/**
	 * @return bool Whether a password was wrong in this request.
	 */
	public static function has_failed() {
		return array() !== self::$report['failed'];
	}

	/**
	 * @return bool Whether a password was left unchecked in this request.
	 */
	public static function has_refused() {
		return self::$report['refused'] > 0;
	}

	/**
	 * @param string       $name  What was typed as name.
	 * @param WP_User|null $user  The user, if there is one.
	 * @param string       $route `form`, `xmlrpc`, `rest`, `application-password` or `other`.
	 */
	public static function add_failed( $name, $user, $route ) {
		self::$pending            = null;
		self::$report['failed'][] = self::failure( $name, $user, $route );
		self::send();
	}

	/**
	 * The login under way fails unless its password turns out to be right in another way. Parameters as above.
	 *
	 * @param string       $name  What was typed as name.
	 * @param WP_User|null $user  The user, if there is one.
	 * @param string       $route As above.
	 */
	public static function set_pending( $name, $user, $route ) {
		self::$pending = self::failure( $name, $user, $route );
	}

	public static function clear_pending() {
		self::$pending = null;
	}

	/**
	 * @param int $user_id A user.
	 * @return bool Whether the login under way was failing for this user; it no longer is.
	 */
	public static function clear_pending_of( $user_id ) {
		$was = null !== self::$pending && $user_id > 0 && self::$pending['id'] === $user_id;
		if ( $was ) {
			self::$pending = null;
		}
		return $was;
	}

	/**
	 * Another login begins: what the one before was failing with is its end.
	 */
	public static function keep_pending() {
		if ( null !== self::$pending ) {
			self::$report['failed'][] = self::$pending;
			self::$pending            = null;
		}
	}

	private static function failure( $name, $user, $route ) {
		return array(
			'user'  => mb_substr( (string) $name, 0, 60 ),
			'id'    => $user ? $user->ID : 0,
			'route' => $route,
		);
	}

	public static function add_refused() {
		++self::$report['refused'];
		self::send();
	}

	/**
	 * @param WP_User $user Who gave the right password.
	 * @param string  $route As above.
	 */
	public static function set_ok( $user, $route ) {
		self::$report['ok'] = array(
			'id'    => $user->ID,
			'login' => $user->user_login,
			'route' => $route,
		);
		self::send();
	}

	/**
	 * The right password was not enough.
	 */
	public static function withdraw_ok() {
		self::$report['ok'] = null;
	}

	/**
	 * @param WP_User $user     Who has to give the second factor now.
	 * @param bool    $remember Whether the session is to outlive the browser.
	 * @param string  $redirect Where the visitor wanted to go, '' for the usual place.
	 * @param bool    $interim  Whether this is the dialog inside wp-admin.
	 * @param bool    $withheld Whether only the session is held back, so that the response tells where the login leads.
	 */
	public static function set_factor( $user, $remember, $redirect, $interim, $withheld ) {
		self::$report['factor'] = array(
			'id'       => $user->ID,
			'login'    => $user->user_login,
			'remember' => $remember,
			'redirect' => Security_Optimizer_Login_Target::pack( $redirect ),
			'interim'  => $interim,
			'site'     => is_multisite() && ! is_main_site() ? get_site()->path : '',
			'withheld' => $withheld,
			'stamp'    => Security_Optimizer_Second_Factor::stamp( $user->ID ),
		);
		self::send();
	}

	/**
	 * A password is about to be checked.
	 *
	 * @return bool False when it must not be: guard would never hear of the check.
	 */
	public static function begin() {
		return Security_Optimizer_Request_Gate::record_checks( null );
	}

	/**
	 * Also called by itself: a password was checked, and there is nothing else to tell.
	 */
	public static function send() {
		$report = self::$report;
		if ( null !== self::$pending ) {
			$report['failed'][] = self::$pending;
		}
		if ( $report !== self::$recorded ) {
			Security_Optimizer_Request_Gate::record_checks( $report );
			self::$recorded = $report;
		}
		Security_Optimizer_Request_Gate::send_login_report( $report );
	}
}
