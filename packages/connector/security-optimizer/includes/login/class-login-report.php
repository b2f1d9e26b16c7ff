<?php
/**
 * Reports the outcome of this request's password checks to guard.
 *
 * The report is written to a response header immediately, so that it is sent however the request ends, and to the
 * database, in case the header gets lost. After the head of the response is sent nothing can be reported, so no
 * password is checked.
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

	/** @var array|null The failure of the current login, unless it succeeds later; an entry of `failed`. */
	private static $pending = null;

	/** @var array|null The report in the database. */
	private static $recorded = null;

	/**
	 * @return bool Whether a password was wrong in this request.
	 */
	public static function has_failed() {
		return array() !== self::$report['failed'];
	}

	/**
	 * @return bool Whether a password check was refused in this request.
	 */
	public static function has_refused() {
		return self::$report['refused'] > 0;
	}

	/**
	 * @param string       $name  The entered name.
	 * @param WP_User|null $user  The user with this name, if any.
	 * @param string       $route `form`, `xmlrpc`, `rest`, `application-password` or `other`.
	 */
	public static function add_failed( $name, $user, $route ) {
		self::$pending            = null;
		self::$report['failed'][] = self::failure( $name, $user, $route );
		self::send();
	}

	/**
	 * The current login fails unless a later check succeeds. Parameters as above.
	 *
	 * @param string       $name  The entered name.
	 * @param WP_User|null $user  The user with this name, if any.
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
	 * @return bool Whether a pending failure of this user was cleared.
	 */
	public static function clear_pending_for( $user_id ) {
		$was = null !== self::$pending && $user_id > 0 && self::$pending['id'] === $user_id;
		if ( $was ) {
			self::$pending = null;
		}
		return $was;
	}

	/**
	 * Another login begins, so the pending failure of the previous one is final.
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
	 * @param WP_User $user User with the correct password.
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
	 * Removes the success, because the correct password was not sufficient.
	 */
	public static function withdraw_ok() {
		self::$report['ok'] = null;
	}

	/**
	 * @param WP_User $user     User who has to give the second factor.
	 * @param bool    $remember Whether the session is persistent.
	 * @param string  $redirect Requested redirect, '' for the default.
	 * @param bool    $interim  Whether this is the dialog inside wp-admin.
	 * @param bool    $withheld Whether only the session is withheld, so that the response determines where the login
	 *                          leads.
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
	 * Records that a password check begins.
	 *
	 * @return bool False when the password must not be checked, because guard could not learn of the check.
	 */
	public static function begin() {
		return Security_Optimizer_Request_Gate::record_checks( null );
	}

	/**
	 * Sends the report. Also called without a change of the report after a check.
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
