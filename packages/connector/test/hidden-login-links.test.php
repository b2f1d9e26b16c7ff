<?php
/**
 * Tests links, redirects and forms for the login and wp-admin while the login has a custom URL, on a single site and in
 * networks whose sites have their own domains.
 *
 * Run: php test/hidden-login-links.test.php
 *
 * @package Security_Optimizer
 */
require __DIR__ . '/checks.php';
require __DIR__ . '/hidden-login-stub.php';
load_classes( 'Login_Forms' );

add_account( 1, 'owner@shop.example', array( 'read', 'edit_posts' ) );
add_account( 3, 'member@shop.example', array( 'read' ) );

/** @return string Target of the redirect of a request to the login; '' when it shows the form. */
function get_login_redirect( $redirect_to, array $more = array() ) {
	$_GET = array( 'redirect_to' => $redirect_to ) + $more;
	try {
		Security_Optimizer_Admin_Links::redirect_signed_in();
	} catch ( Redirected $redirect ) {
		return $redirect->getMessage();
	}
	return '';
}
/** @return string Target of a redirect; 'missing' when the request ends with a 404. */
function redirected( $location ) {
	try {
		return Security_Optimizer_Login_Url::filter_redirect( $location );
	} catch ( Found_Nothing $found ) {
		return 'missing';
	}
}
/** @return string Login URL that redirects to a URL. */
function via_login( $url, $login ) {
	return $login . '?redirect_to=' . rawurlencode( $url );
}
/** A user with a session requests the custom login URL. */
function begin_session_request() {
	begin_request( array( 'page' => 'login' ) );
	$_SERVER['REQUEST_METHOD'] = 'GET';

	Security_Optimizer_Session_User::$user = 3;
}

// A signed-in user is redirected immediately.
$page = 'https://shop.example/wp-admin/post.php?post=5&action=edit';
begin_session_request();
check( 'who is signed in is led from the login to the page of wp-admin', $page, get_login_redirect( $page ) );
check( 'also where it is told without the host', '/wp-admin/post.php?post=5', get_login_redirect( '/wp-admin/post.php?post=5' ) );
check( 'and by HEAD', $page, get_login_redirect( $page, array( 'x' => '1' ) ) );
$no_redirect = array(
	'a page of the site'              => 'https://shop.example/hello/',
	'another host'                    => 'https://outside.example/wp-admin/',
	'another host without its scheme' => '//outside.example/wp-admin/',
	'the login, which would go round' => 'https://shop.example/front-door',
	'WordPress\'s own login'          => 'https://shop.example/wp-login.php',
	'an open script'                  => '/wp-admin/admin-ajax.php?action=x',
	'a picture'                       => '/wp-admin/images/logo.png',
	'an address that is none'         => 'wp-admin/',
	'several'                         => array( '/wp-admin/' ),
	'nothing'                         => '',
);
foreach ( $no_redirect as $name => $target ) {
	check( "the form is shown for: $name", '', get_login_redirect( $target ) );
}
foreach ( array( 'reauth', 'interim-login', 'customize-login', 'loggedout', 'action', 'key', 'checkemail' ) as $parameter ) {
	check( "the form is shown where WordPress asks for it by $parameter", '', get_login_redirect( $page, array( $parameter => '1' ) ) );
}
$_SERVER['REQUEST_METHOD'] = 'POST';
check( 'a form that is sent is not led on', '', get_login_redirect( $page ) );
$_SERVER['REQUEST_METHOD']             = 'GET';
Security_Optimizer_Session_User::$user = 0;
check( 'nor is who has no session', '', get_login_redirect( $page ) );
foreach ( array( array(), array( 'page' => 'signup' ) ) as $context ) {
	begin_request( $context );
	$_SERVER['REQUEST_METHOD']             = 'GET';
	Security_Optimizer_Session_User::$user = 3;
	check( 'nor who came by another address: ' . json_encode( $context ), '', get_login_redirect( $page ) );
}

