<?php
/**
 * Activity Log: plugins, themes, WordPress itself, and their files. The methods take the arguments of the hooks listed
 * in class-activity.php.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Activity_Software {

	/**
	 * @var array[] Versions before the first change of this request: `plugin` and `theme` => file or folder => version.
	 */
	private static $versions = array();

	/** @var array[] Names and versions of plugins and themes that are about to be deleted. */
	private static $pending_deletions = array();

	public static function activate_plugin( $file ) {
		if ( ! Security_Optimizer_Activity_Active_Plugins::has_recorded( $file ) ) {
			self::record( 'activated', 'plugin', $file );
		}
	}

	/**
	 * @param string $file Main file of a plugin that is new in the list of active plugins.
	 * @return string Uid of the event, which this request may still delete.
	 */
	public static function record_new_in_list( $file ) {
		$now = self::read( 'plugin', $file );
		return Security_Optimizer_Outbox::add_provisional( 'plugin.activated', array( 'plugin', $file, $now ? $now['name'] : $file ) );
	}

	public static function deactivate_plugin( $file ) {
		Security_Optimizer_Activity_Active_Plugins::expect_removal( $file );
		self::record( 'deactivated', 'plugin', $file );
	}

	public static function remember_plugin( $file ) {
		self::$pending_deletions[ 'plugin ' . $file ] = self::read( 'plugin', $file );
	}

	public static function delete_plugin( $file, $deleted ) {
		self::record_deleted( 'plugin', $file, $deleted );
	}

	public static function switch_theme( $name, $new_theme, $old_theme = null ) {
		Security_Optimizer_Outbox::add( 'theme.switched', array( 'theme', $new_theme->get_stylesheet(), $name ), $old_theme ? $old_theme->display( 'Name', false ) : null, $name );
	}

	public static function remember_theme( $folder ) {
		self::$pending_deletions[ 'theme ' . $folder ] = self::read( 'theme', $folder );
	}

	public static function delete_theme( $folder, $deleted ) {
		self::record_deleted( 'theme', $folder, $deleted );
	}

	/**
	 * Runs before the first package of this request is installed.
	 */
	public static function remember_versions() {
		if ( array() !== self::$versions ) {
			return;
		}
		self::$versions = array(
			'plugin' => wp_list_pluck( get_plugins(), 'Version' ),
			'theme'  => array(),
		);
		foreach ( array_keys( wp_get_themes( array( 'errors' => null ) ) ) as $folder ) {
			$theme = self::read( 'theme', $folder );

			self::$versions['theme'][ $folder ] = $theme ? $theme['version'] : '';
		}
	}

	/**
	 * WordPress also runs this hook after failures, so the installed version is read.
	 */
	public static function install( $upgrader, $extra ) {
		$type = isset( $extra['type'] ) ? $extra['type'] : '';
		if ( ! isset( self::$versions[ $type ] ) ) {
			return;
		}
		$new = isset( $extra['action'] ) && 'install' === $extra['action'];
		if ( $new ) {
			$info = 'plugin' === $type ? $upgrader->plugin_info() : $upgrader->theme_info();
			$ids  = array( $info instanceof WP_Theme ? $info->get_stylesheet() : $info );
		} else {
			$ids = isset( $extra[ $type . 's' ] ) ? $extra[ $type . 's' ] : array( isset( $extra[ $type ] ) ? $extra[ $type ] : '' );
		}
		foreach ( array_filter( $ids ) as $id ) {
			$now = self::read( $type, $id );
			if ( ! $now || ( $new && ! is_array( $upgrader->result ) ) ) {
				continue;
			}
			$before = isset( self::$versions[ $type ][ $id ] ) ? self::$versions[ $type ][ $id ] : null;
			$object = array( $type, $id, $now['name'] );
			if ( null !== $before && $before !== $now['version'] ) {
				Security_Optimizer_Outbox::add( $type . '.updated', $object, $before, $now['version'] );
			} elseif ( $new ) {
				Security_Optimizer_Outbox::add( $type . '.installed', $object, null, $now['version'] );
			}
			self::$versions[ $type ][ $id ] = $now['version'];
		}
	}

	public static function update_core( $version ) {
		Security_Optimizer_Outbox::add( 'core.updated', array( 'core', '', 'WordPress' ), $GLOBALS['wp_version'], $version );
	}

	/**
	 * The file editors run no hook after a change, so the file is compared at the end of the request.
	 */
	public static function watch_file() {
		$theme = isset( $_POST['theme'] ) && is_string( $_POST['theme'] ) ? sanitize_file_name( $_POST['theme'] ) : '';
		$name  = isset( $_POST['file'] ) && is_string( $_POST['file'] ) ? wp_unslash( $_POST['file'] ) : '';
		$path  = ( '' === $theme ? WP_PLUGIN_DIR : get_theme_root( $theme ) . '/' . $theme ) . '/' . $name;
		if ( '' === $name || 0 !== validate_file( $name ) || ! is_file( $path ) || ! current_user_can( '' === $theme ? 'edit_plugins' : 'edit_themes' ) ) {
			return;
		}
		$before = md5_file( $path );
		add_action(
			'shutdown',
			static function () use ( $path, $before, $theme, $name ) {
				clearstatcache( true, $path );
				if ( is_file( $path ) && md5_file( $path ) !== $before ) {
					Security_Optimizer_Outbox::add( 'file.edited', array( 'file', '', '' === $theme ? $name : $theme . '/' . $name ) );
				}
			},
			PHP_INT_MIN
		);
	}

	private static function record( $what, $type, $id ) {
		if ( '' === (string) $id ) {
			return;
		}
		$now = self::read( $type, $id );
		Security_Optimizer_Outbox::add( $type . '.' . $what, array( $type, $id, $now ? $now['name'] : $id ) );
	}

	private static function record_deleted( $type, $id, $deleted ) {
		if ( $deleted ) {
			$was = isset( self::$pending_deletions[ $type . ' ' . $id ] ) ? self::$pending_deletions[ $type . ' ' . $id ] : null;
			Security_Optimizer_Outbox::add( $type . '.deleted', array( $type, $id, $was ? $was['name'] : $id ), $was ? $was['version'] : null );
		}
	}

	/**
	 * Reads the file itself, because WordPress's cache may be older.
	 *
	 * @param string $type `plugin` or `theme`.
	 * @param string $id   Main file of a plugin, folder of a theme.
	 * @return array|null `name` and `version`; null when it does not exist.
	 */
	private static function read( $type, $id ) {
		$file = 'plugin' === $type ? WP_PLUGIN_DIR . '/' . $id : get_theme_root( $id ) . '/' . $id . '/style.css';
		if ( ! is_file( $file ) ) {
			return null;
		}
		$data = get_file_data(
			$file,
			array(
				'name'    => ucfirst( $type ) . ' Name',
				'version' => 'Version',
			)
		);
		return array(
			'name'    => '' === $data['name'] ? $id : $data['name'],
			'version' => $data['version'],
		);
	}
}
