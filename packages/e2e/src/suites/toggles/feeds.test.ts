import { expect, it } from 'vitest';
import { form, sendRequest } from '../../http/request.js';
import { listSpellings, toSpelledRequest } from '../../http/spellings.js';
import { expectRefused, toggleSuite } from './helpers.js';

const SIGN = /<rss|<feed[\s>]|<rdf:RDF/i;

const paths = [
  '/feed/',
  '/feed',
  '/feed/rss2/',
  '/feed/atom/',
  '/feed/rdf/',
  '/feed/rss/',
  '/rss2/',
  '/atom/',
  '/comments/feed/',
  '/comments/feed/atom/',
  '/hello-world/feed/',
  '/hello-world/feed/atom',
  '/sample-page/feed/',
  '/category/uncategorized/feed/',
  '/author/owner/feed/',
  '/search/hello/feed/rss2/',
  '/page/2/feed/',
  '/index.php/feed/',
  '/index.php/comments/feed/',
  '/wp-rss2.php',
  '/wp-rss.php',
  '/wp-atom.php',
  '/wp-rdf.php',
  '/wp-feed.php',
  '/wp-commentsrss2.php',
  '/?feed=rss2',
  '/?feed=atom',
  '/?feed=rdf',
  '/?feed=feed',
  '/?feed=comments-rss2',
  '/?feed=rss2&p=1',
  '/?p=1&withcomments=1&feed=atom',
  '/?author=1&feed=rss2',
  '/?cat=1&feed=rss2',
  '/?s=hello&feed=rss2',
  '/index.php?feed=rss2',
  '/index.php/?feed=rss2',
  '/hello-world/?feed=atom',
  '/?%66eed=rss2',
  '/?feed=%72ss2',
  '/?+feed=rss2',
  '/?x=1&&feed=rss2',
  '/?feed=&feed=rss2',
  '/?feed=rss2&feed=atom',
  '/?feed[]=rss2',
  '/?feed[0]=rss2',
  '/?feed=rss2%00',
  '/?FEED=1&feed=rss2',
  '/?x=1;y=2&feed=rss2',
  '//feed/',
  '/x/../feed/',
  '/./feed/./',
  '/%66eed/',
  '/feed%2f',
  '/fe%65d/atom',
  '/FEED/',
  '/Feed/Atom/',
  '/feed%252f',
  '/feed;x/',
  '/feed./',
  '/feed%20/',
  '/feed%00',
  '/feed%c0%af',
];

toggleSuite({
  field: 'disable_feed',
  probes: () =>
    ['/feed/', '/?feed=atom', '/comments/feed/', '/hello-world/feed/', '/', '/hello-world/'].map((target) => ({
      target,
    })),
  whileEnabled({ stack }) {
    const host = new URL(stack.url).host;
    it.each(paths)('refuses %s', async (target) => {
      const response = await sendRequest(stack, { target });
      // WordPress does not treat an array as a feed and shows its front page.
      if (target.includes('[')) expect(response.body).not.toMatch(SIGN);
      else expectRefused(response, SIGN);
    });

    it.each(listSpellings('/wp-rss2.php'))('refuses the old script spelled with $how: $target', async (spelling) => {
      expectRefused(await sendRequest(stack, toSpelledRequest(spelling, host)), SIGN);
    });

    const boundary = 'a-boundary';
    it.each([
      ['a form', form('/', 'feed=rss2')],
      ['a form to index.php', form('/index.php', 'feed=atom')],
      ['a form to a post', form('/hello-world/', 'feed=rss2')],
      ['a form that repeats the name', form('/', 'feed=&feed=rss2')],
      ['a form against the query', form('/?feed=', 'feed=rss2')],
      [
        'a multipart form',
        {
          method: 'POST',
          target: '/',
          headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
          body: `--${boundary}\r\nContent-Disposition: form-data; name="feed"\r\n\r\nrss2\r\n--${boundary}--\r\n`,
        },
      ],
      [
        'a method override',
        {
          ...form('/', 'feed=rss2'),
          headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-http-method-override': 'GET' },
        },
      ],
      ['HTTP/1.0', { target: '/feed/', version: '1.0' as const }],
      ['HEAD', { method: 'HEAD', target: '/feed/' }],
      ['absolute form', { target: `http://${host}/feed/` }],
      [
        'a validator that would match',
        { target: '/feed/', headers: { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' } },
      ],
    ])('refuses %s', async (_name, request) => {
      expectRefused(await sendRequest(stack, request), SIGN);
    });

    it('leaves no link to a feed', async () => {
      for (const target of [
        '/',
        '/hello-world/',
        '/category/uncategorized/',
        '/author/owner/',
        '/?s=hello',
        '/nothing-here/',
      ]) {
        const response = await sendRequest(stack, { target });
        expect(response.body).not.toMatch(/application\/(?:rss|atom)\+xml/);
      }
    });

    it('does not affect pages', async () => {
      for (const target of ['/', '/hello-world/', '/wp-sitemap.xml', '/?s=feed', '/wp-json/']) {
        expect((await sendRequest(stack, { target })).status).toBe(200);
      }
    });
  },
});
