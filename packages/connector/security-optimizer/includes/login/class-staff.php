<?php
/**
 * Who works on the site, and who only uses it: decided by what an account may do.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Staff {

	/**
	 * Words in the name of a capability by which somebody changes the site or other people's things. WordPress names its
	 * own so (`edit_posts`, `upload_files`, `list_users`), and so do plugins (`manage_woocommerce`, `edit_products`,
	 * `gravityforms_delete_entries`). `level_1` and above are of roles that may write (WordPress 2.0).
	 */
	const WORDS = '/(?:\A|[_\-\s])(?:activate|add|admin|administer|administrate|administrator|approve|assign|configure|create|customi[sz]e|delete|edit|erase|export|import|install|instructor|level_(?:[1-9]|10)|list_users|manage|manager|moderate|moderator|promote|publish|remove|resume|setup|switch|unfiltered|update|upgrade|upload|write)(?:\z|[_\-\s])/';

	/**
	 * What participants of a forum have (bbPress, `bbp_get_caps_for_role`): each for their own topics and replies.
	 */
	const FORUM_CAPABILITIES = array(
		'assign_topic_tags',
		'edit_replies',
		'edit_topics',
		'publish_replies',
		'publish_topics',
	);

	/**
	 * Asked of WordPress itself, since plugins may grant them for one request alone (filter `user_has_cap`).
	 */
	const CHECKED = array( 'edit_posts', 'edit_pages', 'upload_files', 'moderate_comments', 'edit_users', 'manage_options', 'manage_woocommerce' );

	/**
	 * @param WP_User|false $user An account.
	 * @return bool Whether it is one of those who work on the site, here or as super administrator of the network.
	 */
	public static function is_staff( $user ) {
		if ( ! $user instanceof WP_User || ! $user->exists() ) {
			return false;
		}
		$is_staff = self::works_on_site( $user->allcaps, $user->roles ) || ( is_multisite() && is_super_admin( $user->ID ) );
		foreach ( self::CHECKED as $capability ) {
			$is_staff = $is_staff || $user->has_cap( $capability );
		}
		/**
		 * Whether an account is one of those who work on the site, and change nothing while Away Mode is on.
		 *
		 * @param bool    $is_staff What its capabilities say.
		 * @param WP_User $user     The account.
		 */
		return (bool) apply_filters( 'security_optimizer_is_staff', $is_staff, $user );
	}

	/**
	 * Pure. A capability whose name holds none of the words counts as one of members: sites with paid contents, courses
	 * and forums give them many of their own (`access_level_gold`, `view_course`, `spectate`).
	 *
	 * @param array    $capabilities Granted or not, by name, as in `WP_User::$allcaps`.
	 * @param string[] $roles        Names of the account's roles, which WordPress lists among its capabilities.
	 * @return bool Whether one of them is for changing the site.
	 */
	public static function works_on_site( array $capabilities, array $roles ) {
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