// Redirects on one site.
begin_request();
check( 'an anonymous visitor who would be sent to the login finds nothing', 'missing', redirected( 'https://shop.example/wp-login.php?redirect_to=x' ) );
check( 'who would be sent to a page gets there', 'https://shop.example/hello/', redirected( 'https://shop.example/hello/' ) );
check( 'a single site leads to wp-admin without a detour', $page, redirected( $page ) );
begin_session_request();
$options['home']      = 'https://www.shop.example';
$_SERVER['HTTP_HOST'] = 'www.shop.example';
check( 'also where WordPress has a host of its own', $page, redirected( $page ) );
begin_session_request();
check( 'a signed-in user is redirected to the custom URL', 'https://shop.example/front-door?loggedout=true', redirected( 'https://shop.example/wp-login.php?loggedout=true' ) );
begin_request( array( 'page' => 'signup' ) );
check( 'the registration leads to its own word about the mail', 'https://shop.example/join-us?checkemail=registered', redirected( 'https://shop.example/wp-login.php?checkemail=registered' ) );
check( 'and anywhere else to the home page', 'https://shop.example/', redirected( 'https://shop.example/wp-login.php' ) );

// Networks: each domain has its own session.
$garden = 'https://garden.example/front-door';
$ways   = array(
	'lost password'              => array( 'wp-login.php?action=lostpassword', '?action=lostpassword' ),
	'the link of its mail'       => array( 'wp-login.php?action=rp&key=k&login=kim', '?action=rp&key=k&login=kim' ),
	'the form of a new password' => array( 'wp-login.php?action=resetpass', '?action=resetpass' ),
	'"Log in" behind it'         => array( 'wp-login.php', '' ),
	'with a target'              => array( 'wp-login.php?redirect_to=%2Fx#top', '?redirect_to=%2Fx#top' ),
);
foreach ( $ways as $name => list( $path, $rest ) ) {
	begin_request_in_network( 'garden.example', '/', array( 'page' => 'login' ) );
	check( "stays at the domain where it began: $name", $garden . $rest, Security_Optimizer_Login_Url::filter_site_url( "https://main.example/$path", $path ) );
	check( "as a redirect, too: $name", $garden . $rest, redirected( "https://main.example/$path" ) );
	check( "and from the site's own: $name", $garden . $rest, Security_Optimizer_Login_Url::filter_site_url( "https://garden.example/$path", $path ) );
	begin_request_in_network( 'garden.example' );
	check( "anonymous visitors see WordPress's own: $name", "https://main.example/$path", Security_Optimizer_Login_Url::filter_site_url( "https://main.example/$path", $path ) );
	begin_request_in_network( 'main.example', '/second/', array( 'page' => 'login' ) );
	check( "is the network's for a site in a folder: $name", 'https://main.example/front-door' . $rest, Security_Optimizer_Login_Url::filter_site_url( "https://main.example/$path", $path ) );
}
begin_request_in_network( 'garden.example', '/', array( 'page' => 'login' ) );
check( 'the registration is at the main domain', 'https://main.example/join-us', Security_Optimizer_Login_Url::filter_site_url( 'https://main.example/wp-signup.php', 'wp-signup.php' ) );
check( 'a login of another network is none of ours', 'https://elsewhere.example/wp-login.php', redirected( 'https://elsewhere.example/wp-login.php' ) );
check( 'a protected post stays at its address', 'https://main.example/wp-login.php?action=postpass', Security_Optimizer_Login_Url::to_slug( 'https://main.example/wp-login.php?action=postpass' ) );

$away = 'https://garden.example/wp-admin/';
begin_request_in_network( 'main.example', '/', array( 'page' => 'login' ) );
check( 'the login of the main site leads to wp-admin of another domain by the login there', via_login( $away, $garden ), redirected( $away ) );
check( 'and to its own wp-admin at once', 'https://main.example/wp-admin/', redirected( 'https://main.example/wp-admin/' ) );
check( 'and to a folder\'s at once', 'https://main.example/second/wp-admin/', redirected( 'https://main.example/second/wp-admin/' ) );
check( 'and to a page of another domain at once', 'https://garden.example/hello/', redirected( 'https://garden.example/hello/' ) );
check( 'and to a host that is none of the network\'s', 'https://outside.example/wp-admin/', redirected( 'https://outside.example/wp-admin/' ) );
begin_request_in_network( 'main.example' );
check( 'an anonymous visitor is not told the way', $away, redirected( $away ) );
$did['wp_login'] = 1;
check( 'who has just logged in by a form of a plugin is', via_login( $away, $garden ), redirected( $away ) );

