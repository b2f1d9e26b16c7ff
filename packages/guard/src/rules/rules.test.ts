import { ruleReasons } from '@security-optimizer/contract/activity/rule-reasons';
import { describe, expect, it } from 'vitest';
import { allOff, allOn, evaluateTarget, parseFacts, policyWith } from '../../test/support/evaluate.js';
import { protections } from './index.js';

const off = policyWith(allOff);

/** Each of these is refused by its rule when it is on, and allowed when it is off. */
const refused: Record<string, { option: Parameters<typeof policyWith>[0]; targets: readonly string[] }> = {
  'xml-rpc': {
    option: { disable_xml_rpc: 1 },
    targets: [
      '/xmlrpc.php',
      '//xmlrpc.php',
      '/./xmlrpc.php',
      '/x/../xmlrpc.php',
      '/%78mlrpc.php',
      '/xmlrpc%2ephp',
      '/%2fxmlrpc.php',
      '/XmlRpc.PHP',
      '/xmlrpc.php/',
      '/xmlrpc.php/x/y',
      '/xmlrpc.php;x',
      '/xmlrpc.php.',
      '/xmlrpc.php%20',
      '/xmlrpc.php::$DATA',
      '/xmlrpc.php%3Fx',
      '/blog/xmlrpc.php?rsd',
      '/index.php/xmlrpc.php',
    ],
  },
  'system-folders': {
    option: { lock_system_folders: 1 },
    targets: [
      '/wp-content/uploads/shell.php',
      '/wp-content//uploads/2024/05/shell.PHP',
      '/wp-content/uploads/shell.phtml',
      '/wp-content/uploads/shell.pht',
      '/wp-content/uploads/shell.phar',
      '/wp-content/uploads/shell.php5',
      '/wp-content/uploads/shell.php74',
      '/wp-content/uploads/shell.php.jpg',
      '/wp-content/uploads/shell.phar.png',
      '/wp-content/uploads/shell.jpg/x.php',
      '/wp-content/uploads/shell.php/x.jpg',
      '/wp-content/uploads/shell.php.',
      '/wp-content/uploads/shell.php%20',
      '/wp-content/uploads/shell.php::$DATA',
      '/wp-content/uploads/%73hell.%70hp',
      '/wp-content/plugins/../uploads/shell.php',
      '/wp-content/uploads/.php',
      '/wp-content/uploads/shell.pgif',
      '/wp-content/uploads/shell.asa',
      '/WP-CONTENT/Uploads/shell.php',
      '/site-two/wp-content/uploads/shell.php',
      '/index.php/wp-content/uploads/shell.php',
      '/wp-content/uploads/run.cgi',
      '/wp-content/uploads/run.pl',
      '/wp-content/uploads/page.shtml',
      '/wp-content/cache/x.php',
      '/wp-content/languages/x.php',
      '/wp-content/upgrade/x/y.php',
      '/wp-content/fonts/x.php',
      '/wp-includes/version.php',
      '/wp-includes/js/tinymce/wp-tinymce.php/x',
      '/wp-includes/x/wp-tinymce.php',
      '/wp-admin/includes/file.php',
      '/wp-admin/css/x.php',
      '/wp-admin/js/x.php',
      '/.git/config',
      '/.git/',
      '/.git',
      '/%2egit/HEAD',
      '/.GIT/config',
      '/x/.svn/entries',
      '/.env',
      '/.env.local',
      '/.env/x',
      '/.htaccess',
      '/.user.ini',
      '/wp-content/database/.ht.sqlite',
      '/wp-config.php',
      '/wp-config.php.bak',
      '/wp-config.php~',
      '/wp-config.php.swp',
      '/wp-config.bak',
      '/wp-config.old.php',
      '/wp-config-sample.php',
      '/wp-config.php/x',
      '/_wp-config.php.txt',
      '/Copy%20of%20wp-config.php.txt',
      '/backup/old.wp-config.txt/x',
      '/site.sql.gz.1',
      '/dump.sql.lzma',
      '/dump.sql.txt',
      '/error.log.1',
      '/wp-content/debug.log-20260101.gz',
      '/wp-content/uploads/shop.sqlite-wal',
      '/web.config',
      '/wp-content/debug.log',
      '/dump.sql',
      '/backup/site.sql.gz',
      '/site.sql.tar.gz',
      '/index.php~',
      '/%23index.php%23',
      '/index.php.save',
      '/.well-known/.git/config',
      '/php.ini',
      '/composer.lock',
      '/auth.json',
      '/server.pem',
    ],
  },
  'file-editors': {
    option: { disable_file_edit: 1 },
    targets: [
      '/wp-admin/plugin-editor.php',
      '/wp-admin/theme-editor.php?file=functions.php',
      '/wp-admin/network/theme-editor.php',
      '/wp-admin//Plugin-Editor.php/x',
      '/wp-admin/%74heme-editor.php',
      '/wp-admin/admin-ajax.php?action=edit-theme-plugin-file',
      '/wp-admin/admin-ajax.php?%61ction=edit-theme-plugin-file',
      '/wp-admin/admin-ajax.php?+action=edit-theme-plugin-file',
      '/wp-admin/admin-ajax.php?action=x&action=edit-theme-plugin-file',
      `/wp-admin/admin-ajax.php?action=edit-theme-plugin-file${'&a'.repeat(1200)}&action=heartbeat`,
      '/wp-admin/admin-ajax.php/?action=edit-theme-plugin-file',
    ],
  },
  feeds: {
    option: { disable_feed: 1 },
    targets: [
      '/feed',
      '/feed/',
      '/feed/rss2/',
      '/feed/atom',
      '/rss',
      '/rdf/',
      '/atom/',
      '/rss2',
      '/FEED/',
      '/%66eed/',
      '//feed',
      '/x/../feed',
      '/comments/feed/',
      '/category/news/feed/atom/',
      '/category/news/rss2',
      '/author/owner/feed/',
      '/search/x/feed/rss2/',
      '/index.php/feed/',
      '/blog/index.php/comments/feed',
      '/wp-rss2.php',
      '/wp-atom.php',
      '/wp-commentsrss2.php',
      '/wp-feed.php/x',
      '/?feed=rss2',
      '/?feed=comments-rss2&p=1',
      '/?feed[]=rss2',
      '/?fee%64=rss2',
      '/?+feed=rss2',
      '/?feed%00=rss2',
      '/?feed=rss2&feed=',
      `/?feed=rss2${'&a'.repeat(1200)}&feed=`,
      '/index.php?feed=atom',
      '/hello-world/?feed=rss',
      '/wp-admin/nothing?feed=rss2',
      '/feed;x',
      '/feed.',
    ],
  },
  readme: {
    option: { delete_readme: 1 },
    targets: [
      '/readme.html',
      '/README.html',
      '//readme.html',
      '/readme%2ehtml',
      '/wp/readme.html',
      '/readme.html/',
      '/readme.html.',
    ],
  },
  'wordpress-version': {
    option: { wp_remove_version: 1 },
    targets: [
      '/readme.html',
      '/license.txt',
      '/LICENSE.TXT',
      '/liesmich.html',
      '/licencia.txt',
      '/readme-ja.html',
      '/wp/license.txt',
    ],
  },
  'own-files': {
    option: {},
    targets: [
      '/wp-content/mu-plugins/security-optimizer.php',
      '/wp-content/mu-plugins/security-optimizer/secret.php',
      '/wp-content/mu-plugins/security-optimizer/Secret.PHP/x',
    ],
  },
};

