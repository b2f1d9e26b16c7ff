import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DownloadError } from '@security-optimizer/sandbox/lib/download';
import { fetchPlugin, shopPlugin } from '@security-optimizer/sandbox/wordpress/download';
import { findInstalledRelease } from '@security-optimizer/sandbox/wordpress/lay-out';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logIn, type Session } from '../../http/session.js';
import { onUnlikeStacks, type Stack } from '../../stacks/stack.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import { type EventRow, eventsDuring } from './helpers.js';

/** An order as WooCommerce's hooks pass it, with the parts that the connector uses. */
const ORDER = `$order = new class() {
  public $type = 'shop_order';
  public $changes = array( 'total' => '1' );
  public function get_id() { return 41; }
  public function get_order_number() { return '2026-41'; }
  public function get_type() { return $this->type; }
  public function get_changes() { return $this->changes; }
  public function get_meta_data() { return array(); }
  public function get_billing_email() { throw new Exception( 'Nobody needs the address of a customer.' ); }
};`;

/** The plugin's folder in the cache. */
const woocommerce: string | DownloadError = await fetchPlugin(shopPlugin).catch((error: unknown) => {
  if (error instanceof DownloadError) return error;
  throw error;
});

/** The common text about an order, by its number. */
const toActivities = (events: readonly EventRow[]) => events.map(({ activity }) => activity);

onUnlikeStacks('orders of a shop, with simulated WooCommerce hooks', (stack) => {
  let owner: Session;
  beforeAll(async () => {
    owner = await logIn(stack);
  });
  const during = (...processes: readonly string[]) =>
    eventsDuring(stack, owner, async () => {
      for (const code of processes) await runInWordPress(stack, `wp_set_current_user( 1 ); ${ORDER} ${code}`);
    });

  it('are logged once per change, with their number and the user', async () => {
    const saved = `do_action( 'woocommerce_before_order_object_save', $order, null );`;
    const events = await during(
      `${saved} do_action( 'woocommerce_new_order', 41, $order );
      ${saved} do_action( 'woocommerce_update_order', 41, $order );
      do_action( 'woocommerce_order_status_changed', 41, 'checkout-draft', 'pending', $order );`,
      // WooCommerce fires the hook of the save first and that of the status after it.
      `${saved} do_action( 'woocommerce_update_order', 41, $order ); do_action( 'woocommerce_order_status_changed', 41, 'pending', 'processing', $order );`,
      `${saved} do_action( 'woocommerce_update_order', 41, $order ); do_action( 'woocommerce_update_order', 41, $order );`,
      `$order->changes = array( 'date_modified' => 1 ); ${saved} do_action( 'woocommerce_update_order', 41, $order );`,
      `do_action( 'woocommerce_update_order', 41, $order ); do_action( 'woocommerce_order_refunded', 41, 42 );`,
      `do_action( 'woocommerce_refund_deleted', 42, 41 );`,
      `do_action( 'woocommerce_trash_order', 41 );`,
      `do_action( 'woocommerce_order_status_changed', 41, 'trash', 'processing', $order );`,
      `do_action( 'woocommerce_before_delete_order', 41, $order ); do_action( 'woocommerce_delete_order', 41 );`,
    );
    expect(toActivities(events)).toEqual([
      'Created order #2026-41',
      'Changed order #2026-41 from pending to processing',
      'Changed order #2026-41',
      'Refunded order #41',
      'Deleted a refund of order #41',
      'Moved order #41 to the bin',
      'Restored order #2026-41',
      'Deleted order #2026-41',
    ]);
    expect(new Set(events.map(({ user }) => user))).toEqual(new Set([stack.user]));
  });

  it('are not logged when a visitor or a background task changes them, nor are refunds and orders of plugins', async () => {
    const all = `do_action( 'woocommerce_new_order', 41, $order ); do_action( 'woocommerce_update_order', 41, $order );`;
    const other = (type: string) =>
      `$order->type = '${type}'; ${all} do_action( 'woocommerce_before_delete_order', 41, $order ); do_action( 'woocommerce_delete_order', 41 );`;
    expect(
      toActivities(
        await during(
          `define( 'DOING_CRON', true ); wp_set_current_user( 0 ); ${all}`,
          other('shop_order_refund'),
          other('shop_subscription'),
        ),
      ),
    ).toEqual([]);
  });
});

