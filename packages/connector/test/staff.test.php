<?php
/**
 * Tests which accounts belong to the staff, by the capabilities of roles in WordPress 6.8, WooCommerce 10 and bbPress
 * 2.6.
 *
 * Run: php test/staff.test.php
 *
 * @package Security_Optimizer
 */

require __DIR__ . '/checks.php';

define( 'ABSPATH', __DIR__ . '/' );
load_classes( 'Staff' );

function is_of_staff( $role, array $names ) {
	return Security_Optimizer_Staff::has_staff_capability( array_fill_keys( array_merge( $names, array( $role ) ), true ), array( $role ) );
}

$ordinary_roles = array(
	'subscriber'      => array( 'read', 'level_0' ),
	'customer'        => array( 'read' ),
	'bbp_participant' => array( 'spectate', 'participate', 'read_private_forums', 'publish_topics', 'edit_topics', 'publish_replies', 'edit_replies', 'assign_topic_tags' ),
	'bbp_spectator'   => array( 'spectate' ),
	'student'         => array( 'read', 'view_course', 'access_courses', 'take_quiz' ),
	'gold_member'     => array( 'read', 'access_s2member_level0', 's2member_level4', 'access_level_gold' ),
	'account_manager' => array( 'read' ),
	'level_1'         => array( 'read' ),
);
foreach ( $ordinary_roles as $role => $names ) {
	check( "a $role is not staff", false, is_of_staff( $role, $names ) );
}
check( 'an account without a role is not staff', false, Security_Optimizer_Staff::has_staff_capability( array(), array() ) );

$staff = array(
	'contributor'   => array( 'read', 'level_0', 'level_1', 'edit_posts', 'delete_posts' ),
	'author'        => array( 'read', 'upload_files', 'publish_posts' ),
	'editor'        => array( 'read', 'moderate_comments', 'manage_categories', 'edit_others_posts', 'unfiltered_html' ),
	'administrator' => array( 'read', 'manage_options', 'list_users', 'switch_themes', 'import' ),
	'shop_manager'  => array( 'read', 'manage_woocommerce', 'edit_shop_orders', 'edit_products' ),
	'bbp_moderator' => array( 'spectate', 'participate', 'publish_topics', 'edit_others_topics', 'moderate' ),
	'bbp_keymaster' => array( 'spectate', 'keep_gate', 'create_forums' ),
	'tutor'         => array( 'read', 'tutor_instructor' ),
	'photographer'  => array( 'read', 'upload_files' ),
	'form_clerk'    => array( 'read', 'gravityforms_edit_entries' ),
	'user_clerk'    => array( 'read', 'list_users' ),
	'translator'    => array( 'read', 'Manage-Translations' ),
);
foreach ( $staff as $role => $names ) {
	check( "a $role works on the site", true, is_of_staff( $role, $names ) );
}
// Each capability of WordPress's roles above Subscriber is sufficient for the staff (wp-admin/includes/schema.php).
foreach ( explode( ' ', 'switch_themes edit_themes activate_plugins edit_plugins edit_users edit_files manage_options moderate_comments manage_categories manage_links upload_files import unfiltered_html edit_posts edit_others_posts edit_published_posts publish_posts edit_pages level_10 level_9 level_8 level_7 level_6 level_5 level_4 level_3 level_2 level_1 edit_others_pages edit_published_pages publish_pages delete_pages delete_others_pages delete_published_pages delete_posts delete_others_posts delete_published_posts delete_private_posts edit_private_posts delete_private_pages edit_private_pages delete_users create_users unfiltered_upload edit_dashboard update_plugins delete_plugins install_plugins update_themes install_themes update_core list_users remove_users promote_users edit_theme_options delete_themes export customize manage_network manage_sites' ) as $name ) {
	check( "who has only $name works on the site", true, Security_Optimizer_Staff::has_staff_capability( array_fill_keys( array( 'read', $name ), true ), array() ) );
}
check(
	'a capability that is denied counts for nothing',
	false,
	Security_Optimizer_Staff::has_staff_capability(
		array(
			'read'       => true,
			'edit_posts' => false,
		),
		array( 'subscriber' )
	)
);
check(
	'a capability that was given to the account itself counts, also with an ordinary role',
	true,
	Security_Optimizer_Staff::has_staff_capability(
		array(
			'read'           => true,
			'customer'       => true,
			'manage_options' => true,
		),
		array( 'customer' )
	)
);
check( 'numbers among the names break nothing', false, Security_Optimizer_Staff::has_staff_capability( array( 7 => true ), array() ) );

/** Stubs of WordPress. */
$network = false;
$decides = null;
class WP_User {
	public $ID;
	public $allcaps;
	public $roles;
	private $for_now;

	public function __construct( $id, array $names, array $roles, array $for_now = array() ) {
		$this->ID      = $id;
		$this->allcaps = array_fill_keys( $names, true );
		$this->roles   = $roles;
		$this->for_now = $for_now;
	}

	public function exists() {
		return $this->ID > 0;
	}

	public function has_cap( $name ) {
		return isset( $this->allcaps[ $name ] ) || in_array( $name, $this->for_now, true );
	}
}
function is_multisite() {
	return $GLOBALS['network'];
}
function is_super_admin( $id ) {
	return 1 === $id;
}
function apply_filters( $name, $value, $user ) {
	return 'security_optimizer_is_staff' === $name && null !== $GLOBALS['decides'] ? $GLOBALS['decides']( $value, $user ) : $value;
}

$subscriber = new WP_User( 2, array( 'read', 'subscriber' ), array( 'subscriber' ) );
check( 'an anonymous client is not staff', false, Security_Optimizer_Staff::is_staff( new WP_User( 0, array( 'edit_posts' ), array() ) ) );
check( 'what is no user is none either', false, Security_Optimizer_Staff::is_staff( false ) );
check( 'a subscriber is none', false, Security_Optimizer_Staff::is_staff( $subscriber ) );

$granted = new WP_User( 3, array( 'read' ), array( 'subscriber' ), array( 'edit_posts' ) );
check( 'a capability that a plugin grants for one request counts', true, Security_Optimizer_Staff::is_staff( $granted ) );

$super = new WP_User( 1, array( 'read' ), array() );
check( 'the id of a super administrator means nothing without a network', false, Security_Optimizer_Staff::is_staff( $super ) );
$network = true;
check( 'a super administrator works on every site of the network', true, Security_Optimizer_Staff::is_staff( $super ) );
check( 'a subscriber of a site of the network does not', false, Security_Optimizer_Staff::is_staff( $subscriber ) );

$decides = static function ( $is_staff, $user ) {
	return 2 === $user->ID ? true : $is_staff;
};
check( 'a site decides on its own roles by a filter', true, Security_Optimizer_Staff::is_staff( $subscriber ) );

finish_checks();
