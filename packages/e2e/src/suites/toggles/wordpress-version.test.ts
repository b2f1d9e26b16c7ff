import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { form, sendRequest, type TypedRequest } from '../../http/request.js';
import { listSpellings, toSpelledRequest } from '../../http/spellings.js';
import type { Stack } from '../../stacks/stack.js';
import { toggleSuite } from './helpers.js';

const GENERATOR = /<meta name=["']generator["']|<generator|generator="WordPress/i;

const bundle = 'c=1&load%5B%5D=dashicons,admin-bar,common';
const sources = [
  '/',
  '/hello-world/',
  '/sample-page/',
  '/nothing-here/',
  '/?s=hello',
  '/feed/',
  '/feed/atom/',
  '/feed/rdf/',
  '/feed/rss/',
  '/comments/feed/',
  '/comments/feed/atom/',
  '/?feed=rss2',
  '/hello-world/feed/',
  '/hello-world/embed/',
  '/wp-login.php',
  '/wp-login.php?action=lostpassword',
  '/wp-login.php?action=register',
  '/wp-links-opml.php',
  '/wp-signup.php',
  '/wp-activate.php',
  '/wp-trackback.php',
  '/wp-comments-post.php',
  '/wp-cron.php',
  '/xmlrpc.php',
  '/xmlrpc.php?rsd',
  '/wp-json/',
  '/wp-json/wp/v2/posts',
  '/wp-json/oembed/1.0/embed?url={url}/hello-world/&format=xml',
  '/wp-sitemap.xml',
  '/wp-sitemap-posts-post-1.xml',
  '/wp-sitemap.xsl',
  '/robots.txt',
  `/wp-admin/load-styles.php?${bundle}`,
  `/wp-admin/load-scripts.php?c=1&load%5B%5D=jquery-core`,
  '/wp-admin/install.php',
  '/wp-admin/upgrade.php',
  '/wp-admin/setup-config.php',
  '/wp-admin/',
  '/wp-admin/admin-ajax.php',
  '/wp-admin/admin-post.php',
  '/wp-includes/version.php',
  '/wp-includes/js/tinymce/wp-tinymce.php',
];

toggleSuite({
  field: 'wp_remove_version',
  probes: (stack) =>
    [
      '/',
      '/feed/',
      '/wp-links-opml.php',
      '/wp-login.php',
      '/readme.html',
      '/license.txt',
      `/wp-admin/load-styles.php?${bundle}`,
    ].map((target) => request(stack, target)),
  whileEnabled({ stack, owner }) {
    const version = toVersionPattern(readVersion(stack));
    const host = new URL(stack.url).host;

    it.each(sources)('does not reveal the version at %s', async (target) => {
      const response = await sendRequest(stack, request(stack, target));
      expect(response.head).not.toMatch(version);
      expect(response.body).not.toMatch(version);
      expect(response.body).not.toMatch(GENERATOR);
      expect(response.head).not.toMatch(/^x-powered-by:|^server:.*\d|^x-generator:/im);
    });

    it.each(['/readme.html', '/license.txt'].flatMap((path) => listSpellings(path)))(
      'does not serve a file that contains it, spelled with $how: $target',
      async (spelling) => {
        const response = await sendRequest(stack, toSpelledRequest(spelling, host));
        expect([400, 403, 404], response.head).toContain(response.status);
        expect(response.body).not.toMatch(/Semantic Personal Publishing|WordPress - Web publishing software/);
      },
    );

    it.each(['load-styles.php', 'load-scripts.php'])('does not confirm a guess by the ETag of %s', async (name) => {
      const guess = await sendRequest(stack, {
        target: `/wp-admin/${name}?${bundle}`,
        headers: { 'if-none-match': readVersion(stack) },
      });
      expect(guess.status).toBe(200);
      expect(guess.headers.etag).toBeUndefined();
    });

    it('adds a constant token to files of core, so that they are cached', async () => {
      const tokens = async () =>
        [...(await sendRequest(stack, { target: '/wp-login.php' })).body.matchAll(/[?&]ver=([0-9a-f]{8})\b/g)].map(
          ([, token]) => token,
        );
      const first = await tokens();
      expect(first.length).toBeGreaterThan(2);
      expect(new Set(first).size).toBe(1);
      expect(await tokens()).toEqual(first);
    });

    it('does not write it into an export', async () => {
      const response = await sendRequest(stack, {
        target: '/wp-admin/export.php?download=true&content=posts',
        headers: { cookie: owner().cookie },
      });
      expect(response.body).toContain('<wp:wxr_version>');
      expect(response.body).not.toMatch(version);
      expect(response.body).not.toMatch(GENERATOR);
    });

    it('does not reveal it in responses to forms', async () => {
      const response = await sendRequest(stack, form('/wp-login.php', 'log=nobody&pwd=wrong'));
      expect(response.head + response.body).not.toMatch(version);
    });
  },
});

function request(stack: Stack, target: string): TypedRequest {
  return { target: target.replace('{url}', encodeURIComponent(stack.url)) };
}

/** Matches a version, but not at the end of another one: jQuery 3.7.1 does not reveal WordPress 7.1. */
function toVersionPattern(version: string): RegExp {
  return new RegExp(`(?<![\\d.])${version.replaceAll('.', '\\.')}(?!\\d)`);
}

function readVersion(stack: Stack): string {
  const file = join(stack.wordpressDir, 'wp-includes/version.php');
  if (!existsSync(file)) throw new Error('The stack has no WordPress.');
  const version = /\$wp_version = '([^']+)'/.exec(readFileSync(file, 'utf8'))?.[1];
  if (version === undefined) throw new Error('The version of WordPress is not known.');
  return version;
}
