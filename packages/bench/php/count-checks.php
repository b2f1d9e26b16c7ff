<?php
/**
 * A must-use plugin that writes one letter for each password that WordPress checks, and one for each login form that
 * WordPress receives. The files are in wp-content.
 */

function bench_count( string $what ): void {
	file_put_contents( dirname( __DIR__ ) . "/bench-$what.txt", '.', FILE_APPEND | LOCK_EX );
}

add_filter(
	'check_password',
	function ( $right ) {
		bench_count( 'checks' );
		return $right;
	}
);

add_action(
	'login_form_login',
	function () {
		if ( 'POST' === $_SERVER['REQUEST_METHOD'] ) {
			bench_count( 'forms' );
		}
	}
);
