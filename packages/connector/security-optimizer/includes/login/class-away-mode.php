<?php
/**
 * While the owner is away: those who work on the site change nothing; members and anonymous clients go on.
 *
 * Guard cannot know whose session a cookie holds. It lets such a request through only while it is certain that this class
 * runs (`S` among the flags of the signal), and puts its own page in the place of an answer that says `w`.
 *
 * Refused is each request of theirs that may change something: any method but GET, HEAD and OPTIONS at any address,
 * admin-ajax.php and admin-post.php by any method, and every call of the REST API but reads, whichever way its method
 * came (`_method`, X-HTTP-Method-Override). Who is asking is looked at as early as it can be known and each time it
 * changes, before a plugin acts on `init`, `wp_loaded`, `admin_init` or its own action.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Away_Mode {

	/** Letter of the signal: this request belongs to one of the staff, and nothing was done in it. */
	const REFUSED = 'w';

	/** @var bool Whether it is being found out who somebody is: callbacks of that may ask for the current user again. */
	private static $is_identifying = false;

	/**
	 * Action `plugins_loaded`, before plugins do anything on it. By the cookie alone: to ask for the current user now
	 * would make WordPress settle for nobody where a plugin adds its tokens only later.
	 */
	public static function check_cookie() {
		if ( self::may_change() && ! empty( $_COOKIE[ LOGGED_IN_COOKIE ] ) && is_string( $_COOKIE[ LOGGED_IN_COOKIE ] ) ) {
			self::check_user( (int) wp_validate_auth_cookie( $_COOKIE[ LOGGED_IN_COOKIE ], 'logged_in' ) );
		}
	}

	/**
	 * Action `set_current_user`: WordPress has found out who is asking, or something has put another user in that place
	 * (a token of a plugin, a link that logs in).
	 */
	public static function check_current_user() {
		if ( self::may_change() && ! self::is_background_task() ) {
			self::check_user( get_current_user_id() );
		}
	}

	/**
	 * Action `admin_init`, before plugins: credentials that belong to nobody whom WordPress knows may still mean something
	 * to the plugin whose call this is.
	 */
	public static function check_unknown_credentials() {
		if ( self::may_change() && self::has_unknown_credentials() ) {
			self::refuse();
		}
	}

	/**
	 * Filters `rest_pre_dispatch`, by which plugins answer calls themselves, and `rest_request_before_callbacks`, for each
	 * call of a batch as well: the method as WordPress has understood it, at whatever address.
	 *
	 * @param mixed           $result  Passed on.
	 * @param mixed           $handler Not used.
	 * @param WP_REST_Request $request The call.
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
		// A call that a plugin makes within another request, in somebody's name.
		return new WP_Error( 'away_mode', __( 'The admin area is closed.', 'security-optimizer' ), array( 'status' => 403 ) );
	}

	/**
	 * @param int $user_id Who is asking.
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
	 * @return bool Whether the request may change something, before WordPress has read more of it than the head.
	 */
	private static function may_change() {
		$method = isset( $_SERVER['REQUEST_METHOD'] ) ? $_SERVER['REQUEST_METHOD'] : '';
		return ( defined( 'WP_ADMIN' ) && WP_ADMIN )
			|| ! in_array( $method, array( 'GET', 'HEAD', 'OPTIONS' ), true )
			|| isset( $_GET['_method'] ) || isset( $_SERVER['HTTP_X_HTTP_METHOD_OVERRIDE'] ); // phpcs:ignore WordPress.Security.NonceVerification
	}

	/**
	 * Tasks work in the name of the one who set them up, such as a shop's messages to other programs in that of its
	 * manager. No client has a say in which they are: they run from wp-cron.php once WordPress has loaded, from the queue of
	 * Action Scheduler, or when the answer has been made.
	 */
	private static function is_background_task() {
		$is_loaded = did_action( 'wp_loaded' ) && ! doing_action( 'wp_loaded' );
		return ( $is_loaded && wp_doing_cron() ) || doing_action( 'action_scheduler_run_queue' ) || doing_action( 'shutdown' );
	}

	/**
	 * @return bool Whether there is an `Authorization` that has made nobody the current user: there is none, or the cookie
	 *              alone says who it is.
	 */
	private static function has_unknown_credentials() {
		if ( ! self::has_authorization() ) {
			return false;
		}
		$by_cookie = isset( $_COOKIE[ LOGGED_IN_COOKIE ] ) && is_string( $_COOKIE[ LOGGED_IN_COOKIE ] ) && '' !== $_COOKIE[ LOGGED_IN_COOKIE ]
			? (int) wp_validate_auth_cookie( $_COOKIE[ LOGGED_IN_COOKIE ], 'logged_in' ) : 0;
		// The second is the cookie of wp-admin.
		return in_array( get_current_user_id(), array( 0, $by_cookie, (int) wp_validate_auth_cookie() ), true );
	}

	/**
	 * @return bool Whether the request has an `Authorization`. The web server may have kept it from some of these places,
	 *              but then plugins find it in another one.
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
	 * @param WP_REST_Request $request A call of the REST API.
	 * @return bool Whether it is what the client asked for.
	 */
	private static function is_own_request( $request ) {
		$route = isset( $GLOBALS['wp']->query_vars['rest_route'] ) ? (string) $GLOBALS['wp']->query_vars['rest_route'] : '';
		return defined( 'REST_REQUEST' ) && REST_REQUEST && untrailingslashit( $route ) === untrailingslashit( $request->get_route() );
	}

	/**
	 * Ends the request. Guard sends its own answer, which says until when; this one is for a guard that does not know the
	 * letter yet.
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
