<?php
/**
 * Mails with a link to choose a new password, for many users at once.
 *
 * WordPress's `retrieve_password()` updates the whole user for each key, which costs more than the mail, and runs the
 * checks of captcha plugins. Here one statement writes the keys of all users of a step, in the format of this version
 * of WordPress. The filters of the mail are WordPress's own.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Reset_Mails {

	/**
	 * @param WP_User $user A user.
	 * @return bool Whether WordPress and its plugins allow this user to reset the password.
	 */
	public static function may_reset( $user ) {
		return true === apply_filters( 'allow_password_reset', ! is_multisite() || ! is_user_spammy( $user ), $user->ID );
	}

	/**
	 * Writes a new key for each user. Earlier keys become invalid.
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
		$written = Security_Optimizer_Database_Retry::query( $wpdb->prepare( "UPDATE $wpdb->users SET user_activation_key = CASE ID $cases END WHERE ID IN ($ids)", $values ) ); // phpcs:ignore WordPress.DB.PreparedSQL
		array_map( 'clean_user_cache', $users );
		return $written ? $keys : array();
	}

	/**
	 * @param mixed $mails Mails by locale, from guard.
	 * @return bool Whether all mails are complete and the English one is included.
	 */
	public static function are_mails( $mails ) {
		if ( ! is_array( $mails ) || ! isset( $mails['en_US'] ) ) {
			return false;
		}
		foreach ( $mails as $mail ) {
			if ( ! is_array( $mail ) || ! isset( $mail['subject'], $mail['html'], $mail['text'] )
				|| ! is_string( $mail['subject'] ) || ! is_string( $mail['html'] ) || ! is_string( $mail['text'] )
			) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Sends the link to a user, in the user's language.
	 *
	 * @param WP_User $user  A user.
	 * @param string  $key   The key that was written for this user.
	 * @param array[] $mails By locale: `subject`, `html` and `text`, with the placeholders of values().
	 * @return bool Whether the mail was sent.
	 */
	public static function send( $user, $key, array $mails ) {
		$login = $user->user_login;
		do_action( 'retrieve_password', $login );
		do_action( 'retrieve_password_key', $login, $key );
		$locale   = get_user_locale( $user );
		$known    = Security_Optimizer_Admin_Page::known_locale( $locale );
		$template = null !== $known && isset( $mails[ $known ] ) ? $mails[ $known ] : $mails['en_US'];
		$switched = switch_to_user_locale( $user->ID );
		$values   = self::values( $user, $key, $locale );
		// An invisible word joiner prevents that a name is parsed as an encoded word (RFC 2047).
		$subject = str_replace( '=?', "=\u{2060}?", strtr( $template['subject'], $values ) );
		$text    = str_replace( "\n", "\r\n", strtr( $template['text'], $values ) );
		$mail    = array(
			'to'      => $user->user_email,
			'subject' => apply_filters( 'retrieve_password_title', $subject, $login, $user ),
			'message' => apply_filters( 'retrieve_password_message', $text, $key, $login, $user ),
			'headers' => '',
		);
		$changed = apply_filters( 'retrieve_password_notification_email', $mail, $key, $login, $user );
		if ( is_array( $changed ) ) {
			$mail = array_merge( $mail, $changed );
		}
		if ( $switched ) {
			restore_previous_locale();
		}
		if ( ! $mail['message'] ) {
			// An empty text means, as in WordPress, that a plugin sends the mail.
			return true;
		}
		// This subject has no entities. Those of plugins may have them, as WordPress's own does.
		$title = $subject === $mail['subject'] ? $subject : wp_specialchars_decode( $mail['subject'] );
		if ( $text !== $mail['message'] || false !== stripos( implode( "\n", (array) $mail['headers'] ), 'content-type' ) ) {
			// A plugin has replaced the mail.
			return wp_mail( $mail['to'], $title, $mail['message'], $mail['headers'] );
		}
		$html = array();
		foreach ( $values as $place => $value ) {
			// Not esc_html(): it does not escape what looks like an entity.
			$html[ $place ] = htmlspecialchars( $value, ENT_QUOTES, 'UTF-8' );
		}
		$html = strtr( $template['html'], $html );
		return Security_Optimizer_Html_Mail::send( $mail['to'], $title, $html, $text, $mail['headers'] );
	}

	/**
	 * Values of the placeholders; dates in the current locale.
	 *
	 * @param WP_User $user   A user.
	 * @param string  $key    The key that was written for this user.
	 * @param string  $locale Locale of the user.
	 * @return string[] Values by placeholder.
	 */
	private static function values( $user, $key, $locale ) {
		$site  = html_entity_decode( is_multisite() ? get_network()->site_name : get_option( 'blogname' ), ENT_QUOTES | ENT_HTML5, 'UTF-8' );
		$until = time() + (int) apply_filters( 'password_reset_expiration', DAY_IN_SECONDS );
		$days  = (string) get_option( 'date_format' );
		return array(
			'{{site}}'  => Security_Optimizer_Text_Escaper::to_line( $site ),
			'{{login}}' => Security_Optimizer_Text_Escaper::to_line( $user->user_login ),
			'{{link}}'  => network_site_url( "wp-login.php?action=rp&key=$key&login=" . rawurlencode( $user->user_login ), 'login' ) . '&wp_lang=' . $locale,
			'{{until}}' => wp_date( $days . ', ' . get_option( 'time_format' ), $until ),
			'{{date}}'  => wp_date( $days ),
		);
	}

	/**
	 * Long random keys need no slow hash, so the older format gets the minimum number of rounds.
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
