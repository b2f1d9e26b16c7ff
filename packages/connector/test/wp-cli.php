<?php
/**
 * Stubs of WP-CLI and of WordPress for the commands. Run as a program it executes one command with a real guard, as
 * WP-CLI would: `php test/wp-cli.php HOME SECRET WORD... --name=value...`.
 *
 * @package Security_Optimizer
 */

namespace WP_CLI\Utils {
	/**
	 * @param string   $format Name of a format.
	 * @param array[]  $items  Rows.
	 * @param string[] $fields Names of the columns.
	 */
	function format_items( $format, $items, $fields ) {
		if ( 'count' === $format ) {
			echo count( $items );
			return;
		}
		$rows = array();
		foreach ( $items as $item ) {
			$row = array();
			foreach ( $fields as $field ) {
				if ( ! array_key_exists( $field, $item ) ) {
					\WP_CLI::error( "Invalid field: $field." );
				}
				$row[ $field ] = $item[ $field ];
			}
			$rows[] = $row;
		}
		if ( 'json' === $format ) {
			echo json_encode( $rows ), "\n";
			return;
		}
		foreach ( array_merge( array( $fields ), $rows ) as $row ) {
			echo implode( 'csv' === $format ? ',' : "\t", $row ), "\n";
		}
	}
}

namespace cli {
	/** Whether tables are coloured, which a test may switch on. */
	final class Colors {

		/** @var bool */
		public static $on = false;

		public static function shouldColorize() { // phpcs:ignore WordPress.NamingConventions.ValidFunctionName
			return self::$on;
		}
	}
}

namespace {
	/** Ends a command. */
	final class Command_Ended extends Exception {}

	final class WP_CLI {

		/** @var array Classes of commands by their words. */
		public static $commands = array();

		public static function add_command( $name, $callback ) {
			self::$commands[ $name ] = $callback;
		}

		public static function error( $message ) {
			throw new Command_Ended( $message );
		}

		public static function success( $message ) {
			echo 'Success: ', $message, "\n";
		}

		public static function line( $message = '' ) {
			echo $message, "\n";
		}

		/**
		 * Runs a command.
		 *
		 * @param string[] $words   Words after `wp`.
		 * @param array    $options Options by name.
		 */
		public static function run( array $words, array $options ) {
			$group = isset( $words[1] ) ? $words[0] . ' ' . $words[1] : '';
			$size  = isset( self::$commands[ $group ] ) ? 2 : 1;
			$class = self::$commands[ 2 === $size ? $group : $words[0] ];
			$verb  = str_replace( '-', '_', $words[ $size ] );
			if ( 'list' === $verb ) {
				$verb = 'list_all';
			}
			call_user_func( array( new $class(), $verb ), array_slice( $words, $size + 1 ), $options );
		}
	}

	final class WP_Error {

		private $code;
		private $message;

		public function __construct( $code, $message ) {
			$this->code    = $code;
			$this->message = $message;
		}

		public function get_error_code() {
			return $this->code;
		}

		public function get_error_message() {
			return $this->message;
		}
	}

	function is_wp_error( $value ) {
		return $value instanceof WP_Error;
	}
	function network_home_url( $path ) {
		return $GLOBALS['home'] . $path;
	}
	function untrailingslashit( $text ) {
		return rtrim( $text, '/' );
	}
	function wp_parse_url( $url, $part ) {
		return parse_url( $url, $part );
	}
	function wp_remote_retrieve_body( $response ) {
		return $response['body'];
	}
	function wp_remote_retrieve_response_code( $response ) {
		return $response['code'];
	}
	function get_option() {
		return false;
	}
	function apply_filters( $name, $value ) {
		return $value;
	}

	/** Sent requests, for tests. `$responses` holds the responses of a stubbed guard. */
	$requests  = array();
	$responses = null;
	function wp_remote_request( $url, $args ) {
		$GLOBALS['requests'][] = array( $url, $args );
		if ( null !== $GLOBALS['responses'] ) {
			return array_shift( $GLOBALS['responses'] );
		}
		$headers = '';
		foreach ( $args['headers'] as $name => $value ) {
			$headers .= "$name: $value\r\n";
		}
		$http = array(
			'method'          => $args['method'],
			'header'          => $headers,
			'content'         => isset( $args['body'] ) ? $args['body'] : '',
			'ignore_errors'   => true,
			'follow_location' => 0,
		);
		$body = @file_get_contents( $url, false, stream_context_create( array( 'http' => $http ) ) );
		if ( false === $body ) {
			return new WP_Error( 'http_request_failed', 'no connection' );
		}
		preg_match( '/ (\d{3})/', $http_response_header[0], $status );
		return array(
			'code' => (int) $status[1],
			'body' => $body,
		);
	}

	define( 'ABSPATH', __DIR__ . '/' );
	define( 'SECURITY_OPTIMIZER_VERSION', 'test' );
	require_once __DIR__ . '/classes.php';
	load_classes( 'Protocol', 'Guard_Client', 'Text_Escaper', 'Cli', 'Cli_Site', 'Cli_Settings', 'Cli_Two_Factor', 'Cli_Login_Url', 'Cli_Away_Mode' );
	final class Security_Optimizer_Policy {

		public static function hash() {
			return '0123456789abcdef';
		}
	}

	if ( realpath( $_SERVER['SCRIPT_FILENAME'] ) === __FILE__ ) {
		$home = $argv[1];
		if ( false !== getenv( 'GUARD_URL' ) ) {
			define( 'SECURITY_OPTIMIZER_GUARD_URL', getenv( 'GUARD_URL' ) );
		}
		$words   = array();
		$options = array();
		foreach ( array_slice( $argv, 3 ) as $word ) {
			if ( preg_match( '/\A--([a-z-]+)(?:=(.*))?\z/s', $word, $part ) ) {
				$options[ $part[1] ] = isset( $part[2] ) ? $part[2] : true;
			} else {
				$words[] = $word;
			}
		}
		Security_Optimizer_Cli::add_commands( $argv[2] );
		try {
			WP_CLI::run( $words, $options );
		} catch ( Command_Ended $end ) {
			fwrite( STDERR, 'Error: ' . $end->getMessage() . "\n" );
			exit( 1 );
		}
	}
}
