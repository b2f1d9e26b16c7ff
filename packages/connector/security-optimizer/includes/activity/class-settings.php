<?php
/**
 * Activity Log: important settings of WordPress, widgets, appearance, exports and imports, sites of a network. The
 * methods take the arguments of the hooks listed in class-activity.php.
 *
 * Only options of the list are recorded, because options of plugins may hold passwords and keys.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Activity_Settings {

	/** Name of an option => its label on WordPress's screens. */
	const OPTIONS = array(
		'siteurl'                     => 'WordPress Address',
		'home'                        => 'Site Address',
		'blogname'                    => 'Site Title',
		'blogdescription'             => 'Tagline',
		'site_icon'                   => 'Site Icon',
		'admin_email'                 => 'Administration Email Address',
		'users_can_register'          => 'Anyone can register',
		'default_role'                => 'New User Default Role',
		'WPLANG'                      => 'Site Language',
		'timezone_string'             => 'Timezone',
		'gmt_offset'                  => 'Hours from UTC',
		'blog_public'                 => 'Visible to search engines',
		'permalink_structure'         => 'Permalink Settings',
		'category_base'               => 'Category base',
		'tag_base'                    => 'Tag base',
		'show_on_front'               => 'Your homepage displays',
		'page_on_front'               => 'Homepage',
		'page_for_posts'              => 'Posts page',
		'wp_page_for_privacy_policy'  => 'Privacy Policy page',
		'upload_path'                 => 'Store uploads in this folder',
		'upload_url_path'             => 'Full URL path to files',
		'default_comment_status'      => 'Allow people to submit comments on new posts',
		'default_ping_status'         => 'Allow link notifications from other blogs',
		'comment_registration'        => 'Users must be registered and logged in to comment',
		'comment_moderation'          => 'Comment must be manually approved',
		'comment_previously_approved' => 'Comment author must have a previously approved comment',
		'auto_update_core_major'      => 'Automatic updates to new versions of WordPress',
		'auto_update_core_minor'      => 'Automatic updates to fixes of WordPress',
		'auto_update_plugins'         => 'Automatic updates of plugins',
		'auto_update_themes'          => 'Automatic updates of themes',
		'registration'                => 'Allow new registrations',
		'site_name'                   => 'Network Title',
	);

	/** Labels of the values of an option on WordPress's screens; '' is the value of an unset option. */
	const VALUES = array(
		'WPLANG'              => array( '' => 'en_US' ),
		'permalink_structure' => array( '' => 'Plain' ),
		'show_on_front'       => array(
			'posts' => 'your latest posts',
			'page'  => 'a static page',
		),
		'registration'        => array(
			'none' => 'off',
			'user' => 'user accounts',
			'blog' => 'sites',
			'all'  => 'user accounts and sites',
		),
	);

	/** Options that are on or off. */
	const SWITCHES = array( 'users_can_register', 'blog_public', 'comment_registration', 'comment_moderation', 'comment_previously_approved' );

	public static function change( $name, $old, $value ) {
		global $wpdb;
		if ( doing_action( 'wp_initialize_site' ) ) {
			// Creating a site of a network is one event.
			return;
		}
		if ( isset( self::OPTIONS[ $name ] ) ) {
			self::record( $name, $old, $value );
		} elseif ( 'active_plugins' === $name ) {
			Security_Optimizer_Activity_Active_Plugins::change( $old, $value );
		} elseif ( $wpdb->get_blog_prefix() . 'user_roles' === $name ) {
			if ( Security_Optimizer_Activity::is_first( $name ) ) {
				// Plugins write this option again for each capability.
				Security_Optimizer_Outbox::add( 'option.changed', array( 'option', $name, 'Capabilities of roles' ) );
			}
			Security_Optimizer_Activity_Roles::change( $old, $value );
		} elseif ( 'sidebars_widgets' === $name || 0 === strpos( $name, 'widget_' ) ) {
			self::change_widgets();
		}
	}

	public static function add( $name, $value ) {
		if ( isset( self::OPTIONS[ $name ] ) && ! empty( $value ) ) {
			self::record( $name, '', $value );
		} elseif ( 'active_plugins' === $name && ! doing_action( 'wp_initialize_site' ) ) {
			// Somebody has deleted the list before.
			Security_Optimizer_Activity_Active_Plugins::change( array(), $value );
		}
	}

	public static function change_network( $name, $value, $old ) {
		// Without a network the hooks of options run as well.
		if ( is_multisite() && isset( self::OPTIONS[ $name ] ) ) {
			self::record( $name, $old, $value );
		} elseif ( 'active_sitewide_plugins' === $name && is_multisite() ) {
			Security_Optimizer_Activity_Active_Plugins::change_network( $old, $value );
		}
	}

	public static function customize( $manager ) {
		Security_Optimizer_Outbox::add( 'theme.customized', array( 'theme', $manager->get_stylesheet(), $manager->theme()->display( 'Name', false ) ) );
	}

	public static function export( $args ) {
		$content = isset( $args['content'] ) && 'all' !== $args['content'] ? $args['content'] : 'everything';
		Security_Optimizer_Outbox::add( 'export.downloaded', array( 'export', '', $content ) );
	}

	public static function import( $importer = '' ) {
		// Importers run one of two hooks or both.
		if ( Security_Optimizer_Activity::is_first( 'import' ) ) {
			Security_Optimizer_Outbox::add( 'import.run', array( 'import', '', $importer ) );
		}
	}

	public static function create_site( $site ) {
		Security_Optimizer_Outbox::add( 'site.created', array( 'site', $site->blog_id, $site->domain . $site->path ) );
	}

	public static function delete_site( $site ) {
		Security_Optimizer_Outbox::add( 'site.deleted', array( 'site', $site->blog_id, $site->domain . $site->path ) );
	}

	/**
	 * One save writes several options. WordPress itself moves widgets after a change of the theme.
	 */
	private static function change_widgets() {
		$is_by_user = get_current_user_id() > 0 || 'cli' === Security_Optimizer_Outbox::origin();
		if ( $is_by_user && ! doing_action( 'after_switch_theme' ) && Security_Optimizer_Activity::is_first( 'widgets' ) ) {
			Security_Optimizer_Outbox::add( 'widgets.changed', array( 'widgets', '', '' ) );
		}
	}

	private static function record( $name, $old, $value ) {
		$plain = is_scalar( $old ) && is_scalar( $value );
		if ( $plain && self::to_text( $name, $old ) === self::to_text( $name, $value ) ) {
			return;
		}
		Security_Optimizer_Outbox::add(
			'option.changed',
			array( 'option', $name, self::OPTIONS[ $name ] ),
			$plain ? self::to_text( $name, $old ) : null,
			$plain ? self::to_text( $name, $value ) : null
		);
	}

	private static function to_text( $name, $value ) {
		if ( isset( self::VALUES[ $name ][ (string) $value ] ) ) {
			return self::VALUES[ $name ][ (string) $value ];
		}
		if ( in_array( $name, self::SWITCHES, true ) ) {
			return $value ? 'on' : 'off';
		}
		if ( in_array( $name, array( 'page_on_front', 'page_for_posts', 'wp_page_for_privacy_policy', 'site_icon' ), true ) ) {
			return $value ? (string) get_post_field( 'post_title', (int) $value, 'raw' ) : '';
		}
		if ( 'default_role' === $name && isset( wp_roles()->role_names[ $value ] ) ) {
			return wp_roles()->role_names[ $value ];
		}
		return (string) $value;
	}
}
