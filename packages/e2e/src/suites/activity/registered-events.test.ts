import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { form, sendRequest } from '../../http/request.js';
import { authorised, callApi, getCookies, logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { killGuard, startGuard } from '../../stacks/guard-process.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { until } from '../../stacks/until.js';
import { runInWordPress, usersByRole } from '../../stacks/wordpress.js';
import { change, loginForm, sendFrom } from '../login/helpers.js';
import { bytes, type EventRow, eventsDuring, newestEvents } from './helpers.js';

const FROM = '127.0.48.7';
const PLUGIN = 'my-tool/my-tool.php';

onUnlikeStacks('the log of registered users', (stack) => {
  let owner: Session;
  let editorsBefore: 0 | 1;

  const during = (work: () => Promise<unknown>) => eventsDuring(stack, owner, work);
  const toActivities = (events: readonly EventRow[]) => events.map(({ activity }) => activity);
  /** Calls WordPress's REST API as the owner. */
  const rest = async (method: string, path: string, body: object = {}) => {
    const response = await callApi(stack, {
      method,
      path: `/wp-json/wp/v2${path}`,
      body: bytes(JSON.stringify(body)),
      headers: authorised(owner),
    });
    if (response.http >= 300) throw new Error(`${method} ${path}: ${response.http} ${JSON.stringify(response.body)}`);
    return response.body as unknown as { readonly id: number };
  };
  const page = (target: string) => sendRequest(stack, { target, headers: { cookie: owner.cookie } });
  /** Follows a link of a page of wp-admin. */
  const follow = async (target: string, pattern: RegExp) => {
    const link = pattern.exec((await page(target)).body)?.[1];
    if (link === undefined) throw new Error(`${target} has no such link.`);
    const { pathname, search } = new URL(link.replace(/&amp;|&#038;/g, '&'), `${stack.url}/wp-admin/`);
    return page(pathname + search);
  };

  beforeAll(async () => {
    owner = await logIn(stack);
    editorsBefore = (await readOptions(stack, owner)).disable_file_edit;
    await setOptions(stack, owner, { disable_file_edit: 0 });
    if (editorsBefore === 0) return;
    // Guard's own events reach the log on another path than those of WordPress. This one must not come in between.
    await until('the log tells of the setting', async () =>
      (await newestEvents(stack, owner)).some(({ actions, activity }) => {
        return actions === 'product.setting' && activity.includes('Disable Themes & Plugins Editor');
      }),
    );
  });
  afterAll(async () => {
    await setOptions(stack, owner, { disable_file_edit: editorsBefore });
    await runInWordPress(stack, `deactivate_plugins( '${PLUGIN}' );`).catch(() => undefined);
    rmSync(join(stack.wordpressDir, 'wp-content/plugins/my-tool'), { recursive: true, force: true });
  });

  it('records logins, wrong passwords and logouts, with the address', async () => {
    const events = await during(async () => {
      const response = await sendFrom(stack, FROM, loginForm(usersByRole.author, stack.password));
      const headers = { cookie: getCookies(response) };
      const profile = await sendFrom(stack, FROM, { target: '/wp-admin/profile.php', headers });
      const out = /href=["'][^"']*(\/wp-login\.php\?action=logout[^"']*)["']/.exec(profile.body)?.[1] ?? '';
      await sendFrom(stack, FROM, { target: out.replace(/&amp;|&#038;/g, '&'), headers });
      await sendFrom(stack, FROM, loginForm(usersByRole.author, 'wrong'));
      await sendFrom(stack, FROM, loginForm('nobody-of-this-name', 'wrong'));
    });
    const { author } = usersByRole;
    expect(events).toMatchObject([
      { actions: 'login', user: author, ip: FROM, origin: 'web', activity: 'Logged in' },
      { actions: 'logout', user: author, ip: FROM, origin: 'web' },
      { actions: 'login.failed', user: author, ip: FROM, origin: 'web' },
    ]);
    expect(events).toHaveLength(3);
  });

  it('records each save in the block editor once, and no autosave or revision', async () => {
    const events = await during(async () => {
      const { id } = await rest('POST', '/posts', { title: 'Tea', status: 'draft' });
      await rest('POST', `/posts/${id}`, { status: 'publish', content: 'Green', tags: [], categories: [1] });
      await rest('POST', `/posts/${id}/autosaves`, { content: 'Green or bl' });
      await rest('POST', `/posts/${id}`, { content: 'Green or black' });
      await rest('POST', `/posts/${id}`, { status: 'draft' });
      await rest('DELETE', `/posts/${id}`);
      await rest('DELETE', `/posts/${id}?force=true`);
    });
    expect(toActivities(events)).toEqual([
      'Created post “Tea”',
      'Published post “Tea”',
      'Updated post “Tea”',
      'Changed post “Tea” from Published to Draft',
      'Moved post “Tea” to the bin',
      'Deleted post “Tea”',
    ]);
    expect(new Set(events.map(({ user }) => user))).toEqual(new Set([stack.user]));
  });

  it('records a save in the classic editor once', async () => {
    const events = await during(async () => {
      const { body } = await page('/wp-admin/post-new.php?post_type=page');
      const id = /name=['"]post_ID['"] value=['"](\d+)['"]/.exec(body)?.[1] ?? '';
      const nonce = /id="_wpnonce" name="_wpnonce" value="([0-9a-f]+)"/.exec(body)?.[1] ?? '';
      const fields = { action: 'editpost', post_ID: id, post_type: 'page', _wpnonce: nonce, post_title: 'About' };
      const save = new URLSearchParams({ ...fields, publish: 'Publish', original_post_status: 'auto-draft' });
      const response = await sendRequest(stack, form('/wp-admin/post.php', save.toString(), { cookie: owner.cookie }));
      expect(response.status).toBe(302);
    });
    expect(toActivities(events)).toEqual(['Published page “About”']);
  });

  it('records changes of an account and its capabilities, never a password', async () => {
    const login = `editor-${Date.now()}`;
    const events = await during(async () => {
      const user = { username: login, email: `${login}@example.com`, password: 'Y4-secret-one', roles: ['editor'] };
      const { id } = await rest('POST', '/users', user);
      await rest('POST', `/users/${id}`, { roles: ['administrator'] });
      await rest('POST', `/users/${id}`, { password: 'Y4-secret-two', email: `new-${login}@example.com` });
      await rest('POST', `/users/${id}`, { description: 'Likes tea' });
      await rest('DELETE', `/users/${id}?force=true&reassign=1`);
    });
    expect(toActivities(events)).toEqual([
      `Created user “${login}” with the role Editor`,
      `Changed the role of “${login}” from Editor to Administrator`,
      `Changed the e-mail address of “${login}”`,
      `Changed the password of “${login}”`,
      `Changed the profile of “${login}”`,
      `Deleted user “${login}”`,
    ]);
    expect(JSON.stringify(events)).not.toContain('Y4-secret');
  });

  it('records a new user once and a new password once, also with the hook order of WordPress 7.1', async () => {
    const login = `hooks-${Date.now()}`;
    // Since 7.1 `wp_set_password` runs while an account is made, and before a new password of a profile is stored.
    const hooks = `add_filter( 'insert_user_meta', function ( $meta, $user, $update ) {
      if ( ! $update ) { do_action( 'wp_set_password', 'Y4-first', $user->ID, $user ); }
      return $meta;
    }, 1, 3 );
    add_filter( 'wp_pre_insert_user_data', function ( $data, $update, $id ) {
      if ( $update ) { do_action( 'wp_set_password', 'Y4-second', $id, get_userdata( $id ) ); }
      return $data;
    }, 1, 3 );`;
    const events = await during(async () => {
      const account = `'user_login' => '${login}', 'user_email' => '${login}@example.com', 'role' => 'author'`;
      await runInWordPress(stack, `${hooks} wp_insert_user( array( ${account}, 'user_pass' => 'Y4-first' ) );`);
      const id = `get_user_by( 'login', '${login}' )->ID`;
      await runInWordPress(stack, `${hooks} wp_update_user( array( 'ID' => ${id}, 'user_pass' => 'Y4-second' ) );`);
      // A profile that keeps its password.
      await runInWordPress(stack, `${hooks} wp_update_user( array( 'ID' => ${id}, 'description' => 'Likes tea' ) );`);
      await runInWordPress(stack, `wp_set_password( 'Y4-third', ${id} );`);
      // Both in one process, as importers do.
      await runInWordPress(
        stack,
        `${hooks} $id = wp_insert_user( array( 'user_login' => '${login}-2', 'user_email' => '${login}-2@example.com', 'user_pass' => 'Y4-first' ) );
        wp_set_password( 'Y4-second', $id );
        require_once ABSPATH . 'wp-admin/includes/user.php';
        wp_delete_user( $id ); wp_delete_user( ${id} );`,
      );
    });
    expect(toActivities(events)).toEqual([
      `Created user “${login}” with the role Author`,
      `Changed the password of “${login}”`,
      `Changed the profile of “${login}”`,
      `Changed the password of “${login}”`,
      `Created user “${login}-2” with the role Subscriber`,
      `Changed the password of “${login}-2”`,
      `Deleted user “${login}-2”`,
      `Deleted user “${login}”`,
    ]);
  });

  it('records the life cycle of a plugin from upload to deletion, with versions', async () => {
    const upload = async (version: string) => {
      const code = `<?php\n/*\nPlugin Name: My Tool\nVersion: ${version}\n*/\n`;
      const zip = Buffer.from(zipSync({ [PLUGIN]: strToU8(code) })).toString('latin1');
      const { body } = await page('/wp-admin/plugin-install.php?tab=upload');
      const nonce = /id="_wpnonce" name="_wpnonce" value="([0-9a-f]+)"/.exec(body)?.[1] ?? '';
      const part = (head: string, content: string) =>
        `--a-boundary\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
      return sendRequest(stack, {
        method: 'POST',
        target: '/wp-admin/update.php?action=upload-plugin',
        headers: { cookie: owner.cookie, 'content-type': 'multipart/form-data; boundary=a-boundary' },
        body: `${part('name="_wpnonce"', nonce)}${part('name="pluginzip"; filename="my-tool.zip"', zip)}--a-boundary--\r\n`,
      });
    };
    const events = await during(async () => {
      await upload('1.0');
      await follow('/wp-admin/plugins.php', /href="(plugins\.php\?action=activate&amp;plugin=my-tool[^"]*)"/);
      const { body } = await upload('1.1');
      const replace = /href="([^"]*overwrite=update-plugin[^"]*)"/.exec(body)?.[1]?.replace(/&amp;|&#038;/g, '&') ?? '';
      await page(new URL(replace, `${stack.url}/wp-admin/`).href.slice(stack.url.length));
      await follow('/wp-admin/plugins.php', /href="(plugins\.php\?action=deactivate&amp;plugin=my-tool[^"]*)"/);
      await rest('DELETE', '/plugins/my-tool/my-tool');
    });
    expect(toActivities(events)).toEqual([
      'Installed plugin “My Tool”',
      'Activated plugin “My Tool”',
      'Updated plugin “My Tool” from 1.0 to 1.1',
      'Deactivated plugin “My Tool”',
      'Deleted plugin “My Tool”',
    ]);
  });

  it('records which file was changed in the editor', async () => {
    const folder = join(stack.wordpressDir, 'wp-content/plugins/my-tool');
    const file = join(folder, 'my-tool.php');
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, '<?php\n/*\nPlugin Name: My Tool\n*/\n', { mode: 0o666 });
    const events = await during(async () => {
      const editor = await page(`/wp-admin/plugin-editor.php?plugin=${PLUGIN}&file=${PLUGIN}`);
      const nonce = /name="nonce" value="([0-9a-f]+)"/.exec(editor.body)?.[1] ?? '';
      const newcontent = `${readFileSync(file, 'utf8')}// More.\n`;
      const fields = { action: 'edit-theme-plugin-file', nonce, plugin: PLUGIN, file: PLUGIN, newcontent };
      const body = new URLSearchParams(fields).toString();
      const save = form('/wp-admin/admin-ajax.php', body, { cookie: owner.cookie });
      expect((await sendRequest(stack, save)).body).toContain('"success":true');
    });
    expect(toActivities(events)).toEqual([`Edited the file “${PLUGIN}” of a plugin or theme`]);
  });

  it('records the old and new value of a setting, and no setting that may contain a secret', async () => {
    const { title } = (await rest('GET', '/settings')) as unknown as { readonly title: string };
    const events = await during(async () => {
      await rest('POST', '/settings', { title: 'Tea & “Cake”' });
      await rest('POST', '/settings', { title });
      await runInWordPress(stack, "update_option( 'mailserver_pass', 'Y4-secret-' . wp_rand() );");
    });
    expect(toActivities(events)).toEqual([
      `Changed the setting “Site Title” from ${title} to Tea & “Cake”`,
      `Changed the setting “Site Title” from Tea & “Cake” to ${title}`,
    ]);
  });

  it('records terms, menus, files and comments of registered users, by name', async () => {
    const events = await during(async () => {
      const term = await rest('POST', '/categories', { name: 'News' });
      await rest('POST', `/categories/${term.id}`, { name: 'Old news' });
      await rest('DELETE', `/categories/${term.id}?force=true`);
      const menu = await rest('POST', '/menus', { name: 'Footer' });
      await rest('DELETE', `/menus/${menu.id}?force=true`);
      const comment = await rest('POST', '/comments', { post: 1, content: 'Well said' });
      await rest('POST', `/comments/${comment.id}`, { status: 'hold' });
      await rest('DELETE', `/comments/${comment.id}?force=true`);
      const file = await callApi(stack, {
        path: '/wp-json/wp/v2/media',
        body: 'tea',
        headers: {
          ...authorised(owner),
          'content-type': 'text/plain',
          'content-disposition': 'attachment; filename="tea.txt"',
        },
      });
      await rest('DELETE', `/media/${(file.body as unknown as { id: number }).id}?force=true`);
    });
    expect(toActivities(events)).toEqual([
      'Created category “News”',
      'Changed category “Old news”',
      'Deleted category “Old news”',
      'Created menu “Footer”',
      'Deleted menu “Footer”',
      'Commented on “Hello world!”',
      'Unapproved a comment on “Hello world!”',
      'Deleted a comment on “Hello world!”',
      'Uploaded “tea.txt”',
      'Deleted the file “tea.txt”',
    ]);
  });

  it('records the origin of an action that came from no browser', async () => {
    const events = await during(async () => {
      await runInWordPress(stack, "wp_insert_post( array( 'post_title' => 'By hand', 'post_status' => 'publish' ) );");
      await runInWordPress(
        stack,
        "define( 'DOING_CRON', true ); wp_insert_post( array( 'post_title' => 'By clock', 'post_status' => 'publish' ) );",
      );
    });
    expect(events).toMatchObject([
      { activity: 'Published post “By hand”', origin: 'cli', ip: '', visitor_id: 0 },
      { activity: 'Published post “By clock”', origin: 'cron', ip: '', visitor_id: 0 },
    ]);
  });

  it('keeps names inert and never breaks a request, whatever characters they contain', async () => {
    const tag = '<img src=x onerror=alert(1)> ';
    const title = `${tag}${'ü'.repeat(400)} \u{1f375}`;
    const events = await during(async () => {
      // A plugin that runs WordPress's hooks with unexpected arguments.
      const odd = "do_action( 'wp_login', 'nobody' ); do_action( 'profile_update', 'x', null ); echo 'alive';";
      expect(await runInWordPress(stack, odd)).toBe('alive');
      await rest('POST', '/posts', { title, status: 'draft' });
    });
    expect(toActivities(events)).toEqual([`Created post “${tag}${'ü'.repeat(199 - tag.length)}…”`]);
  });

  it('records nothing while the log is off', async () => {
    const draft = (title: string) =>
      runInWordPress(stack, `wp_insert_post( array( 'post_title' => '${title}', 'post_status' => 'draft' ) );`);
    const events = await during(async () => {
      await change(stack, owner, '/manage-activity-log', { disable_activity_log: 1 });
      await draft('Unseen');
      await change(stack, owner, '/manage-activity-log', { disable_activity_log: 0 });
      await draft('Seen');
    });
    expect(toActivities(events).filter((text) => text.includes('post'))).toEqual(['Created post “Seen”']);
  });

  it('loses no event and repeats none when guard is killed in between', async () => {
    const events = await during(async () => {
      await rest('POST', '/posts', { title: 'Before the end', status: 'draft' });
      await killGuard(stack);
      await runInWordPress(
        stack,
        "wp_insert_post( array( 'post_title' => 'Without guard', 'post_status' => 'draft' ) );",
      );
      await startGuard(stack);
    });
    expect(toActivities(events)).toEqual(['Created post “Before the end”', 'Created post “Without guard”']);
  });

  describe('a request of a registered user', () => {
    it('does not count as an anonymous visit; one with a forged cookie does', async () => {
      const unknown = async () => {
        const path = '/wp-json/security-optimizer/v1/activity-unknown';
        const response = await callApi(stack, { path, body: '{}', headers: authorised(owner) });
        return (response.body.data as { entries: { page_visited: string }[] }).entries.map((row) => row.page_visited);
      };
      const turn = Date.now();
      const invented = owner.cookie.replace(/(wordpress_[^=]+=)[^;]+/g, '$1owner%7C9999999999%7Cx%7Cy');
      await page(`/?registered=${turn}`);
      await sendRequest(stack, { target: `/?invented=${turn}`, headers: { cookie: invented } });
      await sendRequest(stack, { target: `/?anonymous=${turn}` });
      await expect.poll(unknown).toContain(`/?anonymous=${turn}`);
      const pages = await unknown();
      expect(pages).toContain(`/?invented=${turn}`);
      expect(pages).not.toContain(`/?registered=${turn}`);
    });
  });
});
