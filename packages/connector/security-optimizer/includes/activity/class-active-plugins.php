<?php
/**
 * Activity Log: plugins that are activated by writing the list of active plugins, without `activated_plugin`.
 *
 * An event is written as soon as the list contains a new plugin, because PHP may die before the end of the request. It
 * is provisional: it is deleted when the same request takes the plugin off the list again.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Activity_Active_Plugins {

	/**
	 * Prefix of the names of rows for plugins that WordPress has deactivated for their update. Another request of the
	 * browser activates them again. A value is the time.
	 */
	const PREFIX = 'security_optimizer_update_';

	/** How long an update may take, seconds. */
	const UPDATE_MAX = 3600;

	/** @var string[] Uids of the events of this request, by list and main file of the plugin. */
	private static $events = array();

	/** @var true[] Plugins that this request has removed silently, by list and main file. */
	private static $removed = array();

	/** @var true[] Plugins that this request has deactivated by WordPress's function, by main file. */
	private static $deactivated = array();

	/**
	 * @param mixed $old   Value of the option `active_plugins` before the change.
	 * @param mixed $value Value after it.
	 */
	public static function change( $old, $value ) {
		self::compare( get_current_blog_id(), is_array( $old ) ? $old : array(), is_array( $value ) ? $value : array() );
	}

	/**
	 * @param mixed $old   Value of the network's option `active_sitewide_plugins` before the change.
	 * @param mixed $value Value after it.
	 */
	public static function change_network( $old, $value ) {
		self::compare( 'network', array_keys( is_array( $old ) ? $old : array() ), array_keys( is_array( $value ) ? $value : array() ) );
	}

	/**
	 * Action `deactivated_plugin`, which runs before the list is written.
	 *
	 * @param string $file Main file of a plugin.
	 */
	public static function expect_removal( $file ) {
		self::$deactivated[ $file ] = true;
	}

	/**
	 * Action `activated_plugin`, which runs after the list was written.
	 *
	 * @param string $file Main file of a plugin.
	 * @return bool Whether the event is recorded already.
	 */
	public static function has_recorded( $file ) {
		return isset( self::$events[ get_current_blog_id() . ' ' . $file ] ) || isset( self::$events[ 'network ' . $file ] );
	}

	private static function compare( $place, array $old, array $value ) {
		$old   = array_filter( $old, 'is_string' );
		$value = array_filter( $value, 'is_string' );
		foreach ( array_diff( $old, $value ) as $file ) {
			self::remove( $place . ' ' . $file, $file );
		}
		foreach ( array_unique( array_diff( $value, $old ) ) as $file ) {
			self::add( $place . ' ' . $file, $file );
		}
	}

	private static function remove( $key, $file ) {
		$is_silent = ! isset( self::$deactivated[ $file ] );
		if ( isset( self::$events[ $key ] ) ) {
			if ( $is_silent ) {
				// The plugin was not active before this request.
				Security_Optimizer_Outbox::delete( array( self::$events[ $key ] ) );
			}
			unset( self::$events[ $key ] );
		} elseif ( $is_silent ) {
			self::$removed[ $key ] = true;
			if ( doing_filter( 'upgrader_pre_install' ) ) {
				self::remember_update( $key );
			}
		}
	}

	private static function add( $key, $file ) {
		if ( isset( self::$removed[ $key ] ) ) {
			// The plugin was active before this request.
			unset( self::$removed[ $key ] );
		} elseif ( ! self::ends_update( $key ) && ! self::ran_before( $file ) ) {
			self::$events[ $key ] = Security_Optimizer_Activity_Software::record_new_in_list( $file );
		}
	}

	/**
	 * A drop-in may run a plugin that is not on the list, and put it there: the one for SQLite does so on the first page of
	 * wp-admin. Drop-ins run before WordPress's default filters, plugins after them.
	 *
	 * @param string $file Main file of a plugin.
	 * @return bool Whether files of the plugin were loaded by a drop-in.
	 */
	private static function ran_before( $file ) {
		$folder = dirname( $file );
		if ( '.' === $folder ) {
			return false;
		}
		$paths = array_filter( array( WP_PLUGIN_DIR . '/' . $folder, realpath( WP_PLUGIN_DIR . '/' . $folder ) ) );
		foreach ( get_included_files() as $included ) {
			if ( '/wp-includes/default-filters.php' === substr( $included, -32 ) ) {
				return false;
			}
			foreach ( $paths as $path ) {
				if ( 0 === strpos( $included, $path . '/' ) ) {
					return true;
				}
			}
		}
		return false;
	}

	private static function remember_update( $key ) {
		$now   = time();
		$name  = self::PREFIX . md5( $key );
		$value = Security_Optimizer_Option_Rows::time( $now );
		Security_Optimizer_Option_Rows::delete_older( self::PREFIX, $now - self::UPDATE_MAX );
		if ( ! Security_Optimizer_Option_Rows::insert( $name, $value ) ) {
			Security_Optimizer_Option_Rows::update( $name, $value );
		}
	}

	/**
	 * @param string $key List and main file of a plugin.
	 * @return bool Whether WordPress has deactivated the plugin for an update. True only once for each update.
	 */
	private static function ends_update( $key ) {
		$name = self::PREFIX . md5( $key );
		$now  = time();
		$at   = Security_Optimizer_Option_Rows::read( $name );
		if ( null === $at ) {
			return false;
		}
		Security_Optimizer_Option_Rows::delete_older( $name, $now + self::UPDATE_MAX );
		return abs( $now - (int) $at ) <= self::UPDATE_MAX;
	}
}
