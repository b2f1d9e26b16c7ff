<?php
/**
 * Tests the links of mails while the login has a custom URL: registered users get that URL, everybody else gets
 * WordPress's own, and links that a client entered are never changed.
 *
 * Run: php test/login-mails.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';
require __DIR__ . '/hidden-login-stub.php';
load_classes( 'Html_Mail', 'Login_Mails' );

add_account( 1, 'owner@shop.example', array( 'read', 'edit_posts', 'manage_options' ) );
add_account( 2, 'author@shop.example', array( 'read', 'edit_posts' ) );
add_account( 3, 'member@shop.example', array( 'read' ) );

const OUTSIDER = 'somebody@outside.example';
const PLAIN    = 'https://shop.example/wp-login.php';
const LOGIN    = 'https://shop.example/front-door';
const EDIT     = 'https://shop.example/wp-admin/post.php?post=5&action=edit';

/** @return string The message that is sent. */
function mailed( $to, $message, $headers = '' ) {
	$mail = array(
		'to'      => $to,
		'subject' => 'x',
		'message' => $message,
		'headers' => $headers,
	);
	return Security_Optimizer_Login_Mails::filter( $mail )['message'];
}
/** @return string Login URL that redirects to a URL. */
function via_login( $url, $login = LOGIN ) {
	return $login . '?redirect_to=' . rawurlencode( $url );
}

begin_request();
$admin_pages = array(
	'a page of a post'             => EDIT,
	'wp-admin itself'              => 'https://shop.example/wp-admin/',
	'wp-admin without a slash'     => 'https://shop.example/wp-admin',
	'a comment to approve'         => 'https://shop.example/wp-admin/comment.php?action=approve&c=2#wpbody-content',
	'the list of comments'         => 'https://shop.example/wp-admin/edit-comments.php?comment_status=moderated#wpbody-content',
	'the network of a single site' => 'https://shop.example/wp-admin/network/update-core.php',
	'other letters'                => 'https://shop.example/WP-Admin/profile.php',
);
foreach ( $admin_pages as $name => $url ) {
	check( "a member's mail leads over the custom address to $name", 'See ' . via_login( $url ) . ' now', mailed( 'member@shop.example', "See $url now" ) );
}
check( 'the login is asked for as the page was', via_login( 'http://SHOP.example/wp-admin/', 'http://SHOP.example/front-door' ), mailed( 'member@shop.example', 'http://SHOP.example/wp-admin/' ) );
$untouched = array(
	'a style'             => 'https://shop.example/wp-admin/css/login.css',
	'a picture'           => 'https://shop.example/wp-admin/images/logo.png?x=1',
	'an open script'      => 'https://shop.example/wp-admin/admin-ajax.php?action=x',
	'the other of these'  => 'https://shop.example/wp-admin/admin-post.php?action=unsubscribe',
	'another host'        => 'https://outside.example/wp-admin/post.php?post=5',
	'a host that begins'  => 'https://shop.example.test/wp-admin/',
	'a page of that name' => 'https://shop.example/docs/wp-admin/',
	'a name that begins'  => 'https://shop.example/wp-admin-guide/',
	'a page of the site'  => 'https://shop.example/hello/?p=1&q=2#more',
	'a visitor\'s login'  => PLAIN . '?action=postpass',
	'a confirmed request' => PLAIN . '?action=confirmaction&request_id=1&confirm_key=x',
);
foreach ( $untouched as $name => $url ) {
	check( "a member's mail has as it is: $name", "See $url now", mailed( 'member@shop.example', "See $url now" ) );
}
check( "a member's mail has the custom address in place of WordPress's", LOGIN . '?action=rp&key=k&login=member', mailed( 'member@shop.example', PLAIN . '?action=rp&key=k&login=member' ) );
check( 'and that of the registration', 'https://shop.example/join-us', mailed( 'member@shop.example', PLAIN . '?action=register' ) );
check( 'all links of a mail are looked at', LOGIN . ' ' . via_login( EDIT ) . ' ' . LOGIN, mailed( 'member@shop.example', PLAIN . ' ' . EDIT . ' ' . PLAIN ) );

