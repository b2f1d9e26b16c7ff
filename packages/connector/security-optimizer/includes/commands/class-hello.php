<?php
/**
 * Command `hello`: what guard needs to know about this WordPress.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Hello {

	/**
	 * @return array The response described in docs/developer/connector-protocol.md.
	 */
	public static function run() {
		Security_Optimizer_Policy::ensure_autoload();
		$names = Security_Optimizer_Site_Names::all();
		return $names + array(
			'connector'      => SECURITY_OPTIMIZER_VERSION,
			'wordpress'      => get_bloginfo( 'version' ),
			'php'            => PHP_VERSION,
			'multisite'      => is_multisite(),
			'names'          => Security_Optimizer_Site_Names::hash( $names ),
			'timezone'       => wp_timezone_string(),
			'clock'          => self::clock(),
			'locale'         => get_locale(),
			'signed_xml_rpc' => Security_Optimizer_Signed_Xml_Rpc::plugins(),
			'policy'         => Security_Optimizer_Policy::hash(),
			'address_seen'   => Security_Optimizer_Request_Gate::is_address_seen(),
			'folders'        => array(
				'wordpress' => self::folder( ABSPATH ),
				'connector' => self::folder( dirname( SECURITY_OPTIMIZER_FILE ) ),
			),
		);
	}

	/**
	 * @return int[] The current time (Unix seconds) and the site's offset from UTC (seconds). Guard's time zone
	 *               database may be older than PHP's.
	 */
	private static function clock() {
		$now = time();
		return array(
			'time'   => $now,
			'offset' => wp_timezone()->getOffset( new DateTimeImmutable( '@' . $now ) ),
		);
	}

	/**
	 * @param string $folder Path of a folder.
	 * @return string Its path without symbolic links.
	 */
	private static function folder( $folder ) {
		$real = realpath( $folder );
		return untrailingslashit( wp_normalize_path( false === $real ? $folder : $real ) );
	}
}
