<?php
/**
 * Commands `read-finding`, `remove-finding` and `restore-finding`: a file that the checkup has found.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Command_Finding_Files {

	/**
	 * @param array $body `check`, `path` and `state` of the file, and `offset`.
	 * @return array|string The response described in docs/developer/post-hack.md, or an error's code.
	 */
	public static function read( array $body ) {
		$file = Security_Optimizer_Finding_Files::from( $body );
		if ( null === $file || ! isset( $body['offset'] ) || ! is_int( $body['offset'] ) || $body['offset'] < 0 ) {
			return 'invalid_file';
		}
		$read = $file->read( $body['offset'] );
		return is_array( $read ) ? array( 'reason' => '' ) + $read : array( 'reason' => $read );
	}

	/**
	 * @param array $body `check`, `path` and `state` of the file.
	 * @return array|string The response described in docs/developer/post-hack.md, or an error's code.
	 */
	public static function remove( array $body ) {
		$file = Security_Optimizer_Finding_Files::from( $body );
		return null === $file ? 'invalid_file' : self::result( $file->remove() );
	}

	/**
	 * @param array $body `check`, `path` and `state` of the file, its `size`, `mode` and `at`, and a part of it:
	 *                    `offset` and `content` (base64).
	 * @return array|string The response described in docs/developer/post-hack.md, or an error's code.
	 */
	public static function restore( array $body ) {
		$file = Security_Optimizer_Finding_Files::from( $body );
		foreach ( array( 'offset', 'size', 'mode', 'at' ) as $field ) {
			if ( ! isset( $body[ $field ] ) || ! is_int( $body[ $field ] ) || $body[ $field ] < 0 ) {
				return 'invalid_file';
			}
		}
		$content = isset( $body['content'] ) && is_string( $body['content'] ) ? base64_decode( $body['content'], true ) : false;
		if ( null === $file || false === $content || $body['size'] > Security_Optimizer_Finding_Files::LARGEST ) {
			return 'invalid_file';
		}
		return self::result( $file->restore( $content, $body['offset'], $body ) );
	}

	private static function result( $reason ) {
		return 'not_stored' === $reason ? $reason : array( 'reason' => $reason );
	}
}
