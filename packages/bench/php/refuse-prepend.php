<?php
/**
 * A rival: refuses blocked addresses with PHP's auto_prepend_file, before WordPress starts.
 */

$bench_blocked = file( __DIR__ . '/blocked.txt', FILE_IGNORE_NEW_LINES );
if ( in_array( $_SERVER['REMOTE_ADDR'], $bench_blocked, true ) ) {
	http_response_code( 403 );
	header( 'Content-Type: text/plain; charset=utf-8' );
	echo "Blocked\n";
	exit;
}
