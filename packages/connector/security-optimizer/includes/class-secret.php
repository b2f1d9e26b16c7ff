<?php
/**
 * The secret that guard and this site share.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Secret {

	/**
	 * Reads secret.php.
	 *
	 * @return array|null `secret` (64 hexadecimal digits) and `require_guard` (boolean); null when the file is missing
	 *                    or not as it should be.
	 */
	public static function read() {
		// Beside the loader, also where the classes are shared with other sites.
		$file = dirname( SECURITY_OPTIMIZER_FILE ) . '/security-optimizer/secret.php';
		if ( ! is_readable( $file ) ) {
			return null;
		}

		// The file may be cut short or hold anything: neither an error nor output of it may reach a visitor.
		ob_start();
		try {
			$settings = include $file;
		} catch ( Throwable $error ) {
			$settings = null;
		}
		ob_end_clean();

		if ( ! is_array( $settings )
			|| ! isset( $settings['secret'] )
			|| ! is_string( $settings['secret'] )
			|| ! preg_match( '/\A[0-9a-f]{64}\z/', $settings['secret'] )
		) {
			return null;
		}
		// `only_through_guard` is the name that earlier versions wrote.
		$key = isset( $settings['require_guard'] ) ? 'require_guard' : 'only_through_guard';
		return array(
			'secret'        => $settings['secret'],
			'require_guard' => ! empty( $settings[ $key ] ),
		);
	}
}
