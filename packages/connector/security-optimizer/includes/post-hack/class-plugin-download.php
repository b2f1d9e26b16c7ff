<?php
/**
 * Downloads a clean copy of a plugin from the public directory and verifies it.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Plugin_Download {

	/** Name of the download in the temporary folder. */
	const ZIP = '/copy.zip';

	/** @var string Version in the plugin's header. */
	public $version;

	/** @var string File for which fetch() refused the package; starts with `../` if it is above the plugin's folder. */
	public $refused_file = '';

	/** @var string Main file of the plugin: `folder/main.php`, or `main.php`. */
	private $file;

	/** @var array Headers of the plugin. */
	private $data;

	/** @var array URLs of the directory. */
	private $directory;

	/** @var string Name in the directory. */
	private $slug;

	/** @var string Temporary folder for the download. */
	private $temporary;

	/**
	 * @param string $file      Main file of the plugin, as WordPress names it.
	 * @param array  $data      Its headers.
	 * @param array  $directory `api`, `downloads` and `checksums`.
	 */
	public function __construct( $file, array $data, array $directory ) {
		$this->file      = $file;
		$this->data      = $data;
		$this->version   = (string) $data['Version'];
		$this->directory = $directory;
		$this->slug      = $this->is_single() ? self::to_slug( $file, $data ) : dirname( $file );
		$this->temporary = WP_CONTENT_DIR . '/upgrade/security-optimizer-' . bin2hex( random_bytes( 8 ) );
	}

	/**
	 * @return string Folder or single file of the installed plugin.
	 */
	public function get_installed_path() {
		return WP_PLUGIN_DIR . '/' . ( $this->is_single() ? $this->file : dirname( $this->file ) );
	}

	/**
	 * @return string Folder or single file of the clean copy.
	 */
	public function get_copy_path() {
		return $this->temporary . '/' . $this->slug . ( $this->is_single() ? '/' . $this->file : '' );
	}

	/**
	 * @return string Code of the reason why the directory can't have this plugin, as far as known without a request; ''
	 *                without one.
	 */
	public function find_obstacle() {
		$update = isset( $this->data['UpdateURI'] ) ? (string) $this->data['UpdateURI'] : '';
		if ( '' !== $update && ! preg_match( '#\A(?:https?://)?(?:w\.org|(?:www\.)?wordpress\.org)(?:/|\z)#i', $update ) ) {
			return 'own_updates';
		}
		if ( ! preg_match( '/\A[a-z0-9][a-z0-9._-]*\z/i', $this->slug ) ) {
			return 'not_free';
		}
		if ( ! preg_match( '/\A[a-z0-9][a-z0-9._+ -]*\z/i', $this->version ) ) {
			return 'no_version';
		}
		if ( is_link( WP_CONTENT_DIR . '/upgrade' ) ) {
			return 'upgrade_linked';
		}
		return is_link( $this->get_installed_path() ) ? 'linked' : '';
	}

	/**
	 * Downloads the copy, verifies every file, and checks that it is the same plugin.
	 *
	 * @return string Code of the error, or ''.
	 */
	public function fetch() {
		$known = $this->request(
			$this->directory['api'] . '/plugins/info/1.2/?' . build_query(
				array(
					'action'                    => 'plugin_information',
					'request[slug]'             => rawurlencode( $this->slug ),
					'request[fields][versions]' => '1',
				)
			)
		);
		if ( ! is_array( $known ) ) {
			return 404 === $known ? 'not_free' : 'directory_unreachable';
		}
		if ( ! isset( $known['slug'] ) || $this->slug !== $known['slug'] ) {
			return 'not_free';
		}
		$versions = isset( $known['versions'] ) ? (array) $known['versions'] : array();
		if ( ! isset( $versions[ $this->version ] ) && ( ! isset( $known['version'] ) || $this->version !== $known['version'] ) ) {
			return 'version_gone';
		}
		$sums = $this->fetch_checksums();
		if ( ! is_array( $sums ) ) {
			return $sums;
		}
		$name = rawurlencode( $this->slug );
		if ( ! wp_mkdir_p( $this->temporary ) ) {
			return 'not_writable';
		}
		$zip      = $this->temporary . self::ZIP;
		$response = wp_remote_get(
			$this->directory['downloads'] . '/plugin/' . $name . '.' . rawurlencode( $this->version ) . '.zip',
			array(
				'timeout'  => 120,
				'stream'   => true,
				'filename' => $zip,
			)
		);
		if ( is_wp_error( $response ) || 200 !== wp_remote_retrieve_response_code( $response ) ) {
			return 'download_failed';
		}
		if ( ! WP_Filesystem() || ! $GLOBALS['wp_filesystem'] instanceof WP_Filesystem_Direct ) {
			return 'not_writable';
		}
		$unpacked = unzip_file( $zip, $this->temporary );
		if ( is_wp_error( $unpacked ) ) {
			return 'disk_full_unzip_file' === $unpacked->get_error_code() ? 'disk_full' : 'download_failed';
		}
		$reason = $this->verify( $sums );
		if ( '' !== $reason ) {
			return $reason;
		}
		return $this->is_same_plugin() ? '' : 'another_plugin';
	}

	/**
	 * @return array|string The directory's checksums by file; or the code of the error.
	 */
	public function fetch_checksums() {
		$sums = $this->request( $this->directory['checksums'] . '/plugin-checksums/' . rawurlencode( $this->slug ) . '/' . rawurlencode( $this->version ) . '.json' );
		if ( ! is_array( $sums ) && 404 !== $sums ) {
			return 'directory_unreachable';
		}
		return empty( $sums['files'] ) || ! is_array( $sums['files'] ) ? 'no_checksums' : $sums['files'];
	}

	/**
	 * The directory computes its checksums from its own copies. Readme files may differ between them.
	 *
	 * @param string $path  A file.
	 * @param string $name  Its name in the plugin.
	 * @param mixed  $known Its checksums from the directory.
	 * @return bool Whether the file has one of them.
	 */
	public static function has_sum( $path, $name, $known ) {
		$known    = (array) $known;
		$kind     = ! empty( $known['sha256'] ) ? 'sha256' : 'md5';
		$expected = isset( $known[ $kind ] ) ? (array) $known[ $kind ] : array();
		$expected = array_map( 'strtolower', array_filter( $expected, 'is_string' ) );
		return in_array( hash_file( $kind, $path ), $expected, true ) || self::is_readme( $name );
	}

	/**
	 * Removes the temporary folder.
	 */
	public function remove() {
		Security_Optimizer_Files::delete( $this->temporary );
	}

	private function is_single() {
		return false === strpos( $this->file, '/' );
	}

	/**
	 * WordPress gets the slug of a single-file plugin when it checks for updates. Before that, the slug is derived from
	 * the plugin's name as the directory does it; the download is compared with the installed plugin.
	 */
	private static function to_slug( $file, array $data ) {
		$updates = get_site_transient( 'update_plugins' );
		foreach ( array( 'response', 'no_update' ) as $list ) {
			if ( isset( $updates->{$list}[ $file ]->slug ) ) {
				return (string) $updates->{$list}[ $file ]->slug;
			}
		}
		return sanitize_title( wp_strip_all_tags( (string) $data['Name'] ) );
	}

	/**
	 * @return array|int|null Decoded response; the status of any other response; null without one.
	 */
	private function request( $url ) {
		$response = wp_remote_get( $url, array( 'timeout' => 30 ) );
		if ( is_wp_error( $response ) ) {
			return null;
		}
		$status = wp_remote_retrieve_response_code( $response );
		$data   = json_decode( wp_remote_retrieve_body( $response ), true );
		return 200 === $status && is_array( $data ) ? $data : $status;
	}

	/**
	 * Checks that every unpacked file is on the list and has one of its checksums. The list may also have files that
	 * the package does not have.
	 *
	 * @param array $sums The directory's checksums by file.
	 * @return string Code of the error, or ''.
	 */
	private function verify( array $sums ) {
		$folder = $this->temporary . '/' . $this->slug;
		foreach ( array_diff( scandir( $this->temporary ), array( '.', '..', basename( self::ZIP ), $this->slug ) ) as $name ) {
			$this->refused_file = '../' . $name;
			return 'not_on_list';
		}
		$names = is_dir( $folder ) ? Security_Optimizer_Files::list_below( $folder ) : array();
		foreach ( $names as $name ) {
			$name = ltrim( $name, '/' );
			$path = $folder . '/' . $name;
			if ( is_link( $path ) || ! self::has_sum( $path, $name, isset( $sums[ $name ] ) ? $sums[ $name ] : array() ) ) {
				$this->refused_file = $name;
				return isset( $sums[ $name ] ) ? 'checksum_differs' : 'not_on_list';
			}
		}
		return array() === $names ? 'download_failed' : '';
	}

	private static function is_readme( $name ) {
		return in_array( strtolower( $name ), array( 'readme.txt', 'readme.md' ), true );
	}

	/**
	 * A private plugin may have the slug of one in the directory. Requires the same main file, and the same name,
	 * author or plugin URI.
	 */
	private function is_same_plugin() {
		$main = $this->temporary . '/' . $this->slug . '/' . basename( $this->file );
		if ( ! is_file( $main ) ) {
			return false;
		}
		$clean = get_plugin_data( $main, false, false );
		foreach ( array( 'Name', 'Author', 'PluginURI' ) as $header ) {
			$ours = strtolower( trim( wp_strip_all_tags( (string) $this->data[ $header ] ) ) );
			if ( '' !== $ours && strtolower( trim( wp_strip_all_tags( (string) $clean[ $header ] ) ) ) === $ours ) {
				return true;
			}
		}
		return false;
	}
}
