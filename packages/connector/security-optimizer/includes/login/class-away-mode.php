<?php
/**
 * Away Mode: staff can't change anything; other users and anonymous clients are not affected.
 *
 * Guard can't know whose session a cookie holds. It allows such a request only if it knows that this class runs (flag
 * `S` of the signal), and replaces a response with the flag `w` by its own page.
 *
 * Every request of staff that may change something is refused: any method except GET, HEAD and OPTIONS, any method for
 * admin-ajax.php and admin-post.php, and every REST request except reads, also with `_method` or
 * X-HTTP-Method-Override. The user is checked as early as possible and after every change of the current user, before a
 * plugin acts on `init`, `wp_loaded`, `admin_init` or its own action.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Away_Mode {

	/** Flag of the signal: a user of the staff sent this request, and it was refused. */
	const REFUSED = 'w';

	/** @var bool Whether a user is being loaded, whose callbacks may set the current user again. */
	private static $is_identifying = false;

	/**
	 * Action `plugins_loaded`, at the first priority. Only reads the cookie: determining the current user now would fix
	 * it to nobody where a plugin adds its tokens later.
	 */
	public static function check_cookie() {
		if ( self::may_change() && ! empty( $_COOKIE[ LOGGED_IN_COOKIE ] ) && is_string( $_COOKIE[ LOGGED_IN_COOKIE ] ) ) {
			self::check_user( (int) wp_validate_auth_cookie( $_COOKIE[ LOGGED_IN_COOKIE ], 'logged_in' ) );
		}
	}

	/**
	 * Action `set_current_user`: WordPress has determined the current user, or a plugin has changed it (a token, a
	 * login link).
	 */
	public static function check_current_user() {
		if ( self::may_change() && ! self::is_background_task() ) {
			self::check_user( get_current_user_id() );
		}
	}

	/**
	 * Action `admin_init`, before plugins: credentials that WordPress does not know may be valid for a plugin.
	 */
	public static function check_unknown_credentials() {
		if ( self::may_change() && self::has_unknown_credentials() ) {
			self::refuse();
		}
	}

	/**
	 * Filters `rest_pre_dispatch`, by which plugins respond themselves, and `rest_request_before_callbacks`, also for
	 * each request of a batch. They see the effective method.
	 *
	 * @param mixed           $result  Passed on.
	 * @param mixed           $handler Not used.
	 * @param WP_REST_Request $request The request.
	 * @return mixed
	 */
	public static function refuse_change( $result, $handler, $request ) {
		if ( is_wp_error( $result ) || in_array( $request->get_method(), array( 'GET', 'HEAD', 'OPTIONS' ), true ) ) {
			return $result;
		}
		if ( ! self::has_unknown_credentials() && ! Security_Optimizer_Staff::is_staff( wp_get_current_user() ) ) {
			return $result;
		}
		if ( self::is_own_request( $request ) ) {
			self::refuse();
		}
		// An internal REST request of a plugin within another request.
		return new WP_Error( 'away_mode', __( 'The admin area is closed.', 'security-optimizer' ), array( 'status' => 403 ) );
	}

	/**
	 * @param int $user_id Id of the user.
	 */
	private static function check_user( $user_id ) {
		if ( self::$is_identifying || 0 === $user_id ) {
			return;
		}
		self::$is_identifying = true;
		$is_staff             = Security_Optimizer_Staff::is_staff( get_userdata( $user_id ) );
		self::$is_identifying = false;
		if ( $is_staff ) {
			self::refuse();
		}
	}

	/**
	 * @return bool Whether the request may change something, by its method and headers.
	 */
	private static function may_change() {
		$method = isset( $_SERVER['REQUEST_METHOD'] ) ? $_SERVER['REQUEST_METHOD'] : '';
		return ( defined( 'WP_ADMIN' ) && WP_ADMIN )
			|| ! in_array( $method, array( 'GET', 'HEAD', 'OPTIONS' ), true )
			|| isset( $_GET['_method'] ) || isset( $_SERVER['HTTP_X_HTTP_METHOD_OVERRIDE'] ); // phpcs:ignore WordPress.Security.NonceVerification
	}

	/**
	 * Background tasks run as the user who created them, for example webhooks of a shop. Clients can't choose them:
	 * they run from wp-cron.php after WordPress has loaded, from the queue of Action Scheduler, or on shutdown.
	 */
	private static function is_background_task() {
		$is_loaded = did_action( 'wp_loaded' ) && ! doing_action( 'wp_loaded' );
		return ( $is_loaded && wp_doing_cron() ) || doing_action( 'action_scheduler_run_queue' ) || doing_action( 'shutdown' );
	}

	/**
	 * @return bool Whether the request has an `Authorization` that did not determine the current user: there is no
	 *              user, or only the cookie identifies one.
	 */
	private static function has_unknown_credentials() {
		if ( ! self::has_authorization() ) {
			return false;
		}
		$by_cookie = isset( $_COOKIE[ LOGGED_IN_COOKIE ] ) && is_string( $_COOKIE[ LOGGED_IN_COOKIE ] ) && '' !== $_COOKIE[ LOGGED_IN_COOKIE ]
			? (int) wp_validate_auth_cookie( $_COOKIE[ LOGGED_IN_COOKIE ], 'logged_in' ) : 0;
		// Without arguments it validates the cookie of wp-admin.
		return in_array( get_current_user_id(), array( 0, $by_cookie, (int) wp_validate_auth_cookie() ), true );
	}

	/**
	 * @return bool Whether the request has an `Authorization`. Depending on the web server it is in one of these
	 *              places.
	 */
	private static function has_authorization() {
		foreach ( array( 'HTTP_AUTHORIZATION', 'REDIRECT_HTTP_AUTHORIZATION', 'PHP_AUTH_USER', 'PHP_AUTH_DIGEST' ) as $name ) {
			if ( ! empty( $_SERVER[ $name ] ) ) {
				return true;
			}
		}
		$headers = function_exists( 'getallheaders' ) ? array_change_key_case( (array) getallheaders() ) : array();
		return ! empty( $headers['authorization'] );
	}

	/**
	 * @param WP_REST_Request $request A REST request.
	 * @return bool Whether it is the request of the client itself.
	 */
	private static function is_own_request( $request ) {
		$route = isset( $GLOBALS['wp']->query_vars['rest_route'] ) ? (string) $GLOBALS['wp']->query_vars['rest_route'] : '';
		return defined( 'REST_REQUEST' ) && REST_REQUEST && untrailingslashit( $route ) === untrailingslashit( $request->get_route() );
	}

	/**
	 * Ends the request. Guard sends its own response with the end of Away Mode; this one is for a guard that does not
	 * know the flag yet.
	 */
	private static function refuse() {
		Security_Optimizer_Request_Gate::add_flag( self::REFUSED );
		$uri     = isset( $_SERVER['REQUEST_URI'] ) ? (string) $_SERVER['REQUEST_URI'] : '';
		$is_rest = ! empty( $_GET['rest_route'] ) || ! empty( $_POST['rest_route'] ) // phpcs:ignore WordPress.Security.NonceVerification
			|| ( defined( 'REST_REQUEST' ) && REST_REQUEST ) || false !== strpos( $uri, '/' . rest_get_url_prefix() . '/' );
		if ( ! $is_rest && ! ( defined( 'DOING_AJAX' ) && DOING_AJAX ) ) {
			Security_Optimizer_Response::send_page( 403, 'Forbidden', 'The admin area is closed.' );
		}
		Security_Optimizer_Response::send_json(
			403,
			array(
				'code'    => 'away_mode',
				'message' => 'The admin area is closed.',
				'data'    => array( 'status' => 403 ),
			)
		);
	}
}
