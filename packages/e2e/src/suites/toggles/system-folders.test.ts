import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { sendRequest } from '../../http/request.js';
import { listSpellings, toSpelledRequest } from '../../http/spellings.js';
import type { Stack } from '../../stacks/stack.js';
import { expectRefused, toggleSuite } from './helpers.js';

const SIGN = /THE-SCRIPT-RAN|NOT-FOR-THE-PUBLIC/;

/** Writes a file beside itself when it runs, so that a run is visible even if the response is hidden. */
const script = `<?php file_put_contents( __DIR__ . '/ran.txt', 'x' ); echo 'THE-SCRIPT-RAN';`;

const scripts = [
  '/wp-content/uploads/evil.php',
  '/wp-content/uploads/2024/05/evil.php',
  '/wp-content/uploads/.evil.php',
  '/wp-content/uploads/evil.jpg.php',
  '/wp-content/cache/evil.php',
  '/wp-content/languages/evil.php',
  '/wp-content/upgrade/evil.php',
  '/wp-includes/evil.php',
  '/wp-includes/js/evil.php',
];

const secrets = [
  '/.git/config',
  '/.git/HEAD',
  '/.svn/entries',
  '/.env',
  '/.env.local',
  '/.htpasswd',
  '/.wp-config.php.swp',
  '/wp-config.php.bak',
  '/wp-config.php.old',
  '/wp-config.php~',
  '/wp-config.txt',
  '/wp-config.bak',
  '/dump.sql',
  '/backup.sql.gz',
  '/wp-content/uploads/site.sql',
  '/wp-content/debug.log',
  '/error_log',
  '/wp-content/plugins/akismet/.git/config',
  '/.DS_Store',
  '/.user.ini',
];

const harmless = new Map([
  ['/.well-known/security.txt', 'Contact: mailto:owner@example.com\n'],
  ['/wp-content/uploads/photo.jpg', 'only a picture\n'],
]);

toggleSuite({
  field: 'lock_system_folders',
  async prepare(stack) {
    for (const path of scripts) writeUpload(stack, path, script);
    for (const path of secrets) writeUpload(stack, path, 'NOT-FOR-THE-PUBLIC\n');
    for (const [path, content] of harmless) writeUpload(stack, path, content);
  },
  cleanUp(stack) {
    for (const path of [...scripts, ...secrets, ...harmless.keys()]) {
      const file = join(stack.wordpressDir, path);
      rmSync(file, { force: true });
      rmSync(join(dirname(file), 'ran.txt'), { force: true });
    }
  },
  probes: () => [...scripts, ...secrets, '/.well-known/security.txt', '/'].map((target) => ({ target })),
  whileEnabled({ stack }) {
    const host = new URL(stack.url).host;
    const ran = (path: string) => join(stack.wordpressDir, dirname(path), 'ran.txt');
    const attack = async (path: string, target: ReturnType<typeof toSpelledRequest>) => {
      rmSync(ran(path), { force: true });
      expectRefused(await sendRequest(stack, target), SIGN);
      expect(existsSync(ran(path)), 'the script ran').toBe(false);
    };

    it.each(scripts)('does not run %s', (path) => attack(path, { target: path }));

    it.each(listSpellings('/wp-content/uploads/evil.php'))(
      'does not run an upload spelled with $how: $target',
      (spelling) => attack('/wp-content/uploads/evil.php', toSpelledRequest(spelling, host)),
    );

    it.each(listSpellings('/wp-includes/evil.php'))(
      'does not run a file of wp-includes spelled with $how: $target',
      (spelling) =>
        attack('/wp-includes/evil.php', toSpelledRequest(spelling, host, { method: 'POST', body: 'cmd=id' })),
    );

    it.each([
      ['the folder in capitals', '/WP-CONTENT/UPLOADS/EVIL.PHP'],
      ['an encoded folder', '/wp-content/%75ploads/evil.php'],
      ['dot segments through another folder', '/wp-content/plugins/../uploads/evil.php'],
      ['a folder above the root', '/../wp-content/uploads/evil.php'],
      ['path info that looks like a permitted script', '/wp-content/uploads/evil.php/wp-login.php'],
      ['a permitted script followed by dot segments', '/wp-login.php/../wp-content/uploads/evil.php'],
      ['index.php followed by dot segments', '/index.php/../wp-content/uploads/evil.php'],
      ['a query that looks like a path', '/wp-content/uploads/evil.php?/../../index.php'],
    ])('does not run an upload by %s', (_name, target) => attack('/wp-content/uploads/evil.php', { target }));

    it.each(secrets)('does not serve %s', async (target) => {
      expectRefused(await sendRequest(stack, { target }), SIGN);
    });

    it.each([...listSpellings('/.git/config'), ...listSpellings('/wp-config.php.bak'), ...listSpellings('/dump.sql')])(
      'does not serve a secret spelled with $how: $target',
      async (spelling) => {
        expectRefused(await sendRequest(stack, toSpelledRequest(spelling, host)), SIGN);
      },
    );

    it.each(['range', 'if-none-match'])('does not serve a part of a secret by a %s header', async (name) => {
      expectRefused(await sendRequest(stack, { target: '/dump.sql', headers: { [name]: 'bytes=0-100' } }), SIGN);
    });

    it('serves what is meant for visitors', async () => {
      for (const target of [
        '/wp-content/uploads/photo.jpg',
        '/.well-known/security.txt',
        '/wp-includes/js/jquery/jquery.min.js',
        '/wp-includes/js/tinymce/wp-tinymce.php?c=1',
        '/wp-content/themes/twentytwentyfour/style.css',
        '/wp-login.php',
        '/wp-admin/admin-ajax.php?action=rest-nonce',
      ]) {
        const response = await sendRequest(stack, { target });
        expect([200, 400], `${target} ${response.status}`).toContain(response.status);
        expect(response.body).not.toContain('This can’t be opened');
      }
    });
  },
});

function writeUpload(stack: Stack, path: string, content: string): void {
  const file = join(stack.wordpressDir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