begin_request_in_network( 'main.example' );
check( 'anonymous visitors see WordPress\'s own links', $away, Security_Optimizer_Admin_Links::filter_url( $away ) );
Security_Optimizer_Session_User::$user = 3;
check( 'links of signed-in users to other domains go through the login there', via_login( $away, $garden ), Security_Optimizer_Admin_Links::filter_url( $away ) );
check( 'links to the same domain do not', 'https://main.example/wp-admin/', Security_Optimizer_Admin_Links::filter_url( 'https://main.example/wp-admin/' ) );
check( 'nor those to an open script', 'https://garden.example/wp-admin/admin-ajax.php', Security_Optimizer_Admin_Links::filter_url( 'https://garden.example/wp-admin/admin-ajax.php' ) );
check( 'nor those to a style', 'https://garden.example/wp-admin/css/x.css', Security_Optimizer_Admin_Links::filter_url( 'https://garden.example/wp-admin/css/x.css' ) );
$options['security_optimizer_policy']['login_url_login'] = '';
check( 'nor any while the login is at its usual address', $away, Security_Optimizer_Admin_Links::filter_url( $away ) );
check( 'what is no address stays what it is', null, Security_Optimizer_Admin_Links::filter_url( null ) );

// Sub-domains with cookies of the network: a session is valid at all of them, and at no other domain.
define( 'COOKIE_DOMAIN', '.main.example' );
$kitchen = 'https://kitchen.main.example/wp-admin/';
begin_request_in_network( 'main.example', '/', array( 'page' => 'login' ) );
check( 'where a session holds at a sub-domain, there is no detour to it', $kitchen, redirected( $kitchen ) );
check( 'to another domain there is', via_login( $away, $garden ), redirected( $away ) );
begin_request_in_network( 'garden.example', '/', array( 'page' => 'login' ) );
check( 'who has a session elsewhere has none of these cookies', via_login( $kitchen, 'https://kitchen.main.example/front-door' ), redirected( $kitchen ) );
$_SERVER['HTTP_HOST'] = 'kitchen.main.example:8080';
check( 'ports are none of the cookies\' concern', 'https://main.example:8443/wp-admin/', Security_Optimizer_Admin_Links::get_reachable_url( 'https://main.example:8443/wp-admin/' ) );

// Login forms on public pages.
$form = static function ( $action, $fields ) {
	return "<form method=\"post\" action=\"$action\">$fields<button>Go</button></form>";
};

$log     = '<input type="text" name="log"><input type=password name=pwd>';
$removed = array(
	'the form of a plugin'             => $form( 'https://shop.example/wp-login.php', $log ),
	'without the host'                 => $form( '/wp-login.php', $log ),
	'to the custom address'            => $form( '/front-door', $log ),
	'with an address in entities'      => $form( '/wp-login.php?a=1&#038;b=2', $log ),
	'with single quotes'               => str_replace( '"', "'", $form( '/wp-login.php', $log ) ),
	'without quotes'                   => '<FORM action=/wp-login.php>' . $log . '</FORM>',
	'a lost password'                  => $form( '/wp-login.php?action=lostpassword', '<input name="user_login">' ),
	'the registration'                 => $form( '/wp-login.php?action=register', '<input name="user_login"><input name="user_email">' ),
	'the registration of a network'    => $form( '/wp-signup.php', "<input name='user_login' value=''/>" ),
	'a form with scripts and comments' => $form( '/wp-login.php', "<!-- x -->\n<script>1</script>$log" ),
);
$kept    = array(
	'a protected post'              => $form( 'https://shop.example/wp-login.php?action=postpass', '<input name="post_password">' ),
	'a protected post with a login' => $form( '/wp-login.php?action=postpass', $log ),
	'a form of a shop'              => $form( '/account/', $log ),
	'a form that posts to its page' => '<form method="post">' . $log . '</form>',
	'a form with an empty address'  => $form( '', $log ),
	'a form that a script sends'    => $form( '/wp-login.php', '<input name="username"><input name="password">' ),
	'a script\'s form by its data'  => '<form data-action="/wp-login.php" action="#">' . $log . '</form>',
	'a search'                      => $form( '/', '<input name="s">' ),
	'a form of another host'        => $form( 'https://outside.example/wp-login.php', $log ),
	'a form to an open script'      => $form( '/wp-admin/admin-ajax.php', $log ),
	'a form to an open page'        => $form( '/join/', '<input name="user_login">' ),
	'a form that does not end'      => '<form action="/wp-login.php">' . $log,
);
foreach ( $removed as $name => $html ) {
	begin_request();
	check( "an anonymous visitor does not get: $name", '<p>a</p><p>b</p>', Security_Optimizer_Login_Forms::remove( "<p>a</p>$html<p>b</p>" ) );
	Security_Optimizer_Session_User::$user = 3;
	check( "signed-in users do: $name", "<p>a</p>$html<p>b</p>", Security_Optimizer_Login_Forms::remove( "<p>a</p>$html<p>b</p>" ) );
}
begin_request();
foreach ( $kept as $name => $html ) {
	check( "everybody gets: $name", "<p>a</p>$html<p>b</p>", Security_Optimizer_Login_Forms::remove( "<p>a</p>$html<p>b</p>" ) );
}
check( 'only the login is taken from among others', $kept['a search'] . $kept['a form of a shop'], Security_Optimizer_Login_Forms::remove( $kept['a search'] . $removed['without the host'] . $kept['a form of a shop'] ) );
check( 'a long page is looked through to its end', true, strlen( Security_Optimizer_Login_Forms::remove( str_repeat( '<form>x</form>', 20000 ) . $form( '/wp-login.php', str_repeat( 'x', 2000000 ) . $log ) ) ) === 20000 * 14 );
check( 'what is no text stays what it is', null, Security_Optimizer_Login_Forms::remove( null ) );

