<?php
/**
 * Registers the commands of WP-CLI, and holds what they share. The commands send requests to guard, which validates
 * them as it does for the dashboard.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Cli {

	/** @var Security_Optimizer_Guard_Client|null */
	private static $client = null;

	/**
	 * @param string $secret The site's secret.
	 */
	public static function add_commands( $secret ) {
		self::$client = new Security_Optimizer_Guard_Client( $secret );
		WP_CLI::add_command( 'security-optimizer', 'Security_Optimizer_Cli_Site' );
		WP_CLI::add_command( 'security-optimizer settings', 'Security_Optimizer_Cli_Settings' );
		WP_CLI::add_command( 'security-optimizer two-factor', 'Security_Optimizer_Cli_Two_Factor' );
		WP_CLI::add_command( 'security-optimizer login-url', 'Security_Optimizer_Cli_Login_Url' );
		WP_CLI::add_command( 'security-optimizer away-mode', 'Security_Optimizer_Cli_Away_Mode' );
	}

	/**
	 * Sends a request to guard. Ends the command with guard's message if it fails.
	 *
	 * @param string     $method `GET` or `POST`.
	 * @param string     $route  Route of the API.
	 * @param array|null $input  Fields of the body.
	 * @return array `data` and `message`.
	 */
	public static function call( $method, $route, $input = null ) {
		$response = self::$client->call( $method, $route, $input );
		if ( is_wp_error( $response ) ) {
			self::fail( $response->get_error_message() );
			// WP_CLI::error() has ended the command.
			return array(
				'data'    => array(),
				'message' => '',
			);
		}
		return $response;
	}

	/**
	 * @param string $page `security`, `login` or `activity`.
	 * @return array The options of a page of the dashboard.
	 */
	public static function options( $page ) {
		$response = self::call( 'POST', '/fetch-options', array( 'page' => $page ) );
		return is_array( $response['data'] ) ? $response['data'] : array();
	}

	/**
	 * @param array $choices Entries with `selected`.
	 * @return array|null The selected one.
	 */
	public static function selected( array $choices ) {
		foreach ( $choices as $choice ) {
			if ( ! empty( $choice['selected'] ) ) {
				return $choice;
			}
		}
		return null;
	}

	/**
	 * Prints rows in the format of the option `--format`.
	 *
	 * @param array    $options Options of the command.
	 * @param array[]  $rows    Rows.
	 * @param string[] $fields  Names of the columns.
	 */
	public static function print_rows( array $options, array $rows, array $fields ) {
		$format = isset( $options['format'] ) ? $options['format'] : 'table';
		if ( ! in_array( $format, array( 'table', 'json', 'csv', 'yaml', 'count' ), true ) ) {
			self::fail( '--format: use table, json, csv, yaml or count.' );
			return;
		}
		foreach ( $rows as $number => $row ) {
			foreach ( $row as $name => $value ) {
				$rows[ $number ][ $name ] = is_string( $value ) ? self::shown( $value, $format ) : $value;
			}
		}
		WP_CLI\Utils\format_items( $format, $rows, $fields );
	}

	/**
	 * Ends the command with an error. The message may contain untrusted text.
	 *
	 * @param string $message Message.
	 */
	public static function fail( $message ) {
		WP_CLI::error( Security_Optimizer_Text_Escaper::to_line( $message ) );
	}

	/**
	 * @param string $message Message, which may contain untrusted text.
	 */
	public static function done( $message ) {
		WP_CLI::success( Security_Optimizer_Text_Escaper::to_line( $message ) );
	}

	/**
	 * @param string $value  Text.
	 * @param string $format A format of rows.
	 * @return string The escaped text, for terminals, spreadsheets and WP-CLI.
	 */
	private static function shown( $value, $format ) {
		if ( 'csv' === $format ) {
			return Security_Optimizer_Text_Escaper::to_cell( $value );
		}
		$line = Security_Optimizer_Text_Escaper::to_line( $value );
		// If WP-CLI colours its tables, it interprets a percent sign as a colour code.
		$should_colorize = array( 'cli\Colors', 'shouldColorize' );
		$is_coloured     = 'table' === $format && is_callable( $should_colorize ) && call_user_func( $should_colorize );
		return $is_coloured ? str_replace( '%', '%%', $line ) : $line;
	}

	/**
	 * Prints values by their names.
	 *
	 * @param array $options Options of the command.
	 * @param array $values  Values by name.
	 */
	public static function print_values( array $options, array $values ) {
		$rows = array();
		foreach ( $values as $name => $value ) {
			$rows[] = array(
				'name'  => $name,
				'value' => $value,
			);
		}
		self::print_rows( $options, $rows, array( 'name', 'value' ) );
	}
}
