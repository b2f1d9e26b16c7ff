<?php
/**
 * A rival: refuses blocked addresses from a plugin, which reads its list from a table each time. The web server names
 * the table, and when to ask: at once, as early as a must-use plugin can, or on `init`, as ordinary plugins do.
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