begin_request();
$made = '<form id="loginform" action="https://shop.example/wp-login.php">' . Security_Optimizer_Login_Forms::mark( '' ) . 'fields</form>';
check( 'wp_login_form() is taken out by its mark, whatever its fields are', '<p></p>', Security_Optimizer_Login_Forms::remove( "<p>$made</p>" ) );
check( 'of a form that was taken apart the mark goes', '<div>fields</div>', Security_Optimizer_Login_Forms::remove( '<div>' . Security_Optimizer_Login_Forms::MARK . 'fields</div>' ) );
check( 'a block without its link is none', '', Security_Optimizer_Login_Forms::remove_empty_block( '<div class="logged-out wp-block-loginout"></div>' ) );
check( 'nor is one whose form is taken out', '', Security_Optimizer_Login_Forms::remove_empty_block( "<div>$made</div>" ) );
check( 'one with words stays', '<div>Hello</div>', Security_Optimizer_Login_Forms::remove_empty_block( '<div>Hello</div>' ) );
Security_Optimizer_Session_User::$user = 3;
check( 'signed-in users keep theirs', '<div></div>', Security_Optimizer_Login_Forms::remove_empty_block( '<div></div>' ) );
check( 'and their forms have no mark', '', Security_Optimizer_Login_Forms::mark( '' ) );

// Links to the login.
begin_request();
$reply = '<a rel="nofollow" class="comment-reply-login" href="https://shop.example/wp-login.php?redirect_to=x">Log in to Reply</a>';
check( '"Log in to reply" is left out', '', Security_Optimizer_Login_Url::filter_link( $reply ) );
check( 'also in a tag of its own', '', Security_Optimizer_Login_Url::filter_link( "<div class=\"reply\">$reply</div>" ) );
check( '"Reply" stays', '<a href="#respond">Reply</a>', Security_Optimizer_Login_Url::filter_link( '<a href="#respond">Reply</a>' ) );
check(
	'the comment form says that one must log in, without a link',
	array( 'must_log_in' => '<p>You must be logged in to comment.</p>' ),
	Security_Optimizer_Login_Forms::unlink_in_comment_form( array( 'must_log_in' => '<p>You must be <a href="/wp-login.php?redirect_to=x">logged in</a> to comment.</p>' ) )
);
check( 'a comment form without that word stays', array( 'x' => 1 ), Security_Optimizer_Login_Forms::unlink_in_comment_form( array( 'x' => 1 ) ) );
check( '"Register" to a hidden page is left out', '', Security_Optimizer_Login_Url::filter_link( '<li><a href="/wp-login.php?action=register">Register</a></li>' ) );
check( '"Register" to an open page stays', '<li><a href="/join/">Register</a></li>', Security_Optimizer_Login_Url::filter_link( '<li><a href="/join/">Register</a></li>' ) );
check( 'of several links the open ones stay', '<a href="/join/">Join</a> | ', Security_Optimizer_Login_Url::filter_link( '<a href="/join/">Join</a> | <a href="/front-door">In</a>' ) );
Security_Optimizer_Session_User::$user = 3;
check( 'signed-in users have all links', $reply, Security_Optimizer_Login_Url::filter_link( $reply ) );

finish_checks();
