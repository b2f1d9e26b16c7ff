<?php
/**
 * The pages in wp-admin: a menu, and a container in which the dashboard starts.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Admin_Page {

	/** A shield with a tick, as filled shapes: WordPress only colours the fill of menu icons. */
	const ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20" width="20" height="20"><path fill="black" fill-rule="evenodd" d="M10 1.74 3.2 4.35V9.4c0 4.15 2.75 7.35 6.8 8.85 4.05-1.5 6.8-4.7 6.8-8.85V4.35zM10 3.46l5.2 1.99V9.4c0 3.4-2.15 5.9-5.2 7.14C6.95 15.3 4.8 12.8 4.8 9.4V5.45zM6.83 10.47l2.5 2.48 4.05-4.3-1.16-1.1-2.92 3.1-1.34-1.31z"/></svg>';

	/** @var string[] Hook suffixes of the pages. */
	private static $hooks = array();

	/**
	 * The pages in the order of the menu: slug to identifier, name in the menu and title. The texts are those of
	 * packages/contract/src/pages.ts.
	 *
	 * @return array[]
	 */
	private static function pages() {
		return array(
			'security-optimizer' => array(
				'id'    => 'SECURITY_DASHBOARD',
				'menu'  => __( 'Dashboard', 'security-optimizer' ),
				'title' => __( 'Security Optimizer', 'security-optimizer' ),
			),
			'login-settings'     => array(
				'id'    => 'LOGIN_SETTINGS',
				'menu'  => __( 'Login Security', 'security-optimizer' ),
				'title' => __( 'Security Optimizer - Login Security', 'security-optimizer' ),
			),
			'site-security'      => array(
				'id'    => 'SITE_SECURITY',
				'menu'  => __( 'Site Security', 'security-optimizer' ),
				'title' => __( 'Security Optimizer - Site Security', 'security-optimizer' ),
			),
			'activity-log'       => array(
				'id'    => 'ACTIVITY_LOG',
				'menu'  => __( 'Activity Log', 'security-optimizer' ),
				'title' => __( 'Security Optimizer - Activity Log', 'security-optimizer' ),
			),
			'post-hack-actions'  => array(
				'id'    => 'POST_HACK_ACTIONS',
				'menu'  => __( 'Post-hack Actions', 'security-optimizer' ),
				'title' => __( 'Security Optimizer - Post-hack Actions', 'security-optimizer' ),
			),
		);
	}

	/**
	 * Action `init`. Not load_muplugin_textdomain(): it does not fall back to another locale of the language, such as
	 * de_DE for de_AT.
	 */
	public static function load_translations() {
		$locale = self::known_locale( determine_locale() );
		if ( null !== $locale ) {
			load_textdomain( 'security-optimizer', SECURITY_OPTIMIZER_DIR . '/languages/security-optimizer-' . $locale . '.mo' );
		}
	}

	/**
	 * @param string $locale Requested locale.
	 * @return string|null Locale of the translation; null means English.
	 */
	public static function known_locale( $locale ) {
		foreach ( array( 'de_DE', 'es_ES', 'it_IT' ) as $known ) {
			if ( strtok( $known, '_' ) === strtok( $locale, '_' ) ) {
				return $known;
			}
		}
		return null;
	}

	/**
	 * Action `admin_menu`: the menu item itself opens the first page.
	 */
	public static function add_menu() {
		// Settings apply to every site of a network, so only the main site has the pages.
		if ( ! is_main_site() ) {
			return;
		}
		$pages  = self::pages();
		$first  = key( $pages );
		$render = array( __CLASS__, 'render' );
		$icon   = 'data:image/svg+xml;base64,' . base64_encode( self::ICON );

		$needed = Security_Optimizer_Session_User::capability();

		self::$hooks[] = add_menu_page( $pages[ $first ]['title'], 'Security Optimizer', $needed, $first, $render, $icon );
		foreach ( $pages as $slug => $page ) {
			self::$hooks[] = add_submenu_page( $first, $page['title'], $page['menu'], $needed, $slug, $render );
		}
	}

	/**
	 * Action `admin_enqueue_scripts`: the dashboard's styles and loader. File names contain a hash of the content.
	 *
	 * @param string $hook Hook of the screen.
	 */
	public static function enqueue( $hook ) {
		$files = self::entrypoints();
		if ( null === $files || ! in_array( $hook, self::$hooks, true ) ) {
			return;
		}
		$style = is_rtl() ? $files['style_rtl'] : $files['style'];
		wp_enqueue_style( 'security-optimizer', self::assets_url() . $style, array(), null ); // phpcs:ignore WordPress.WP.EnqueuedResourceParameters.MissingVersion
		add_action( 'admin_print_styles-' . $hook, array( __CLASS__, 'print_loader' ) );
	}

	/**
	 * Action `admin_print_styles-…`, the first in the head, because styles and scripts of WordPress would delay the
	 * loader. The preload links before it name the modules that this page needs; old browsers ignore them.
	 */
	public static function print_loader() {
		$files = self::entrypoints();
		$pages = self::pages();
		$id    = $pages[ self::slug() ]['id'];
		$own   = isset( $files['pages'][ $id ] ) ? (array) $files['pages'][ $id ] : array();
		foreach ( array_merge( array( isset( $files['modern'] ) ? $files['modern'] : '' ), $own ) as $file ) {
			if ( self::is_file_name( $file ) ) {
				printf( '<link rel="modulepreload" href="%s">' . "\n", esc_url( self::assets_url() . $file ) );
			}
		}
		// Inline, which saves a request. Content security policies add their nonce by the filter
		// `wp_inline_script_attributes`.
		wp_print_inline_script_tag(
			(string) file_get_contents( SECURITY_OPTIMIZER_DIR . '/assets/' . $files['loader'] ),
			array(
				'id'          => 'security-optimizer-loader',
				'data-page'   => $id,
				// Escaped here, because attributes of scripts keep what looks like an entity.
				'data-config' => wp_json_encode( self::loader_config(), JSON_HEX_AMP | JSON_HEX_QUOT | JSON_HEX_TAG | JSON_HEX_APOS ),
			)
		);
	}

	/**
	 * Prints a page.
	 */
	public static function render() {
		$pages = self::pages();
		$slug  = self::slug();
		$page  = $pages[ $slug ];
		$files = self::entrypoints();

		echo '<hr class="wp-header-end">';
		if ( null === $files ) {
			self::print_notice( __( 'The files of this page are missing. Install Security Optimizer again to bring them back.', 'security-optimizer' ) );
			return;
		}
		printf(
			'<div class="so so-app" id="security-optimizer-app" data-page="%1$s" data-config="%2$s"><noscript>%3$s</noscript></div>',
			esc_attr( $page['id'] ),
			// Not esc_attr(): it does not escape what already looks like an entity.
			htmlspecialchars( wp_json_encode( self::config( $slug ) ), ENT_QUOTES, 'UTF-8', true ), // phpcs:ignore WordPress.Security.EscapeOutput.OutputNotEscaped
			esc_html__( 'This page needs JavaScript. Turn it on in your browser and load the page again.', 'security-optimizer' )
		);
	}

	/**
	 * Action `admin_notices`.
	 */
	public static function print_secret_notice() {
		if ( current_user_can( Security_Optimizer_Session_User::capability() ) ) {
			self::print_notice( __( 'Security Optimizer is installed but not connected, so it does not protect this site. Its key is missing or damaged. Ask your hosting provider to connect the site again.', 'security-optimizer' ) );
		}
	}

	/**
	 * @return string Slug of the current page.
	 */
	private static function slug() {
		$pages = self::pages();
		return isset( $_GET['page'] ) && is_string( $_GET['page'] ) && isset( $pages[ $_GET['page'] ] ) ? $_GET['page'] : key( $pages );
	}

	/**
	 * @param string $slug Slug of the current page.
	 * @return array Configuration of the dashboard (specification section 3, Configuration, and additions).
	 */
	private static function config( $slug ) {
		$pages = array();
		foreach ( self::pages() as $name => $page ) {
			$pages[] = array(
				'id'   => $page['id'],
				'slug' => $name,
				'url'  => admin_url( 'admin.php?page=' . $name ),
			);
		}
		$locale = get_user_locale();
		$extras = array();
		if ( in_array( $slug, array( 'post-hack-actions', 'activity-log' ), true ) ) {
			// The recipient of the user's own password link and of reports. Only this user sees it.
			$extras['user_email'] = wp_get_current_user()->user_email;
		}
		return self::loader_config() + $extras + array(
			'home_url'           => home_url( '/' ),
			'log_page_url'       => admin_url( 'admin.php?page=activity-log' ),
			'locale'             => self::locale_messages( $locale ),
			'localeSlug'         => implode( '-', array_slice( explode( '_', $locale ), 0, 2 ) ),
			'data_consent_popup' => array(
				'show_data_field'  => (int) Security_Optimizer_Policy::is_on( 'show_data_consent' ),
				'show_email_field' => (int) Security_Optimizer_Policy::is_on( 'show_email_consent' ),
			),
			'pages'              => $pages,
			'nonce_url'          => admin_url( 'admin-ajax.php?action=rest-nonce' ),
			'login_url'          => wp_login_url( admin_url( 'admin.php?page=' . $slug ) ),
		);
	}

	/**
	 * @return string[] The part of the configuration that the loader needs for the files and the first requests.
	 */
	private static function loader_config() {
		return array(
			'rest_base'   => rest_url(),
			'assets_path' => self::assets_url(),
			'wp_nonce'    => wp_create_nonce( 'wp_rest' ),
		);
	}

	/**
	 * @param string $locale Locale of the user.
	 * @return string Flat Jed messages as JSON: the header under the empty key, and the forms of each text. English is
	 *                the header alone.
	 */
	private static function locale_messages( $locale ) {
		$known    = self::known_locale( $locale );
		$file     = SECURITY_OPTIMIZER_DIR . '/languages/security-optimizer-' . $known . '.json';
		$data     = null !== $known && is_readable( $file ) ? (string) file_get_contents( $file ) : '';
		$messages = json_decode( $data, true );
		return isset( $messages['']['plural_forms'] ) ? trim( $data ) : '{"":{"lang":"en","plural_forms":"nplurals=2; plural=(n != 1);"}}';
	}

	/**
	 * @return array|null `style`, `style_rtl` and `loader`: names of files; null when the dashboard is missing.
	 */
	private static function entrypoints() {
		$file  = SECURITY_OPTIMIZER_DIR . '/assets/entrypoints.json';
		$files = is_readable( $file ) ? json_decode( (string) file_get_contents( $file ), true ) : null;
		foreach ( array( 'style', 'style_rtl', 'loader' ) as $name ) {
			if ( ! isset( $files[ $name ] ) || ! self::is_file_name( $files[ $name ] ) ) {
				return null;
			}
		}
		return $files;
	}

	private static function is_file_name( $name ) {
		return is_string( $name ) && 1 === preg_match( '/\A[\w.-]+\z/', $name );
	}

	/**
	 * @return string URL of the dashboard's files, with a trailing slash.
	 */
	private static function assets_url() {
		// PHP resolves symbolic links in __FILE__. WordPress compares that path with its own folders, which may contain
		// a link to the current release.
		$is_usual = realpath( WPMU_PLUGIN_DIR ) === dirname( SECURITY_OPTIMIZER_FILE );
		$loader   = $is_usual ? WPMU_PLUGIN_DIR . '/' . basename( SECURITY_OPTIMIZER_FILE ) : SECURITY_OPTIMIZER_FILE;
		return plugins_url( 'security-optimizer/assets/', $loader );
	}

	private static function print_notice( $text ) {
		echo '<div class="notice notice-error"><p>', esc_html( $text ), '</p></div>';
	}
}
