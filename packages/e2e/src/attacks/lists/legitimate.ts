import { form, type TypedRequest } from '../../http/request.js';
import { type Attack, answered, type Check, refused } from '../attack.js';

type Row = readonly [string, TypedRequest, string, Check];

/** Requests that visitors and programs need, each with the most similar attack. */
const rows: readonly Row[] = [
  ['an ambiguous page', { target: '/%zz' }, '400', answered('a page', '/')],
  [
    'a page above the root',
    { target: '/../../etc/passwd' },
    'refused',
    answered('a missing page', '/nothing-here/', { statuses: [404] }),
  ],
  ['a search with a broken path', { target: '/%2e%2e%2f?s=hello' }, '400', answered('a search', '/?s=hello')],
  [
    'a sitemap by another name',
    { target: '/wp-sitemap.xml%00' },
    '400',
    answered('the sitemap', '/wp-sitemap.xml', { content: /<sitemapindex/ }),
  ],
  [
    'robots.txt with a NUL',
    { target: '/robots.txt%00' },
    '400',
    answered('robots.txt', '/robots.txt', { content: /User-agent/i }),
  ],
  [
    'REST behind dot segments',
    { target: '/%2e%2e/wp-json/' },
    '400',
    answered('REST', '/wp-json/', { content: /"namespaces"/ }),
  ],
  [
    'a range of a file that is closed',
    { target: '/wp-config.php', headers: { range: 'bytes=0-9', 'x-method-override': 'GET' }, method: 'TRACE' },
    'refused',
    answered(
      'a range of a file',
      { target: '/wp-includes/css/buttons.min.css', headers: { range: 'bytes=0-9' } },
      { statuses: [206, 200] },
    ),
  ],
  [
    'a comment form of two lengths',
    {
      ...form('/wp-comments-post.php', 'comment=x'),
      headers: { 'transfer-encoding': 'chunked', 'content-length': '9' },
    },
    'refused',
    answered('a comment form', form('/wp-comments-post.php', 'comment=x'), { statuses: [200, 302, 400, 409] }),
  ],
  [
    'a callback with a NUL in its path',
    { method: 'POST', target: '/%00?wc-api=callback', body: '{}' },
    '400',
    answered('a payment’s callback', {
      method: 'POST',
      target: '/?wc-api=callback',
      body: '{"id":1}',
      headers: { 'content-type': 'application/json' },
    }),
  ],
  [
    'oEmbed by an encoded slash',
    { target: '/wp-json%2foembed/1.0/embed?url=x' },
    '400',
    answered('oEmbed', (site) => `/wp-json/oembed/1.0/embed?url=${encodeURIComponent(`${site.url.origin}/?p=1`)}`),
  ],
  [
    'admin-ajax with a NUL',
    { target: '/wp-admin/admin-ajax.php%00' },
    '400',
    answered('admin-ajax', '/wp-admin/admin-ajax.php?action=nothing', { statuses: [400] }),
  ],
  ['cron above the root', { target: '/../wp-cron.php/%2e%2e' }, '400', answered('cron', '/wp-cron.php')],
];

/** Traffic that must not be changed. */
export const legitimateTraffic: readonly Attack[] = rows.map(([name, request, expected, twin]) => ({
  ...{ group: 'legitimate traffic', name, expected, run: refused(request), twin },
}));
