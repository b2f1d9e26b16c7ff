<?php
/**
 * Protection `disable_file_edit`: nobody may use the theme and plugin editors, on their screens or by direct calls.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_File_Editors {

	/**
	 * Filter `map_meta_cap`.
	 *
	 * @param string[] $caps What a user needs.
	 * @param string   $cap  What a user wants to do.
	 * @return string[]
	 */
	public static function refuse( $caps, $cap ) {
		return in_array( $cap, array( 'edit_themes', 'edit_plugins', 'edit_files' ), true ) ? array( 'do_not_allow' ) : $caps;
	}
}
