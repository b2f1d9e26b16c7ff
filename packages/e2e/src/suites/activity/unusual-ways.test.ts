import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { restBasic, usersBlogs } from '../../attacks/requests.js';
import { logIn, readOptions, type Session, setOptions } from '../../http/session.js';
import { onUnlikeStacks } from '../../stacks/stack.js';
import { muPlugins, runInWordPress } from '../../stacks/wordpress.js';
import { recover, sendFrom } from '../login/helpers.js';
import { type EventRow, eventsDuring } from './helpers.js';

const PHONE = '127.0.94.7';
const SAME_NETWORK = '127.0.94.8';
const PROGRAM = '127.0.95.7';
const LOGIN = 'unusual-ways';
const PASSWORD = 'Y4-unusual-one';
const ROLE = 'story-role';
const PLUGINS = ['story-one.php', 'story-two.php'] as const;

onUnlikeStacks('the log tells of logins, promotions and activations in unusual ways', (stack) => {
  let owner: Session;
  let xmlRpcBefore: 0 | 1;
  let application = '';
  const helper = join(muPlugins(stack), 'unusual-ways.php');
  const pluginFile = (name: string) => join(stack.wordpressDir, 'wp-content/plugins', name);

  const during = (work: () => Promise<unknown>) => eventsDuring(stack, owner, work);
  const toActivities = (events: readonly EventRow[]) => events.map(({ activity }) => activity);
  const withPlugins = (code: string) =>
    runInWordPress(
      stack,
      `require_once ABSPATH . 'wp-admin/includes/plugin.php'; $files = array( '${PLUGINS.join("', '")}' ); ${code}`,
    );

  beforeAll(async () => {
    writeFileSync(helper, "<?php add_filter( 'wp_is_application_passwords_available', '__return_true' );");
    for (const name of PLUGINS) writeFileSync(pluginFile(name), `<?php\n/*\nPlugin Name: ${name}\n*/\n`);
    owner = await logIn(stack);
    xmlRpcBefore = (await readOptions(stack, owner)).disable_xml_rpc;
    await setOptions(stack, owner, { disable_xml_rpc: 0 });
    application = await runInWordPress(
      stack,
      `add_role( '${ROLE}', 'Story Role', array( 'read' => true ) );
      $id = wp_insert_user( array( 'user_login' => '${LOGIN}', 'user_pass' => '${PASSWORD}', 'role' => '${ROLE}' ) );
      list( $password ) = WP_Application_Passwords::create_new_application_password( $id, array( 'name' => 'program' ) ); echo $password;`,
    );
  });
  afterAll(async () => {
    await recover(stack, 'unblock', '--all');
    await setOptions(stack, owner, { disable_xml_rpc: xmlRpcBefore });
    await withPlugins(
      `require_once ABSPATH . 'wp-admin/includes/user.php'; deactivate_plugins( $files );
      wp_delete_user( get_user_by( 'login', '${LOGIN}' )->ID ); remove_role( '${ROLE}' );`,
    );
    for (const name of PLUGINS) rmSync(pluginFile(name), { force: true });
    rmSync(helper, { force: true });
  });

  it('a program that sends its password each time logs in once for each network', async () => {
    const events = await during(async () => {
      expect((await sendFrom(stack, PHONE, usersBlogs(LOGIN, PASSWORD))).body).toContain('isAdmin');
      expect((await sendFrom(stack, PHONE, usersBlogs(LOGIN, PASSWORD))).body).toContain('isAdmin');
      expect((await sendFrom(stack, SAME_NETWORK, usersBlogs(LOGIN, PASSWORD))).body).toContain('isAdmin');
      expect((await sendFrom(stack, PROGRAM, restBasic(LOGIN, application))).status).toBe(200);
      expect((await sendFrom(stack, PROGRAM, restBasic(LOGIN, application))).status).toBe(200);
    });
    expect(events.filter(({ user }) => user === LOGIN)).toMatchObject([
      { actions: 'login', ip: PHONE, origin: 'web' },
      { actions: 'login', ip: PROGRAM, origin: 'web' },
    ]);
  });

  it('the users of a role that may manage the site from now on have another role', async () => {
    const grant = `get_role( '${ROLE}' )->add_cap( 'manage_options' );`;
    const take = `get_role( '${ROLE}' )->remove_cap( 'manage_options' );`;
    const events = await during(async () => {
      await runInWordPress(stack, `${grant} ${take}`);
      await runInWordPress(stack, grant);
      await runInWordPress(stack, take);
    });
    expect(events.filter(({ actions }) => actions === 'user.role').map(({ activity }) => activity)).toEqual([
      `Changed the role of “${LOGIN}” from Story Role to Story Role, manage_options`,
    ]);
  });

  it('a plugin that is written to the list of active plugins is activated, once', async () => {
    const [one, two] = PLUGINS;
    const events = await during(async () => {
      await withPlugins(`update_option( 'active_plugins', array_merge( get_option( 'active_plugins' ), $files ) );`);
      await withPlugins('deactivate_plugins( $files );');
      await withPlugins('activate_plugin( $files[0] ); deactivate_plugins( $files[0], true );');
      await withPlugins('activate_plugin( $files[0] );');
    });
    expect(toActivities(events)).toEqual([
      ...[`Activated plugin “${one}”`, `Activated plugin “${two}”`],
      ...[`Deactivated plugin “${one}”`, `Deactivated plugin “${two}”`],
      `Activated plugin “${one}”`,
    ]);
  });
});
