<?php
/**
 * Router script for PHP's own web server. It resolves paths as nginx does with the usual rules for WordPress: existing
 * files are sent, `*.php` runs with path-info, everything else goes to /index.php, or to the script in SANDBOX_FRONT.
 * SANDBOX_NETWORK adds the rules of a network in sub-directories: `/second/wp-…` and `/second/x.php` are files of
 * WordPress.
 */

(static function () {
	$fail = static function ( $status, $text ) {
		http_response_code( $status );
		header( 'Content-Type: text/html; charset=utf-8' );
		echo "<!DOCTYPE html><title>$status $text</title><h1>$status $text</h1>\n";
		exit;
	};

	// Removes the query, decodes the path once, merges slashes and resolves dot segments, as nginx does.
	$normalise = static function ( $target ) {
		$path = preg_replace( '~^[a-z][a-z0-9+.-]*://[^/?#]*~i', '', $target );
		$path = explode( '#', explode( '?', $path, 2 )[0], 2 )[0];
		if ( preg_match( '~%(?![0-9a-f]{2})~i', $path ) ) {
			return null;
		}
		$path = rawurldecode( $path );
		if ( '' === $path ) {
			return '/';
		}
		if ( '/' !== $path[0] || false !== strpos( $path, "\0" ) ) {
			return null;
		}
		$kept = array();
		$last = '';
		foreach ( explode( '/', $path ) as $last ) {
			if ( '..' === $last ) {
				if ( null === array_pop( $kept ) ) {
					return null;
				}
			} elseif ( '' !== $last && '.' !== $last ) {
				$kept[] = $last;
			}
		}
		$folder = '' === $last || '.' === $last || '..' === $last;
		return '/' . implode( '/', $kept ) . ( $folder && $kept ? '/' : '' );
	};

	$root = rtrim( $_SERVER['DOCUMENT_ROOT'], '/' );
	$path = $normalise( $_SERVER['REQUEST_URI'] );
	if ( null === $path ) {
		$fail( 400, 'Bad Request' );
	}

	$front = getenv( 'SANDBOX_FRONT' );
	if ( getenv( 'SANDBOX_NETWORK' ) && ! file_exists( $root . $path ) ) {
		$path = preg_replace( '~^/[_0-9a-zA-Z-]+(/wp-(?:content|admin|includes).*|/.*\.php)$~s', '$1', $path );
	}
	$script = false === $front ? '/index.php' : $front;
	$info   = '';
	if ( preg_match( '~^(.+?\.php)(/.*)?$~s', $path, $parts ) && is_file( $root . $parts[1] ) ) {
		$script = $parts[1];
		$info   = isset( $parts[2] ) ? $parts[2] : '';
	} elseif ( is_dir( $root . $path ) ) {
		if ( '/' !== substr( $path, -1 ) ) {
			$query = isset( $_SERVER['QUERY_STRING'] ) && '' !== $_SERVER['QUERY_STRING'] ? '?' . $_SERVER['QUERY_STRING'] : '';
			header( 'Location: ' . implode( '/', array_map( 'rawurlencode', explode( '/', $path ) ) ) . '/' . $query, true, 301 );
			exit;
		}
		if ( is_file( $root . $path . 'index.php' ) ) {
			$script = $path . 'index.php';
		} elseif ( is_file( $root . $path . 'index.html' ) ) {
			require __DIR__ . '/static-file.php';
			security_optimizer_sandbox_send_file( $root . $path . 'index.html' );
			exit;
		} elseif ( '/' !== $path ) {
			$fail( 403, 'Forbidden' );
		}
	} elseif ( '/' !== substr( $path, -1 ) && is_file( $root . $path ) ) {
		require __DIR__ . '/static-file.php';
		security_optimizer_sandbox_send_file( $root . $path );
		exit;
	}

	$_SERVER['SCRIPT_NAME']     = $script;
	$_SERVER['SCRIPT_FILENAME'] = $root . $script;
	$_SERVER['PHP_SELF']        = $script . $info;
	$_SERVER['SERVER_SOFTWARE'] = 'nginx/1.22.1';
	unset( $_SERVER['PATH_INFO'], $_SERVER['PATH_TRANSLATED'] );
	if ( '' !== $info ) {
		$_SERVER['PATH_INFO'] = $info;
	}
	chdir( dirname( $_SERVER['SCRIPT_FILENAME'] ) );
})();

// At the top level, because the variables of WordPress must be global.
require $_SERVER['SCRIPT_FILENAME'];
