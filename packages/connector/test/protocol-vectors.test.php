<?php
/**
 * Tests the protocol with the vectors that guard's tests use as well.
 *
 * Run: php test/protocol-vectors.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ );
load_classes( 'Protocol', 'Decoy_404', 'Secret' );

$vectors = json_decode( file_get_contents( dirname( __DIR__ ) . '/protocol-vectors.json' ), true );
$secret  = $vectors['secret'];

foreach ( $vectors['keyIds'] as $sample ) {
	check( 'key id', $sample['keyId'], Security_Optimizer_Protocol::key_id( $sample['secret'] ) );
}

foreach ( $vectors['keyFiles'] as $sample ) {
	check( 'name of a key file', $sample['file'], Security_Optimizer_Secret::file_name( $sample['wordpressDir'] ) );
}

foreach ( $vectors['guardHeaders']['accepted'] as $sample ) {
	$note = isset( $sample['note'] ) ? explode( ' ', $sample['note'] ) : array();
	check(
		'guard header is accepted: ' . $sample['name'],
		array(
			'request_id'  => $sample['requestId'],
			'scheme'      => $sample['scheme'],
			'address'     => $sample['address'],
			'has_context' => in_array( 'context', $note, true ),
			'is_decoy'    => in_array( 'decoy', $note, true ),
			'is_repeated' => in_array( 'repeated', $note, true ),
			'is_probe'    => in_array( 'probe', $note, true ),
		),
		Security_Optimizer_Protocol::read_guard_header( $sample['header'], $secret, $vectors['guardHeaders']['now'], isset( $sample['bytes'] ) ? $sample['bytes'] : 0 )
	);
}

foreach ( $vectors['guardHeaders']['refused'] as $sample ) {
	check(
		'guard header is refused: ' . $sample['name'],
		null,
		Security_Optimizer_Protocol::read_guard_header( $sample['header'], $secret, $vectors['guardHeaders']['now'], isset( $sample['bytes'] ) ? $sample['bytes'] : 0 )
	);
}

foreach ( $vectors['signals'] as $sample ) {
	check(
		'signal: ' . $sample['name'],
		$sample['header'],
		Security_Optimizer_Protocol::signal_header(
			$secret,
			$sample['requestId'],
			$sample['policyHash'],
			$sample['connectorVersion'],
			$sample['flags']
		)
	);
}

foreach ( $vectors['bareSignals'] as $sample ) {
	check( 'bare signal', $sample['header'], Security_Optimizer_Protocol::bare_signal_header( $secret ) );
}

foreach ( $vectors['commands']['accepted'] as $sample ) {
	check(
		'command is accepted: ' . $sample['name'],
		array(
			'time'  => $sample['time'],
			'nonce' => $sample['nonce'],
		),
		Security_Optimizer_Protocol::read_command_header(
			$sample['header'],
			$sample['command'],
			$sample['body'],
			$secret,
			$vectors['commands']['now']
		)
	);
}

foreach ( $vectors['commands']['refused'] as $sample ) {
	check(
		'command is refused: ' . $sample['name'],
		null,
		Security_Optimizer_Protocol::read_command_header(
			$sample['header'],
			$sample['command'],
			$sample['body'],
			$secret,
			$vectors['commands']['now']
		)
	);
}

foreach ( $vectors['contextHeaders']['accepted'] as $sample ) {
	check(
		'context header is accepted: ' . $sample['name'],
		$sample['context'],
		Security_Optimizer_Protocol::read_context_header( $sample['header'], $vectors['contextHeaders']['requestId'], $secret )
	);
}

foreach ( $vectors['contextHeaders']['refused'] as $sample ) {
	check(
		'context header is refused: ' . $sample['name'],
		null,
		Security_Optimizer_Protocol::read_context_header( $sample['header'], $vectors['contextHeaders']['requestId'], $secret )
	);
}

foreach ( $vectors['decoys']['samples'] as $sample ) {
	$key = Security_Optimizer_Decoy_404::key( $secret, $vectors['decoys']['requestId'] );
	$raw = static function ( $text ) {
		return mb_convert_encoding( $text, 'ISO-8859-1', 'UTF-8' );
	};
	check( 'decoy of ' . $sample['asked'], $raw( $sample['asked'] ), Security_Optimizer_Decoy_404::reveal( $raw( $sample['target'] ), $key ) );
	check( 'no decoy: ' . $sample['asked'], '/a/wp-loginx.php', Security_Optimizer_Decoy_404::reveal( '/a/wp-loginx.php', $key ) );
}

foreach ( $vectors['loginHeaders']['accepted'] as $sample ) {
	check(
		'login header: ' . $sample['name'],
		$sample['header'],
		Security_Optimizer_Protocol::login_header( $secret, $vectors['loginHeaders']['requestId'], $sample['report'] )
	);
}

foreach ( $vectors['siteCalls']['accepted'] as $sample ) {
	check( 'signed call: ' . $sample['name'], $sample['header'], Security_Optimizer_Protocol::call_header( $secret, $sample['time'], $sample['nonce'], $sample['method'], $sample['route'], $sample['body'] ) );
}

foreach ( $vectors['cronCalls']['accepted'] as $sample ) {
	check( 'own cron call: ' . $sample['name'], $sample['header'], Security_Optimizer_Protocol::cron_header( $secret, $sample['time'], $sample['target'] ) );
}

foreach ( $vectors['policies'] as $sample ) {
	check( 'policy hash of ' . json_encode( $sample['policy'] ), $sample['hash'], Security_Optimizer_Protocol::policy_hash( $sample['policy'] ) );
}

finish_checks();
