import { form, type TypedRequest } from '../../http/request.js';

/**
 * PHP for a must-use plugin: application passwords without HTTPS, and a form that logs in by itself, as those of shops
 * and membership sites do. It answers in words whether it did.
 */
export const SHOP_PLUGIN = `add_filter( 'wp_is_application_passwords_available', '__return_true' );
add_action( 'wp_loaded', function () {
  if ( isset( $_POST['shop_login'], $_POST['shop_password'] ) ) {
    $user = wp_signon( array( 'user_login' => $_POST['shop_login'], 'user_password' => $_POST['shop_password'] ) );
    exit( is_wp_error( $user ) ? 'Not logged in' : 'Logged in' );
  }
} );
`;

/** PHP for a must-use plugin: what plugins for basic authentication do, without application passwords. */
export const BASIC_AUTHENTICATION = `add_filter( 'determine_current_user', function ( $user ) {
  global $basic_fault;
  if ( $user || ! isset( $_SERVER['PHP_AUTH_USER'] ) || strlen( $_SERVER['PHP_AUTH_PW'] ) > 23 ) { return $user; }
  remove_filter( 'determine_current_user', __FUNCTION__ );
  $found = wp_authenticate( $_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW'] );
  $basic_fault = is_wp_error( $found ) ? $found : null;
  return is_wp_error( $found ) ? $user : $found->ID;
}, 15 );
add_filter( 'rest_authentication_errors', function ( $errors ) { global $basic_fault; return $basic_fault ?? $errors; }, 5 );
`;

/** That form, filled in. */
export function shopForm(login: string, password: string): TypedRequest {
  return form('/', new URLSearchParams({ shop_login: login, shop_password: password }).toString());
}
