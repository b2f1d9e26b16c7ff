<?php
/**
 * Whether an account belongs to the staff of the site, by its capabilities.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Staff {

	/**
	 * Words in the names of capabilities for changing the site or data of others. WordPress uses such names
	 * (`edit_posts`, `upload_files`, `list_users`), and so do plugins (`manage_woocommerce`, `edit_products`,
	 * `gravityforms_delete_entries`). `level_1` and above belong to roles that may write (WordPress 2.0).
	 */
	const WORDS = '/(?:\A|[_\-\s])(?:activate|add|admin|administer|administrate|administrator|approve|assign|configure|create|customi[sz]e|delete|edit|erase|export|import|install|instructor|level_(?:[1-9]|10)|list_users|manage|manager|moderate|moderator|promote|publish|remove|resume|setup|switch|unfiltered|update|upgrade|upload|write)(?:\z|[_\-\s])/';

	/**
	 * Capabilities of forum participants (bbPress, `bbp_get_caps_for_role`) for their own topics and replies.
	 */
	const FORUM_CAPABILITIES = array(
		'assign_topic_tags',
		'edit_replies',
		'edit_topics',
		'publish_replies',
		'publish_topics',
	);

	/**
	 * Capabilities that are also checked by has_cap(), because plugins may grant them for a single request (filter
	 * `user_has_cap`).
	 */
	const CHECKED = array( 'edit_posts', 'edit_pages', 'upload_files', 'moderate_comments', 'edit_users', 'manage_options', 'manage_woocommerce' );

	/**
	 * @param WP_User|false $user An account.
	 * @return bool Whether it belongs to the staff of this site, or is a super administrator of the network.
	 */
	public static function is_staff( $user ) {
		if ( ! $user instanceof WP_User || ! $user->exists() ) {
			return false;
		}
		$is_staff = self::has_staff_capability( $user->allcaps, $user->roles ) || ( is_multisite() && is_super_admin( $user->ID ) );
		foreach ( self::CHECKED as $capability ) {
			$is_staff = $is_staff || $user->has_cap( $capability );
		}
		/**
		 * Filters whether an account belongs to the staff, which can't change anything while Away Mode is active.
		 *
		 * @param bool    $is_staff Result from its capabilities.
		 * @param WP_User $user     The account.
		 */
		return (bool) apply_filters( 'security_optimizer_is_staff', $is_staff, $user );
	}

	/**
	 * Pure function. A capability without any of the words is one of ordinary users: membership, course and forum
	 * plugins add many of them (`access_level_gold`, `view_course`, `spectate`).
	 *
	 * @param array    $capabilities Capabilities, granted or not, by name, as in `WP_User::$allcaps`.
	 * @param string[] $roles        Names of the account's roles, which WordPress lists among its capabilities.
	 * @return bool Whether one of them allows changes of the site.
	 */
	public static function has_staff_capability( array $capabilities, array $roles ) {
		foreach ( array_keys( array_filter( $capabilities ) ) as $name ) {
			$name = strtolower( (string) $name );
			if ( in_array( $name, self::FORUM_CAPABILITIES, true ) || in_array( $name, array_map( 'strtolower', $roles ), true ) ) {
				continue;
			}
			if ( preg_match( self::WORDS, $name ) ) {
				return true;
			}
		}
		return false;
	}
}
