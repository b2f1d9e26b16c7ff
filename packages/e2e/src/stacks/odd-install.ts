import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { attach } from '@security-optimizer/guard/testing';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { createPhpRunner, startNativePhp } from '@security-optimizer/sandbox/php/native';
import { installWordPress } from '@security-optimizer/sandbox/wordpress/install';
import { layOutWordPress } from '@security-optimizer/sandbox/wordpress/lay-out';
import { policyPushed, securityOptimizer, startGuard, stopGuard } from './guard-process.js';
import type { Stack } from './stack.js';
import { prepareSite, runInWordPress } from './wordpress.js';

/** The directory layout of a WordPress that is not at the root of its host, or is split into several folders. */
export interface Layout {
  /** URL path of the site, '' at the root. */
  readonly home: string;
  /** Folder of WordPress below the root of the web server, '' for the root itself. */
  readonly core: string;
  /** Folder below the root that replaces `wp-content`. */
  readonly content?: string;
  /**
   * WordPress also has its own unused `wp-content`, and `attach` has to find out which one is used (Bedrock,
   * WordPress-Skeleton).
   */
  readonly unusedContent?: boolean;
  /** A network of sites in sub-directories, with a second site at `/second/`. */
  readonly network?: boolean;
  /** Origin of the site when TLS ends in front of guard, for example `https://shop.example:8443`. */
  readonly origin?: string;
  /** The connector is shared by sites, outside the web root. Needs root. */
  readonly shared?: boolean;
  /** URLs without pretty permalinks. */
  readonly plain?: boolean;
  /** Custom names of the site; see `ChosenNames`. */
  readonly names?: ChosenNames;
  /** The root of the web server is a link to the current release, as with deployment tools (`deployRelease`). */
  readonly releases?: boolean;
}

/** Names that a site can customise in WordPress, besides its location. */
export interface ChosenNames {
  /** Constants of its configuration, such as the names of cookies. `ROOT` is the root of the web server, `ORIGIN` the site's. */
  readonly constants?: Readonly<Record<string, string>>;
  /** Prefix of its tables. */
  readonly tablePrefix?: string;
  /** Folder of must-use plugins below the root, where it is moved. */
  readonly mustUse?: string;
  /** PHP of a must-use plugin, without the opening tag. */
  readonly plugin?: string;
  /** Permalink structure and bases, by option. */
  readonly options?: Readonly<Record<string, string>>;
}

/** A running WordPress with an unusual layout behind guard. */
export interface OddSite extends Stack {
  readonly layout: Layout;
  /** URL path of WordPress's own folder, '' at the root. */
  readonly corePath: string;
  readonly contentPath: string;
  readonly stop: () => Promise<void>;
}

/**
 * Creates a WordPress with the layout, starts it on PHP with SQLite, and puts guard in front of it.
 *
 * @param env more variables for the processes
 */
