<?php
/**
 * Setting `login_url`: removes WordPress's login form from public pages (the login/out block, `wp_login_form()`,
 * widgets of plugins), and links to the login at comments.
 *
 * The form posts to the hidden login, so for anonymous clients it would lead to a 404 or reveal the custom URL. Forms
 * of plugins that post to their own page are not changed, nor are forms that a script sends elsewhere: they do not have
 * the fields of wp-login.php.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Login_Forms {

	/** Marks each form to remove, right after its tag: `wp_login_form()` has no filter for the whole form. */
	const MARK = '<!--account-->';

	/** Fields of WordPress's own forms: login, lost password and registration. */
	const FIELDS = '#<input\b[^>]*\bname\s*=\s*["\']?(?:log|pwd|user_login)["\'\s/>]#i';

	/** @var bool Whether this request has printed such a form. */
	private static $made = false;

	/**
	 * Filter `login_form_top`: the beginning of the form.
	 *
	 * @param string $content HTML.
	 * @return string
	 */
	public static function mark( $content ) {
		if ( Security_Optimizer_Login_Url::is_login_visible() || ! Security_Optimizer_Login_Url::is_hidden( site_url( 'wp-login.php', 'login_post' ) ) ) {
			return $content;
		}
		self::$made = true;
		return self::MARK . $content;
	}

	/**
	 * Filter `template_include`, last: buffers the page, because themes print the form themselves. Earlier responses of
	 * plugins (downloads, streams) are not buffered.
	 *
	 * @param string $template The template.
	 * @return string
	 */
	public static function buffer_page( $template ) {
		if ( ! Security_Optimizer_Login_Url::is_login_visible() ) {
			ob_start( array( __CLASS__, 'remove' ) );
		}
		return $template;
	}

	/**
	 * Also filters `render_block`, `the_content` and `do_shortcode_tag`, for output that is no page (REST API, feeds).
	 *
	 * @param string $html Any HTML.
	 * @return string The HTML without forms that post to the hidden login.
	 */
	public static function remove( $html ) {
		if ( ! is_string( $html ) || Security_Optimizer_Login_Url::is_login_visible() ) {
			return $html;
		}
		$html = self::$made ? self::remove_marked( $html ) : $html;
		$left = false === stripos( $html, '<form' ) ? $html : preg_replace_callback(
			'#<form\b[^>]*>(?:(?!</form>).)*+</form>#is',
			static function ( $form ) {
				return self::posts_to_login( $form[0] ) ? '' : $form[0];
			},
			$html
		);
		return null === $left ? $html : $left;
	}

	private static function posts_to_login( $form ) {
		return preg_match( '#\A<form\b[^>]*?\saction\s*=\s*("[^"]*"|\'[^\']*\'|[^\s>"\']+)#i', $form, $action )
			&& preg_match( self::FIELDS, $form )
			&& Security_Optimizer_Login_Url::is_hidden( html_entity_decode( trim( $action[1], '"\'' ), ENT_QUOTES ) );
	}

	/**
	 * Filter `comment_form_defaults`: removes the link to the hidden login from the message that one must be logged in.
	 *
	 * @param array $defaults Parts of the form.
	 * @return array
	 */
	public static function unlink_in_comment_form( $defaults ) {
		if ( isset( $defaults['must_log_in'] ) ) {
			$defaults['must_log_in'] = Security_Optimizer_Login_Url::filter_link( $defaults['must_log_in'], true );
		}
		return $defaults;
	}

	/**
	 * Filter `render_block_core/loginout`: removes a block without a link, so that a menu has no empty item.
	 *
	 * @param string $html The block.
	 * @return string
	 */
	public static function remove_empty_block( $html ) {
		return ! Security_Optimizer_Login_Url::is_login_visible() && '' === trim( wp_strip_all_tags( self::remove( $html ) ) ) ? '' : $html;
	}

	/**
	 * @param string $html Any HTML.
	 * @return string The HTML without the forms of `wp_login_form()`.
	 */
	public static function remove_marked( $html ) {
		for ( $mark = strpos( $html, self::MARK ); false !== $mark; $mark = strpos( $html, self::MARK ) ) {
			$start = strripos( substr( $html, 0, $mark ), '<form' );
			$end   = stripos( $html, '</form>', $mark );
			// A plugin may have changed the form. Then only the mark is removed.
			$whole = false !== $start && false !== $end && false === strpos( rtrim( substr( $html, $start, $mark - $start ), "> \n\r\t" ), '>' );
			$html  = $whole
				? substr( $html, 0, $start ) . substr( $html, $end + strlen( '</form>' ) )
				: substr( $html, 0, $mark ) . substr( $html, $mark + strlen( self::MARK ) );
		}
		return $html;
	}
}
