<?php
/**
 * Activity Log: posts of all kinds, files, terms, menus, comments. The methods take the arguments of the hooks listed
 * in class-activity.php.
 *
 * An import creates thousands of them and is one event.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Activity_Content {

	/** Types that are not public but are part of the visible site. */
	const SITE_TYPES = array( 'wp_block', 'wp_template', 'wp_template_part', 'wp_navigation', 'wp_global_styles' );

	/** Types that WordPress creates automatically when a page is viewed. */
	const AUTO_CREATED = array( 'wp_navigation', 'wp_global_styles' );

	/** Contexts of temporary files of WordPress: packages of plugins, imports. */
	const TEMPORARY_FILES = array( 'upgrader', 'import' );

	/** Fields of a comment that its author or a moderator can edit. */
	const COMMENT_FIELDS = array( 'comment_content', 'comment_author', 'comment_author_email', 'comment_author_url' );

	/** @var bool Whether the comment being saved changes. */
	private static $edited = false;

	/** @var true[] Posts recorded in this request, by id. */
	private static $recorded = array();

	/** @var int Post being deleted; its comments are deleted with it. */
	private static $deleting = 0;

	public static function save_post( $post_id, $post, $update, $before = null ) {
		$old = $before ? $before->post_status : 'new';
		$new = $post->post_status;
		Security_Optimizer_Activity_Orders::handle_post( $post, $old, $new );
		if ( 'auto-draft' === $new || ! self::is_relevant( $post ) ) {
			return;
		}
		if ( 'new' === $old || 'auto-draft' === $old ) {
			if ( ! in_array( $post->post_type, self::AUTO_CREATED, true ) ) {
				self::record_post( self::to_kind( $new, 'post.created' ), $post );
			}
			return;
		}
		// An autosave, or the second request of the editor for meta boxes.
		if ( ( defined( 'DOING_AUTOSAVE' ) && DOING_AUTOSAVE ) || isset( $_GET['meta-box-loader'] ) ) {
			return;
		}
		if ( $old !== $new ) {
			$kind = 'trash' === $old ? 'post.restored' : self::to_kind( $new, 'post.status' );
			self::record_post( $kind, $post, 'post.status' === $kind ? self::status_name( $old ) : null );
		} elseif ( self::is_first_save( $post ) ) {
			self::record_post( 'post.updated', $post );
		}
	}

	/**
	 * Data of a post was saved, but not the post itself.
	 *
	 * @param int $post_id Id of the post.
	 */
	public static function record_related_change( $post_id ) {
		$post = get_post( $post_id );
		if ( $post && ! isset( self::$recorded[ $post->ID ] ) && 'auto-draft' !== $post->post_status && self::is_relevant( $post ) ) {
			self::record_post( 'post.updated', $post );
		}
	}

	public static function remember_deletion( $post_id ) {
		self::$deleting = (int) $post_id;
	}

	public static function delete_post( $post_id, $post ) {
		self::$deleting = 0;
		Security_Optimizer_Activity_Orders::handle_post( $post, $post->post_status, '' );
		if ( 'auto-draft' !== $post->post_status && self::is_relevant( $post ) ) {
			self::record_post( 'post.deleted', $post );
		}
	}

	public static function add_file( $post_id ) {
		self::record_file( 'media.uploaded', $post_id );
	}

	public static function update_file( $post_id ) {
		self::record_file( 'media.updated', $post_id );
	}

	public static function delete_file( $post_id ) {
		self::record_file( 'media.deleted', $post_id );
	}

	public static function create_term( $term_id, $tt_id, $taxonomy ) {
		Security_Optimizer_Activity::is_first( 'menu ' . $term_id );
		self::record_term( 'created', get_term( $term_id, $taxonomy ) );
	}

	public static function update_term( $term_id, $tt_id, $taxonomy ) {
		if ( 'nav_menu' === $taxonomy ) {
			self::update_menu( $term_id );
			return;
		}
		self::record_term( 'updated', get_term( $term_id, $taxonomy ) );
	}

	public static function delete_term( $term_id, $tt_id, $taxonomy, $term ) {
		self::record_term( 'deleted', $term );
	}

	public static function update_menu( $menu_id ) {
		// Recorded once for all items of the menu.
		if ( Security_Optimizer_Activity::is_first( 'menu ' . $menu_id ) ) {
			self::record_term( 'updated', get_term( $menu_id, 'nav_menu' ) );
		}
	}

	public static function write_comment( $comment_id, $comment ) {
		self::record_comment( 'comment.created', $comment );
	}

	public static function moderate_comment( $new, $old, $comment ) {
		// Deletion has a hook of its own.
		if ( $new !== $old && 'delete' !== $new ) {
			self::record_comment( 'comment.status', $comment, $old, $new );
		}
	}

	public static function remember_edit( $data, $old ) {
		// The REST API also saves a comment when only its status changes.
		$fields       = array_flip( self::COMMENT_FIELDS );
		self::$edited = array_intersect_key( $data, $fields ) != array_intersect_key( wp_unslash( $old ), $fields ); // phpcs:ignore Universal.Operators.StrictComparisons, WordPress.PHP.StrictComparisons -- In any order.
	}

	public static function edit_comment( $comment_id ) {
		if ( self::$edited ) {
			self::record_comment( 'comment.edited', get_comment( $comment_id ) );
		}
	}

	public static function delete_comment( $comment_id, $comment ) {
		self::record_comment( 'comment.deleted', $comment );
	}

	private static function is_import() {
		return defined( 'WP_IMPORTING' ) && WP_IMPORTING;
	}

	/**
	 * Plugins may save a post again while it is being saved.
	 */
	private static function is_first_save( $post ) {
		return Security_Optimizer_Activity::is_first( 'post ' . $post->ID . ' ' . $post->post_modified_gmt );
	}

	private static function is_relevant( $post ) {
		$type = get_post_type_object( $post->post_type );
		return $type && ! self::is_import() && 'attachment' !== $type->name
			&& ( $type->public || in_array( $type->name, self::SITE_TYPES, true ) );
	}

	private static function to_kind( $status, $else ) {
		$kinds = array(
			'publish' => 'post.published',
			'future'  => 'post.scheduled',
			'trash'   => 'post.trashed',
		);
		return isset( $kinds[ $status ] ) ? $kinds[ $status ] : $else;
	}

	private static function status_name( $status ) {
		$known = get_post_status_object( $status );
		return $known ? $known->label : $status;
	}

	private static function record_post( $kind, $post, $before = null ) {
		self::is_first_save( $post );
		self::$recorded[ $post->ID ] = true;

		$type  = Security_Optimizer_Activity::get_type_label( $post->post_type, get_post_type_object( $post->post_type ) );
		$after = 'post.scheduled' === $kind ? $post->post_date : ( null === $before ? null : self::status_name( $post->post_status ) );
		Security_Optimizer_Outbox::add( $kind, array( $type, $post->ID, '' === $post->post_title ? '#' . $post->ID : $post->post_title ), $before, $after );
	}

	private static function record_file( $kind, $post_id ) {
		if ( self::is_import() || in_array( get_post_meta( $post_id, '_wp_attachment_context', true ), self::TEMPORARY_FILES, true )
			|| ( ! Security_Optimizer_Activity::is_first( 'file ' . $post_id ) && 'media.updated' === $kind )
		) {
			return;
		}
		$file = (string) get_post_meta( $post_id, '_wp_attached_file', true );
		Security_Optimizer_Outbox::add( $kind, array( 'file', $post_id, '' === $file ? get_post( $post_id )->post_title : wp_basename( $file ) ) );
	}

	private static function record_term( $what, $term ) {
		$taxonomy = get_taxonomy( $term->taxonomy );
		if ( 'nav_menu' === $term->taxonomy ) {
			Security_Optimizer_Outbox::add( 'menu.' . $what, array( 'menu', $term->term_id, $term->name ) );
		} elseif ( $taxonomy && $taxonomy->show_ui && ! self::is_import() ) {
			Security_Optimizer_Outbox::add( 'term.' . $what, array( Security_Optimizer_Activity::get_type_label( $term->taxonomy, $taxonomy ), $term->term_id, $term->name ) );
		}
	}

	/**
	 * Only comments of registered users: plugins remove spam of anonymous clients by the thousand.
	 */
	private static function record_comment( $kind, $comment, $before = null, $after = null ) {
		$is_by_user = get_current_user_id() > 0 || 'cli' === Security_Optimizer_Outbox::origin();
		if ( ! $is_by_user || self::is_import() || (int) $comment->comment_post_ID === self::$deleting || ! in_array( $comment->comment_type, array( '', 'comment', 'review', 'pingback', 'trackback' ), true ) ) {
			return;
		}
		$post = get_post( $comment->comment_post_ID );
		Security_Optimizer_Outbox::add( $kind, array( 'comment', $comment->comment_ID, $post ? $post->post_title : '' ), $before, $after );
	}
}
