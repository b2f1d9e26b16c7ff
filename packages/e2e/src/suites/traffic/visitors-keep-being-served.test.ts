import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openChromium } from '../../browser/chromium.js';
import { form, sendRequest } from '../../http/request.js';
import { allOptions, logIn, setOptions } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';

onUnlikeStacks('A site with all seven toggles on', (stack) => {
  let browser: Browser;

  beforeAll(async () => {
    await setOptions(stack, await logIn(stack), allOptions(1));
    browser = await openChromium();
  });
  afterAll(() => browser?.close());

  const visit = (target: string, headers: Record<string, string> = {}) => sendRequest(stack, { target, headers });

  it('runs wp-cron through guard', async () => {
    const file = join(muPlugins(stack), 'cron.php');
    writeFileSync(file, "<?php add_action( 'e2e_event', function () { update_option( 'e2e_event_ran', 1 ); } );");
    try {
      await runInWordPress(
        stack,
        "delete_option( 'e2e_event_ran' ); delete_transient( 'doing_cron' ); wp_schedule_single_event( time() - 5, 'e2e_event' );",
      );
      expect((await visit('/wp-cron.php')).status).toBe(200);
      await until(
        'the event ran',
        async () => (await runInWordPress(stack, "echo get_option( 'e2e_event_ran' );")) === '1',
      );
    } finally {
      rmSync(file);
    }
  });

  it('accepts a comment', async () => {
    const response = await sendRequest(
      stack,
      form(
        '/wp-comments-post.php',
        new URLSearchParams({
          comment: 'Well said',
          author: 'Visitor',
          email: 'visitor@example.com',
          comment_post_ID: '1',
          submit: 'Post',
        }).toString(),
      ),
    );
    expect(response.status).toBe(302);
    expect(response.headers.location).toContain('unapproved=');
    expect(await runInWordPress(stack, "echo get_comments( array( 'search' => 'Well said', 'count' => true ) );")).toBe(
      '1',
    );
  });

  it('opens a post that is protected by a password', async () => {
    const id = await runInWordPress(
      stack,
      "echo wp_insert_post( array( 'post_title' => 'Locked', 'post_name' => 'locked', 'post_status' => 'publish', 'post_password' => 'sesame', 'post_content' => 'THE-TREASURE' ) );",
    );
    const visitor = await browser.newContext();
    try {
      const tab = await visitor.newPage();
      await tab.goto(`${stack.url}/locked/`);
      await tab.locator('input[name="post_password"]').fill('sesame');
      await tab.locator('.post-password-form input[type="submit"]').click();
      await tab.getByText('THE-TREASURE').waitFor();
    } finally {
      await visitor.close();
      // Its form would appear on the front page, which other suites check.
      await runInWordPress(stack, `wp_delete_post( ${Number(id)}, true );`);
    }
  });

  it('lets other sites embed a post', async () => {
    const oembed = await visit(`/wp-json/oembed/1.0/embed?url=${encodeURIComponent(`${stack.url}/hello-world/`)}`);
    expect(oembed.status).toBe(200);
    expect(JSON.parse(oembed.body)).toMatchObject({ title: 'Hello world!', type: 'rich' });
    const other = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(
        `<iframe src="${stack.url}/hello-world/embed/"></iframe><iframe src="${stack.url}/hello-world/"></iframe>`,
      );
    });
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const visitor = await browser.newContext();
    try {
      const tab = await visitor.newPage();
      // Another name of this machine is a different site for the browser.
      await tab.goto(`http://localhost:${(other.address() as AddressInfo).port}/`);
      await tab.frameLocator('iframe').first().locator('.wp-embed-heading').getByText('Hello world!').waitFor();
      expect(await tab.frameLocator('iframe').nth(1).getByText('Hello world!').count()).toBe(0);
    } finally {
      await visitor.close();
      other.close();
    }
  });

  it.each([
    ['/wp-sitemap.xml', /<sitemapindex/],
    ['/robots.txt', /User-agent: \*/],
    ['/?s=hello', /Hello world/],
    ['/wp-json/', /"namespaces"/],
    ['/category/uncategorized/', /Hello world/],
    ['/author/owner/', /Hello world/],
  ])('serves %s', async (target, content) => {
    const response = await visit(target);
    expect(response.status).toBe(200);
    expect(response.body).toMatch(content);
  });

  it('serves media in ranges', async () => {
    const file = join(stack.wordpressDir, 'wp-content/uploads/film.mp4');
    mkdirSync(join(stack.wordpressDir, 'wp-content/uploads'), { recursive: true });
    const bytes = Buffer.alloc(3 * 1024 * 1024, 'abcdefghij');
    writeFileSync(file, bytes);
    const part = await visit('/wp-content/uploads/film.mp4', { range: 'bytes=1000000-1000099' });
    expect(part.status).toBe(206);
    expect(part.headers['content-range']).toBe(`bytes 1000000-1000099/${bytes.length}`);
    expect(part.body).toBe(bytes.subarray(1_000_000, 1_000_100).toString('latin1'));
    expect((await visit('/wp-content/uploads/film.mp4', { range: 'bytes=-5' })).body).toBe(
      bytes.subarray(-5).toString('latin1'),
    );
    expect((await visit('/wp-content/uploads/film.mp4', { range: 'bytes=9999999-' })).status).toBe(416);
  });
});