$options['home']    = 'https://shop.example/blog';
$options['siteurl'] = 'https://shop.example/blog/core';
check(
	'a site in a folder has its login there, and wp-admin in the folder of WordPress',
	via_login( 'https://shop.example/blog/core/wp-admin/index.php', 'https://shop.example/blog/front-door' ),
	mailed( 'member@shop.example', 'https://shop.example/blog/core/wp-admin/index.php' )
);
check( 'the same name outside of it is nothing', 'https://shop.example/wp-admin/', mailed( 'member@shop.example', 'https://shop.example/wp-admin/' ) );

// Text and HTML.
begin_request();
$html = '<p>It\'s <a href="https://shop.example/wp-admin/post.php?post=5&amp;action=edit">here</a></p>';
check( 'a link in HTML goes on to what its entities mean', '<p>It\'s <a href="' . via_login( EDIT ) . '">here</a></p>', mailed( 'member@shop.example', $html ) );
foreach ( array( '&#038;', '&#38;', '&#x26;', '&AMP;' ) as $entity ) {
	check( "an ampersand may be written as $entity", via_login( EDIT ), mailed( 'member@shop.example', str_replace( '&', $entity, EDIT ) ) );
}
foreach ( array( '&quot;', '&#039;', '&gt;', '&lt;', '&nbsp;', '&rsquo;', '&#8217;', '&#x2019;', '"', "'", '<', '>', "\r\n", '.', ',', '!', '?', ':', ';', ').', '].', '}', '...' ) as $end ) {
	check( 'a link ends before ' . json_encode( $end ), 'See ' . via_login( EDIT ) . $end . ' now', mailed( 'member@shop.example', 'See ' . EDIT . $end . ' now' ) );
}
$bracketed = 'https://shop.example/wp-admin/edit.php?s=(x)&list[]=1';
check( 'brackets that begin in a link end in it', via_login( $bracketed ), mailed( 'member@shop.example', $bracketed ) );
check( 'and those around it do not', '(' . via_login( $bracketed ) . ')', mailed( 'member@shop.example', "($bracketed)" ) );
check( 'a link in angle brackets, as WordPress mails them', '<' . LOGIN . '?action=rp&key=k>', mailed( 'member@shop.example', '<' . PLAIN . '?action=rp&key=k>' ) );
check( 'a fragment stays with the login', LOGIN . '?x=1#top', mailed( 'member@shop.example', PLAIN . '?x=1#top' ) );
check(
	'a subject has the custom address, and no detour to wp-admin',
	'Go to ' . LOGIN . ' or ' . EDIT,
	Security_Optimizer_Login_Mails::filter(
		array(
			'to'      => 'member@shop.example',
			'subject' => 'Go to ' . PLAIN . ' or ' . EDIT,
			'message' => '',
		)
	)['subject']
);
check( 'a mail without a text stays one', array( 'to' => 'member@shop.example' ), Security_Optimizer_Login_Mails::filter( array( 'to' => 'member@shop.example' ) ) );
check( 'what is no text in its place is left alone', array( 'x' ), mailed( 'member@shop.example', array( 'x' ) ) );