describe.each(Object.entries(refused))('the rule %s', (rule, { option, targets }) => {
  const on = policyWith(option);

  it.each(targets)('refuses %s', (target) => {
    expect(evaluateTarget(on, target)).toBe(rule);
  });

  // The connector's own files are always refused.
  const otherwise = rule === 'own-files' ? 'own-files' : 'passes';
  it(`gives the result "${otherwise}" for all of them when every option is off`, () => {
    for (const target of targets) expect([target, evaluateTarget(off, target)]).toEqual([target, otherwise]);
  });
});

/** The paths that each rule protects in the interpretations of other programs, and no others. */
describe.each([
  ['system-folders', { lock_system_folders: 1 }],
  ['feeds', { disable_feed: 1 }],
  ['readme', { delete_readme: 1 }],
] as const)('paths that %s protects in the interpretation of another program', (rule, option) => {
  const on = policyWith(option);
  const targets = {
    'system-folders': [
      '/wp-content%5cuploads%5cx.php',
      '/wp-content/uploads/x%252ephp',
      '/wp-content/uploads/x.p%01hp',
      '/wp-content/uploads/x.php%E9',
      '/wp-content/uploads/x.php%09',
      '/wp-content/uploads/x.php%2500.jpg',
      '/%252egit/config',
      '/%25u002egit/config',
      '/%c0%aegit/config',
      '/wp-includes%255cversion.php',
    ],
    feeds: ['/feed%252f', '/feed%c0%af', '/feed%5c', '/feed%09', '/%2566eed/', '/category%5cnews%5cfeed', '/feed%3f/x'],
    readme: ['/readme.html%E9', '/readme%252ehtml', '/readme.html%7f', '/x%5c..%5creadme.html'],
  }[rule];

  it.each(targets)('is refused: %s', (target) => {
    expect(evaluateTarget(on, target)).toBe('ambiguous');
    expect(evaluateTarget(off, target)).toBe('passes');
  });
});

