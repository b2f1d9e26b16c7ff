<?php
/**
 * Mails with a link to choose a new password, for many users at once.
 *
 * WordPress's own `retrieve_password()` updates the whole user for each key, which costs more than the mail, and asks
 * whoever guards the lost-password form against robots. Here the keys of all users of a step are written by one
 * statement, in the form that this version of WordPress reads; the filters of the mail are WordPress's own.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Reset_Mails {

	/**
	 * @param WP_User $user A user.
	 * @return bool Whether WordPress and its plugins let this user choose a new password.
	 */
	public static function may_reset( $user ) {
		return true === apply_filters( 'allow_password_reset', ! is_multisite() || ! is_user_spammy( $user ), $user->ID );
	}

	/**
	 * Gives each user a new key. Keys of before are void.
	 *
	 * @param WP_User[] $users Users who may reset their password.
	 * @return string[] The keys by user id; empty when they could not be written.
	 */
	public static function write_keys( array $users ) {
		global $wpdb;
		$keys   = array();
		$cases  = '';
		$values = array();
		foreach ( $users as $user ) {
			$keys[ $user->ID ] = wp_generate_password( 20, false );
			$cases            .= ' WHEN %d THEN %s';
			array_push( $values, $user->ID, time() . ':' . self::hash( $keys[ $user->ID ] ) );
		}
		if ( array() === $keys ) {
			return array();
		}
		$ids     = implode( ',', array_map( 'intval', array_keys( $keys ) ) );
		$written = $wpdb->query( $wpdb->prepare( "UPDATE $wpdb->users SET user_activation_key = CASE ID $cases END WHERE ID IN ($ids)", $values ) ); // phpcs:ignore WordPress.DB.PreparedSQL
		array_map( 'clean_user_cache', $users );
		return false === $written ? array() : $keys;
	}

	/**
	 * Mails a user the link.
	 *
	 * @param WP_User $user A user.
	 * @param string  $key  The key that was written for this user.
	 * @return bool Whether the mail went out.
	 */
	public static function send( $user, $key ) {
		$login = $user->user_login;
		do_action( 'retrieve_password', $login );
		do_action( 'retrieve_password_key', $login, $key );
		$locale   = get_user_locale( $user );
		$switched = switch_to_user_locale( $user->ID );
		$site     = is_multisite() ? get_network()->site_name : wp_specialchars_decode( get_option( 'blogname' ), ENT_QUOTES );
		$link     = network_site_url( "wp-login.php?action=rp&key=$key&login=" . rawurlencode( $login ), 'login' ) . '&wp_lang=' . $locale;
		$lines    = array(
			__( 'For the security of this site everyone has to choose a new password. Your old one does not work any more. Use the link below.', 'security-optimizer' ),
			/* translators: %s: name of the site */
			sprintf( __( 'Site Name: %s' ), $site ), // phpcs:ignore WordPress.WP.I18n.MissingArgDomain
			/* translators: %s: username */
			sprintf( __( 'Username: %s' ), $login ), // phpcs:ignore WordPress.WP.I18n.MissingArgDomain
			$link,
		);
		/* translators: %s: name of the site */
		$title   = apply_filters( 'retrieve_password_title', sprintf( __( '[%s] Password Reset' ), $site ), $login, $user ); // phpcs:ignore WordPress.WP.I18n.MissingArgDomain
		$message = apply_filters( 'retrieve_password_message', implode( "\r\n\r\n", $lines ) . "\r\n", $key, $login, $user );
		$mail    = array(
			'to'      => $user->user_email,
			'subject' => $title,
			'message' => $message,
			'headers' => '',
		);
		$changed = apply_filters( 'retrieve_password_notification_email', $mail, $key, $login, $user );
		if ( is_array( $changed ) ) {
			$mail = array_merge( $mail, $changed );
		}
		if ( $switched ) {
			restore_previous_locale();
		}
		// An empty text says, as in WordPress, that somebody else sends it.
		return ! $message || wp_mail( $mail['to'], wp_specialchars_decode( $mail['subject'] ), $mail['message'], $mail['headers'] );
	}

	/**
	 * Long random keys need no slow hash, so the older form gets the fewest rounds that its readers accept.
	 */
	private static function hash( $key ) {
		global $wp_hasher;
		if ( function_exists( 'wp_fast_hash' ) ) {
			return wp_fast_hash( $key );
		}
		if ( ! empty( $wp_hasher ) && 'PasswordHash' !== get_class( $wp_hasher ) ) {
			return $wp_hasher->HashPassword( $key );
		}
		require_once ABSPATH . WPINC . '/class-phpass.php';
		$hasher = new PasswordHash( 4, true );
		return $hasher->HashPassword( $key );
	}
}