export async function startOddInstall(
  dir: string,
  layout: Layout,
  env: { readonly guard?: Readonly<Record<string, string>>; readonly php?: Readonly<Record<string, string>> } = {},
): Promise<OddSite> {
  const port = await findFreePort();
  const origin = layout.origin ?? (layout.network === true ? 'http://network.example' : `http://127.0.0.1:${port}`);
  const root = join(dir, 'root');
  const wordpressDir = join(root, layout.core);
  const corePath = layout.core === '' ? '' : `/${layout.core}`;
  const contentPath = layout.content === undefined ? `${corePath}/wp-content` : `/${layout.content}`;
  const isNamed = layout.content !== undefined && layout.unusedContent !== true;
  const mustUse = layout.names?.mustUse ?? (isNamed ? `${layout.content}/mu-plugins` : undefined);
  const muPlugins = mustUse === undefined ? {} : { muPluginsDir: join(root, mustUse) };
  for (const name of ['logs', 'tmp', 'mail', 'run']) mkdirSync(join(dir, name), { recursive: true });
  if (layout.releases === true) {
    mkdirSync(join(dir, 'releases', '1'), { recursive: true });
    leadTo(dir, '1');
  } else {
    mkdirSync(root);
  }
  const siteUrl = origin + layout.home;
  const database = { kind: 'sqlite', dir: join(dir, 'database'), file: '.ht.sqlite' } as const;
  await layOutWordPress({ dir: wordpressDir, database, siteUrl, log: () => {} });
  if (layout.content !== undefined) renameSync(join(wordpressDir, 'wp-content'), join(root, layout.content));
  if (layout.unusedContent === true) mkdirSync(join(wordpressDir, 'wp-content'));
  writeConfiguration(join(wordpressDir, 'wp-config.php'), {
    ...(layout.network === true ? {} : { WP_SITEURL: origin + corePath }),
    ...(layout.content === undefined
      ? {}
      : { WP_CONTENT_DIR: join(root, layout.content), WP_CONTENT_URL: origin + contentPath }),
  });
  if (layout.names !== undefined) chooseNames(layout.names, { wordpressDir, root, origin });
  // WordPress in its own folder: the site's folder contains only an index.php.
  if (layout.home !== corePath) {
    mkdirSync(join(root, layout.home), { recursive: true });
    const up = layout.home === '' ? '' : '/..'.repeat(layout.home.split('/').length - 1);
    writeFileSync(
      join(root, layout.home, 'index.php'),
      `<?php define( 'WP_USE_THEMES', true ); require __DIR__ . '${up}${corePath}/wp-blog-header.php';`,
    );
  }
  const owner = await installWordPress({ wordpressDir, dataDir: dir, siteUrl, runPhp: createPhpRunner(dir) });
  // Beside the folder of the test, which only its user may enter.
  const sharedConnector = layout.shared === true ? `${dir}-connector` : null;
  const front = `${layout.home}/index.php`;
  const web = await startNativePhp({
    wordpressDir: root,
    dataDir: dir,
    env: {
      ...env.php,
      SANDBOX_FRONT: front,
      ...(layout.network === true ? { SANDBOX_NETWORK: '1' } : {}),
      ...(layout.releases === true ? withoutPathCache(dir) : {}),
    },
  });
  const stack: Stack = {
    kind: 'embedded',
    dir,
    wordpressDir,
    guardDir: join(dir, 'guard'),
    url: origin,
    port,
    upstreamPort: Number(new URL(web.upstream).port),
    ...owner,
  };
  const stop = async () => {
    await stopGuard(stack);
    await web.service.stop();
    if (sharedConnector !== null) rmSync(sharedConnector, { recursive: true, force: true });
  };
  try {
    if (layout.network === true) await makeNetwork(stack, join(wordpressDir, 'wp-config.php'));
    if (layout.plain === true) {
      await runInWordPress(
        stack,
        "global $wp_rewrite; $wp_rewrite->set_permalink_structure( '' ); flush_rewrite_rules( false );",
      );
    }
    await prepareSite(stack);
    if (layout.names?.options !== undefined) await setPermalinks(stack, layout.names.options);
    if (sharedConnector !== null) await securityOptimizer('share-connector', sharedConnector);
    if (layout.unusedContent === true) changeOwner(dir, root);
    await attach({
      wordpressDir,
      upstream: web.upstream,
      listen: { host: '127.0.0.1', port },
      dataDir: stack.guardDir,
      requireGuard: 'force',
      ...(layout.home === '' ? {} : { home: layout.home }),
      ...(layout.origin === undefined ? {} : { trustedProxies: ['127.0.0.1/32'] }),
      ...muPlugins,
      sharedConnector,
    });
    await startGuard(stack, env.guard);
    await policyPushed(stack);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...stack, layout, corePath, contentPath, stop };
}

/** Writes the names into the configuration, before WordPress is installed. */
function chooseNames(
  { constants = {}, tablePrefix, mustUse, plugin }: ChosenNames,
  site: { readonly wordpressDir: string; readonly root: string; readonly origin: string },
): void {
  const file = join(site.wordpressDir, 'wp-config.php');
  const values = Object.entries(constants).map(([name, value]) => [
    name,
    value.replaceAll('ROOT', site.root).replaceAll('ORIGIN', site.origin),
  ]);
  writeConfiguration(file, Object.fromEntries(values));
  if (tablePrefix !== undefined) {
    const text = readFileSync(file, 'utf8').replace(/^\$table_prefix = .*$/m, `$table_prefix = '${tablePrefix}';`);
    writeFileSync(file, text);
  }
  const folder = join(site.root, mustUse ?? 'wp-content/mu-plugins');
  mkdirSync(folder, { recursive: true });
  if (plugin !== undefined) writeFileSync(join(folder, 'own-addresses.php'), `<?php\n${plugin}`);
}

