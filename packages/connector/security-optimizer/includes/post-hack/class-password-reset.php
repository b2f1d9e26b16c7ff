<?php
/**
 * Forced password reset: the old password of every user becomes invalid.
 *
 * The reset stores the current password hash of each user. A password that matches it is refused wherever passwords are
 * checked, whether it is still the stored one or was chosen again. So one statement applies to all users and to every
 * route.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Password_Reset {

	/** User meta: the hash of the invalid password. */
	const OLD = 'security_optimizer_old_password';

	/** Option: when the reset was forced, Unix seconds. */
	const SINCE = 'security_optimizer_reset_at';

	/** @var bool Whether a password is being compared with an old one, which is not a login. */
	private static $comparing = false;

	/**
	 * @return bool Whether a password is being compared with an old one, which is not a login.
	 */
	public static function is_comparing() {
		return self::$comparing;
	}

	/**
	 * Invalidates all current passwords and all links that were sent to set a new one.
	 *
	 * @param int $now Unix seconds.
	 * @return bool False when the database did not store everything. The call can be repeated.
	 */
	public static function begin( $now ) {
		$is_stored = self::mark_passwords() && self::invalidate_links() && Security_Optimizer_Database_Retry::run(
			static function () use ( $now ) {
				return update_site_option( self::SINCE, $now ) || (int) get_site_option( self::SINCE, 0 ) === $now;
			}
		);
		wp_cache_flush();
		return $is_stored;
	}

	/**
	 * @return bool Whether exactly the current password of each user is marked as invalid.
	 */
	private static function mark_passwords() {
		global $wpdb;
		// New marks are added before old ones are deleted, so that users who have not chosen a new password since the
		// last reset never lose their mark.
		$last    = 0;
		$is_read = Security_Optimizer_Database_Retry::run(
			static function () use ( $wpdb, &$last ) {
				$last = (int) $wpdb->get_var( $wpdb->prepare( "SELECT MAX(umeta_id) FROM $wpdb->usermeta WHERE meta_key = %s", self::OLD ) );
				return '' === $wpdb->last_error;
			}
		);
		return $is_read
			&& Security_Optimizer_Database_Retry::query( $wpdb->prepare( "INSERT INTO $wpdb->usermeta (user_id, meta_key, meta_value) SELECT ID, %s, user_pass FROM $wpdb->users", self::OLD ) )
			&& Security_Optimizer_Database_Retry::query( $wpdb->prepare( "DELETE FROM $wpdb->usermeta WHERE meta_key = %s AND umeta_id <= %d", self::OLD, $last ) );
	}

	/**
	 * @return bool Whether all links to set a password or to confirm a new email address are invalid.
	 */
	private static function invalidate_links() {
		global $wpdb;
		return Security_Optimizer_Database_Retry::query( "UPDATE $wpdb->users SET user_activation_key = '' WHERE user_activation_key <> ''" )
			&& Security_Optimizer_Database_Retry::delete_user_meta( '_new_email' );
	}

	/**
	 * @return bool Whether a reset was ever forced. Costs a query, because most sites do not have the option.
	 */
	private static function was_forced() {
		return (int) get_site_option( self::SINCE, 0 ) > 0;
	}

	/**
	 * @param WP_User $user A user.
	 * @return bool Whether this user has not chosen a new password yet.
	 */
	public static function is_due( $user ) {
		$old = get_user_meta( $user->ID, self::OLD, true );
		return is_string( $old ) && '' !== $old && hash_equals( $old, $user->user_pass );
	}

	/**
	 * Filter `check_password`, before the check is counted.
	 *
	 * @param bool       $is_correct Whether the password is correct.
	 * @param string     $password   The entered password.
	 * @param string     $hash       The hash it was compared with.
	 * @param int|string $user_id    Id of its user; empty for keys that are no passwords.
	 * @return bool
	 */
	public static function refuse_old( $is_correct, $password, $hash, $user_id ) {
		$user = $is_correct && $user_id ? get_userdata( $user_id ) : false;
		if ( ! $user || ! hash_equals( $user->user_pass, $hash ) || ! self::is_old( $user, $password ) ) {
			return $is_correct;
		}
		// If the second factor follows, the old password leads to the page for choosing a new one.
		return self::is_due( $user ) && Security_Optimizer_Second_Factor::is_missing( $user );
	}

	/**
	 * Action `validate_password_reset`: the form of the link in the mail.
	 *
	 * @param WP_Error         $errors Errors so far.
	 * @param WP_User|WP_Error $user   The user.
	 */
	public static function check_form( $errors, $user ) {
		if ( $user instanceof WP_User && isset( $_POST['pass1'] ) && is_string( $_POST['pass1'] ) // phpcs:ignore WordPress.Security.NonceVerification
			&& self::is_old( $user, $_POST['pass1'], true ) // phpcs:ignore WordPress.Security
		) {
			$errors->add( 'password_used_before', self::get_message() );
		}
	}

	/**
	 * Action `user_profile_update_errors`.
	 *
	 * @param WP_Error $errors Errors so far.
	 * @param bool     $update Whether the user exists already.
	 * @param object   $user   With `ID` and the new `user_pass`, if one was entered.
	 */
	public static function check_profile( $errors, $update, $user ) {
		$known = $update && ! empty( $user->user_pass ) && isset( $user->ID ) ? get_userdata( $user->ID ) : false;
		if ( $known && self::is_old( $known, $user->user_pass, true ) ) {
			$errors->add( 'password_used_before', self::get_message(), array( 'form-field' => 'pass1' ) );
		}
	}

	/**
	 * Filter `rest_request_before_callbacks`.
	 *
	 * @param mixed           $result  Passed on.
	 * @param array           $handler Not used.
	 * @param WP_REST_Request $request The request.
	 * @return mixed
	 */
	public static function check_rest( $result, $handler, $request ) {
		if ( is_wp_error( $result ) || ! preg_match( '#\A/wp/v2/users/(\d+|me)\z#', $request->get_route(), $part ) || ! is_string( $request['password'] ) ) {
			return $result;
		}
		$user = get_userdata( 'me' === $part[1] ? get_current_user_id() : (int) $part[1] );
		if ( ! $user || ! self::is_old( $user, $request['password'] ) || ! current_user_can( 'edit_user', $user->ID ) ) {
			return $result;
		}
		return new WP_Error( 'password_used_before', self::get_message(), array( 'status' => 400 ) );
	}

	/**
	 * Filter `login_message`. The notice is the same for all clients, so that it does not reveal whether a password was
	 * correct.
	 *
	 * @param string $message Message above the form.
	 * @return string
	 */
	public static function show_notice( $message ) {
		$action = isset( $_REQUEST['action'] ) ? $_REQUEST['action'] : 'login'; // phpcs:ignore WordPress.Security
		if ( 'login' !== $action || ! self::was_forced() ) {
			return $message;
		}
		$text = __( 'Everyone has to choose a new password on this site. If yours does not work any more, use “Lost your password?” to get a link.', 'security-optimizer' );
		return $message . '<p class="message">' . esc_html( $text ) . '</p>';
	}

	private static function is_old( $user, $password, $slashed = false ) {
		$old = get_user_meta( $user->ID, self::OLD, true );
		if ( ! is_string( $old ) || '' === $old ) {
			return false;
		}
		self::$comparing = true;
		// WordPress hashes passwords of its forms with slashes, and others without.
		$same            = wp_check_password( $password, $old ) || ( $slashed && wp_check_password( wp_unslash( $password ), $old ) );
		self::$comparing = false;
		return $same;
	}

	private static function get_message() {
		return __( 'This was your password before. Choose another one.', 'security-optimizer' );
	}
}
