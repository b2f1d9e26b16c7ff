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
	 * Page of the dashboard and route of each setting; a test of guard compares them with the contract. Without a page
	 * the route itself returns the value.
	 */
	const ROUTES = array(
		'lock_system_folders'      => array( 'security', '/lock-system-folders' ),
		'wp_remove_version'        => array( 'security', '/hide-wp-version' ),
		'disable_file_edit'        => array( 'security', '/disable-editors' ),
		'disable_xml_rpc'          => array( 'security', '/disable-xml-rpc' ),
		'signed_xml_rpc'           => array( '', '/signed-xml-rpc' ),
		'disable_feed'             => array( 'security', '/disable-feeds' ),
		'xss_protection'           => array( 'security', '/xss-protection' ),
		'delete_readme'            => array( 'security', '/delete-readme' ),
		'sg2fa'                    => array( 'login', '/2fa' ),
		'two_factor_app_passwords' => array( 'login', '/two-factor-app-passwords' ),
		'disable_usernames'        => array( 'login', '/disable-admin-username' ),
		'login_attempts'           => array( 'login', '/limit-login-attempts' ),
		'disable_activity_log'     => array( 'activity', '/manage-activity-log' ),
		'log_lifetime'             => array( 'activity', '/activity-log-lifetime' ),
		'anonymize_addresses'      => array( 'activity', '/anonymize-addresses' ),
		'log_own_cron'             => array( 'activity', '/log-own-cron' ),
	);

	/**
	 * Lists the settings.
	 *
	 * ## OPTIONS
	 *
	 * [--format=<format>]
	 * : table, json, csv, yaml or count.
	 *
	 * @subcommand list
	 *
	 * @param string[] $words   Arguments.
	 * @param array    $options Options.
	 */
	public function list_all( $words, $options ) {
		$pages  = array();
		$values = array();
		foreach ( self::ROUTES as $name => list( $page, $route ) ) {
			$key = '' === $page ? $route : $page;
			if ( ! isset( $pages[ $key ] ) ) {
				$pages[ $key ] = self::fetch( $page, $route );
			}
			$values[ $name ] = self::value( $pages[ $key ][ $name ] );
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
		$name = self::name( $words );
		if ( null === $name ) {
			return;
		}
		list( $page, $route ) = self::ROUTES[ $name ];

		$data = self::fetch( $page, $route );
		WP_CLI::line( (string) self::value( $data[ $name ] ) );
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
		$name = self::name( $words );
		if ( null === $name ) {
			return;
		}
		$value = isset( $words[1] ) ? $words[1] : '';
		$known = array(
			'on'  => '1',
			'off' => '0',
		);
		$value = isset( $known[ $value ] ) ? $known[ $value ] : $value;

		list( , $route ) = self::ROUTES[ $name ];

		$response = Security_Optimizer_Cli::call( 'POST', $route, array( $name => $value ) );
		Security_Optimizer_Cli::done( $response['message'] );
	}

	/**
	 * @param string[] $words Arguments.
	 * @return string|null Name of a setting.
	 */
	private static function name( array $words ) {
		$name = isset( $words[0] ) ? $words[0] : '';
		if ( isset( self::ROUTES[ $name ] ) ) {
			return $name;
		}
		Security_Optimizer_Cli::fail( 'There is no setting ' . $name . '. Settings: ' . implode( ', ', array_keys( self::ROUTES ) ) . '.' );
		return null;
	}

	/**
	 * @param string $page  Page of the dashboard, '' for none.
	 * @param string $route Route of the setting.
	 * @return array Values by name.
	 */
	private static function fetch( $page, $route ) {
		if ( '' !== $page ) {
			return Security_Optimizer_Cli::options( $page );
		}
		$response = Security_Optimizer_Cli::call( 'GET', $route );
		return (array) $response['data'];
	}

	/**
	 * @param mixed $value A number, or a list of choices.
	 * @return int
	 */
	private static function value( $value ) {
		if ( ! is_array( $value ) ) {
			return (int) $value;
		}
		$choice = Security_Optimizer_Cli::selected( $value );
		return null === $choice ? 0 : (int) $choice['value'];
	}
}
