<?php
/**
 * `wp security-optimizer settings list|get|set`.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

/**
 * Reads and changes settings that are one value each.
 */
final class Security_Optimizer_Cli_Settings {

	/**
	 * Lists the settings.
	 *
	 * ## OPTIONS
	 *
	 * [--format=<format>]
	 * : How the rows are printed.
	 * ---
	 * default: table
	 * options:
	 *   - table
	 *   - json
	 *   - csv
	 *   - yaml
	 *   - count
	 * ---
	 *
	 * @subcommand list
	 *
	 * @param string[] $words   Arguments.
	 * @param array    $options Options.
	 */
	public function list_all( $words, $options ) {
		$values = array();
		foreach ( self::all() as $name => $setting ) {
			$values[ $name ] = $setting['value'];
		}
		Security_Optimizer_Cli::print_values( $options, $values );
	}

	/**
	 * Prints the value of a setting.
	 *
	 * ## OPTIONS
	 *
	 * <name>
	 * : Name of the setting, as `settings list` shows it.
	 *
	 * @param string[] $words Arguments.
	 */
	public function get( $words ) {
		$setting = self::find( $words );
		if ( null !== $setting ) {
			WP_CLI::line( (string) $setting['value'] );
		}
	}

	/**
	 * Changes a setting.
	 *
	 * ## OPTIONS
	 *
	 * <name>
	 * : Name of the setting, as `settings list` shows it.
	 *
	 * <value>
	 * : A number; on and off for 1 and 0.
	 *
	 * @param string[] $words Arguments.
	 */
	public function set( $words ) {
		$setting = self::find( $words );
		if ( null === $setting ) {
			return;
		}
		$value = isset( $words[1] ) ? $words[1] : '';
		$known = array(
			'on'  => '1',
			'off' => '0',
		);
		$value = isset( $known[ $value ] ) ? $known[ $value ] : $value;

		$response = Security_Optimizer_Cli::call( 'POST', $setting['suffix'], array( $setting['name'] => $value ) );
		Security_Optimizer_Cli::done( $response['message'] );
	}

	/**
	 * @param string[] $words Arguments.
	 * @return array|null The setting that the first one names.
	 */
	private static function find( array $words ) {
		$name = isset( $words[0] ) ? $words[0] : '';
		$all  = self::all();
		if ( isset( $all[ $name ] ) ) {
			return $all[ $name ];
		}
		$problem = '' === $name ? 'Name a setting' : 'There is no setting ' . $name;
		Security_Optimizer_Cli::fail( $problem . '. Settings: ' . implode( ', ', array_keys( $all ) ) . '.' );
		return null;
	}

	/**
	 * @return array[] The settings by name: `name`, `value`, and `suffix`, the route that changes it.
	 */
	private static function all() {
		$response = Security_Optimizer_Cli::call( 'POST', '/simple-settings' );
		$all      = array();
		$settings = isset( $response['data']['settings'] ) ? $response['data']['settings'] : array();
		foreach ( $settings as $setting ) {
			$all[ $setting['name'] ] = $setting;
		}
		return $all;
	}
}
