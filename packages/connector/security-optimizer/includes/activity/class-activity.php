<?php
/**
 * Events of registered users for the Activity Log: which method handles which hook of WordPress.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Activity {

	/**
	 * Hook of WordPress => suffix of the class `Security_Optimizer_Activity_…` and its method, which gets the hook's
	 * arguments.
	 */
	const HOOKS = array(
		// Logins and log-outs.
		'wp_login'                                   => array( 'Users', 'log_in' ),
		'wp_login_failed'                            => array( 'Users', 'fail_log_in' ),
		'application_password_failed_authentication' => array( 'Users', 'fail_application' ),
		'wp_logout'                                  => array( 'Users', 'log_out' ),
		'authenticate'                               => array( 'Program_Logins', 'log_in' ),
		'application_password_did_authenticate'      => array( 'Program_Logins', 'log_in_by_application' ),

		// Accounts.
		'wp_pre_insert_user_data'                    => array( 'Users', 'remember_creation' ),
		'user_register'                              => array( 'Users', 'create' ),
		'delete_user'                                => array( 'Users', 'remember_deletion' ),
		'deleted_user'                               => array( 'Users', 'delete' ),
		'profile_update'                             => array( 'Users', 'update' ),
		'wp_set_password'                            => array( 'Users', 'set_password' ),
		'update_user_meta'                           => array( 'Users', 'change_meta' ),
		'added_user_meta'                            => array( 'Users', 'add_meta' ),
		'delete_user_meta'                           => array( 'Users', 'remove_meta' ),
		'granted_super_admin'                        => array( 'Users', 'grant_network' ),
		'revoked_super_admin'                        => array( 'Users', 'revoke_network' ),
		'wp_create_application_password'             => array( 'Users', 'add_application_password' ),
		'wp_delete_application_password'             => array( 'Users', 'remove_application_password' ),

		// Content. This hook runs for every way of saving a post, after its terms and meta data.
		'wp_after_insert_post'                       => array( 'Content', 'save_post' ),
		'before_delete_post'                         => array( 'Content', 'remember_deletion' ),
		'after_delete_post'                          => array( 'Content', 'delete_post' ),
		'add_attachment'                             => array( 'Content', 'add_file' ),
		'attachment_updated'                         => array( 'Content', 'update_file' ),
		'delete_attachment'                          => array( 'Content', 'delete_file' ),
		'created_term'                               => array( 'Content', 'create_term' ),
		'edited_term'                                => array( 'Content', 'update_term' ),
		'delete_term'                                => array( 'Content', 'delete_term' ),
		'wp_update_nav_menu'                         => array( 'Content', 'update_menu' ),
		'wp_insert_comment'                          => array( 'Content', 'write_comment' ),
		'transition_comment_status'                  => array( 'Content', 'moderate_comment' ),
		'wp_update_comment_data'                     => array( 'Content', 'remember_edit' ),
		'edit_comment'                               => array( 'Content', 'edit_comment' ),
		'deleted_comment'                            => array( 'Content', 'delete_comment' ),

		// Orders of WooCommerce, which may not be posts, and products whose post is not saved.
		'woocommerce_before_order_object_save'       => array( 'Orders', 'remember_save' ),
		'woocommerce_new_order'                      => array( 'Orders', 'create' ),
		'woocommerce_update_order'                   => array( 'Orders', 'update' ),
		'woocommerce_saved_order_items'              => array( 'Orders', 'save_items' ),
		'woocommerce_order_status_changed'           => array( 'Orders', 'change_status' ),
		'woocommerce_trash_order'                    => array( 'Orders', 'trash' ),
		'woocommerce_before_delete_order'            => array( 'Orders', 'remember_deletion' ),
		'woocommerce_delete_order'                   => array( 'Orders', 'delete' ),
		'woocommerce_order_refunded'                 => array( 'Orders', 'refund' ),
		'woocommerce_refund_deleted'                 => array( 'Orders', 'delete_refund' ),
		'woocommerce_before_product_object_save'     => array( 'Orders', 'remember_product_save' ),
		'woocommerce_update_product'                 => array( 'Orders', 'update_product' ),

		// Plugins, themes, WordPress itself.
		'activated_plugin'                           => array( 'Software', 'activate_plugin' ),
		'deactivated_plugin'                         => array( 'Software', 'deactivate_plugin' ),
		'delete_plugin'                              => array( 'Software', 'remember_plugin' ),
		'deleted_plugin'                             => array( 'Software', 'delete_plugin' ),
		'switch_theme'                               => array( 'Software', 'switch_theme' ),
		'delete_theme'                               => array( 'Software', 'remember_theme' ),
		'deleted_theme'                              => array( 'Software', 'delete_theme' ),
		'upgrader_pre_install'                       => array( 'Software', 'remember_versions' ),
		'upgrader_process_complete'                  => array( 'Software', 'install' ),
		'_core_updated_successfully'                 => array( 'Software', 'update_core' ),
		'wp_ajax_edit-theme-plugin-file'             => array( 'Software', 'watch_file' ),
		'load-plugin-editor.php'                     => array( 'Software', 'watch_file' ),
		'load-theme-editor.php'                      => array( 'Software', 'watch_file' ),

		// Settings.
		'updated_option'                             => array( 'Settings', 'change' ),
		'added_option'                               => array( 'Settings', 'add' ),
		'update_site_option'                         => array( 'Settings', 'change_network' ),
		'customize_save_after'                       => array( 'Settings', 'customize' ),
		'export_wp'                                  => array( 'Settings', 'export' ),
		'import_end'                                 => array( 'Settings', 'import' ),
		'import_done'                                => array( 'Settings', 'import' ),
		'wp_initialize_site'                         => array( 'Settings', 'create_site' ),
		'wp_delete_site'                             => array( 'Settings', 'delete_site' ),
	);

	/** Filters whose result is recorded, so that the handler runs last. All others run first. */
	const RESULTS = array( 'authenticate' );

	/** @var true[] Keys of what was already recorded in this request. */
	private static $recorded = array();

	/**
	 * Mostly at the first priority: plugins that redirect on these hooks end the request.
	 */
	public static function add() {
		foreach ( self::HOOKS as $hook => $method ) {
			add_filter( $hook, array( __CLASS__, 'handle' ), in_array( $hook, self::RESULTS, true ) ? PHP_INT_MAX : PHP_INT_MIN, 5 );
		}
	}

	/**
	 * Callback of all these hooks.
	 *
	 * @param mixed ...$arguments As WordPress passes them. Plugins that run these hooks often pass fewer or others.
	 * @return mixed The first argument, for filters.
	 */
	public static function handle( ...$arguments ) {
		list( $class_name, $method ) = self::HOOKS[ current_filter() ];
		try {
			call_user_func_array( array( 'Security_Optimizer_Activity_' . $class_name, $method ), $arguments );
		} catch ( Throwable $error ) {
			// A failed record must not end the request.
			error_log( 'Security Optimizer did not record ' . current_filter() . ': ' . $error->getMessage() ); // phpcs:ignore WordPress.PHP.DevelopmentFunctions
		}
		return isset( $arguments[0] ) ? $arguments[0] : null;
	}

	/**
	 * @param string $what Key.
	 * @return bool Whether this is the first call with this key in this request.
	 */
	public static function is_first( $what ) {
		$first                   = ! isset( self::$recorded[ $what ] );
		self::$recorded[ $what ] = true;
		return $first;
	}

	/**
	 * @param string $type Name of a post type or taxonomy.
	 * @param object $kind Its object in WordPress.
	 * @return string Label: English for WordPress's own types, otherwise the plugin's label.
	 */
	public static function get_type_label( $type, $kind ) {
		return $kind->_builtin ? str_replace( array( 'wp_', 'post_', '_' ), array( '', '', ' ' ), $type ) : $kind->labels->singular_name;
	}
}