// Recipients.
$to_members = array(
	'a member'                           => array( 'member@shop.example', '' ),
	'a user, in another case'            => array( 'Member@Shop.Example', '' ),
	'a member with a name'               => array( 'A Member <member@shop.example>', '' ),
	'the address of the administration'  => array( 'owner@shop.example', '' ),
	'several, in a list'                 => array( array( 'member@shop.example', 'author@shop.example' ), '' ),
	'several, with commas'               => array( 'member@shop.example, author@shop.example', '' ),
	'a member with another in copy'      => array( 'member@shop.example', 'Cc: author@shop.example' ),
	'an answer that goes to an outsider' => array( 'member@shop.example', array( 'Reply-To: ' . OUTSIDER, 'From: ' . OUTSIDER ) ),
);
foreach ( $to_members as $name => list( $to, $headers ) ) {
	check( "the custom address is mailed to $name", via_login( EDIT ) . ' ' . LOGIN, mailed( $to, EDIT . ' ' . PLAIN, $headers ) );
}
$options['admin_email'] = 'office@shop.example';
check( 'the administration need be no account', LOGIN, mailed( 'office@shop.example', PLAIN ) );
$to_others = array(
	'an outsider'                      => array( OUTSIDER, '' ),
	'a member and an outsider'         => array( array( 'member@shop.example', OUTSIDER ), '' ),
	'both with a comma between'        => array( 'member@shop.example,' . OUTSIDER, '' ),
	'a member with an outsider in Cc'  => array( 'member@shop.example', "X-A: b\r\nCC : <" . OUTSIDER . '>' ),
	'a member with an outsider in Bcc' => array( 'member@shop.example', array( 'bcc: author@shop.example, ' . OUTSIDER ) ),
	'an outsider named as a member'    => array( 'member@shop.example <' . OUTSIDER . '>', '' ),
	'nobody'                           => array( '', '' ),
);
foreach ( array(
	'a visitor'    => 0,
	'a subscriber' => 3,
	'the schedule' => 0,
) as $who => $id ) {
	begin_request();
	Security_Optimizer_Session_User::$user = $id;
	$doing_cron                            = 'the schedule' === $who;
	foreach ( $to_others as $name => list( $to, $headers ) ) {
		check( "a mail caused by $who to $name has no custom address in it", EDIT . ' ' . PLAIN, mailed( $to, EDIT . ' ' . PLAIN, $headers ) );
	}
}

// Other recipients, for mails built from text with the custom URL.
begin_request();
$doing_cron = true;
check( "a mail of the schedule to an outsider has WordPress's own in its place", PLAIN . '?action=rp&key=k', mailed( OUTSIDER, LOGIN . '?action=rp&key=k' ) );
check( 'and that of the registration', PLAIN . '?action=register&x=1', mailed( OUTSIDER, 'https://shop.example/join-us?x=1' ) );
check( 'and the page of wp-admin in place of the way to it', EDIT, mailed( OUTSIDER, via_login( EDIT ) ) );
check( 'a target on another host is no page of wp-admin', PLAIN . '?redirect_to=https%3A%2F%2Foutside.example%2Fwp-admin%2F', mailed( OUTSIDER, via_login( 'https://outside.example/wp-admin/' ) ) );
check( 'the custom address with a slash, in a sentence', 'Go to ' . PLAIN . '.', mailed( OUTSIDER, 'Go to ' . LOGIN . '/.' ) );
check( 'a page whose name begins like it stays', LOGIN . '-guide', mailed( OUTSIDER, LOGIN . '-guide' ) );
check( 'the same on another host stays', 'https://outside.example/front-door', mailed( OUTSIDER, 'https://outside.example/front-door' ) );

// Input of a client.
foreach ( array( '_POST', '_GET', '_COOKIE' ) as $from ) {
	begin_request();
	$GLOBALS[ $from ]['comment'] = array( 'text' => addslashes( 'Look: "' . EDIT . '" and ' . PLAIN ) );
	check( "what a visitor typed is never put to the custom address, by $from", EDIT . ' ' . PLAIN, mailed( 'member@shop.example', EDIT . ' ' . PLAIN ) );
	check( "but what WordPress writes beside it is, by $from", EDIT . ' ' . LOGIN . '?x=1', mailed( 'member@shop.example', EDIT . ' ' . PLAIN . '?x=1' ) );
}
begin_request();
$_POST['comment'] = EDIT;
check( 'nor is it where WordPress wrote it as HTML', str_replace( '&', '&amp;', EDIT ), mailed( 'member@shop.example', str_replace( '&', '&amp;', EDIT ) ) );
begin_request();
$_POST[ PLAIN ] = '1';
check( 'nor where it is the name of a field', PLAIN, mailed( 'member@shop.example', PLAIN ) );
begin_request();
$_SERVER['HTTP_USER_AGENT'] = PLAIN;
check( 'nor where it is a header', PLAIN, mailed( 'member@shop.example', PLAIN ) );
begin_request();
$_POST['comment'] = PLAIN;