describe('names that resemble a protected one', () => {
  const on = policyWith(allOn);

  it.each([
    '/wp-content/uploads/caf%E9.jpg',
    '/caf%E9/',
    '/%83e%83X%83g/',
    '/tag/%E9t%E9/',
    '/search/%ED%A0%80/',
    '/wp-content/uploads/tab%09here.txt',
    '/wp-content/uploads/a%01b.txt',
    '/search/C%3A%5CUsers/',
    '/wp-content/uploads/a%5Cb.jpg',
    '/wp-content/uploads/Sale%2520final.pdf',
    '/wp-content/uploads/50%25de.txt',
    '/search/100%25ab/',
    '/search/100%2500/',
    '/go/https%253A%252F%252Fexample.com%252Findex.php',
    '/wp-content/uploads/a%3Bb.jpg',
    '/wp-content/uploads/why%3F.jpg',
    '/search/%3F/',
    '/search/.../',
    '/search/wp-admin/',
    '/search/wp-login.php/',
    '/search/xmlrpc.php/',
    '/de/search/xmlrpc.php/',
    '/search/plugin-editor.php/',
    '/tag/wp-admin/',
    '/category/wp-login.php/',
    '/author/wp-admin/',
    '/wp-content/uploads/2024/05/wp-config.png',
    '/wp-content/uploads/2024/05/wp-config-150x150.jpg',
    '/wp-content/uploads/2024/05/wp-config-php-1024x768.webp',
    '/wp-content/uploads/.thumbs/2026/x.jpg',
    '/wp-content/uploads/.tmb/l1_abc.png',
  ])('are allowed: %s', (target) => {
    expect(evaluateTarget(on, target)).toBe('passes');
  });

  it.each([
    ['/search/.htaccess/', 'system-folders?'],
    ['/search/.env', 'system-folders?'],
    ['/search/wp-config.php/', 'system-folders?'],
    ['/de/search/backup.sql/', 'system-folders?'],
    ['/wp-json/files/v1/.env', 'system-folders?'],
    ['/tag/.env/', 'system-folders?'],
    ['/category/web.config/', 'system-folders?'],
    ['/error_log/', 'system-folders?'],
    ['/error_log', 'system-folders?'],
    ['/tag/php_errorlog/', 'system-folders?'],
    ['/docs/composer.json/', 'system-folders?'],
    ['/search/readme.html', 'readme?'],
    ['/hello-world/feed/', 'feeds?'],
    ['/sample/page/feed/atom/', 'feeds?'],
    ['/product-category/feed/', 'feeds?'],
    ['/product-category/feed/dog-food/', 'feeds?'],
    ['/product-category/atom/', 'feeds?'],
    ['/marke/rss/', 'feeds?'],
    ['/topics/rdf/', 'feeds?'],
    ['/search/feed/', 'feeds?'],
    ['/en/tag/rss/', 'feeds?'],
    ['/blog/category/rss/', 'feeds?'],
    ['/tag/rss/', 'feeds?'],
    ['/go/feed/', 'feeds?'],
    ['/wp-admin/feed/', 'feeds?'],
  ])('are decided by the response: %s', (target, rule) => {
    expect(evaluateTarget(on, target)).toBe(rule);
  });

  it.each([
    '/wp-content/uploads/.git/x.png',
    '/wp-content/uploads/.thumbs/x.php',
    '/wp-content/uploads/.thumbs/.htaccess',
    '/wp-content/uploads/.thumbs/index.html',
    '/.thumbs/x.jpg',
    '/wp-config.php/',
    '/wp-config.php.jpg',
    '/wp-config.txt',
    '/.env/',
    '/dump.sql',
  ])('do not bypass the rule: %s', (target) => {
    expect(evaluateTarget(on, target)).toBe('system-folders');
  });
});

