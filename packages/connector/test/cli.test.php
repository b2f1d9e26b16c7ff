<?php
/**
 * Tests the commands of WP-CLI with stubs of WP-CLI and of guard. A test of guard runs them against a real guard.
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
 * @param array[] $queue   Responses of guard: `data` and `message`, or `code`, `status` and `message` of an error.
 * @param string[] $words   Words of the command.
 * @param array    $options Options.
 * @return array Its output, its error, and the requests as `METHOD route body`.
 */
function run_command( array $queue, array $words, array $options = array() ) {
	global $requests, $responses;
	$requests  = array();
	$responses = array();
	foreach ( $queue as $response ) {
		$response   += array(
			'data'    => null,
			'status'  => 200,
			'message' => '',
		);
		$responses[] = array(
			'code' => $response['status'],
			'body' => json_encode( $response ),
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

$settings = array(
	'data' => array(
		'settings' => array(
			array(
				'name'   => 'login_attempts',
				'value'  => 5,
				'values' => array( 0, 3, 5 ),
				'suffix' => '/limit-login-attempts',
			),
			array(
				'name'   => 'disable_feed',
				'value'  => 0,
				'values' => array( 0, 1 ),
				'suffix' => '/disable-feeds',
			),
		),
	),
);
$asked    = 'POST /simple-settings ';
check( 'settings list shows all of them', array( '[{"name":"login_attempts","value":5},{"name":"disable_feed","value":0}]' . "\n", '', array( $asked ) ), run_command( array( $settings ), array( 'settings', 'list' ), array( 'format' => 'json' ) ) );
check( 'settings get reads a choice', array( "5\n", '', array( $asked ) ), run_command( array( $settings ), array( 'settings', 'get', 'login_attempts' ) ) );
check( 'settings set takes on and off', array( "Success: Done.\n", '', array( $asked, 'POST /disable-feeds {"disable_feed":"1"}' ) ), run_command( array( $settings, array( 'message' => 'Done.' ) ), array( 'settings', 'set', 'disable_feed', 'on' ) ) );
check( 'an unknown setting is named', array( '', 'There is no setting nothing. Settings: login_attempts, disable_feed.', array( $asked ) ), run_command( array( $settings ), array( 'settings', 'set', 'nothing', '1' ) ) );
check( 'a setting without a name is refused', array( '', 'Name a setting. Settings: login_attempts, disable_feed.', array( $asked ) ), run_command( array( $settings ), array( 'settings', 'get' ) ) );
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

/** Untrusted text, and what is printed. */
$typed   = array(
	'tags'                   => array( '<b>Bold</b> <script>alert(1)</script>', '<b>Bold</b> <script>alert(1)</script>' ),
	'entities'               => array( 'Tom & Jerry &lt;script&gt; &amp;amp;', 'Tom & Jerry &lt;script&gt; &amp;amp;' ),
	'quotation marks'        => array( '"quotes" \'single\' O’Reilly', '"quotes" \'single\' O’Reilly' ),
	'places of formats'      => array( '%s %1$s %2F %r {{name}} $1', '%s %1$s %2F %r {{name}} $1' ),
	'emoji of several signs' => array( '👩‍👩‍👧 𝒳 שלום', '👩‍👩‍👧 𝒳 שלום' ),
	'a link'                 => array( '[x](http://evil.example)', '[x](http://evil.example)' ),
	'10 000 characters'      => array( str_repeat( 'é', 10000 ), str_repeat( 'é', 10000 ) ),
	'a sequence of colours'  => array( "\x1b[31mred\x1b]0;title\x07", '\u001b[31mred\u001b]0;title\u0007' ),
	'the one of a byte'      => array( "\u{9b}31m", '\u009b31m' ),
	'line breaks and a tab'  => array( "a\r\nb\tc\u{2028}d", 'a\u000d\u000ab\u0009c\u2028d' ),
	'NUL and backspace'      => array( "a\0b\x08\x7f", 'a\u0000b\u0008\u007f' ),
	'marks of direction'     => array( "evil\u{202e}gpj.exe \u{2066}x\u{2069}", 'evil\u202egpj.exe \u2066x\u2069' ),
	'marks that nobody sees' => array( "ow\u{200b}ner\u{feff}", 'ow\u200bner\ufeff' ),
);
$nothing = array(
	'data' => array(
		'entries' => array(),
		'pages'   => 1,
	),
);
$logged  = function ( $activity, $format, $user = 'owner' ) {
	$entry = array(
		'ts_unix'  => 0,
		'ip'       => '192.0.2.7',
		'user'     => $user,
		'activity' => $activity,
	);
	$data  = array(
		'entries' => array( $entry ),
		'pages'   => 1,
		'cursor'  => 'c',
	);
	$words = array( 'log' );
	return run_command( array( array( 'data' => $data ) ), $words, compact( 'format' ) + array( 'users' => true ) )[0];
};
foreach ( $typed as $name => list( $text, $shown ) ) {
	foreach ( array( 'table', 'csv', 'yaml' ) as $format ) {
		check( "the log as $format has $name as the list shows it", true, false !== strpos( $logged( $text, $format ), $shown ) );
		check( "the log as $format has no sign for the terminal: $name", 0, preg_match( '/(?!\n)\p{Cc}(?<!\t)|\x1b|[\x{202a}-\x{202e}\x{2066}-\x{2069}]/u', $logged( $text, $format ) ) );
	}
	check( "the log as JSON has $name as the list shows it", $shown, json_decode( $logged( $text, 'json' ), true )[0]['activity'] );
	check( "a message shows $name", "Success: $shown\n", run_command( array( array( 'message' => $text ) ), array( 'two-factor', 'on' ) )[0] );
	$refusal = array(
		'status'  => 400,
		'code'    => 'refused',
		'message' => $text,
	);
	check( "a refusal shows $name", $shown, run_command( array( $refusal ), array( 'two-factor', 'on' ) )[1] );
	check( "an error shows $name of a word of the command", "$shown is not blocked.", run_command( array( $nothing ), array( 'unblock', $text ) )[1] );
}
check( 'bytes that are no UTF-8 are shown, too', '\u009b31m\u00ff is not blocked.', run_command( array( $nothing ), array( 'unblock', "\x9b31m\xff" ) )[1] );
foreach ( array( '=cmd()', '+1', '-1', '@owner', '＝1', '＋1', '－1', '＠1' ) as $formula ) {
	check( "CSV has an apostrophe before $formula", true, false !== strpos( $logged( 'x', 'csv', $formula ), ",'$formula," ) );
	check( "a table has none before $formula", true, false !== strpos( $logged( 'x', 'table', $formula ), "\t$formula\t" ) );
	check( "JSON has none before $formula", $formula, json_decode( $logged( 'x', 'json', $formula ), true )[0]['user'] );
}
check( 'CSV has an apostrophe before a tab and a line break', true, false !== strpos( $logged( 'x', 'csv', "\t=1" ) . $logged( 'x', 'csv', "\r=1" ), ",'\\u0009=1," ) );
cli\Colors::$on = true;
check( 'a table that WP-CLI colours has signs of per cent twice, which WP-CLI reads as one', true, false !== strpos( $logged( '/a%2Fb%r', 'table' ), '/a%%2Fb%%r' ) );
check( 'CSV has them once', true, false !== strpos( $logged( '/a%2Fb%r', 'csv' ), '/a%2Fb%r' ) );
cli\Colors::$on = false;

$responses = array(
	array(
		'code' => 502,
		'body' => '<html>',
	),
);
$found     = ( new Security_Optimizer_Guard_Client( $secret ) )->call( 'GET', '/away-mode' );
check( 'what is not guard is said', array( 'not_guard', true ), array( $found->get_error_code(), false !== strpos( $found->get_error_message(), 'HTTP status 502' ) ) );
finish_checks();
