<?php
/**
 * `wp security-optimizer status|block|unblock|log`.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

/**
 * Asks and sets what Security Optimizer does for this site.
 */
final class Security_Optimizer_Cli_Site {

	const DURATIONS = array(
		'1h'  => 3600,
		'24h' => 86400,
		'7d'  => 604800,
	);

	/** Maximum number of pages of the blocklist that `unblock` reads. */
	const PAGES = 500;

	/**
	 * Tells what is in force, and whether guard can be reached.
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
		$security = Security_Optimizer_Cli::options( 'security' );
		$login    = Security_Optimizer_Cli::options( 'login' );
		$activity = Security_Optimizer_Cli::options( 'activity' );
		$response = Security_Optimizer_Cli::call( 'POST', '/protection-facts' );
		$facts    = (array) $response['data'];
		$url      = Security_Optimizer_Cli::selected( $login['login_url'] );
		$attempts = Security_Optimizer_Cli::selected( $login['login_attempts'] );
		Security_Optimizer_Cli::print_values(
			$options,
			array(
				'connector'        => SECURITY_OPTIMIZER_VERSION,
				'policy'           => (string) Security_Optimizer_Policy::hash(),
				'protections_on'   => array_sum( array_map( 'intval', $security ) ) . ' of ' . count( $security ),
				'two_factor'       => $login['sg2fa'] ? 'on' : 'off',
				'login_attempts'   => null === $attempts ? '' : $attempts['label'],
				'locked_addresses' => $login['locked_addresses'],
				'blocked'          => isset( $facts['block_list'] ) ? $facts['block_list'] : '',
				'login_url'        => null === $url ? '' : $url['type'],
				'away_mode'        => empty( $login['away_mode']['away'] ) ? $login['away_mode']['schedule']['type'] : 'away now',
				'activity_log'     => $activity['disable_activity_log'] ? 'off' : 'on',
			)
		);
	}

	/**
	 * Blocks an address or a range.
	 *
	 * ## OPTIONS
	 *
	 * <address>
	 * : An IPv4 or IPv6 address, a CIDR range, a wildcard or a range with a hyphen.
	 *
	 * [--for=<time>]
	 * : How long; for good without it.
	 * ---
	 * options:
	 *   - 1h
	 *   - 24h
	 *   - 7d
	 * ---
	 *
	 * [--note=<note>]
	 * : Why, for the list of blocked visitors.
	 *
	 * @param string[] $words   Arguments.
	 * @param array    $options Options.
	 */
	public function block( $words, $options ) {
		$input = array( 'address' => isset( $words[0] ) ? $words[0] : '' );
		if ( isset( $options['for'] ) ) {
			if ( ! isset( self::DURATIONS[ $options['for'] ] ) ) {
				Security_Optimizer_Cli::fail( '--for: use 1h, 24h or 7d.' );
				return;
			}
			$input['duration'] = self::DURATIONS[ $options['for'] ];
		}
		if ( isset( $options['note'] ) ) {
			$input['note'] = (string) $options['note'];
		}
		$response = Security_Optimizer_Cli::call( 'POST', '/block-addresses', $input );
		Security_Optimizer_Cli::done( $response['message'] );
	}

	/**
	 * Ends a block, or a lock by failed logins.
	 *
	 * ## OPTIONS
	 *
	 * <address>
	 * : The address or range, as the list of blocked visitors shows it.
	 *
	 * @param string[] $words Arguments.
	 */
	public function unblock( $words ) {
		$address = isset( $words[0] ) ? $words[0] : '';
		$entries = $this->find_blocks( self::spellings( $address ) );
		if ( array() === $entries ) {
			Security_Optimizer_Cli::fail( $address . ' is not blocked.' );
			return;
		}
		foreach ( $entries as $entry ) {
			$response = 'lock' === $entry['by']
				? Security_Optimizer_Cli::call( 'POST', '/login-unblock', array( 'ip' => $entry['user'] ) )
				: Security_Optimizer_Cli::call( 'POST', '/block-ip/' . $entry['visitor_id'], array( 'block' => 0 ) );
			Security_Optimizer_Cli::done( $response['message'] );
		}
	}

