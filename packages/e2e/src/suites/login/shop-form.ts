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

/** That form, filled in. */
export function shopForm(login: string, password: string): TypedRequest {
  return form('/', new URLSearchParams({ shop_login: login, shop_password: password }).toString());
}