/** As on the page Permalinks. */
async function setPermalinks(stack: Stack, options: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(options).map(([name, value]) => `update_option( '${name}', '${value}' );`);
  await runInWordPress(stack, lines.join(' '));
  // In a new process, since WordPress reads the bases when it starts.
  await runInWordPress(stack, 'flush_rewrite_rules( false );');
}

/** Root never runs code of a site, so another user owns the site if root runs the tests. */
function changeOwner(dir: string, root: string): void {
  if (process.getuid?.() !== 0) return;
  chmodSync(dir, 0o755);
  execFileSync('chown', ['-R', '54321:54321', realpathSync(root)]);
  execFileSync('chown', ['-h', '54321:54321', root]);
}

/**
 * Deploys a copy of a release as from version control, without the connector, and activates it.
 *
 * @param dir folder of the installation
 */
export function deployRelease(dir: string, from: string, name: string): void {
  const isConnector = (path: string) => /\/mu-plugins\/security-optimizer(?:\.php)?$/.test(path);
  const release = join(dir, 'releases', name);
  cpSync(join(dir, 'releases', from), release, { recursive: true, filter: (path) => !isConnector(path) });
  leadTo(dir, name);
}

/** Atomically points the root of the web server to a release. */
export function leadTo(dir: string, release: string): void {
  symlinkSync(join('releases', release), join(dir, 'root.next'));
  renameSync(join(dir, 'root.next'), join(dir, 'root'));
}

/** Makes PHP resolve links on each request; sites with releases let their web server do that. */
function withoutPathCache(dir: string): Record<string, string> {
  const folder = join(dir, 'php-settings');
  mkdirSync(folder);
  writeFileSync(join(folder, 'links.ini'), 'realpath_cache_size = 0\nopcache.revalidate_path = 1\n');
  // The default folder, too.
  return { PHP_INI_SCAN_DIR: `:${folder}` };
}

/** Adds constants to wp-config.php, or gives them another value. */
export function writeConfiguration(file: string, values: Readonly<Record<string, string | boolean | number>>): void {
  let text = readFileSync(file, 'utf8');
  for (const [name, value] of Object.entries(values)) {
    const line = `define( '${name}', ${typeof value === 'string' ? `'${value}'` : value} );`;
    const present = new RegExp(`^define\\( '${name}', .*$`, 'm');
    text = present.test(text) ? text.replace(present, () => line) : text.replace('<?php\n', () => `<?php\n${line}\n`);
  }
  writeFileSync(file, text);
}

/**
 * Converts a single site to a network with a second site, at `/second/` or at its own domain.
 *
 * @param ownDomain domain of the second site; the network then uses subdomains
 */
export async function makeNetwork(stack: Stack, configuration: string, ownDomain?: string): Promise<void> {
  const { host } = new URL(stack.url);
  const byDomains = ownDomain !== undefined;
  await runInWordPress(
    stack,
    `require_once ABSPATH . 'wp-admin/includes/upgrade.php';
    define( 'WP_INSTALLING_NETWORK', true );
    foreach ( $GLOBALS['wpdb']->tables( 'ms_global' ) as $table => $prefixed ) { $GLOBALS['wpdb']->$table = $prefixed; }
    install_network();
    $made = populate_network( 1, '${host}', 'owner@example.com', 'Network', '/', ${byDomains} );
    if ( is_wp_error( $made ) && 'no_wildcard_dns' !== $made->get_error_code() ) { fwrite( STDERR, $made->get_error_message() ); exit( 1 ); }`,
  );
  // In a network, the address of each site is only in the database.
  const text = readFileSync(configuration, 'utf8').replace(/^define\( 'WP_(?:HOME|SITEURL)', .*\n/gm, '');
  writeFileSync(configuration, text);
  writeConfiguration(configuration, {
    BLOG_ID_CURRENT_SITE: 1,
    SITE_ID_CURRENT_SITE: 1,
    PATH_CURRENT_SITE: '/',
    DOMAIN_CURRENT_SITE: host,
    SUBDOMAIN_INSTALL: byDomains,
    MULTISITE: true,
    WP_ALLOW_MULTISITE: true,
  });
  await runInWordPress(
    stack,
    `$id = wpmu_create_blog( '${ownDomain ?? host}', '${byDomains ? '/' : '/second/'}', 'Second', 1, array( 'public' => 1 ), 1 );
    if ( is_wp_error( $id ) ) { fwrite( STDERR, $id->get_error_message() ); exit( 1 ); }
    grant_super_admin( 1 );`,
  );
}
