<?php
/**
 * `wp security-optimizer away-mode status|on|off`.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

/**
 * The times in which nobody can log in.
 */
final class Security_Optimizer_Cli_Away_Mode {

	/**
	 * Tells the schedule, and what it does now and next.
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
	 * @param string[] $words   Arguments.
	 * @param array    $options Options.
	 */
	public function status( $words, $options ) {
		$response = Security_Optimizer_Cli::call( 'GET', '/away-mode' );
		$state    = $response['data']['away_mode'];
		$schedule = $state['schedule'];
		$type     = $schedule['type'];
		unset( $schedule['type'] );
		Security_Optimizer_Cli::print_values(
			$options,
			array(
				'type'     => $type,
				'schedule' => implode( ' ', array_map( array( __CLASS__, 'to_text' ), $schedule ) ),
				'away'     => $state['away'] ? 'yes' : 'no',
				'until'    => (string) $state['until_text'],
				'next'     => (string) $state['next_from_text'],
				'timezone' => $state['timezone'],
			)
		);
	}

	/**
	 * Sets the schedule, in the time zone of the site: a period, days of the week, or hours of each day.
	 *
	 * ## OPTIONS
	 *
	 * [--from-date=<date>]
	 * : First day of the period, YYYY-MM-DD.
	 *
	 * [--to-date=<date>]
	 * : Its last day.
	 *
	 * [--weekly=<days>]
	 * : Days with commas between, for example saturday,sunday.
	 *
	 * [--from-hour=<time>]
	 * : Beginning on each day, HH:MM.
	 *
	 * [--to-hour=<time>]
	 * : End on each day.
	 *
	 * [--confirm]
	 * : Also a schedule that starts at once.
	 *
	 * @param string[] $words   Arguments.
	 * @param array    $options Options.
	 */
	public function on( $words, $options ) {
		if ( isset( $options['weekly'] ) ) {
			$input = array(
				'type'   => 'weekly',
				'weekly' => explode( ',', str_replace( ' ', '', (string) $options['weekly'] ) ),
			);
		} elseif ( isset( $options['from-hour'] ) || isset( $options['to-hour'] ) ) {
			$input = array( 'type' => 'daily' );
		} elseif ( isset( $options['from-date'] ) || isset( $options['to-date'] ) ) {
			$input = array( 'type' => 'period' );
		} else {
			Security_Optimizer_Cli::fail( 'Name a schedule: --from-date and --to-date, --weekly, or --from-hour and --to-hour.' );
			return;
		}
		foreach ( array( 'from-date', 'to-date', 'from-hour', 'to-hour' ) as $name ) {
			if ( isset( $options[ $name ] ) ) {
				$input[ str_replace( '-', '_', $name ) ] = $options[ $name ];
			}
		}
		$input['confirm'] = empty( $options['confirm'] ) ? 0 : 1;

		$response = Security_Optimizer_Cli::call( 'POST', '/away-mode', $input );
		Security_Optimizer_Cli::done( $response['message'] );
	}

	/**
	 * Removes the schedule. While Away Mode is on only guard's own command line can.
	 */
	public function off() {
		$response = Security_Optimizer_Cli::call( 'POST', '/away-mode', array( 'type' => 'off' ) );
		Security_Optimizer_Cli::done( $response['message'] );
	}

	/**
	 * @param mixed $value Part of a schedule.
	 * @return string
	 */
	private static function to_text( $value ) {
		return is_array( $value ) ? implode( ',', $value ) : (string) $value;
	}
}
