import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { attach } from '@security-optimizer/guard/testing';
import { DownloadError } from '@security-optimizer/sandbox/lib/download';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { startProductionStack } from '@security-optimizer/sandbox/stacks/production';
import { fetchCurrentWordPress, fetchPlugin, shopPlugin } from '@security-optimizer/sandbox/wordpress/download';
import { describe, inject } from 'vitest';
import { policyPushed, startGuard, stopGuard } from '../../stacks/guard-process.js';
import { writeConfiguration } from '../../stacks/odd-install.js';
import type { Stack } from '../../stacks/stack.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';

/** The proxy in front of guard at which TLS ends, for programs that send their keys over https. */
export const TLS_PROXY = '127.0.71.200';

/** A shop at an address where first nginx answers, then guard in front of it. */
export interface Shop extends Stack {
  /** A physical product and a download. */
  readonly mug: number;
  readonly handbook: number;
  readonly keys: { readonly key: string; readonly secret: string };
  /** Sends visitors directly to nginx. @returns a function that ends this */
  openWithoutGuard(): Promise<() => Promise<void>>;
  /** Attaches guard and starts it. */
  startGuardInFront(): Promise<void>;
  /** Errors, warnings and notices of PHP. */
  complaints(): string[];
  /** Every mail that the shop has sent. */
  mails(): string[];
  stop(): Promise<void>;
}

/** The parts of a shop: the release of WordPress, and the folder of the plugin. */
export interface ShopParts {
  readonly release: string;
  readonly woocommerce: string;
}

/**
 * Defines a suite with its own shop, beside the most used stack. If WordPress or the plugin is not available, or the
 * stack is not part of the run, it is listed as skipped, with the reason.
 */
export async function onShop(title: string, define: (parts: ShopParts) => void): Promise<void> {
  const stack = inject('stacks').find(({ kind }) => kind === 'nginx-defaults');
  const parts =
    stack === undefined ? { problem: 'not on this stack' } : 'problem' in stack ? stack : await findShopParts();
  if ('problem' in parts) {
    // Short reporters do not list skipped suites.
    if (stack !== undefined) process.stderr.write(`Left out: ${title}. ${parts.problem}\n`);
    describe.skip(`${title} not run: ${parts.problem}`, () => {});
  } else describe(`${title} [WordPress ${parts.release}]`, () => define(parts));
}

async function findShopParts(): Promise<ShopParts | { readonly problem: string }> {
  const { release, fallbackReason } = await fetchCurrentWordPress();
  if (fallbackReason !== null) return { problem: `it needs a newer WordPress than ${release}: ${fallbackReason}` };
  try {
    return { release, woocommerce: await fetchPlugin(shopPlugin) };
  } catch (error) {
    if (error instanceof DownloadError) return { problem: error.message };
    throw error;
  }
}

/** Creates a shop with two products, cash on delivery and both kinds of checkout, on nginx, PHP-FPM and MariaDB. */
export async function startShop(dir: string, { release, woocommerce }: ShopParts): Promise<Shop> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(dir, { recursive: true });
  const { wordpressDir, upstream, user, password, stop } = await startProductionStack({
    dir,
    siteUrl: url,
    wordpressVersion: release,
  });
  const stack: Stack = {
    ...{ kind: 'production', dir, wordpressDir, guardDir: join(dir, 'guard'), url, port, user, password },
    upstreamPort: Number(new URL(upstream).port),
  };
  const debugLog = join(dir, 'logs/debug.log');
  writeFileSync(debugLog, '');
  chmodSync(debugLog, 0o666);
  try {
    cpSync(woocommerce, join(wordpressDir, 'wp-content/plugins/woocommerce'), { recursive: true });
    mkdirSync(muPlugins(stack), { recursive: true });
    writeFileSync(join(muPlugins(stack), 'shop-test.php'), SHOP_TEST);
    await runInWordPress(
      stack,
      `require_once ABSPATH . 'wp-admin/includes/plugin.php'; echo is_wp_error( activate_plugin( 'woocommerce/woocommerce.php' ) );`,
    );
    const made = JSON.parse(await runInWordPress(stack, SET_UP)) as Pick<Shop, 'mug' | 'handbook' | 'keys'>;
    // From here on, so that messages during the installation are not counted.
    writeConfiguration(join(wordpressDir, 'wp-config.php'), {
      ...{ WP_DEBUG: true, WP_DEBUG_DISPLAY: false, WP_DEBUG_LOG: debugLog },
    });
    return {
      ...stack,
      ...made,
      openWithoutGuard: () => forward(port, stack.upstreamPort),
      async startGuardInFront() {
        await attach({
          ...{ wordpressDir, upstream, dataDir: stack.guardDir, trustedProxies: [`${TLS_PROXY}/32`] },
          listen: { host: '127.0.0.1', port },
          requireGuard: 'force',
        });
        await startGuard(stack);
        await policyPushed(stack);
      },
      complaints: () => readFileSync(debugLog, 'utf8').split('\n').filter(Boolean),
      mails() {
        const folder = join(dir, 'mail');
        return existsSync(folder) ? readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1')) : [];
      },
      async stop() {
        await stopGuard(stack);
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Forwards connections from one local port to another. */
async function forward(from: number, to: number): Promise<() => Promise<void>> {
  const open = new Set<Socket>();
  const server = createServer((visitor) => {
    const upstream = connect(to, '127.0.0.1');
    for (const socket of [visitor, upstream]) {
      open.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket));
    }
    visitor.pipe(upstream).pipe(visitor);
  });
  await new Promise<void>((resolve) => server.listen(from, '127.0.0.1', resolve));
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    });
}

