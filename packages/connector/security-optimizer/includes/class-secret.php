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
	 * @return array|null `secret` (64 hexadecimal digits) and `only_through_guard` (boolean); null when the file is
	 *                    missing or not as it should be.
	 */
	public static function read() {
		$file = SECURITY_OPTIMIZER_DIR . '/secret.php';
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
		return array(
			'secret'             => $settings['secret'],
			'only_through_guard' => ! empty( $settings['only_through_guard'] ),
		);
	}
}
