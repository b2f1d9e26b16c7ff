import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { form, sendRequest } from '../../http/request.js';
import type { Session } from '../../http/session.js';
import { listSpellings, toSpelledRequest } from '../../http/spellings.js';
import type { Stack } from '../../stacks/stack.js';
import { expectRefused, toggleSuite } from './helpers.js';

/** Matches the editor's form, and the response to a successful save. */
const SIGN = /id=["']newcontent["']|name=["']newcontent["']|"success":true/;
const original = '<?php\n/**\n * Plugin Name: Editable\n */\n';
const planted = '<?php\n/**\n * Plugin Name: Editable\n */\n// PLANTED\n';
const pluginFile = (stack: Stack) => join(stack.wordpressDir, 'wp-content/plugins/editable/editable.php');

/** A nonce from the editor that the thief of a session got while it was still open. */
let nonce = '';

toggleSuite({
  field: 'disable_file_edit',
  async prepare(stack, owner) {
    mkdirSync(join(stack.wordpressDir, 'wp-content/plugins/editable'), { recursive: true });
    writeFileSync(pluginFile(stack), original);
    const editor = await sendRequest(stack, {
      target: '/wp-admin/plugin-editor.php?plugin=editable/editable.php&file=editable/editable.php',
      headers: { cookie: owner.cookie },
    });
    nonce = /name="nonce" value="([0-9a-f]+)"/.exec(editor.body)?.[1] ?? '';
    if (nonce === '') throw new Error('The editor showed no nonce.');
    // Without the toggle the attack succeeds; otherwise the tests below would prove nothing.
    await sendRequest(stack, save(owner));
    if (readFileSync(pluginFile(stack), 'utf8') !== planted) throw new Error('The editor did not save.');
    writeFileSync(pluginFile(stack), original);
  },
  cleanUp: (stack) => rmSync(dirname(pluginFile(stack)), { recursive: true, force: true }),
  probes: (_stack, owner) => [
    { target: '/wp-admin/theme-editor.php' },
    { target: '/wp-admin/plugin-editor.php' },
    form('/wp-admin/admin-ajax.php', 'action=edit-theme-plugin-file'),
    { target: '/wp-admin/network/theme-editor.php', headers: { cookie: owner.cookie } },
  ],
  whileEnabled({ stack, owner }) {
    const host = new URL(stack.url).host;
    const stolen = () => ({ headers: { cookie: owner().cookie } });

    it.each(['/wp-admin/theme-editor.php', '/wp-admin/plugin-editor.php'].flatMap((path) => listSpellings(path)))(
      'does not show an editor to a stolen session, spelled with $how: $target',
      async (spelling) => {
        expectRefused(await sendRequest(stack, toSpelledRequest(spelling, host, stolen())), SIGN);
      },
    );

    it.each([
      '/wp-admin/network/theme-editor.php',
      '/wp-admin/network/plugin-editor.php',
      '/wp-admin/user/theme-editor.php',
      '/wp-admin/index.php/theme-editor.php',
      '/wp-admin/plugins.php/../plugin-editor.php',
    ])('does not show an editor at %s', async (target) => {
      expectRefused(await sendRequest(stack, { target, ...stolen() }), SIGN);
    });

    const fields = (action: string) =>
      `${action}&nonce=${nonce}&plugin=editable%2Feditable.php&file=editable%2Feditable.php&newcontent=${encodeURIComponent(planted)}`;
    const boundary = 'a-boundary';
    it.each<[string, () => Parameters<typeof sendRequest>[1]]>([
      ['a form', () => save(owner())],
      [
        'the action in the query',
        () => form('/wp-admin/admin-ajax.php?action=edit-theme-plugin-file', fields('x=1'), { cookie: owner().cookie }),
      ],
      [
        'a harmless action in the query',
        () =>
          form('/wp-admin/admin-ajax.php?action=heartbeat', fields('action=edit-theme-plugin-file'), {
            cookie: owner().cookie,
          }),
      ],
      [
        'a harmless action in front',
        () =>
          form('/wp-admin/admin-ajax.php', fields('action=heartbeat&action=edit-theme-plugin-file'), {
            cookie: owner().cookie,
          }),
      ],
      [
        'an encoded action',
        () => form('/wp-admin/admin-ajax.php', fields('%61ction=edit%2Dtheme-plugin-file'), { cookie: owner().cookie }),
      ],
      [
        'path info',
        () => form('/wp-admin/admin-ajax.php/x', fields('action=edit-theme-plugin-file'), { cookie: owner().cookie }),
      ],
      [
        'a method override',
        () =>
          form('/wp-admin/admin-ajax.php', fields('action=edit-theme-plugin-file'), {
            cookie: owner().cookie,
            'x-http-method-override': 'GET',
          }),
      ],
      [
        'the form of the old editor',
        () => form('/wp-admin/plugin-editor.php', fields('action=update'), { cookie: owner().cookie }),
      ],
      [
        'a multipart form',
        () => ({
          method: 'POST',
          target: '/wp-admin/admin-ajax.php',
          headers: { cookie: owner().cookie, 'content-type': `multipart/form-data; boundary=${boundary}` },
          body: `${Object.entries({
            action: 'edit-theme-plugin-file',
            nonce,
            plugin: 'editable/editable.php',
            file: 'editable/editable.php',
            newcontent: planted,
          })
            .map(
              ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
            )
            .join('')}--${boundary}--\r\n`,
        }),
      ],
    ])('does not save a file for a stolen session by %s', async (_name, request) => {
      const response = await sendRequest(stack, request());
      expect(response.body).not.toMatch(SIGN);
      expect(readFileSync(pluginFile(stack), 'utf8')).toBe(original);
    });

    it('does not offer the editors in the menu', async () => {
      const response = await sendRequest(stack, { target: '/wp-admin/plugins.php', ...stolen() });
      expect(response.status).toBe(200);
      expect(response.body).not.toMatch(/href=["'][^"']*(?:theme|plugin)-editor\.php/);
    });
  },
});

function save(session: Session) {
  const fields = new URLSearchParams({
    action: 'edit-theme-plugin-file',
    nonce,
    plugin: 'editable/editable.php',
    file: 'editable/editable.php',
    newcontent: planted,
  });
  return form('/wp-admin/admin-ajax.php', fields.toString(), { cookie: session.cookie });
}