Security_Optimizer_Session_User::$user = 3;
check( 'nor where a member typed it who does not work on the site', PLAIN, mailed( 'owner@shop.example', PLAIN ) );
Security_Optimizer_Session_User::$user = 2;
check( 'who works on the site knows the address', LOGIN, mailed( 'owner@shop.example', PLAIN ) );
begin_request( array( 'page' => 'login' ) );
$_POST['user_login'] = PLAIN;
check( 'who came by the custom address and is nobody yet has typed it all the same', PLAIN, mailed( 'owner@shop.example', PLAIN ) );
foreach ( array( 'the schedule', 'a command of guard', 'a request of the site to itself' ) as $who ) {
	begin_request();
	$_SERVER['HTTP_USER_AGENT'] = PLAIN;

	$doing_cron                                     = 'the schedule' === $who;
	Security_Optimizer_Commands::$received          = 'a command of guard' === $who;
	Security_Optimizer_Request_Gate::$through_guard = 'a request of the site to itself' !== $who;
	check( "nobody types in $who", LOGIN, mailed( 'owner@shop.example', PLAIN ) );
}
// A client sends many guesses and gets the text by mail: the correct guess must not differ from the wrong ones.
begin_request();
$_POST['message'] = LOGIN . ' ' . via_login( EDIT );
check( 'a right guess comes back to an outsider as it was typed', LOGIN . ' ' . via_login( EDIT ), mailed( OUTSIDER, LOGIN . ' ' . via_login( EDIT ) ) );
check( 'and to a member', LOGIN, mailed( 'member@shop.example', LOGIN ) );

// New email addresses, which belong to no account yet.
begin_request();
$hash         = md5( 'x' );
$user_meta[3] = array(
	'_new_email' => array(
		'hash'     => $hash,
		'newemail' => 'new@outside.example',
	),
);
$confirm      = "https://shop.example/wp-admin/profile.php?newuseremail=$hash";

Security_Optimizer_Session_User::$user = 3;
check( 'the mail that confirms a new address leads over the custom address', via_login( $confirm ), mailed( 'new@outside.example', $confirm ) );
check( 'in other letters, too', via_login( $confirm ), mailed( 'New@Outside.example', $confirm ) );
check( 'and its other links are plain', via_login( $confirm ) . ' ' . EDIT . ' ' . PLAIN, mailed( 'new@outside.example', $confirm . ' ' . EDIT . ' ' . PLAIN ) );
$no_proof = array(
	'an invented key'             => array( 'new@outside.example', str_replace( $hash, md5( 'y' ), $confirm ) ),
	'a key with more behind it'   => array( 'new@outside.example', $confirm . 'a' ),
	'half a key'                  => array( 'new@outside.example', substr( $confirm, 0, -4 ) ),
	'the key for another address' => array( OUTSIDER, $confirm ),
	'one more recipient'          => array( 'new@outside.example, ' . OUTSIDER, $confirm ),
	'another parameter\'s name'   => array( 'new@outside.example', str_replace( 'newuseremail', 'adminhash', $confirm ) ),
);
foreach ( $no_proof as $name => list( $to, $url ) ) {
	check( "nothing is proved by $name", $url, mailed( $to, $url ) );
}
foreach ( array( array( 'adminhash', 'options.php' ), array( 'network_admin_hash', 'network/settings.php' ) ) as list( $parameter, $page ) ) {
	$options[ $parameter ] = array(
		'hash'     => $hash,
		'newemail' => 'next@outside.example',
	);
	$url                   = "https://shop.example/wp-admin/$page?$parameter=$hash";
	check( "the new address of the administration is confirmed over the custom address: $parameter", via_login( $url ), mailed( 'next@outside.example', $url ) );
	check( "for nobody else: $parameter", $url, mailed( OUTSIDER, $url ) );
	$invented = str_replace( $hash, md5( 'y' ), $url );
	check( "an invented key is none: $parameter", $invented, mailed( 'next@outside.example', $invented ) );
}
$options['adminhash'] = 'not what WordPress stores';
check( 'a value of another kind proves nothing', str_replace( 'profile.php?newuseremail', 'options.php?adminhash', $confirm ), mailed( 'new@outside.example', str_replace( 'profile.php?newuseremail', 'options.php?adminhash', $confirm ) ) );

