<?php
/**
 * Escapes untrusted text for mails, terminals and spreadsheets.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Text_Escaper {

	/**
	 * Control characters, bidirectional controls (UAX #9), invisible characters, and long runs of combining marks.
	 * Guard's list (plain-text.ts) is the same. The invisible joiners of scripts and emoji are allowed.
	 */
	const UNSAFE = '/[\p{Cc}\x{ad}\x{61c}\x{115f}\x{1160}\x{180e}\x{200b}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{3164}\x{feff}\x{ffa0}\x{fff9}-\x{fffb}]|(?<=[\p{Mn}\p{Me}]{5})[\p{Mn}\p{Me}]/u';

	/** Characters that start a formula in a spreadsheet, also full-width ones. */
	const FORMULA = '/\A(?:[=+\-@\t\r\n]|\x{ff1d}|\x{ff0b}|\x{ff0d}|\x{ff20})/u';

	/**
	 * @param string $text Untrusted text.
	 * @return string One line, with unsafe characters escaped like `\u202e`.
	 */
	public static function to_line( $text ) {
		$line = preg_replace_callback( self::UNSAFE, array( __CLASS__, 'escape' ), $text );
		// Null means invalid UTF-8. Terminals may interpret single bytes as well.
		return null === $line ? preg_replace_callback( '/[^\x20-\x7e]/', array( __CLASS__, 'escape_byte' ), $text ) : $line;
	}

	/**
	 * @param string $text Untrusted text.
	 * @return string The text for a cell of a CSV file, with an apostrophe before a formula.
	 */
	public static function to_cell( $text ) {
		return ( preg_match( self::FORMULA, $text ) ? "'" : '' ) . self::to_line( $text );
	}

	/**
	 * @param string[] $found A character in UTF-8.
	 * @return string Its code units in UTF-16, escaped.
	 */
	private static function escape( array $found ) {
		return 1 === strlen( $found[0] ) ? self::escape_byte( $found ) : trim( (string) json_encode( $found[0] ), '"' );
	}

	/**
	 * @param string[] $found A byte.
	 * @return string
	 */
	private static function escape_byte( array $found ) {
		return sprintf( '\u%04x', ord( $found[0] ) );
	}
}
