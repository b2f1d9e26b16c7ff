<?php
/**
 * Activity Log: orders of WooCommerce, and changes of products that do not save a post. The methods take the arguments
 * of the hooks listed in class-activity.php.
 *
 * Orders are stored in separate tables (HPOS) or as posts. WooCommerce runs the same hooks for both, except for actions
 * of WordPress's own screens on posts. Only the number of an order is recorded, because the rest is personal data of
 * the customer.
 *
 * @package Security_Optimizer
 */

defined( 'ABSPATH' ) || exit;

final class Security_Optimizer_Activity_Orders {

	/** The type of customers' orders. Refunds and orders of plugins have other types. */
	const TYPE = 'shop_order';

	/** Statuses before an order is placed. */
	const DRAFTS = array( 'new', 'auto-draft', 'draft', 'checkout-draft' );

	/** Fields that are written with every save. */
	const WITH_EACH_SAVE = array(
		'date_modified' => true,
		'version'       => true,
	);

	/** @var array[] Events recorded in this request, by order id: `kind`, and `uid` of a generic row. */
	private static $recorded = array();

	/** @var bool[] Whether the current save of an order changes anything, by id. */
	private static $changing = array();

	/** @var string[] Numbers of orders being deleted, by id. */
	private static $deleting = array();

	/** @var bool[] Whether the current save of a product changes anything, by id. */
	private static $products = array();

	public static function remember_save( $order ) {
		if ( self::is_order( $order ) ) {
			$changes = array_diff_key( $order->get_changes(), self::WITH_EACH_SAVE );
			foreach ( $order->get_meta_data() as $meta ) {
				$changes += $meta->get_changes();
			}
			self::$changing[ $order->get_id() ] = array() !== $changes;
		}
	}

	public static function create( $order_id, $order = null ) {
		self::record( 'order.created', $order_id, $order );
	}

	public static function update( $order_id, $order = null ) {
		if ( ! isset( self::$changing[ $order_id ] ) || self::$changing[ $order_id ] ) {
			self::record( 'order.updated', $order_id, $order );
		}
	}

	public static function save_items( $order_id ) {
		self::record( 'order.updated', $order_id );
	}

	public static function change_status( $order_id, $from, $to, $order = null ) {
		if ( in_array( $from, self::DRAFTS, true ) ) {
			self::record( 'order.created', $order_id, $order );
		} elseif ( 'trash' === $from || 'trash' === $to ) {
			self::record( 'trash' === $to ? 'order.trashed' : 'order.restored', $order_id, $order );
		} else {
			self::record( 'order.status', $order_id, $order, self::status_name( $from ), self::status_name( $to ) );
		}
	}

	public static function trash( $order_id ) {
		self::record( 'order.trashed', $order_id );
	}

	public static function remember_deletion( $order_id, $order ) {
		self::$deleting[ $order_id ] = self::is_order( $order ) ? self::number( $order_id, $order ) : '';
	}

	public static function delete( $order_id ) {
		self::record( 'order.deleted', $order_id );
		unset( self::$deleting[ $order_id ] );
	}

	public static function refund( $order_id ) {
		self::record( 'order.refunded', $order_id );
	}

	public static function delete_refund( $refund_id, $order_id ) {
		self::record( 'order.refund-deleted', $order_id );
	}

	/**
	 * A post was saved or deleted. WordPress's own screens trash and restore orders without WooCommerce's hooks.
	 *
	 * @param WP_Post $post   Any post.
	 * @param string  $before Its status before.
	 * @param string  $after  Its status now; empty when it was deleted.
	 */
	public static function handle_post( $post, $before, $after ) {
		if ( self::TYPE !== $post->post_type || self::have_tables() ) {
			return;
		}
		if ( '' === $after ) {
			if ( ! in_array( $before, self::DRAFTS, true ) ) {
				self::record( 'order.deleted', $post->ID );
			}
		} elseif ( $before !== $after && ( 'trash' === $before || 'trash' === $after ) ) {
			self::record( 'trash' === $after ? 'order.trashed' : 'order.restored', $post->ID );
		}
	}

	public static function remember_product_save( $product ) {
		self::$products[ $product->get_id() ] = array() !== array_diff_key( $product->get_changes(), self::WITH_EACH_SAVE );
	}

	/**
	 * Prices, stock and attributes of products can change without saving the post. Stock changes by orders are not
	 * recorded.
	 */
	public static function update_product( $product_id, $product = null ) {
		$changed = ! isset( self::$products[ $product_id ] ) || self::$products[ $product_id ];
		if ( $changed && array() === self::$changing && ! doing_action( 'save_post' ) && self::is_by_user() ) {
			Security_Optimizer_Activity_Content::record_related_change( $product_id );
		}
	}

	private static function is_order( $order ) {
		return is_object( $order ) && is_callable( array( $order, 'get_type' ) ) && self::TYPE === $order->get_type();
	}

	/**
	 * @return bool Whether orders are in separate tables; posts are then only copies.
	 */
	private static function have_tables() {
		$store = array( 'Automattic\WooCommerce\Utilities\OrderUtil', 'custom_orders_table_usage_is_enabled' );
		return is_callable( $store ) && call_user_func( $store );
	}

	/**
	 * Only events of registered users, including customers with an account: clean-up tasks change thousands of orders
	 * of anonymous clients.
	 */
	private static function is_by_user() {
		return get_current_user_id() > 0 || 'cli' === Security_Optimizer_Outbox::origin();
	}

	/**
	 * One action saves an order several times, and both kinds of storage may run hooks. Each event is recorded once. A
	 * generic “updated” is only recorded where no specific event is known.
	 */
	private static function record( $kind, $order_id, $order = null, $before = null, $after = null ) {
		$order_id = (int) $order_id;
		$gone     = isset( self::$deleting[ $order_id ] );
		if ( null === $order && ! $gone && function_exists( 'wc_get_order' ) ) {
			$order = wc_get_order( $order_id );
		}
		if ( ! self::is_by_user() || ( $gone ? '' === self::$deleting[ $order_id ] : is_object( $order ) && ! self::is_order( $order ) ) ) {
			return;
		}
		$recorded = isset( self::$recorded[ $order_id ] ) ? self::$recorded[ $order_id ] : array(
			'kind' => '',
			'uid'  => '',
		);
		$what     = $kind . "\n" . $before . "\n" . $after;
		if ( $what === $recorded['kind'] || ( 'order.updated' === $kind && '' !== $recorded['kind'] ) ) {
			return;
		}
		if ( '' !== $recorded['uid'] ) {
			Security_Optimizer_Outbox::delete( array( $recorded['uid'] ) );
		}
		$is_generic = 'order.updated' === $kind;
		$number     = $gone ? self::$deleting[ $order_id ] : self::number( $order_id, $order );
		$object     = array( 'order', $order_id, '#' . $number );
		$uid        = $is_generic
			? Security_Optimizer_Outbox::add_provisional( $kind, $object )
			: Security_Optimizer_Outbox::add( $kind, $object, $before, $after );

		self::$recorded[ $order_id ] = array(
			'kind' => $what,
			'uid'  => $is_generic ? $uid : '',
		);
	}

	private static function number( $order_id, $order ) {
		return is_object( $order ) && is_callable( array( $order, 'get_order_number' ) ) ? $order->get_order_number() : (string) $order_id;
	}

	private static function status_name( $status ) {
		return function_exists( 'wc_get_order_status_name' ) ? wc_get_order_status_name( $status ) : $status;
	}
}