describe('an ambiguous request', () => {
  it.each([
    '/xmlrpc.php%00.jpg',
    '/%2578mlrpc.php',
    '/x%5cxmlrpc.php',
    '/..%c0%afxmlrpc.php',
    '/wp-content/uploads/x.jpg;.php',
    '/../xmlrpc.php',
    '/a/..;/xmlrpc.php',
    '/site/xmlrpc.php%3fx.php',
  ])('is refused before any rule, even with all rules off: %s', (target) => {
    expect(evaluateTarget(off, target)).toBe('ambiguous');
  });
});

describe('a site below a path', () => {
  const paths = {
    home: '/blog',
    admin: '/blog/wp/wp-admin',
    includes: '/blog/wp/wp-includes',
    content: '/blog/content',
    uploads: '/blog/files',
    rest: '/wp-json',
  };
  const on = policyWith(allOn, paths);

  it.each([
    ['/blog/files/x.php', 'system-folders'],
    ['/blog/wp/wp-includes/version.php', 'system-folders'],
    ['/blog/content/cache/x.php', 'system-folders'],
    ['/blog/feed/', 'feeds'],
    ['/blog/index.php/feed', 'feeds'],
    ['/blog/wp/readme.html', 'readme'],
    ['/blog/readme.html', 'readme'],
    ['/blog/wp/xmlrpc.php', 'xml-rpc'],
    ['/blog/wp/wp-admin/theme-editor.php', 'file-editors'],
    ['/blog/wp/wp-admin/admin.php?page=x&feed=1', 'passes'],
    ['/blog/wp/wp-includes/js/tinymce/wp-tinymce.php', 'passes'],
    ['/blog/tag/rss/', 'feeds?'],
    ['/blog/search/.env', 'system-folders?'],
  ])('has for %s the result %s', (target, rule) => {
    expect(evaluateTarget(on, target, paths)).toBe(rule);
  });
});

describe('a server that inserts the folder of WordPress', () => {
  const paths = {
    ...{ home: '/blog', admin: '/blog/wp/wp-admin', includes: '/blog/wp/wp-includes', content: '/blog/wp/wp-content' },
    ...{ uploads: '/blog/wp/wp-content/uploads', rest: '/wp-json' },
  };
  const on = policyWith(allOn, paths);

  it.each([
    '/wp-includes/version.php',
    '/wp-content/uploads/shell.php',
    '/wp-content/cache/x.php',
    '/wp-admin/includes/file.php',
    '/wp-admin/js/x.php/info',
  ])('runs %s at none of the addresses at which it is served', (path) => {
    for (const folder of ['', '/blog', '/blog/wp', '/second', '/blog/second', '/second/wp', '//Second/./wp'])
      expect([folder, evaluateTarget(on, folder + path, paths)]).toEqual([folder, 'system-folders']);
  });

  it.each(['/wp-admin/admin-ajax.php', '/wp-includes/js/tinymce/wp-tinymce.php', '/wp-content/plugins/x/y.php'])(
    'serves %s at each of its addresses',
    (path) => {
      for (const folder of ['', '/blog', '/blog/wp', '/second'])
        expect([folder, evaluateTarget(on, folder + path, paths)]).toEqual([folder, 'passes']);
    },
  );
});

describe('WordPress in a nested folder', () => {
  const paths = {
    ...{ home: '', admin: '/site/core/wp-admin', includes: '/site/core/wp-includes', content: '/content' },
    ...{ uploads: '/content/uploads', rest: '/wp-json' },
  };

  it('has its readme and licence refused, and those of plugins served', () => {
    const onlyReadme = policyWith({ delete_readme: 1 }, paths);
    const onlyVersion = policyWith({ wp_remove_version: 1 }, paths);
    expect(evaluateTarget(onlyReadme, '/site/core/readme.html')).toBe('readme');
    expect(evaluateTarget(onlyVersion, '/site//core/license.txt')).toBe('wordpress-version');
    expect(evaluateTarget(onlyVersion, '/content/plugins/readme.txt')).toBe('passes');
    expect(evaluateTarget(onlyReadme, '/content/plugins/readme.html')).toBe('passes');
  });
});

