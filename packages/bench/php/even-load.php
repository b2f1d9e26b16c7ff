<?php
/**
 * Requests a page at an even rate, like independent visitors, and prints the result as one line of JSON. It is
 * written in PHP because PHP's clock and waits have a resolution of microseconds. Those of wrk and Node have one of
 * milliseconds, so that they would send ten requests at once and then pause.
 *
 * Its argument is JSON: host, port, path, headers (lines), connections, per_second, seconds, and addresses: the number
 * of addresses that X-Forwarded-For reports in turn, each request with another query and user agent; 0 for none.
 *
 * A request that can't be sent within two milliseconds of its time is omitted and counted. A connection that had to
 * wait does not catch up in a burst.
 */

const LATE = 2_000_000;
const SILENCE = 5_000_000_000;

function main( array $load ): void {
	$gap     = 1e9 / $load['per_second'];
	$sockets = connections( $load );
	$idle    = array_keys( $sockets );
	$busy    = array();
	$sent    = array();
	$parts   = array();
	$taken   = array();
	$asked   = array();
	$refused = 0;
	$left    = 0;
	$count   = 0;
	$start   = hrtime( true );
	$end     = $start + (int) ( $load['seconds'] * 1e9 );
	$due     = $start;
	for ( ; ; ) {
		$now = hrtime( true );
		if ( $now >= $end && ! $busy ) {
			break;
		}
		if ( $now >= $end + SILENCE ) {
			fail( count( $busy ) . ' requests were never answered' );
		}
		for ( ; $now < $end && $due <= $now; $now = hrtime( true ) ) {
			if ( $now - $due > LATE ) {
				++$left;
			} elseif ( $idle ) {
				$connection          = array_pop( $idle );
				$sent[ $connection ] = hrtime( true );
				send( $sockets[ $connection ], request( $load, $count++ ) );
				$asked[]              = $sent[ $connection ];
				$busy[ $connection ]  = $sockets[ $connection ];
				$parts[ $connection ] = '';
			} else {
				break;
			}
			// Half a gap to one and a half, so that connections do not synchronise.
			$due += (int) ( $gap * ( 0.5 + mt_rand() / mt_getrandmax() ) );
		}
		$wait = $idle && $now < $end ? max( 0, intdiv( $due - hrtime( true ), 1000 ) ) : 1000;
		if ( ! $busy ) {
			usleep( $wait );
			continue;
		}
		$ready = $busy;
		$none  = null;
		if ( ! stream_select( $ready, $none, $none, 0, $wait ) ) {
			continue;
		}
		foreach ( $ready as $connection => $socket ) {
			$piece = fread( $socket, 65536 );
			$at    = hrtime( true );
			if ( '' === $piece && feof( $socket ) ) {
				fail( 'a connection was closed' );
			}
			$parts[ $connection ] .= $piece;
			$status                = status_when_whole( $parts[ $connection ] );
			if ( null === $status ) {
				continue;
			}
			$refused += $status >= 400 ? 1 : 0;
			$taken[]  = $at - $sent[ $connection ];
			$idle[]   = $connection;
			unset( $busy[ $connection ] );
		}
	}
	report( $taken, $asked, $refused, $left, ( $end - $start ) / 1e9 );
}

function connections( array $load ): array {
	$context = stream_context_create( array( 'socket' => array( 'tcp_nodelay' => true ) ) );
	$sockets = array();
	for ( $i = 0; $i < $load['connections']; $i++ ) {
		$to     = "tcp://{$load['host']}:{$load['port']}";
		$socket = stream_socket_client( $to, $number, $message, 5, STREAM_CLIENT_CONNECT, $context );
		if ( ! $socket ) {
			fail( "$to: $message" );
		}
		stream_set_blocking( $socket, false );
		stream_set_read_buffer( $socket, 0 );
		$sockets[] = $socket;
	}
	return $sockets;
}

function request( array $load, int $number ): string {
	if ( 0 === $load['addresses'] ) {
		return "GET {$load['path']} HTTP/1.1\r\n{$load['headers']}\r\n";
	}
	$address = $number % $load['addresses'];
	$version = $number % 300;
	return "GET {$load['path']}?try=$number HTTP/1.1\r\n{$load['headers']}" .
		'X-Forwarded-For: 2001:db8::' . dechex( $address >> 16 ) . ':' . dechex( $address & 0xffff ) . "\r\n" .
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:$version.0) Gecko/20100101 Firefox/$version.0\r\n\r\n";
}

function send( $socket, string $text ): void {
	if ( fwrite( $socket, $text ) !== strlen( $text ) ) {
		fail( 'a request could not be sent' );
	}
}

/** The status of a response, null while it is incomplete. */
function status_when_whole( string $answer ): ?int {
	$head = strpos( $answer, "\r\n\r\n" );
	if ( false === $head ) {
		return null;
	}
	$length = stripos( $answer, "\r\ncontent-length: " );
	if ( false !== $length && $length < $head ) {
		$whole = strlen( $answer ) >= $head + 4 + (int) substr( $answer, $length + 18, 12 );
	} else {
		$whole = str_ends_with( $answer, "\r\n0\r\n\r\n" );
	}
	return $whole ? (int) substr( $answer, 9, 3 ) : null;
}

function report( array $taken, array $asked, int $refused, int $left, float $seconds ): void {
	if ( ! $taken ) {
		fail( 'nothing was asked' );
	}
	sort( $taken );
	echo json_encode(
		array(
			'requests'    => count( $taken ),
			'seconds'     => $seconds,
			'refused'     => $refused,
			'left_out'    => $left,
			'p50'         => at( $taken, 0.5 ) / 1e6,
			'p95'         => at( $taken, 0.95 ) / 1e6,
			'p99'         => at( $taken, 0.99 ) / 1e6,
			'most_in_1ms' => at( tally( $asked ), 0.99 ),
		)
	), "\n";
}

/** The number of requests in each millisecond with any, in ascending order. */
function tally( array $asked ): array {
	$each = array_count_values( array_map( fn( $at ) => intdiv( $at, 1_000_000 ), $asked ) );
	sort( $each );
	return $each;
}

/** The percentile by nearest rank. */
function at( array $sorted, float $share ): float {
	return $sorted[ max( 0, (int) ceil( count( $sorted ) * $share ) - 1 ) ];
}

function fail( string $why ): never {
	fwrite( STDERR, "$why\n" );
	exit( 1 );
}

main( json_decode( $argv[1], true, 512, JSON_THROW_ON_ERROR ) );