/**
 * Further parts of the shop: https that ends in front of nginx, as hosts configure it; a payment provider that calls
 * back; and webhooks to this machine, which WordPress refuses by default.
 */
const SHOP_TEST = `<?php
if ( 'https' === ( $_SERVER['HTTP_X_FORWARDED_PROTO'] ?? '' ) ) { $_SERVER['HTTPS'] = 'on'; }
add_action( 'woocommerce_api_pay_back', function () {
  $told  = json_decode( file_get_contents( 'php://input' ), true );
  $order = wc_get_order( (int) $told['order'] );
  $order->payment_complete( $told['transaction'] );
  status_header( 200 );
  exit( 'paid ' . $order->get_status() );
} );
add_filter( 'http_request_host_is_external', '__return_true' );
add_filter( 'http_allowed_safe_ports', function ( $ports, $host, $url ) { return array_merge( $ports, array( wp_parse_url( $url, PHP_URL_PORT ) ) ); }, 10, 3 );
`;

const SET_UP = `
WC_Install::create_pages();
$options = array(
  'woocommerce_coming_soon'                              => 'no',
  'woocommerce_default_country'                          => 'DE:DE-BE',
  'woocommerce_currency'                                 => 'EUR',
  'woocommerce_enable_guest_checkout'                    => 'yes',
  'woocommerce_enable_checkout_login_reminder'           => 'yes',
  'woocommerce_enable_signup_and_login_from_checkout'    => 'yes',
  'woocommerce_enable_delayed_account_creation'          => 'no',
  'woocommerce_enable_myaccount_registration'            => 'yes',
  'woocommerce_registration_generate_username'           => 'yes',
  'woocommerce_registration_generate_password'           => 'no',
  'woocommerce_cod_settings'                             => array( 'enabled' => 'yes', 'title' => 'Cash on delivery', 'enable_for_methods' => array(), 'enable_for_virtual' => 'yes' ),
  'woocommerce_bacs_settings'                            => array( 'enabled' => 'yes', 'title' => 'Bank transfer' ),
  'woocommerce_onboarding_profile'                       => array( 'skipped' => true, 'completed' => true ),
  'woocommerce_task_list_hidden'                         => 'yes',
  'woocommerce_allow_tracking'                           => 'no',
  'woocommerce_show_marketplace_suggestions'             => 'no',
  'users_can_register'                                   => 0,
);
foreach ( $options as $name => $value ) { update_option( $name, $value ); }
delete_transient( '_wc_activation_redirect' );
( new WC_Shipping_Zone( 0 ) )->add_shipping_method( 'free_shipping' );
wp_insert_post( array( 'post_type' => 'page', 'post_status' => 'publish', 'post_title' => 'Classic check-out', 'post_name' => 'classic-check-out', 'post_content' => '[woocommerce_checkout]' ) );

$mug = new WC_Product_Simple();
$mug->set_props( array( 'name' => 'Blue mug', 'slug' => 'blue-mug', 'status' => 'publish', 'regular_price' => '12' ) );

$folder = wp_upload_dir();
wp_mkdir_p( $folder['basedir'] . '/woocommerce_uploads' );
file_put_contents( $folder['basedir'] . '/woocommerce_uploads/handbook.txt', 'How to make tea.' );
$file = new WC_Product_Download();
$file->set_id( wp_generate_uuid4() );
$file->set_name( 'Handbook' );
$file->set_file( $folder['baseurl'] . '/woocommerce_uploads/handbook.txt' );
$handbook = new WC_Product_Simple();
$handbook->set_props( array( 'name' => 'Handbook', 'slug' => 'handbook', 'status' => 'publish', 'regular_price' => '5', 'virtual' => true, 'downloadable' => true ) );
$handbook->set_downloads( array( $file ) );

$key    = 'ck_' . wc_rand_hash();
$secret = 'cs_' . wc_rand_hash();
$GLOBALS['wpdb']->insert( $GLOBALS['wpdb']->prefix . 'woocommerce_api_keys', array(
  'user_id' => 1, 'description' => 'Till', 'permissions' => 'read_write',
  'consumer_key' => wc_api_hash( $key ), 'consumer_secret' => $secret, 'truncated_key' => substr( $key, -7 ),
) );
$made = array( 'mug' => $mug->save(), 'handbook' => $handbook->save(), 'keys' => compact( 'key', 'secret' ) );
flush_rewrite_rules();
echo json_encode( $made );
`;
