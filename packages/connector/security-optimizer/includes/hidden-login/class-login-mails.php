<?php
/**
 * Setting `login_url`: addresses of the login and of wp-admin in mails.
 *
 * Members read a mail where they have no session, so what leads to wp-admin goes by the custom address of the login.
 * Nobody else gets to know that address, whichever member caused the mail.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Login_Mails {

	/** A URL in text or HTML, up to a character that ends it there; of entities, only an ampersand is part of it. */
	const URL = '~https?://(?:(?!&(?!amp;|\#0*38;|\#x0*26;)(?:[a-z]{2,8}|\#\d{1,6}|\#x[0-9a-f]{1,6});)[^\s"\'<>])+~i';

	/** Parameters by which WordPress has a new address confirmed. */
	const CONFIRMATION = '/[?&](newuseremail|adminhash|network_admin_hash)=([0-9a-f]{32})(?![\w%-])/';

	/** @var string|null What the client sent, as it may stand in a mail; null before it was asked for. */
	private static $sent = null;

	/**
	 * Filter `wp_mail`: the custom address for members, WordPress's own for everybody else. A mail that an anonymous client
	 * causes to somebody who is no member holds WordPress's own anyway, and what a client typed that is none of the staff is
	 * never changed: put in place of the right guess among many, the old one would tell which it was; and a member who
	 * answers a mail with its text below would tell the custom one that was put in place of what the client typed.
	 *
	 * @param array $mail `to`, `subject`, `message`, `headers`.
	 * @return array
	 */
	public static function filter( $mail ) {
		$recipients = self::recipients( $mail );
		$are_users  = self::are_users( $recipients );
		$unknown    = Security_Optimizer_Request_Gate::came_through_guard() && ! wp_doing_cron() && ! Security_Optimizer_Commands::is_received();
		$is_typed   = $unknown && ! ( Security_Optimizer_Login_Url::is_login_visible() && current_user_can( 'edit_posts' ) );
		$may_work   = $are_users && ! self::include_customers( $recipients );
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
				static function ( $url ) use ( $are_users, $may_work, $recipients, $is_typed, $is_text ) {
					if ( $are_users && $is_typed && self::is_typed( $url ) ) {
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
	 * @param callable $replace What takes a URL, as it stands there, and gives what takes its place.
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
	 * @param string $url A URL in a sentence.
	 * @return string Without the marks that belong to the sentence: a bracket whose beginning is not in it, too.
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
	 * @param string $url A URL, as it stands in a mail.
	 * @return bool Whether it was in what the client sent.
	 */
	private static function is_typed( $url ) {
		if ( null === self::$sent ) {
			self::$sent = self::read_request();
		}
		return false !== strpos( self::$sent, $url ) || false !== strpos( self::$sent, self::decode( $url ) );
	}

	/**
	 * @return string Everything that the client of this request may have typed.
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
	 * WordPress mails a member's new address, which is nobody's yet, a link that only that member can use. Its key tells
	 * that WordPress made it, and for whom.
	 *
	 * @param string   $url        A URL.
	 * @param string[] $recipients Addresses that the mail goes to.
	 * @return bool Whether it is the one by which they are confirmed.
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
			// Once for each such mail.
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
	 * @param array $mail What `wp_mail` was given.
	 * @return string[] Every address that the mail goes to.
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
	 * @return bool Whether all of them are members' or the administration's.
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
	 * Anybody may become a customer of a shop, whose mails hold what the customer typed long ago. Customers have nothing
	 * to do in wp-admin.
	 *
	 * @param string[] $emails Addresses of members.
	 * @return bool Whether one of them is a customer of a shop, and no more.
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
