import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RawResponse } from '../../http/raw.js';
import { form, sendRequest, sendUpstream } from '../../http/request.js';
import { allOptions, logIn, type Session, setOptions } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { muPlugins, runInWordPress, withoutConnector } from '../../stacks/wordpress.js';

const FEED = /<rss|<feed[\s>]|<rdf:RDF/i;

/** Terms that are named like feeds, below bases unknown to guard, and paths that a plugin serves itself. */
const PLUGIN = `<?php
/* Plugin Name: Odd addresses */
add_action( 'init', function () {
  register_taxonomy( 'marke', 'post', array( 'public' => true, 'rewrite' => array( 'slug' => 'marke' ) ) );
  register_taxonomy( 'odd_topic', 'post', array( 'public' => true, 'rewrite' => array( 'slug' => 'topics' ) ) );
  register_taxonomy( 'odd_goods', 'post', array(
    'public' => true, 'hierarchical' => true,
    'rewrite' => array( 'slug' => 'product-category', 'hierarchical' => true ),
  ) );
  add_rewrite_rule( '^en/tag/([^/]+)/?$', 'index.php?tag=$matches[1]', 'top' );
  if ( 0 === strpos( $_SERVER['REQUEST_URI'] ?? '', '/go/' ) ) {
    header( 'Content-Type: text/plain' );
    echo 'asked: ' . $_SERVER['REQUEST_URI'];
    exit;
  }
} );
`;

/** Names of files on the disk, one character per byte, and the path of each. */
const files: readonly (readonly [string, string])[] = [
  ['caf\xe9.jpg', 'caf%E9.jpg'],
  ['\xe2\x98', '%E2%98'],
  ['tab\there.txt', 'tab%09here.txt'],
  ['a\x01b.txt', 'a%01b.txt'],
  ['a\\b.jpg', 'a%5Cb.jpg'],
  ['Sale%20final.pdf', 'Sale%2520final.pdf'],
  ['50%de.txt', '50%25de.txt'],
  ['a%2fb.jpg', 'a%252fb.jpg'],
  ['a;b.jpg', 'a%3Bb.jpg'],
  ['c;d.jpg', 'c;d.jpg'],
  ['why?.jpg', 'why%3F.jpg'],
  ['three....txt', 'three....txt'],
  ['.thumbs/x.jpg', '.thumbs/x.jpg'],
];

/** Pages and searches. */
const pages = [
  '/caf%E9/',
  '/%83e%83X%83g/',
  '/tag/%E9t%E9/',
  '/search/%ED%A0%80/',
  '/search/C%3A%5CUsers/',
  '/search/20%25de/',
  '/search/100%25ab/',
  '/search/100%2500/',
  '/search/%3F/',
  '/search/a%3Bb/',
  '/search/.../',
  '/search/tab%09here/',
  '/search/wp-admin/',
  '/search/error_log/',
  '/error_log/',
  '/search/readme.txt/',
];

const searches = ['/search/feed/', '/search/atom/'];

/** Paths that a plugin receives byte for byte. */
const forwarded = [
  '/go/https%253A%252F%252Fexample.com%252F',
  '/go/caf%E9/%e9',
  '/go/a%5Cb/c%09d',
  '/go/50%25de',
  '/go/a%252fb',
  '/go/x;y=1/z',
  '/go/x%3Fy',
  '/go/feed/',
  '/go/.../x',
];