// Mails of guard as HTML and plain text.
begin_request();
check( 'the plain part of a mail has no other links than the HTML', 'See ' . EDIT, as_text( 'member@shop.example', 'See ' . EDIT ) );
add_filter( 'wp_mail', array( 'Security_Optimizer_Login_Mails', 'filter' ) );
check( 'nor while the login has an address of its own', 'See ' . via_login( EDIT ), as_text( 'member@shop.example', 'See ' . EDIT ) );
check( 'an outsider\'s has none of them', 'See ' . EDIT, as_text( OUTSIDER, 'See ' . EDIT ) );

/** @return string The plain text part of an HTML mail. */
function as_text( $to, $text ) {
	Security_Optimizer_Html_Mail::send( $to, 'x', '<p>x</p>', $text );
	$mailer = new stdClass();
	Security_Optimizer_Html_Mail::add_text( $mailer );
	return get_object_vars( $mailer )['AltBody'];
}
function wp_mail() {
	return true;
}
function add_action() {
}
function remove_action() {
}

// A network: sites in folders and with their own domains.
begin_request_in_network( 'garden.example' );
foreach (
	array(
		'the site\'s own'         => array( 'https://garden.example/wp-admin/', 'https://garden.example/front-door' ),
		'the main site\'s'        => array( 'https://main.example/wp-admin/', 'https://main.example/front-door' ),
		'that of one in a folder' => array( 'https://main.example/second/wp-admin/', 'https://main.example/second/front-door' ),
	) as $name => list( $url, $login )
) {
	check( "wp-admin by the login of its own site: $name", via_login( $url, $login ), mailed( 'member@shop.example', $url ) );
}
check( 'a site of another network is none of ours', 'https://elsewhere.example/wp-admin/', mailed( 'member@shop.example', 'https://elsewhere.example/wp-admin/' ) );
check( "a link to the network's login begins at the site that mails it", 'https://garden.example/front-door?action=rp&key=k', mailed( 'member@shop.example', 'https://main.example/wp-login.php?action=rp&key=k' ) );
check( 'the registration is the network\'s', 'https://main.example/join-us', mailed( 'member@shop.example', 'https://main.example/wp-signup.php' ) );
check( 'the address of the network\'s administration belongs to a user', 'https://garden.example/front-door', mailed( 'network@main.example', 'https://garden.example/wp-login.php' ) );
begin_request_in_network( 'main.example', '/second/' );
check( 'a site in a folder has the login in it', via_login( 'https://main.example/second/wp-admin/index.php', 'https://main.example/second/front-door' ), mailed( 'member@shop.example', 'https://main.example/second/wp-admin/index.php' ) );

// A shop: anybody may become a customer.
if ( ! function_exists( 'wc_get_page_id' ) ) {
	function wc_get_page_id() {
		return 9;
	}
	function wc_get_account_endpoint_url() {
		return 'https://shop.example/account/out/';
	}
}
begin_request();
check( 'who works in a shop gets an order\'s link over the custom address', via_login( EDIT ), mailed( 'author@shop.example', EDIT ) );
check( 'a customer gets no link to wp-admin over it', EDIT, mailed( 'member@shop.example', EDIT ) );
check( 'nor does who works there while a customer reads along', EDIT, mailed( 'author@shop.example, member@shop.example', EDIT ) );

finish_checks();