describe('a site with its own names', () => {
  const paths = {
    ...{
      home: '',
      admin: '/wp-admin',
      includes: '/wp-includes',
      content: '/assets',
      uploads: '/media',
      rest: '/api/v9',
    },
    muPlugins: '/assets/musts',
    files: ['/translations', '/assets/type'],
    also: { admin: ['/manage'], includes: ['/lib'], content: ['/static'], uploads: ['/static/up'] },
    languages: ['latin-america', 'zh-hans-cn'],
    bases: { text: ['topics', 'shop/kinds', 'find'], feed: ['topics', 'find'] },
  };
  const on = policyWith(allOn, paths);

  it.each([
    ['/media/x.php', 'system-folders'],
    ['/static/up/x.php', 'system-folders'],
    ['/translations/x.php', 'system-folders'],
    ['/assets/type/x.phtml', 'system-folders'],
    ['/assets/cache/x.php', 'system-folders'],
    ['/static/upgrade/x.php', 'system-folders'],
    ['/lib/version.php', 'system-folders'],
    ['/manage/includes/file.php', 'system-folders'],
    ['/assets/musts/security-optimizer/secret.php', 'own-files'],
    ['/second/assets/musts/security-optimizer.php/x', 'own-files'],
    ['/assets/mu-plugins/security-optimizer/x.php', 'own-files'],
    ['/manage/theme-editor.php', 'file-editors'],
    ['/assets/plugins/shop/api.php', 'passes'],
    ['/manage/admin.php?page=x&feed=1', 'passes'],
  ])('has its folders protected at each address: %s: %s', (target, rule) => {
    expect(evaluateTarget(on, target, paths)).toBe(rule);
  });

  it.each([
    ['/topics/wp-config.php.bak', 'system-folders?'],
    ['/shop/kinds/xmlrpc.php', 'passes'],
    ['/latin-america/topics/xmlrpc.php', 'passes'],
    ['/zh-hans-cn/find/wp-admin', 'passes'],
    ['/find/readme.html', 'readme?'],
    ['/api/v9/x/xmlrpc.php', 'passes'],
    // These are not bases of this site, so a name that resembles a protected one is treated as one.
    ['/category/xmlrpc.php', 'xml-rpc'],
    ['/wp-json/xmlrpc.php', 'xml-rpc'],
    ['/unknown-folder/topics/xmlrpc.php', 'xml-rpc'],
    ['/shop/xmlrpc.php', 'xml-rpc'],
    ['/topics/xmlrpc.php/../../xmlrpc.php', 'xml-rpc'],
    ['/topics/feed', 'feeds?'],
    ['/topics/news/feed', 'feeds'],
    ['/category/news/feed', 'feeds?'],
  ])('has text behind its bases: %s: %s', (target, rule) => {
    expect(evaluateTarget(on, target, paths)).toBe(rule);
  });

  it('has no base that leads to a folder of WordPress', () => {
    const unusualPaths = { ...paths, bases: { text: ['assets', 'manage', 'lib', 'media'], feed: [] } };
    for (const target of ['/assets/xmlrpc.php', '/manage/xmlrpc.php', '/lib/xmlrpc.php', '/media/xmlrpc.php'])
      expect([target, evaluateTarget(policyWith(allOn, unusualPaths), target, unusualPaths)]).toEqual([
        target,
        expect.stringMatching(/^(?:xml-rpc|system-folders)$/),
      ]);
  });

  it('may have its uploads in the plugins’ folder, or at the root, without closing either', () => {
    for (const uploads of ['/assets', '', '/assets/plugins']) {
      const unusualPaths = { ...paths, uploads };
      const snapshot = policyWith(allOn, unusualPaths);
      expect([uploads, evaluateTarget(snapshot, '/assets/plugins/shop/api.php', unusualPaths)]).toEqual([
        uploads,
        'passes',
      ]);
      expect([uploads, evaluateTarget(snapshot, '/wp-admin/admin-ajax.php', unusualPaths)]).toEqual([
        uploads,
        'passes',
      ]);
      expect([uploads, evaluateTarget(snapshot, '/assets/cache/x.php', unusualPaths)]).toEqual([
        uploads,
        'system-folders',
      ]);
    }
  });

  it('has REST routes below the prefix, also after the folder of a language', () => {
    for (const [target, route] of [
      ['/api/v9/wp/v2/posts', '/wp/v2/posts'],
      ['/en/api/v9/wp/v2/posts', '/wp/v2/posts'],
      ['/latin-america/api/v9/', '/'],
      ['/index.php/api/v9/wp/v2', '/wp/v2'],
      ['/elsewhere-or-not/api/v9/wp/v2', null],
      ['/wp-json/wp/v2/posts', null],
      ['/en/de/api/v9/x', null],
      ['/en/api', null],
    ] as const)
      expect([target, parseFacts(target, paths).restRoute]).toEqual([target, route]);
  });
});

it.each(protections.map(({ name }) => name))('the log explains a refusal by %s', (name) => {
  expect(ruleReasons).toHaveProperty(name);
});
