<?php
/**
 * Tests the commands of WP-CLI against a stand-in of WP-CLI and of guard. A test of guard runs them against a real guard.
 *
 * Run: php test/cli.test.php
 *
 * @package Security_Optimizer
 */

require __DIR__ . '/checks.php';
require __DIR__ . '/wp-cli.php';

$secret = str_repeat( '0f', 32 );
$home   = 'https://example.com/blog';
Security_Optimizer_Cli::add_commands( $secret );

/**
 * Runs a command.
 *
 * @param array[] $queue   What guard answers: `data` and `message`, or `code`, `status` and `message` of a refusal.
 * @param string[] $words   Words of the command.
 * @param array    $options Options.
 * @return array What it printed, its error, and the requests as `METHOD route body`.
 */
function run_command( array $queue, array $words, array $options = array() ) {
	global $requests, $answers;
	$requests = array();
	$answers  = array();
	foreach ( $queue as $answer ) {
		$answer   += array(
			'data'    => null,
			'status'  => 200,
			'message' => '',
		);
		$answers[] = array(
			'code' => $answer['status'],
			'body' => json_encode( $answer ),
		);
	}
	$error = '';
	ob_start();
	try {
		WP_CLI::run( array_merge( array( 'security-optimizer' ), $words ), $options );
	} catch ( Command_Ended $end ) {
		$error = $end->getMessage();
	}
	$sent = array();
	foreach ( $requests as list( $url, $args ) ) {
		$sent[] = $args['method'] . ' ' . explode( '/security-optimizer/v1', $url )[1] . ' ' . ( isset( $args['body'] ) ? $args['body'] : '' );
	}
	return array( ob_get_clean(), $error, $sent );
}

check(
	'block says for how long and why',
	array( "Success: Blocked.\n", '', array( 'POST /block-addresses {"address":"192.0.2.7","duration":86400,"note":"spam"}' ) ),
	run_command(
		array( array( 'message' => 'Blocked.' ) ),
		array( 'block', '192.0.2.7' ),
		array(
			'for'  => '24h',
			'note' => 'spam',
		)
	)
);
check( 'the request goes to the site itself', 'https://example.com/blog/?rest_route=/security-optimizer/v1/block-addresses', $requests[0][0] );
check( 'it follows no redirection', 0, $requests[0][1]['redirection'] );
$header = $requests[0][1]['headers']['X-Security-Optimizer-Call'];
list( , $key, $time, $nonce, $body_hash, $mac ) = explode( ' ', $header );
check( 'it names the key', Security_Optimizer_Protocol::key_id( $secret ), $key );
check( 'it names the body', hash( 'sha256', $requests[0][1]['body'] ), $body_hash );
check( 'it is signed as written', Security_Optimizer_Protocol::call_header( $secret, (int) $time, $nonce, 'POST', '/block-addresses', $requests[0][1]['body'] ), $header );
run_command( array( array( 'message' => 'Blocked.' ) ), array( 'block', '192.0.2.7' ) );
check( 'each request has a nonce of its own', false, explode( ' ', $requests[0][1]['headers']['X-Security-Optimizer-Call'] )[3] === $nonce );

check( 'an unknown time is refused without asking', array( '', '--for: use 1h, 24h or 7d.', array() ), run_command( array(), array( 'block', '192.0.2.7' ), array( 'for' => '2h' ) ) );
check(
	'a refusal is guard’s own, with what is wrong',
	array( '', 'Some of the values can’t be used. Nothing was saved. address: This is no address.', array( 'POST /block-addresses {"address":"nowhere"}' ) ),
	run_command(
		array(
			array(
				'status'  => 400,
				'code'    => 'invalid_input',
				'message' => 'Some of the values can’t be used. Nothing was saved.',
				'fields'  => array( 'address' => 'This is no address.' ),
			),
		),
		array( 'block', 'nowhere' )
	)
);
list( , $error ) = run_command(
	array(
		array(
			'status'  => 403,
			'code'    => 'rest_forbidden',
			'message' => 'No.',
		),
	),
	array( 'two-factor', 'on' )
);
check( 'a signature that is not accepted is explained', true, false !== strpos( $error, 'a clock that is right' ) );

$login = array(
	'sg2fa'            => 1,
	'login_attempts'   => array(
		array(
			'value'    => 3,
			'selected' => 0,
		),
		array(
			'value'    => 5,
			'selected' => 1,
		),
	),
	'reset_2fa'        => array(
		array(
			'ID'         => 7,
			'user_login' => 'Editor',
		),
	),
	'two_factor_users' => array(
		'users' => array(
			array(
				'ID'         => 7,
				'user_login' => 'Editor',
				'role'       => 'editor',
				'set_up'     => 1,
			),
		),
	),
);
check( 'settings get reads a choice', array( "5\n", '', array( 'POST /fetch-options {"page":"login"}' ) ), run_command( array( array( 'data' => $login ) ), array( 'settings', 'get', 'login_attempts' ) ) );
check( 'settings set takes on and off', array( "Success: Done.\n", '', array( 'POST /disable-feeds {"disable_feed":"1"}' ) ), run_command( array( array( 'message' => 'Done.' ) ), array( 'settings', 'set', 'disable_feed', 'on' ) ) );
list( , $error, $sent ) = run_command( array(), array( 'settings', 'set', 'nothing', '1' ) );
check( 'an unknown setting is named', array( true, array() ), array( 0 === strpos( $error, 'There is no setting nothing. Settings: lock_system_folders, ' ), $sent ) );
check(
	'two-factor status lists users',
	array( '[{"ID":7,"user":"Editor","role":"editor","required":"yes","set_up":"yes"}]' . "\n", '' ),
	array_slice( run_command( array( array( 'data' => $login ) ), array( 'two-factor', 'status' ), array( 'format' => 'json' ) ), 0, 2 )
);
check(
	'two-factor reset finds the user by login',
	array( "Success: Reset.\n", '', array( 'POST /fetch-options {"page":"login"}', 'POST /reset-user-2fa/7 ' ) ),
	run_command( array( array( 'data' => $login ), array( 'message' => 'Reset.' ) ), array( 'two-factor', 'reset', 'editor' ) )
);

$entry = array(
	'type'       => 'ip',
	'by'         => 'owner',
	'user'       => '2001:db8:0:1::/64',
	'visitor_id' => 9,
);
check(
	'unblock knows the /64 of an address, and goes through all pages',
	array(
		"Success: Ended.\n",
		'',
		array( 'POST /blocked-users {"page":1}', 'POST /blocked-users {"page":2,"cursor":"c"}', 'POST /block-ip/9 {"block":0}' ),
	),
	run_command(
		array(
			array(
				'data' => array(
					'entries' => array(),
					'pages'   => 2,
					'cursor'  => 'c',
				),
			),
			array(
				'data' => array(
					'entries' => array( $entry ),
					'pages'   => 2,
					'cursor'  => 'c',
				),
			),
			array( 'message' => 'Ended.' ),
		),
		array( 'unblock', '2001:DB8:0:1:0:0:0:5' )
	)
);

$answers = array(
	array(
		'code' => 502,
		'body' => '<html>',
	),
);
$found   = ( new Security_Optimizer_Guard_Client( $secret ) )->call( 'GET', '/away-mode' );
check( 'what is not guard is said', array( 'not_guard', true ), array( $found->get_error_code(), false !== strpos( $found->get_error_message(), 'HTTP status 502' ) ) );
finish_checks();
