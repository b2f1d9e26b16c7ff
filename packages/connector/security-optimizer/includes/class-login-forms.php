<?php
/**
 * Setting `login_url`: WordPress's login form on public pages (the login/out block, `wp_login_form()`).
 *
 * The form posts to the hidden login, so for anonymous clients it would lead to a missing page or give the custom
 * address away. They do not get it. Forms of plugins that post to a page of their own are not touched.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Login_Forms {

	/** Stands right behind the tag of each form to take out: `wp_login_form()` has no filter for the form as a whole. */
	const MARK = '<!--account-->';

	/** @var bool Whether this request has made such a form. */
	private static $made = false;

	/**
	 * Filter `login_form_top`: what WordPress prints first in the form.
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
	 * Filter `template_include`, after everybody else: the page that follows is looked through once it is complete, since
	 * themes print the form themselves. What plugins answer before it (downloads, streams) is not held back.
	 *
	 * @param string $template The template.
	 * @return string
	 */
	public static function begin_page( $template ) {
		if ( ! Security_Optimizer_Login_Url::is_login_visible() ) {
			ob_start( array( __CLASS__, 'remove' ) );
		}
		return $template;
	}

	/**
	 * Also filters `render_block`, `the_content` and `do_shortcode_tag`: what does not become a page (REST API, feeds).
	 *
	 * @param string $html Any HTML.
	 * @return string Without the marked forms.
	 */
	public static function remove( $html ) {
		if ( ! self::$made || ! is_string( $html ) ) {
			return $html;
		}
		for ( $mark = strpos( $html, self::MARK ); false !== $mark; $mark = strpos( $html, self::MARK ) ) {
			$start = strripos( substr( $html, 0, $mark ), '<form' );
			$end   = stripos( $html, '</form>', $mark );
			// A plugin may have taken the form apart: then the mark alone goes.
			$whole = false !== $start && false !== $end && false === strpos( rtrim( substr( $html, $start, $mark - $start ), "> \n\r\t" ), '>' );
			$html  = $whole
				? substr( $html, 0, $start ) . substr( $html, $end + strlen( '</form>' ) )
				: substr( $html, 0, $mark ) . substr( $html, $mark + strlen( self::MARK ) );
		}
		return $html;
	}
}
