<?php
/**
 * Command `hello`: what guard needs to know about this WordPress.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Hello {

	/**
	 * @return array The answer described in docs/connector-protocol.md.
	 */
	public static function run() {
		Security_Optimizer_Policy::keep_loaded();
		return array(
			'connector'      => SECURITY_OPTIMIZER_VERSION,
			'wordpress'      => get_bloginfo( 'version' ),
			'php'            => PHP_VERSION,
			'multisite'      => is_multisite(),
			'home'           => home_url(),
			'site_url'       => site_url(),
			'paths'          => array(
				'admin'    => self::path( admin_url() ),
				'includes' => self::path( includes_url() ),
				'content'  => self::path( content_url() ),
				'uploads'  => self::uploads_path(),
				'rest'     => self::path( home_url( rest_get_url_prefix() ) ),
			),
			'timezone'       => wp_timezone_string(),
			'locale'         => get_locale(),
			'signed_xml_rpc' => Security_Optimizer_Signed_Xml_Rpc::plugins(),
			'policy'         => Security_Optimizer_Policy::hash(),
			'folders'        => array(
				'wordpress' => self::folder( ABSPATH ),
				'connector' => self::folder( dirname( SECURITY_OPTIMIZER_FILE ) ),
			),
		);
	}

	/**
	 * @param string $url A URL of this site.
	 * @return string Its path, no slash at the end.
	 */
	private static function path( $url ) {
		return untrailingslashit( (string) wp_parse_url( $url, PHP_URL_PATH ) );
	}

	/**
	 * @param string $folder A folder of this machine.
	 * @return string Its path without links.
	 */
	private static function folder( $folder ) {
		$real = realpath( $folder );
		return untrailingslashit( wp_normalize_path( false === $real ? $folder : $real ) );
	}

	/**
	 * @return string Path under which this host serves uploads, also where links to them name another host.
	 */
	private static function uploads_path() {
		$uploads = wp_upload_dir( null, false );
		$content = wp_normalize_path( WP_CONTENT_DIR ) . '/';
		$folder  = wp_normalize_path( $uploads['basedir'] );
		if ( 0 === strpos( $folder, $content ) ) {
			return self::path( content_url( substr( $folder, strlen( $content ) ) ) );
		}
		return self::path( $uploads['baseurl'] );
	}
}
