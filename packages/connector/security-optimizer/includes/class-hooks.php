<?php
/**
 * All hooks that the connector adds to WordPress, in the order in which they run. The hooks of the Activity Log are
 * listed in activity/class-activity.php. (The commands `issue-session` and `send-mail` add further hooks while they
 * run.)
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Hooks {

	/**
	 * Runs while must-use plugins load: before plugins, themes and users.
	 */
	public static function add() {
		add_action( 'init', array( 'Security_Optimizer_Admin_Page', 'load_translations' ) );

		$settings = Security_Optimizer_Secret::read();
		if ( null === $settings ) {
			// Without a secret no request can be verified. The site runs as if the connector were not installed.
			add_action( 'admin_notices', array( 'Security_Optimizer_Admin_Page', 'print_secret_notice' ) );
			return;
		}

		// First: identifies the client and decides whether the request is allowed.
		Security_Optimizer_Request_Gate::check_request( $settings['secret'], $settings['require_guard'] );

		// Commands of guard run before all other callbacks of that action, so that no plugin can interfere.
		if ( Security_Optimizer_Commands::receive( $settings['secret'] ) ) {
			add_action( Security_Optimizer_Commands::action(), array( 'Security_Optimizer_Commands', 'run' ), PHP_INT_MIN );
		}

		if ( defined( 'WP_CLI' ) && WP_CLI ) {
			Security_Optimizer_Cli::add_commands( $settings['secret'] );
		}

		// Protections. Each is added only while it is on in the policy.
		$signed = null !== Security_Optimizer_Context::signed_xml_rpc();
		if ( $signed ) {
			Security_Optimizer_Signed_Xml_Rpc::restrict();
		}
		if ( Security_Optimizer_Policy::is_on( 'disable_xml_rpc' ) ) {
			self::add_xml_rpc( $signed );
		}
		add_action( 'activated_plugin', array( 'Security_Optimizer_Signed_Xml_Rpc', 'notify_guard' ) );
		add_action( 'deactivated_plugin', array( 'Security_Optimizer_Signed_Xml_Rpc', 'notify_guard' ) );
		if ( Security_Optimizer_Policy::is_on( 'disable_feed' ) ) {
			self::add_feeds();
		}
		if ( Security_Optimizer_Policy::is_on( 'wp_remove_version' ) ) {
			self::add_version( $settings['secret'] );
		}
		if ( Security_Optimizer_Policy::is_on( 'disable_file_edit' ) ) {
			self::add_file_editors();
		}
		if ( Security_Optimizer_Policy::is_on( 'delete_readme' ) ) {
			self::add_readme();
		}

		if ( Security_Optimizer_Policy::is_on( 'disable_usernames' ) ) {
			self::add_usernames();
		}

		// Login Security: every route to a password check, and what depends on it.
		$hides_login  = '' !== Security_Optimizer_Policy::get_text( 'login_url_login' );
		$needs_factor = Security_Optimizer_Policy::is_on( 'sg2fa' );
		// Guard counts failures by its own settings, also while WordPress has no policy yet or has lost it.
		$counts_failures = (int) Security_Optimizer_Policy::get_text( 'login_attempts' ) > 0
			|| ( Security_Optimizer_Request_Gate::is_via_guard() && ! Security_Optimizer_Policy::exists() );
		if ( $hides_login || $needs_factor
			|| $counts_failures
			|| Security_Optimizer_Blocked_Users::exist()
			|| Security_Optimizer_Context::refuses_passwords()
		) {
			self::add_password_checks();
			self::add_lost_password();
		}
		if ( Security_Optimizer_Context::is_away() ) {
			self::add_away_mode();
		}
		self::add_session_checks();
		if ( $needs_factor ) {
			self::add_second_factor();
		}
		// Always added: a check whether a reset was ever forced would cost a query per request. The mark is part of the
		// user meta.
		self::add_password_reset();
		if ( $hides_login ) {
			self::add_login_url();
		}
		if ( Security_Optimizer_Blocked_Users::exist() ) {
			self::add_blocked_users();
		}

		// Activity Log: whether the request is authenticated, and the events (listed in activity/class-activity.php).
		add_filter( 'determine_current_user', array( 'Security_Optimizer_Session_User', 'report_signed_in' ), PHP_INT_MAX );
		add_filter( 'authenticate', array( 'Security_Optimizer_Session_User', 'report_signed_in_by_xml_rpc' ), PHP_INT_MAX );
		if ( Security_Optimizer_Policy::is_on( 'activity_events' ) ) {
			Security_Optimizer_Activity::add();
		}
		Security_Optimizer_Loopback_Cron::prepare( $settings['secret'] );
		Security_Optimizer_Loopback_Requests::prepare( $settings['secret'] );
		add_filter( 'http_request_args', array( 'Security_Optimizer_Loopback_Requests', 'sign' ), PHP_INT_MAX, 2 );
		add_filter( 'cron_request', array( 'Security_Optimizer_Loopback_Cron', 'sign' ), PHP_INT_MAX );

		// The pages in wp-admin.
		add_action( 'admin_menu', array( 'Security_Optimizer_Admin_Page', 'add_menu' ) );
		add_action( 'admin_enqueue_scripts', array( 'Security_Optimizer_Admin_Page', 'enqueue' ) );
	}

	/**
	 * @param bool $signed Whether guard has allowed the request for a plugin that verifies its signature.
	 */
	private static function add_xml_rpc( $signed ) {
		// Immediately, for xmlrpc.php itself. The other hooks remove what announces it.
		if ( ! $signed ) {
			Security_Optimizer_Xml_Rpc::refuse_request();
			add_filter( 'xmlrpc_enabled', '__return_false', PHP_INT_MAX );
			add_filter( 'xmlrpc_methods', '__return_empty_array', PHP_INT_MAX );
		}
		add_filter( 'site_url', array( 'Security_Optimizer_Xml_Rpc', 'hide_url' ), PHP_INT_MAX, 2 );
		add_filter( 'pings_open', array( 'Security_Optimizer_Xml_Rpc', 'hide_pings_from_head' ), PHP_INT_MAX );
		add_filter( 'wp_headers', array( 'Security_Optimizer_Xml_Rpc', 'remove_header' ), PHP_INT_MAX );
		add_action( 'wp', array( 'Security_Optimizer_Xml_Rpc', 'remove_sent_header' ), PHP_INT_MAX );
		add_action( 'wp_head', array( 'Security_Optimizer_Xml_Rpc', 'remove_links' ), PHP_INT_MIN );
	}

	private static function add_feeds() {
		// WordPress may send 304 for a feed right after `parse_request`. Plugins may turn a query into a feed later.
		add_action( 'parse_request', array( 'Security_Optimizer_Feeds', 'refuse_request' ), PHP_INT_MAX );
		add_action( 'template_redirect', array( 'Security_Optimizer_Feeds', 'refuse_query' ), PHP_INT_MIN );
		add_filter( 'feed_links_show_posts_feed', '__return_false', PHP_INT_MAX );
		add_filter( 'feed_links_show_comments_feed', '__return_false', PHP_INT_MAX );
		add_action( 'wp_head', array( 'Security_Optimizer_Feeds', 'remove_links' ), PHP_INT_MIN );
	}

	/**
	 * @param string $secret The site's secret, from which the token that replaces the version is derived.
	 */
	private static function add_version( $secret ) {
		Security_Optimizer_Version::prepare( $secret );
		add_filter( 'the_generator', '__return_empty_string', PHP_INT_MAX );
		foreach ( array( 'html', 'xhtml', 'atom', 'rss2', 'rdf', 'comment', 'export' ) as $type ) {
			add_filter( "get_the_generator_{$type}", '__return_empty_string', PHP_INT_MAX );
		}
		add_action( 'wp_default_styles', array( 'Security_Optimizer_Version', 'replace_default' ), PHP_INT_MAX );
		add_action( 'wp_default_scripts', array( 'Security_Optimizer_Version', 'replace_default' ), PHP_INT_MAX );
		add_filter( 'style_loader_src', array( 'Security_Optimizer_Version', 'replace_in_url' ), PHP_INT_MAX );
		add_filter( 'script_loader_src', array( 'Security_Optimizer_Version', 'replace_in_url' ), PHP_INT_MAX );
		add_filter( 'script_module_loader_src', array( 'Security_Optimizer_Version', 'replace_in_url' ), PHP_INT_MAX );
		add_filter( 'wp_admin_css_uri', array( 'Security_Optimizer_Version', 'replace_in_url' ), PHP_INT_MAX );
		add_filter( 'tiny_mce_before_init', array( 'Security_Optimizer_Version', 'replace_in_editor' ), PHP_INT_MAX );
		add_filter( 'teeny_mce_before_init', array( 'Security_Optimizer_Version', 'replace_in_editor' ), PHP_INT_MAX );
		add_filter( 'http_request_args', array( 'Security_Optimizer_Version', 'remove_from_user_agent' ), PHP_INT_MAX, 2 );
	}

	private static function add_file_editors() {
		// The constant hides the editors. The capability filter also works where something else has defined it as
		// false.
		if ( ! defined( 'DISALLOW_FILE_EDIT' ) ) {
			define( 'DISALLOW_FILE_EDIT', true );
		}
		add_filter( 'map_meta_cap', array( 'Security_Optimizer_File_Editors', 'refuse' ), PHP_INT_MAX, 2 );
	}

	private static function add_readme() {
		add_action( '_core_updated_successfully', array( 'Security_Optimizer_Readme', 'delete' ) );
		add_action( 'upgrader_process_complete', array( 'Security_Optimizer_Readme', 'delete' ) );
		add_action( Security_Optimizer_Readme::DAILY, array( 'Security_Optimizer_Readme', 'delete' ) );
	}

	private static function add_usernames() {
		add_filter( 'illegal_user_logins', array( 'Security_Optimizer_Usernames', 'add_illegal' ), PHP_INT_MAX );
		add_filter( 'wp_pre_insert_user_data', array( 'Security_Optimizer_Usernames', 'refuse_new' ), PHP_INT_MAX, 2 );
	}

	private static function add_password_checks() {
		$checks = 'Security_Optimizer_Password_Checks';
		add_action( 'plugins_loaded', array( 'Security_Optimizer_Session_User', 'remember_cookie' ), PHP_INT_MIN + 1 );
		add_action( 'init', array( 'Security_Optimizer_Session_User', 'id' ), PHP_INT_MIN );
		add_filter( 'secure_signon_cookie', array( $checks, 'record_remember' ), PHP_INT_MAX, 2 );
		add_filter( 'authenticate', array( $checks, 'begin' ), PHP_INT_MIN, 3 );
		// WordPress checks the password at priority 20.
		add_filter( 'authenticate', array( $checks, 'record_unknown_name' ), 21 );
		add_filter( 'authenticate', array( $checks, 'finish' ), PHP_INT_MAX, 3 );
		add_action( 'set_auth_cookie', array( $checks, 'record_session' ), PHP_INT_MIN, 4 );
		$application = 'Security_Optimizer_Application_Passwords';
		// WordPress checks application passwords of REST at priority 20.
		add_filter( 'determine_current_user', array( $application, 'begin_check' ), 19 );
		add_filter( 'determine_current_user', array( $application, 'end_check' ), 21 );
		add_action( 'wp_authenticate_application_password_errors', array( $application, 'record_correct' ), PHP_INT_MIN );
		add_action( 'application_password_failed_authentication', array( $application, 'record_failure' ), PHP_INT_MAX );
		add_action( 'application_password_did_authenticate', array( $application, 'record_success' ), PHP_INT_MIN );
		add_filter( 'check_password', array( $checks, 'count_check' ), PHP_INT_MAX, 4 );
		add_filter( 'rest_authentication_errors', array( $application, 'explain_in_rest' ), PHP_INT_MAX );
		add_filter( 'rest_request_after_callbacks', array( $application, 'explain_lock_in_rest' ), PHP_INT_MAX );
		add_filter( 'xmlrpc_login_error', array( 'Security_Optimizer_Login_Errors', 'explain_in_xml_rpc' ), PHP_INT_MAX, 2 );
		// For plugins that replace wp_authenticate() itself.
		$replaced = 'Security_Optimizer_Replaced_Authentication';
		add_action( 'wp_authenticate', array( $replaced, 'refuse' ), PHP_INT_MAX, 2 );
		add_action( 'wp_login_failed', array( $replaced, 'record_failure' ), PHP_INT_MIN );
	}

	private static function add_away_mode() {
		$away = 'Security_Optimizer_Away_Mode';
		// After the cookies of blocked users are removed, and before any plugin acts.
		add_action( 'plugins_loaded', array( $away, 'check_cookie' ), PHP_INT_MIN + 2 );
		add_action( 'set_current_user', array( $away, 'check_current_user' ), PHP_INT_MIN );
		add_action( 'admin_init', array( $away, 'check_unknown_credentials' ), PHP_INT_MIN );
		add_filter( 'rest_pre_dispatch', array( $away, 'refuse_change' ), PHP_INT_MIN, 3 );
		add_filter( 'rest_request_before_callbacks', array( $away, 'refuse_change' ), PHP_INT_MIN, 3 );
	}

	private static function add_lost_password() {
		$form = 'Security_Optimizer_Lost_Password';
		add_filter( 'lostpassword_user_data', array( $form, 'hide_unknown' ), PHP_INT_MAX, 2 );
		add_filter( 'send_retrieve_password_email', array( $form, 'postpone' ), PHP_INT_MAX, 3 );
		add_action( 'shutdown', array( $form, 'send' ), PHP_INT_MAX );
	}

	/**
	 * Always added, because the second factor may be switched on during a login. It costs two queries per login.
	 */
	private static function add_session_checks() {
		$factor = 'Security_Optimizer_Second_Factor';
		add_filter( 'attach_session_information', array( 'Security_Optimizer_Second_Factor_Sessions', 'clear_cached_sessions' ), PHP_INT_MAX, 2 );
		add_filter( 'send_auth_cookies', array( $factor, 'withhold_cookies' ), PHP_INT_MAX, 6 );
	}

	private static function add_second_factor() {
		$sessions = 'Security_Optimizer_Second_Factor_Sessions';
		add_filter( 'attach_session_information', array( $sessions, 'mark' ), PHP_INT_MAX, 2 );
		add_filter( 'xmlrpc_login_error', array( 'Security_Optimizer_Second_Factor', 'explain_in_xml_rpc' ), PHP_INT_MAX, 2 );
		// A user who gets a role that needs the second factor may have sessions without it.
		add_filter( 'add_user_metadata', array( $sessions, 'record_promotion' ), PHP_INT_MAX, 4 );
		add_filter( 'update_user_metadata', array( $sessions, 'record_promotion' ), PHP_INT_MAX, 4 );
		add_filter( 'delete_user_metadata', array( $sessions, 'record_promotion' ), PHP_INT_MAX, 4 );
		add_action( 'added_user_meta', array( $sessions, 'end_after_promotion' ), PHP_INT_MAX, 2 );
		add_action( 'updated_user_meta', array( $sessions, 'end_after_promotion' ), PHP_INT_MAX, 2 );
		add_action( 'granted_super_admin', array( $sessions, 'end_all' ), PHP_INT_MAX );
		add_filter( 'wp_is_application_passwords_available_for_user', array( 'Security_Optimizer_Application_Passwords', 'make_available' ), PHP_INT_MAX, 2 );
		add_action( 'wp_authenticate_application_password_errors', array( 'Security_Optimizer_Application_Passwords', 'refuse_unpermitted' ), PHP_INT_MAX, 2 );
	}

	private static function add_password_reset() {
		$reset = 'Security_Optimizer_Password_Reset';
		// Before the checks are counted at the last priority: an old password counts as wrong.
		add_filter( 'check_password', array( $reset, 'refuse_old' ), PHP_INT_MAX - 1, 4 );
		add_action( 'validate_password_reset', array( $reset, 'check_form' ), PHP_INT_MAX, 2 );
		add_action( 'user_profile_update_errors', array( $reset, 'check_profile' ), PHP_INT_MAX, 3 );
		add_filter( 'rest_request_before_callbacks', array( $reset, 'check_rest' ), PHP_INT_MAX, 3 );
		add_filter( 'login_message', array( $reset, 'show_notice' ), PHP_INT_MAX );
	}

	private static function add_blocked_users() {
		$blocked = 'Security_Optimizer_Blocked_Users';
		add_action( 'plugins_loaded', array( $blocked, 'remove_cookies' ), PHP_INT_MIN );
		add_filter( 'determine_current_user', array( $blocked, 'make_anonymous' ), PHP_INT_MAX );
		add_filter( 'send_auth_cookies', array( $blocked, 'withhold_cookies' ), PHP_INT_MAX, 6 );
	}

	private static function add_login_url() {
		$links = 'Security_Optimizer_Login_Url';
		// WordPress would redirect /login, /admin and /dashboard to the login.
		remove_action( 'template_redirect', 'wp_redirect_admin_locations', 1000 );
		add_action( 'login_init', array( $links, 'refuse_request' ), PHP_INT_MIN );
		add_action( 'login_init', array( 'Security_Optimizer_Signup', 'begin' ), PHP_INT_MIN );
		$admin = 'Security_Optimizer_Admin_Links';
		add_action( 'login_init', array( $admin, 'redirect_signed_in' ), PHP_INT_MIN );
		if ( is_multisite() ) {
			foreach ( array( 'admin_url', 'network_admin_url', 'user_admin_url' ) as $link ) {
				add_filter( $link, array( $admin, 'filter_url' ), PHP_INT_MAX );
			}
			add_action( 'init', array( 'Security_Optimizer_Signup', 'require_key' ), PHP_INT_MIN );
			add_action( 'before_signup_header', array( 'Security_Optimizer_Signup', 'begin_in_network' ), PHP_INT_MIN );
		}
		add_filter( 'do_parse_request', array( $links, 'skip_parsing' ), PHP_INT_MAX );
		add_action( 'parse_request', array( 'Security_Optimizer_Context', 'restore_script' ), PHP_INT_MIN );
		add_action( 'before_signup_form', array( $links, 'buffer_form' ), PHP_INT_MIN );
		add_filter( 'site_url', array( $links, 'filter_site_url' ), PHP_INT_MAX, 2 );
		add_filter( 'network_site_url', array( $links, 'filter_site_url' ), PHP_INT_MAX, 2 );
		add_filter( 'wp_redirect', array( $links, 'filter_redirect' ), PHP_INT_MAX );
		foreach ( array( 'loginout', 'register', 'comment_reply_link', 'post_comments_link' ) as $link ) {
			add_filter( $link, array( $links, 'filter_link' ), PHP_INT_MAX );
		}
		add_filter( 'logout_url', array( $links, 'filter_logout_url' ), PHP_INT_MAX );
		$forms = 'Security_Optimizer_Login_Forms';
		add_filter( 'login_form_top', array( $forms, 'mark' ), PHP_INT_MAX );
		add_filter( 'template_include', array( $forms, 'buffer_page' ), PHP_INT_MAX );
		add_filter( 'comment_form_defaults', array( $forms, 'unlink_in_comment_form' ), PHP_INT_MAX );
		add_filter( 'render_block_core/loginout', array( $forms, 'remove_empty_block' ), PHP_INT_MAX );
		foreach ( array( 'render_block', 'the_content', 'do_shortcode_tag' ) as $part ) {
			add_filter( $part, array( $forms, 'remove' ), PHP_INT_MAX );
		}
		add_filter( 'wp_mail', array( 'Security_Optimizer_Login_Mails', 'filter' ), PHP_INT_MAX );
	}
}
