<?php
/**
 * Files below a folder.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Files {

	/**
	 * @param string $path A folder, or a single file.
	 * @return string[] Sorted names below it with a leading slash; links are listed but not followed. For a file one
	 *                  empty name, so that path and name together always form the file's path.
	 */
	public static function list_below( $path ) {
		if ( ! is_dir( $path ) || is_link( $path ) ) {
			return file_exists( $path ) ? array( '' ) : array();
		}
		$names = array();
		$files = new RecursiveIteratorIterator( new RecursiveDirectoryIterator( $path, FilesystemIterator::SKIP_DOTS ) );
		foreach ( $files as $file ) {
			$name = substr( $file->getPathname(), strlen( $path ) );
			// Only on Windows a backslash is a separator.
			$names[] = '\\' === DIRECTORY_SEPARATOR ? str_replace( '\\', '/', $name ) : $name;
		}
		sort( $names );
		return $names;
	}

	/**
	 * @param string $path File or folder.
	 */
	public static function delete( $path ) {
		if ( is_dir( $path ) && ! is_link( $path ) ) {
			foreach ( new FilesystemIterator( $path ) as $entry ) {
				self::delete( $entry->getPathname() );
			}
			@rmdir( $path ); // phpcs:ignore WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions -- What can't go stays, out of the way.
		} elseif ( file_exists( $path ) || is_link( $path ) ) {
			@unlink( $path ); // phpcs:ignore WordPress.PHP.NoSilencedErrors.Discouraged, WordPress.WP.AlternativeFunctions
		}
	}
}
