<?php
/**
 * Sends a file as a web server does, with type, length, validators and a single byte range (RFC 9110).
 */

function security_optimizer_sandbox_send_file( $file ) {
	if ( ! in_array( $_SERVER['REQUEST_METHOD'], array( 'GET', 'HEAD' ), true ) ) {
		http_response_code( 405 );
		header( 'Allow: GET, HEAD' );
		return;
	}
	$size     = filesize( $file );
	$modified = filemtime( $file );
	$etag     = sprintf( '"%x-%x"', $modified, $size );
	header( 'Last-Modified: ' . gmdate( 'D, d M Y H:i:s', $modified ) . ' GMT' );
	header( 'ETag: ' . $etag );
	header( 'Accept-Ranges: bytes' );
	if ( security_optimizer_sandbox_not_modified( $etag, $modified ) ) {
		http_response_code( 304 );
		header_remove( 'Content-Type' );
		return;
	}
	header( 'Content-Type: ' . security_optimizer_sandbox_type( $file ) );
	$from  = 0;
	$to    = $size - 1;
	$range = isset( $_SERVER['HTTP_RANGE'] ) ? $_SERVER['HTTP_RANGE'] : '';
	if ( isset( $_SERVER['HTTP_IF_RANGE'] ) && $_SERVER['HTTP_IF_RANGE'] !== $etag ) {
		$range = '';
	}
	if ( preg_match( '/^bytes=(\d*)-(\d*)$/', $range, $parts ) && '-' !== substr( $range, 6 ) ) {
		if ( '' === $parts[1] ) {
			$from = max( 0, $size - (int) $parts[2] );
		} else {
			$from = (int) $parts[1];
			$to   = '' === $parts[2] ? $to : min( $to, (int) $parts[2] );
		}
		if ( $from > $to ) {
			http_response_code( 416 );
			header( "Content-Range: bytes */$size" );
			return;
		}
		http_response_code( 206 );
		header( "Content-Range: bytes $from-$to/$size" );
	}
	header( 'Content-Length: ' . ( $to - $from + 1 ) );
	if ( 'HEAD' === $_SERVER['REQUEST_METHOD'] ) {
		return;
	}
	$handle = fopen( $file, 'rb' );
	fseek( $handle, $from );
	for ( $left = $to - $from + 1; $left > 0 && ! feof( $handle ) && ! connection_aborted(); ) {
		$chunk = fread( $handle, min( 65536, $left ) );
		$left -= strlen( $chunk );
		echo $chunk;
		flush();
	}
	fclose( $handle );
}

function security_optimizer_sandbox_not_modified( $etag, $modified ) {
	if ( isset( $_SERVER['HTTP_IF_NONE_MATCH'] ) ) {
		return in_array( $etag, array_map( 'trim', explode( ',', $_SERVER['HTTP_IF_NONE_MATCH'] ) ), true );
	}
	return isset( $_SERVER['HTTP_IF_MODIFIED_SINCE'] ) && strtotime( $_SERVER['HTTP_IF_MODIFIED_SINCE'] ) >= $modified;
}

function security_optimizer_sandbox_type( $file ) {
	static $types = null;
	if ( null === $types ) {
		$types = json_decode( file_get_contents( __DIR__ . '/media-types.json' ), true );
	}
	$ending = strtolower( pathinfo( $file, PATHINFO_EXTENSION ) );
	return isset( $types[ $ending ] ) ? $types[ $ending ] : 'application/octet-stream';
}
