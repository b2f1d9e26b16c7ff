<?php
/**
 * Setting `login_url`: URLs of the login and of wp-admin in mails.
 *
 * Registered users may read a mail where they have no session, so links to wp-admin go through the custom login URL.
 * Nobody else gets that URL, no matter who caused the mail.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Login_Mails {

	/** A URL in text or HTML. Of entities, only an ampersand is part of it. */
	const URL = '~https?://(?:(?!&(?!amp;|\#0*38;|\#x0*26;)(?:[a-z]{2,8}|\#\d{1,6}|\#x[0-9a-f]{1,6});)[^\s"\'<>])+~i';

	/** Parameters with which WordPress confirms a new email address. */
	const CONFIRMATION = '/[?&](newuseremail|adminhash|network_admin_hash)=([0-9a-f]{32})(?![\w%-])/';

	/** @var string|null Everything that the client sent; null while it was not read. */
	private static $sent = null;

	/**
	 * Filter `wp_mail`: uses the custom URL for registered users and WordPress's own URL for everybody else. A mail
	 * that an anonymous client causes to another recipient contains WordPress's own URL anyway. URLs that a client
	 * without staff rights has entered are never changed: replacing a correct guess of the custom URL would confirm it,
	 * and a reply that quotes the mail would reveal the custom URL that replaced the entered one.
	 *
	 * @param array $mail `to`, `subject`, `message`, `headers`.
	 * @return array
	 */
	public static function filter( $mail ) {
		$recipients  = self::recipients( $mail );
		$are_users   = self::are_users( $recipients );
		$unknown     = Security_Optimizer_Request_Gate::is_via_guard() && ! wp_doing_cron() && ! Security_Optimizer_Commands::is_received();
		$keeps_input = $unknown && ! ( Security_Optimizer_Login_Url::is_login_visible() && current_user_can( 'edit_posts' ) );
		$may_work    = $are_users && ! self::include_customers( $recipients );
		if ( ! $are_users && $unknown && ! Security_Optimizer_Login_Url::is_visible() ) {
			return $mail;
		}
		foreach ( array( 'subject', 'message' ) as $part ) {
			if ( ! isset( $mail[ $part ] ) || ! is_string( $mail[ $part ] ) ) {
				continue;
			}
			$is_text       = 'message' === $part;
			$mail[ $part ] = self::replace_urls(
				$mail[ $part ],
				static function ( $url ) use ( $are_users, $may_work, $recipients, $keeps_input, $is_text ) {
					if ( $are_users && $keeps_input && self::is_in_request( $url ) ) {
						return $url;
					}
					$plain = self::decode( $url );
					if ( $is_text && ( $may_work || self::confirms_address( $plain, $recipients ) ) ) {
						$login = Security_Optimizer_Admin_Links::to_login( $plain );
						if ( $login !== $plain ) {
							return $login;
						}
					}
					return $are_users ? Security_Optimizer_Login_Url::to_slug( $url ) : Security_Optimizer_Login_Url::to_default( $url );
				}
			);
		}
		return $mail;
	}

	/**
	 * @param string   $text    Text or HTML.
	 * @param callable $replace Function that gets a URL and returns its replacement.
	 * @return string
	 */
	public static function replace_urls( $text, $replace ) {
		$replaced = preg_replace_callback(
			self::URL,
			static function ( $found ) use ( $replace ) {
				$url = self::without_punctuation( $found[0] );
				return $replace( $url ) . substr( $found[0], strlen( $url ) );
			},
			$text
		);
		return null === $replaced ? $text : $replaced;
	}

	/**
	 * @param string $url A URL within a sentence.
	 * @return string The URL without trailing punctuation and unbalanced closing brackets.
	 */
	private static function without_punctuation( $url ) {
		do {
			$before = $url;
			$url    = rtrim( $url, '.,:!?' );
			$last   = substr( $url, -1 );
			if ( ';' === $last && ! preg_match( '/&(?:amp|\#0*38|\#x0*26);\z/i', $url ) ) {
				$url = substr( $url, 0, -1 );
			}
			foreach ( array( '()', '[]', '{}' ) as $pair ) {
				if ( $pair[1] === $last && substr_count( $url, $pair[1] ) > substr_count( $url, $pair[0] ) ) {
					$url = substr( $url, 0, -1 );
				}
			}
		} while ( $url !== $before );
		return $url;
	}

	private static function decode( $url ) {
		return preg_replace( '/&(?:amp|\#0*38|\#x0*26);/i', '&', $url );
	}

	/**
	 * @param string $url A URL in a mail.
	 * @return bool Whether the client sent it.
	 */
	private static function is_in_request( $url ) {
		if ( null === self::$sent ) {
			self::$sent = self::read_request();
		}
		return false !== strpos( self::$sent, $url ) || false !== strpos( self::$sent, self::decode( $url ) );
	}

	/**
	 * @return string Everything that the client sent with this request.
	 */
	private static function read_request() {
		$type = isset( $_SERVER['CONTENT_TYPE'] ) ? (string) $_SERVER['CONTENT_TYPE'] : ''; // phpcs:ignore WordPress.Security.ValidatedSanitizedInput
		$json = false !== stripos( $type, 'json' ) ? json_decode( (string) file_get_contents( 'php://input' ), true ) : null;
		$all  = array( wp_unslash( array( $_GET, $_POST, $_COOKIE, $_SERVER ) ), $json ); // phpcs:ignore WordPress.Security.NonceVerification,WordPress.Security.ValidatedSanitizedInput
		$text = '';
		array_walk_recursive(
			$all,
			static function ( $value, $name ) use ( &$text ) {
				$text .= $name . "\n" . ( is_scalar( $value ) ? $value : '' ) . "\n";
			}
		);
		return $text;
	}

	/**
	 * WordPress sends a link to a new email address, which belongs to no account yet. Only the user can use the link.
	 * Its key shows that WordPress created it, and for which address.
	 *
	 * @param string   $url        A URL.
	 * @param string[] $recipients Recipients of the mail.
	 * @return bool Whether it confirms the address of the recipient.
	 */
	private static function confirms_address( $url, $recipients ) {
		if ( 1 !== count( $recipients ) || ! preg_match( self::CONFIRMATION, $url, $part ) ) {
			return false;
		}
		$pending = array();
		if ( 'adminhash' === $part[1] ) {
			$pending[] = get_option( 'adminhash' );
		} elseif ( 'network_admin_hash' === $part[1] ) {
			$pending[] = get_site_option( 'network_admin_hash' );
		} else {
			// Runs once for each such mail.
			// phpcs:disable WordPress.DB.SlowDBQuery
			$ids = get_users(
				array(
					'blog_id'      => 0,
					'fields'       => 'ID',
					'number'       => 2,
					'meta_key'     => '_new_email',
					'meta_value'   => $part[2],
					'meta_compare' => 'LIKE',
				)
			);
			// phpcs:enable
			foreach ( $ids as $id ) {
				$pending[] = get_user_meta( $id, '_new_email', true );
			}
		}
		foreach ( $pending as $one ) {
			if ( is_array( $one ) && isset( $one['hash'], $one['newemail'] )
				&& hash_equals( (string) $one['hash'], $part[2] ) && 0 === strcasecmp( wp_unslash( $one['newemail'] ), $recipients[0] )
			) {
				return true;
			}
		}
		return false;
	}

	/**
	 * @param array $mail Arguments of `wp_mail`.
	 * @return string[] Addresses of all recipients.
	 */
	private static function recipients( $mail ) {
		$lists = isset( $mail['to'] ) ? (array) $mail['to'] : array();
		$lines = isset( $mail['headers'] ) ? $mail['headers'] : array();
		foreach ( is_array( $lines ) ? $lines : explode( "\n", $lines ) as $line ) {
			if ( is_string( $line ) && preg_match( '/\A\s*b?cc\s*:(.*)\z/is', $line, $copy ) ) {
				$lists[] = $copy[1];
			}
		}
		$emails = array();
		foreach ( explode( ',', implode( ',', $lists ) ) as $entry ) {
			$email = trim( preg_match( '/<([^>]*)>/', $entry, $inside ) ? $inside[1] : $entry );
			if ( '' !== $email ) {
				$emails[] = $email;
			}
		}
		return $emails;
	}

	/**
	 * @param string[] $emails Addresses.
	 * @return bool Whether all of them belong to registered users or to the administration.
	 */
	private static function are_users( $emails ) {
		$known = array( strtolower( (string) get_option( 'admin_email' ) ), strtolower( (string) get_site_option( 'admin_email' ) ) );
		if ( defined( 'RECOVERY_MODE_EMAIL' ) ) {
			$known[] = strtolower( RECOVERY_MODE_EMAIL );
		}
		foreach ( $emails as $email ) {
			if ( ! in_array( strtolower( $email ), $known, true ) && ! get_user_by( 'email', $email ) ) {
				return false;
			}
		}
		return array() !== $emails;
	}
	/**
	 * Anybody may become a customer of a shop, and mails to customers contain text that they entered earlier. Customers
	 * do not use wp-admin.
	 *
	 * @param string[] $emails Addresses of registered users.
	 * @return bool Whether one of them is only a customer of a shop.
	 */
	private static function include_customers( $emails ) {
		foreach ( Security_Optimizer_Login_Url::has_shop() ? $emails : array() as $email ) {
			$user = get_user_by( 'email', $email );
			if ( $user && ! user_can( $user, 'edit_posts' ) ) {
				return true;
			}
		}
		return false;
	}
}
