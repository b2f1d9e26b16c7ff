<?php
/**
 * A rival: a plugin that refuses blocked addresses. It reads its list from a table in each request. Parameters of the
 * web server name the table and the time: at once, which is the earliest for a must-use plugin, or on `init`, as usual.
 */

function bench_refuse_blocked() {
	global $wpdb;
	$table   = preg_replace( '/[^a-z0-9_]/', '', $_SERVER['BENCH_TABLE'] ?? '' );
	$blocked = $wpdb->get_col( "SELECT address FROM {$table}" );
	if ( in_array( $_SERVER['REMOTE_ADDR'], $blocked, true ) ) {
		http_response_code( 403 );
		header( 'Content-Type: text/plain; charset=utf-8' );
		echo "Blocked\n";
		exit;
	}
}

if ( 'init' === ( $_SERVER['BENCH_WHEN'] ?? '' ) ) {
	add_action( 'init', 'bench_refuse_blocked', 0 );
} else {
	bench_refuse_blocked();
}
