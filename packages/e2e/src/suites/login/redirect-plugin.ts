/** Hosts that the site allows redirects to. The last one is an address of this machine. */
export const ALLOWED = { shop: 'shop.other.test', app: 'app.example.test', near: '127.0.86.9' } as const;
/** Hosts that the site does not allow. */
export const UNLISTED = { school: 'academy.example', sso: 'login.example' } as const;

/**
 * Typical behaviour of plugins around a login: they change its target, log in with links and scripts, and switch
 * accounts.
 */
export const PLUGIN = `<?php
add_filter( 'allowed_redirect_hosts', function ( $hosts ) {
  return array_merge( $hosts, array( '${Object.values(ALLOWED).join("', '")}' ) );
} );
add_filter( 'allowed_http_origins', function ( $origins ) {
  $origins[] = 'https://${ALLOWED.app}';
  return $origins;
} );
// Membership sites.
add_filter( 'login_redirect', function ( $to, $wanted, $user ) {
  if ( ! $user instanceof WP_User ) { return $to; }
  if ( false !== strpos( $wanted, 'filtered-away' ) ) { return 'http://${ALLOWED.app}/first/?then=' . rawurlencode( $wanted ); }
  return false !== strpos( $wanted, 'filtered' ) ? home_url( '/sample-page/?filtered=1' ) : $to;
}, 10, 3 );
// Schools, which redirect away after the login.
add_action( 'wp_login', function () {
  if ( isset( $_REQUEST['redirect_to'] ) && false !== strpos( $_REQUEST['redirect_to'], 'school' ) ) {
    wp_redirect( 'https://${UNLISTED.school}/course/1/?unit=2' );
    exit;
  }
} );
add_action( 'init', function () {
  // Links that log in, and single sign-on.
  if ( isset( $_GET['link'] ) && ! is_user_logged_in() ) {
    $user = get_user_by( 'login', $_GET['who'] );
    wp_set_auth_cookie( $user->ID );
    do_action( 'wp_login', $user->user_login, $user );
    $to = array(
      'page' => home_url( '/sample-page/?welcome=1' ),
      'sso'  => 'https://${UNLISTED.sso}:8443/callback?state=a%2Fb&code=1#done',
      'app'  => 'com.example.shop://signed-in?state=1',
    );
    if ( isset( $to[ $_GET['link'] ] ) ) {
      wp_redirect( $to[ $_GET['link'] ] );
      exit;
    }
  }
  // A form with a target of its own.
  if ( isset( $_POST['members_login'] ) ) {
    $user = wp_signon( array( 'user_login' => $_POST['members_login'], 'user_password' => $_POST['members_password'] ) );
    is_wp_error( $user ) ? wp_die( 'Not logged in' ) : wp_safe_redirect( home_url( '/members/' ) );
    exit;
  }
  // Switching accounts, by a plugin without a capability check.
  if ( isset( $_GET['act_as'] ) ) {
    wp_set_auth_cookie( get_user_by( 'login', $_GET['act_as'] )->ID );
    wp_safe_redirect( admin_url( 'profile.php' ) );
    exit;
  }
  // A window that logs in, as the Customizer opens one.
  if ( isset( $_GET['login_window'] ) ) {
    exit( '<!doctype html><title>waits</title><iframe src="/wp-login.php?interim-login=1&amp;customize-login=1" width="600" height="800"></iframe>
      <script>addEventListener("message", function (event) { document.title = event.origin + " " + event.data; });</script>' );
  }
} );
add_filter( 'security_optimizer_login_target', function ( $target ) {
  return isset( $_POST['tells_target'] ) ? home_url( '/members/' ) : $target;
} );
// Windows of pages that log in by script.
add_action( 'wp_ajax_nopriv_popup_login', function () {
  $user = wp_signon( array( 'user_login' => $_POST['u'], 'user_password' => $_POST['p'] ) );
  is_wp_error( $user ) ? wp_send_json_error( array( 'message' => $user->get_error_message() ) ) : wp_send_json_success();
} );
add_action( 'rest_api_init', function () {
  register_rest_route( 'popup/v1', '/login', array(
    'methods'             => 'POST',
    'permission_callback' => '__return_true',
    'callback'            => function ( $request ) {
      $user = wp_signon( array( 'user_login' => $request['u'], 'user_password' => $request['p'] ) );
      return is_wp_error( $user ) ? $user : array( 'welcome' => $user->user_login );
    },
  ) );
} );
`;