	/**
	 * Lists the newest entries of the Activity Log.
	 *
	 * ## OPTIONS
	 *
	 * [--users]
	 * : What registered users did, instead of what visitors asked for.
	 *
	 * [--search=<text>]
	 * : An address or network, part of a path, a login, or a reference.
	 *
	 * [--preset=<preset>]
	 * : Which visits; all without it.
	 * ---
	 * options:
	 *   - all
	 *   - blocked
	 *   - failed-logins
	 *   - scanners
	 *   - not-found
	 * ---
	 *
	 * [--limit=<rows>]
	 * : How many; 20 without it, at most 1000.
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
	public function log( $words, $options ) {
		$limit = isset( $options['limit'] ) ? $options['limit'] : '20';
		if ( ! preg_match( '/\A[1-9][0-9]{0,3}\z/', (string) $limit ) || (int) $limit > 1000 ) {
			Security_Optimizer_Cli::fail( '--limit: use 1 to 1000.' );
			return;
		}
		$input = array_intersect_key(
			$options,
			array(
				'search' => true,
				'preset' => true,
			)
		);
		$users = ! empty( $options['users'] );
		$rows  = array();
		$page  = 1;
		do {
			$response = Security_Optimizer_Cli::call( 'POST', $users ? '/activity-registered' : '/activity-unknown', array( 'page' => $page ) + $input );
			$data     = $response['data'];
			$rows     = array_merge( $rows, $data['entries'] );
			$enough   = count( $rows ) >= (int) $limit || $page >= $data['pages'];

			$input['cursor'] = $data['cursor'];
			++$page;
		} while ( ! $enough );
		$rows = array_slice( $rows, 0, (int) $limit );
		Security_Optimizer_Cli::print_rows(
			$options,
			array_map( array( __CLASS__, 'to_row' ), $rows ),
			$users ? array( 'time', 'user', 'activity', 'ip' ) : array( 'time', 'ip', 'code', 'page', 'count', 'rule' )
		);
	}

	/**
	 * @param array $entry Entry of one of the lists.
	 * @return array A row.
	 */
	private static function to_row( array $entry ) {
		$row = array(
			'time' => gmdate( 'Y-m-d\TH:i:s\Z', $entry['ts_unix'] ),
			'ip'   => $entry['ip'],
		);
		if ( isset( $entry['activity'] ) ) {
			return $row + array(
				'user'     => $entry['user'],
				'activity' => $entry['activity'],
			);
		}
		return $row + array(
			'code'  => $entry['code'],
			'page'  => $entry['page_visited'],
			'count' => $entry['count'] + $entry['more'],
			'rule'  => (string) $entry['rule'],
		);
	}

	/**
	 * @param string $address An address or range.
	 * @return string[] Its possible spellings in the list, in lower case.
	 */
	private static function spellings( $address ) {
		$spellings = array( strtolower( trim( $address ) ) );
		$packed    = filter_var( $spellings[0], FILTER_VALIDATE_IP ) ? inet_pton( $spellings[0] ) : false;
		if ( false !== $packed ) {
			$spellings[] = (string) inet_ntop( $packed );
			if ( 16 === strlen( $packed ) ) {
				// IPv6 addresses are blocked by their /64.
				$spellings[] = inet_ntop( substr( $packed, 0, 8 ) . str_repeat( "\0", 8 ) ) . '/64';
			}
		}
		return $spellings;
	}

	/**
	 * @param string[] $names Names to find.
	 * @return array[] Entries of the blocklist.
	 */
	private function find_blocks( array $names ) {
		$found = array();
		$input = array();
		for ( $page = 1; $page <= self::PAGES; ++$page ) {
			$response = Security_Optimizer_Cli::call( 'POST', '/blocked-users', array( 'page' => $page ) + $input );
			$data     = $response['data'];
			foreach ( $data['entries'] as $entry ) {
				if ( 'ip' === $entry['type'] && in_array( strtolower( $entry['user'] ), $names, true ) ) {
					$found[] = $entry;
				}
			}
			if ( $page >= $data['pages'] ) {
				break;
			}
			$input['cursor'] = $data['cursor'];
		}
		return $found;
	}
}