onUnlikeStacks('orders of a shop with a real WooCommerce', (stack) => {
  const shop = findShop(stack);
  if ('problem' in shop) {
    describe.skip(`not run: ${shop.problem}`, () => {});
    return;
  }
  let owner: Session;
  const dir = join(stack.dir, 'woocommerce');
  const loader = join(muPlugins(stack), 'a-shop.php');
  const runAsOwner = (code: string) => runInWordPress(stack, `wp_set_current_user( 1 ); ${code}`);

  beforeAll(async () => {
    owner = await logIn(stack);
    cpSync(shop.folder, dir, { recursive: true });
    // Other suites must not see a shop.
    writeFileSync(loader, `<?php if ( 'cli' === PHP_SAPI ) { require '${dir}/woocommerce.php'; }`);
    await runAsOwner(
      `WC_Install::install();
      wc_get_container()->get( Automattic\\WooCommerce\\Internal\\DataStores\\Orders\\DataSynchronizer::class )->create_database_tables();`,
    );
  });

  afterAll(async () => {
    await runInWordPress(
      stack,
      `foreach ( get_posts( array( 'post_type' => array( 'product', 'shop_order', 'shop_order_placehold' ), 'post_status' => 'any', 'numberposts' => -1 ) ) as $post ) { wp_delete_post( $post->ID, true ); }
      foreach ( array( 'shop', 'cart', 'checkout', 'my-account', 'refund_returns' ) as $name ) { $page = get_page_by_path( $name ); if ( $page ) { wp_delete_post( $page->ID, true ); } }
      WC_Install::remove_roles(); WC_Install::drop_tables();
      $GLOBALS['wpdb']->query( "DELETE FROM {$GLOBALS['wpdb']->options} WHERE option_name LIKE 'woocommerce%' OR option_name LIKE 'wc%'" );
      wp_cache_flush();`,
    );
    rmSync(loader, { force: true });
    rmSync(dir, { recursive: true, force: true });
    // Without the shop, which would schedule them again.
    await runInWordPress(
      stack,
      `foreach ( _get_cron_array() as $hooks ) { foreach ( array_keys( $hooks ) as $hook ) {
        if ( preg_match( '/^(wc_|woocommerce|jetpack|action_scheduler|generate_category)/', $hook ) ) { wp_unschedule_hook( $hook ); }
      } }`,
    );
  });

  describe.each([
    ['in separate tables', 'yes', 'no'],
    ['in separate tables, copied to posts', 'yes', 'yes'],
    ['in the table of posts', 'no', 'no'],
  ])('%s', (_where, tables, copied) => {
    beforeAll(async () => {
      await runAsOwner(
        `update_option( 'woocommerce_custom_orders_table_enabled', '${tables}' );
        update_option( 'woocommerce_custom_orders_table_data_sync_enabled', '${copied}' );`,
      );
      const stored = await runAsOwner(
        'echo wc_bool_to_string( Automattic\\WooCommerce\\Utilities\\OrderUtil::custom_orders_table_usage_is_enabled() );',
      );
      expect(stored).toBe(tables);
    });

    it('are logged once per change, without data of the customer', async () => {
      let id = 0;
      const events = await eventsDuring(stack, owner, async () => {
        id = Number(
          await runAsOwner(
            `$order = wc_create_order( array( 'status' => 'pending' ) );
            $order->set_billing_email( 'customer@example.net' ); $order->set_billing_last_name( 'Quimby' ); $order->set_total( 12 );
            $order->save(); echo $order->get_id();`,
          ),
        );
        const order = `$order = wc_get_order( ${id} );`;
        await runAsOwner(`${order} $order->update_status( 'processing' );`);
        await runAsOwner(`${order} $order->set_billing_city( 'Springfield' ); $order->save();`);
        // No change by a user.
        await runAsOwner(`${order} $order->save();`);
        await runAsOwner(`${order} wc_create_refund( array( 'order_id' => ${id}, 'amount' => 2 ) );`);
        // As in the list of orders: for posts it is WordPress's own list, which does not know orders.
        await runAsOwner(tables === 'yes' ? `${order} $order->delete( false );` : `wp_trash_post( ${id} );`);
        await runAsOwner(
          tables === 'yes'
            ? `${order} $order->get_data_store()->get_current_class_name(); wc_get_container()->get( Automattic\\WooCommerce\\Internal\\DataStores\\Orders\\OrdersTableDataStore::class )->untrash_order( $order );`
            : `wp_untrash_post( ${id} );`,
        );
        await runAsOwner(`${order} $order->delete( false );`);
        await runAsOwner(tables === 'yes' ? `${order} $order->delete( true );` : `wp_delete_post( ${id}, true );`);
        // By a visitor, and by a background task.
        await runInWordPress(
          stack,
          "define( 'DOING_CRON', true ); $order = wc_create_order(); $order->delete( true );",
        );
      });
      expect(toActivities(events)).toEqual([
        `Created order #${id}`,
        `Changed order #${id} from Pending payment to Processing`,
        `Changed order #${id}`,
        `Refunded order #${id}`,
        `Moved order #${id} to the bin`,
        `Restored order #${id}`,
        `Moved order #${id} to the bin`,
        `Deleted order #${id}`,
      ]);
      expect(new Set(events.map(({ user }) => user))).toEqual(new Set([stack.user]));
      expect(JSON.stringify(events)).not.toMatch(/customer@|Quimby|Springfield/);
    });

    it('are logged apart from products, which are logged as posts, also when only the price changes', async () => {
      const events = await eventsDuring(stack, owner, async () => {
        const id = await runAsOwner(
          `$product = new WC_Product_Simple(); $product->set_name( 'Tea' ); $product->set_regular_price( '3' );
          $product->set_manage_stock( true ); $product->set_stock_quantity( 5 ); $product->save(); echo $product->get_id();`,
        );
        const product = `$product = wc_get_product( ${id} );`;
        await runAsOwner(`${product} $product->set_regular_price( '4' ); $product->save();`);
        await runAsOwner(
          `${product} $product->set_name( 'Green tea' ); $product->set_regular_price( '5' ); $product->save();`,
        );
        await runAsOwner(`${product} $product->save();`);
        // An order reduces the stock: that is part of the order.
        await runAsOwner(
          `$order = wc_create_order( array( 'status' => 'pending' ) ); $order->add_product( wc_get_product( ${id} ), 1 ); $order->update_status( 'processing' );
          $order->delete( true );`,
        );
        await runAsOwner(`wp_trash_post( ${id} ); wp_delete_post( ${id}, true );`);
      });
      expect(toActivities(events).filter((text) => !text.includes('order'))).toEqual([
        'Published Product “Tea”',
        'Updated Product “Tea”',
        'Updated Product “Green tea”',
        'Moved Product “Green tea” to the bin',
        'Deleted Product “Green tea”',
      ]);
    });
  });
});

/** WooCommerce, unpacked, if it is available and the site's WordPress supports it. */
function findShop(stack: Stack): { readonly folder: string } | { readonly problem: string } {
  if (woocommerce instanceof Error) return { problem: woocommerce.message };
  const head = readFileSync(join(woocommerce, 'woocommerce.php'), 'utf8');
  const needed = Number(/Requires at least: (\d+\.\d+)/.exec(head)?.[1]);
  const version = Number.parseFloat(findInstalledRelease(stack.wordpressDir) ?? '');
  return version >= needed
    ? { folder: woocommerce }
    : { problem: `it takes WordPress ${needed}, and this is ${version}` };
}
