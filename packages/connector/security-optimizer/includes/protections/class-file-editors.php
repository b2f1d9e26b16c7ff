<?php
/**
 * Protection `disable_file_edit`: disables the theme and plugin editors, their screens and their direct requests.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_File_Editors {

	/**
	 * Filter `map_meta_cap`.
	 *
	 * @param string[] $caps Required capabilities.
	 * @param string   $cap  Requested capability.
	 * @return string[]
	 */
	public static function refuse( $caps, $cap ) {
		return in_array( $cap, array( 'edit_themes', 'edit_plugins', 'edit_files' ), true ) ? array( 'do_not_allow' ) : $caps;
	}
}