onUnlikeStacks('every path that the web server and WordPress serve', (stack) => {
  const { wordpressDir } = stack;
  const uploads = join(wordpressDir, 'wp-content/uploads/odd-names');
  const pluginFile = join(muPlugins(stack), 'odd-addresses.php');
  let owner: Session;
  /** Responses of WordPress without the connector, by target. */
  const baseline = new Map<string, RawResponse>();

  beforeAll(async () => {
    owner = await logIn(stack);
    mkdirSync(join(uploads, '.thumbs'), { recursive: true });
    for (const [at, [name]] of files.entries()) {
      writeFileSync(Buffer.concat([Buffer.from(`${uploads}/`), Buffer.from(name, 'latin1')]), `content ${at}`);
    }
    writeFileSync(pluginFile, PLUGIN);
    await runInWordPress(
      stack,
      `flush_rewrite_rules( false );
      $feed = wp_insert_term( 'Feed', 'odd_goods', array( 'slug' => 'feed' ) );
      wp_insert_term( 'Dog food', 'odd_goods', array( 'slug' => 'dog-food', 'parent' => $feed['term_id'] ) );
      foreach ( array( array( 'atom', 'odd_goods' ), array( 'rss', 'marke' ), array( 'rdf', 'odd_topic' ), array( 'rss', 'post_tag' ), array( 'feed', 'category' ) ) as list( $slug, $taxonomy ) ) {
        wp_insert_term( $slug, $taxonomy, array( 'slug' => $slug ) );
        wp_set_object_terms( 1, array( $slug ), $taxonomy, true );
      }
      wp_set_object_terms( 1, array( 'feed', 'dog-food' ), 'odd_goods', true );
      wp_insert_post( array( 'post_type' => 'page', 'post_status' => 'publish', 'post_title' => 'Where the errors are', 'post_name' => 'error_log' ) );`,
    );
    await withoutConnector(stack, async () => {
      for (const target of [...pages, ...searches]) baseline.set(target, await sendUpstream(stack, { target }));
    });
  });
  afterAll(async () => {
    await runInWordPress(
      stack,
      `foreach ( array( 'odd_goods' => array( 'feed', 'dog-food', 'atom' ), 'marke' => array( 'rss' ), 'odd_topic' => array( 'rdf' ), 'post_tag' => array( 'rss' ), 'category' => array( 'feed' ) ) as $taxonomy => $slugs ) {
        foreach ( $slugs as $slug ) { wp_delete_term( get_term_by( 'slug', $slug, $taxonomy )->term_id, $taxonomy ); }
      }
      wp_delete_post( get_page_by_path( 'error_log' )->ID, true );`,
    );
    rmSync(pluginFile);
    rmSync(uploads, { recursive: true });
    await runInWordPress(stack, 'flush_rewrite_rules( false );');
    await setOptions(stack, owner, allOptions(0));
  });

  describe.each([
    ['off', 0],
    ['on', 1],
  ] as const)('with every protection %s', (_name, value) => {
    beforeAll(() => setOptions(stack, owner, allOptions(value)));

    it.each(files.map(([, path], at) => [path, at] as const))('serves the file %s', async (path, at) => {
      const { status, body } = await sendRequest(stack, { target: `/wp-content/uploads/odd-names/${path}` });
      const straight = await sendUpstream(stack, { target: `/wp-content/uploads/odd-names/${path}` });
      expect([status, body]).toEqual([straight.status, straight.body]);
      // PHP's own web server finds no name with a percent sign or a backslash.
      if (stack.kind !== 'embedded') expect([status, body]).toEqual([200, `content ${at}`]);
    });

    it.each(pages)('serves the page %s as WordPress does', async (target) => {
      const { status, headers } = await sendRequest(stack, { target });
      const straight = baseline.get(target);
      expect([status, headers.location]).toEqual([straight?.status, straight?.headers.location]);
      expect([200, 301, 404]).toContain(status);
    });

    it.each([
      ['a file', `/wp-content/uploads/odd-names/\xe2\x98`, 'content 1'],
      ['a file in Latin-1', `/wp-content/uploads/odd-names/caf\xe9.jpg`, 'content 0'],
      ['an address of a plugin', '/go/caf\xc3\xa9?x=\xe9', 'asked: /go/caf%C3%A9?x=%E9'],
      ['a search', '/?s=caf\xc3\xa9', 'caf'],
    ])('serves %s that is requested in raw bytes', async (_what, target, expected) => {
      const { status, body } = await sendRequest(stack, { target });
      expect([status, body.includes(expected)]).toEqual([200, true]);
    });

    it.each(forwarded)('forwards %s byte for byte', async (target) => {
      const { status, body } = await sendRequest(stack, { target });
      expect([status, body]).toEqual([200, `asked: ${target}`]);
    });
  });

  describe('with feeds off', () => {
    beforeAll(() => setOptions(stack, owner, { ...allOptions(0), disable_feed: 1 }));

    it.each([
      '/product-category/feed/',
      '/product-category/feed/dog-food/',
      '/product-category/feed/?orderby=price',
      '/product-category/atom/',
      '/marke/rss/',
      '/topics/rdf/',
      '/category/feed/',
      '/tag/rss/',
      '/en/tag/rss/',
      '/search/hello/',
    ])('serves a page that only looks like a feed: %s', async (target) => {
      const { status, body } = await sendRequest(stack, { target });
      expect([status, body.includes('<html'), FEED.test(body)]).toEqual([200, true, false]);
    });

    it.each(searches)('searches for the term: %s', async (target) => {
      const { status, body } = await sendRequest(stack, { target });
      expect([status, status]).toEqual([baseline.get(target)?.status, 200]);
      expect(body).toMatch(/<body class="[^"]*\bsearch\b/);
    });

    it.each([
      '/product-category/feed/feed/',
      '/product-category/feed/dog-food/feed/',
      '/product-category/atom/feed/atom/',
      '/marke/rss/feed/',
      '/marke/rss/rss2/',
      '/topics/rdf/rdf/',
      '/tag/rss/feed/',
      '/category/feed/feed/',
      '/category/uncategorized/feed/atom/',
      '/hello-world/feed/',
      '/sample-page/feed/',
      '/2024/feed/',
      '/search/feed/feed/',
      '/comments/feed/',
      '/marke%5Crss%5Cfeed%5C',
      '/marke/rss/feed%09',
    ])('refuses the feed %s', async (target) => {
      const { status, body } = await sendRequest(stack, { target });
      expect(body).not.toMatch(FEED);
      expect([400, 404]).toContain(status);
    });
  });

  describe('with every protection on', () => {
    beforeAll(() => setOptions(stack, owner, allOptions(1)));

    it('serves no file whose name a page could have', async () => {
      const log = join(wordpressDir, 'error_log');
      writeFileSync(log, 'PHP Warning: secret');
      try {
        for (const target of [
          '/error_log',
          '/error_log/',
          '//error_log',
          '/error_log%2f',
          '/error_log%00',
          '/error_log%5C',
        ]) {
          const { status, body } = await sendRequest(stack, { target });
          expect([target, body.includes('secret')]).toEqual([target, false]);
          expect([target, status]).not.toEqual([target, 500]);
        }
        expect((await sendRequest(stack, { target: '/error_log' })).status).toBe(403);
      } finally {
        rmSync(log);
      }
    });

    it('serves no file of a folder that is named like the search', async () => {
      const folder = join(wordpressDir, 'search');
      mkdirSync(folder);
      try {
        for (const name of ['.env', 'backup.sql', 'wp-config.txt', 'license.txt']) {
          writeFileSync(join(folder, name), 'secret');
          const { status, body } = await sendRequest(stack, { target: `/search/${name}` });
          expect([name, body.includes('secret'), [403, 404].includes(status)]).toEqual([name, false, true]);
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    it.each([
      '/wp-content/uploads/odd-names/x.php%E9',
      '/wp-content/uploads/odd-names/%E9.php',
      '/wp-content/uploads/odd-names/x%252ephp',
      '/wp-content%5Cuploads%5Codd-names%5Cx.php',
      '/wp-content/uploads/odd-names/x.ph%01p',
      '/wp-content/uploads/odd-names/x.php%09',
      '/wp-content/uploads/odd-names/x.php%3F.jpg',
      '/wp-content/uploads/odd-names/x.jpg;.php',
      '/wp-content/uploads/odd-names/.thumbs/x.php',
      '/search/../wp-content/uploads/odd-names/x.php',
    ])('runs no script in uploads with the spelling %s', async (target) => {
      const script = join(uploads, 'x.php');
      writeFileSync(script, '<?php echo 6 * 7, "-ran";');
      const { status, body } = await sendRequest(stack, { target });
      rmSync(script);
      expect([body.includes('42-ran'), [400, 403].includes(status)]).toEqual([false, true]);
    });

    const call = '<?xml version="1.0"?><methodCall><methodName>system.listMethods</methodName><params/></methodCall>';
    it.each([
      '/search/xmlrpc.php',
      '/search/xmlrpc.php/',
      '/en/search/xmlrpc.php',
      '/search/..%5Cxmlrpc.php',
      '/search/%252e%252e/xmlrpc.php',
      '/xmlrpc.php%E9',
      '/xmlrpc%252ephp',
      '/xmlrpc.php%09',
      '/x%5Cxmlrpc.php',
      '/search;/../xmlrpc.php',
      '/search%3F/../xmlrpc.php',
    ])('does not serve XML-RPC at %s', async (target) => {
      const { body } = await sendRequest(stack, { ...form(target, call), headers: { 'content-type': 'text/xml' } });
      expect(body).not.toContain('methodResponse');
    });

    it.each([
      '/search/wp-login.php',
      '/wp-login.php%E9',
      '/wp-login%252ephp',
      '/x%5C..%5Cwp-login.php',
      '/wp-login.php%09',
      '/wp-login.php%5C',
    ])('shows no login at %s', async (target) => {
      const { status, body } = await sendRequest(stack, form(target, `log=${stack.user}&pwd=${stack.password}`));
      expect(body).not.toContain('user_login');
      expect([200, 301, 400, 404]).toContain(status);
    });
  });
});
