<?php
/**
 * A rival: refuses blocked addresses from a must-use plugin, the earliest place that a plugin has.
 * Reads its list from a table each time, as plugins with a list do; the web server names the table.
 */

global $wpdb;
$bench_table   = preg_replace( '/[^a-z0-9_]/', '', $_SERVER['BENCH_TABLE'] ?? '' );
$bench_blocked = $wpdb->get_col( "SELECT address FROM {$bench_table}" );
if ( in_array( $_SERVER['REMOTE_ADDR'], $bench_blocked, true ) ) {
	http_response_code( 403 );
	header( 'Content-Type: text/plain; charset=utf-8' );
	echo "Blocked\n";
	exit;
}
