import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { onPostgres, openTestDatabase } from '../test/support/database.js';
import { fakeConnector, OTHER_SECRET } from '../test/support/fake-connector.js';
import { recordedLog } from '../test/support/logs.js';
import { passingTime } from '../test/support/passing-time.js';
import { callApi, dataFolderFor, runningGuard } from '../test/support/running-guard.js';
import { eventually, scratchFolder } from '../test/support/scratch.js';
import { SECRET } from '../test/support/site-config.js';
import { loadConfig } from './config/load-config.js';
import { startGuard } from './main.js';
import { createSettingsStore } from './settings/settings-store.js';
import { DataDirInUseError } from './storage/data-dir-lock.js';
import { readGuardedTraffic } from './wordpress/guarded-traffic.js';

/** Minimum interval between two pushes of the policy, milliseconds. */
const BETWEEN_PUSHES_MS = 5000;
/** Time after which guard checks whether writing its key into WordPress has helped, milliseconds. */
const AFTER_RESTORE_MS = 3000;

describe('guard', () => {
  it('pushes its policy when it starts, and again when WordPress was restored from a backup', async () => {
    const { pass } = passingTime();
    const connector = await fakeConnector();
    const guard = await runningGuard(await dataFolderFor(connector));
    await eventually(() => connector.policy?.policy.disable_xml_rpc === 1);
    connector.policy = { hash: '0000000000000000', policy: {} };
    pass(BETWEEN_PUSHES_MS);
    // Every page carries the signal.
    await eventually(async () => {
      await fetch(`${guard.url}/`);
      return connector.policy?.policy.disable_xml_rpc === 1;
    });
  });

  it('waits until WordPress enforces the current policy before it accepts the first request', async () => {
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector);
    const first = await runningGuard(dataDir);
    await first.close();
    // While guard was stopped, its database changed or WordPress's was restored.
    connector.policy = { hash: '0000000000000000', policy: {} };
    connector.beforePolicy = () => new Promise((resolve) => setTimeout(resolve, 150));
    await runningGuard(dataDir);
    expect(connector.policy?.policy.disable_xml_rpc).toBe(1);
  });

  it('does not wait for a WordPress that does not respond', async () => {
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector);
    connector.mode = 'slow';
    const log = recordedLog();
    const guard = await runningGuard(dataDir, log.logger);
    expect((await fetch(`${guard.url}/xmlrpc.php`, { method: 'POST' })).status).toBe(403);
    // The command is still pending: if anything had waited for its end, it would be in the log.
    expect(log.events()).not.toContain('wordpress-unreachable');
  });

  it('sends WordPress only the settings that WordPress enforces', async () => {
    const connector = await fakeConnector();
    await runningGuard(await dataFolderFor(connector));
    await eventually(() => connector.policy !== null);
    expect(Object.keys(connector.policy?.policy ?? {}).sort()).toEqual([
      'activity_events',
      'blocked_users',
      'delete_readme',
      'disable_feed',
      'disable_file_edit',
      'disable_usernames',
      'disable_xml_rpc',
      'disallowed_usernames',
      'login_attempts',
      'login_url_login',
      'login_url_signup',
      'sg2fa',
      'show_data_consent',
      'show_email_consent',
      'slow_users',
      'two_factor_app_passwords',
      'two_factor_roles',
      'wp_remove_version',
    ]);
  });

  it('keeps settings and the facts about the site over a restart, also while WordPress is down', async () => {
    const connector = await fakeConnector();
    connector.home = 'https://example.com/blog';
    const dataDir = await dataFolderFor(connector);
    const first = await runningGuard(dataDir);
    await eventually(async () => {
      const { body } = await callApi(first.url.concat('/blog'), '/disable-xml-rpc', { body: '{"disable_xml_rpc":0}' });
      return body.status === 200;
    });
    await first.close();
    await connector.close();
    const second = await runningGuard(dataDir);
    expect((await fetch(`${second.url}/blog/xmlrpc.php`, { method: 'POST' })).status).toBe(502);
    expect((await fetch(`${second.url}/blog/readme.html`)).status).toBe(404);
  });

  it('uses the language of the site for visitors, also after a restart without WordPress', async () => {
    const connector = await fakeConnector();
    connector.locale = 'de_AT';
    const dataDir = await dataFolderFor(connector);
    const first = await runningGuard(dataDir);
    const page = async (url: string) =>
      (await fetch(`${url}/wp-content/uploads/x.php`, { headers: { accept: 'text/html' } })).text();
    await eventually(async () => (await page(first.url)).includes('lang="de-DE"'));
    await first.close();
    await connector.close();
    const second = await runningGuard(dataDir);
    expect(await page(second.url)).toContain('Das kann nicht geöffnet werden');
  });

  it('applies changes by another process', async () => {
    const { pass } = passingTime();
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector);
    const guard = await runningGuard(dataDir);
    const isRefused = async () => (await fetch(`${guard.url}/xmlrpc.php`, { method: 'POST' })).status !== 200;
    expect(await isRefused()).toBe(true);
    const db = await openTestDatabase(dataDir);
    await createSettingsStore(db).write({
      site: 'site',
      changes: [{ name: 'disable_xml_rpc', before: 1, after: 0, expectedVersion: 0 }],
      actor: { id: null, login: 'command line', address: null },
      at: Date.now(),
    });
    await db.destroy();
    await eventually(async () => !(await isRefused()));
    pass(BETWEEN_PUSHES_MS);
    await eventually(() => connector.policy?.policy.disable_xml_rpc === 0);
  });

  it('writes its key into WordPress again when the connector has another one, and logs it', async () => {
    const { pass } = passingTime();
    const connector = await fakeConnector();
    connector.secret = OTHER_SECRET;
    const wordpressDir = await scratchFolder();
    await mkdir(join(wordpressDir, 'wp-content', 'mu-plugins', 'security-optimizer'), { recursive: true });
    await writeFile(join(wordpressDir, 'wp-config.php'), '<?php', { mode: 0o640 });
    const log = recordedLog();
    await runningGuard(await dataFolderFor(connector, { wordpressDir }), log.logger);
    await eventually(() => log.events().includes('connector-key-restored'));
    const php = await readFile(join(wordpressDir, 'wp-content/mu-plugins/security-optimizer/secret.php'), 'utf8');
    expect(php).toContain(`'secret' => '${SECRET}', 'require_guard' => true, 'only_through_guard' => true`);
    connector.secret = SECRET;
    pass(AFTER_RESTORE_MS);
    await eventually(() => log.events().includes('connector-ok'));
    expect(log.events().filter((event) => event === 'connector-other-secret')).toHaveLength(1);
    expect(log.text()).not.toContain(SECRET);
  });

  it('records that visitors come through guard, and does not count a manual check on this machine', async () => {
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector, { requireGuard: false }, { trustedProxies: ['127.0.0.1'] });
    const guard = await runningGuard(dataDir);
    await eventually(() => connector.policy !== null);
    await fetch(`${guard.url}/`);
    expect(await readGuardedTraffic(dataDir, 'site')).toBe(null);
    await fetch(`${guard.url}/`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
    await eventually(async () => (await readGuardedTraffic(dataDir, 'site')) !== null);
  });

  it('records nothing about visitors of a site that requires guard', async () => {
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector, {}, { trustedProxies: ['127.0.0.1'] });
    const guard = await runningGuard(dataDir);
    await fetch(`${guard.url}/`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
    await guard.close();
    expect(await readGuardedTraffic(dataDir, 'site')).toBe(null);
  });

  it('still requires guard when it restores the key of a site that was changed to require it while guard runs', async () => {
    const connector = await fakeConnector();
    connector.secret = OTHER_SECRET;
    const wordpressDir = await scratchFolder();
    await mkdir(join(wordpressDir, 'wp-content', 'mu-plugins', 'security-optimizer'), { recursive: true });
    await writeFile(join(wordpressDir, 'wp-config.php'), '<?php', { mode: 0o640 });
    const dataDir = await dataFolderFor(connector, { wordpressDir, requireGuard: false });
    const config = await loadConfig({ dataDir, env: {} });
    const file = join(dataDir, 'guard.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace('"requireGuard":false', '"requireGuard":true'));
    const log = recordedLog();
    const guard = await startGuard(config, { logger: log.logger });
    onTestFinished(() => guard.close());
    await eventually(() => log.events().includes('connector-key-restored'));
    const php = await readFile(join(wordpressDir, 'wp-content/mu-plugins/security-optimizer/secret.php'), 'utf8');
    expect(php).toContain("'require_guard' => true");
  });

  it('writes its key into WordPress again when the connector has lost it: without the key WordPress refuses nobody', async () => {
    const { pass } = passingTime();
    const connector = await fakeConnector();
    connector.mode = 'gone';
    const wordpressDir = await scratchFolder();
    const plugins = join(wordpressDir, 'wp-content', 'mu-plugins');
    await mkdir(join(plugins, 'security-optimizer'), { recursive: true });
    for (const file of [join(wordpressDir, 'wp-config.php'), join(plugins, 'security-optimizer.php')])
      await writeFile(file, '<?php', { mode: 0o640 });
    const log = recordedLog();
    await runningGuard(await dataFolderFor(connector, { wordpressDir }), log.logger);
    await eventually(() => log.events().includes('connector-key-restored'));
    expect(await readFile(join(plugins, 'security-optimizer', 'secret.php'), 'utf8')).toContain(SECRET);
    connector.mode = 'ok';
    pass(AFTER_RESTORE_MS);
    await eventually(() => log.events().includes('connector-ok'));
  });

  it('writes nothing where there is no connector, or where it has the key', async () => {
    for (const files of [[], ['security-optimizer.php', 'security-optimizer/secret.php']]) {
      const connector = await fakeConnector();
      connector.mode = 'gone';
      const wordpressDir = await scratchFolder();
      const plugins = join(wordpressDir, 'wp-content', 'mu-plugins');
      await mkdir(join(plugins, 'security-optimizer'), { recursive: true });
      for (const file of files) await writeFile(join(plugins, file), `<?php // ${SECRET}`);
      await writeFile(join(wordpressDir, 'wp-config.php'), '<?php');
      const log = recordedLog();
      const guard = await runningGuard(await dataFolderFor(connector, { wordpressDir }), log.logger);
      await eventually(() => log.events().includes('connector-missing'));
      await fetch(`${guard.url}/`);
      expect(log.events().filter((event) => event.startsWith('connector-key'))).toEqual([]);
      expect((await readdir(join(plugins, 'security-optimizer'))).length).toBe(files.length === 0 ? 0 : 1);
    }
  });

  it('runs only once on a data folder', async () => {
    const dataDir = await dataFolderFor(await fakeConnector());
    const guard = await runningGuard(dataDir);
    await expect(runningGuard(dataDir)).rejects.toBeInstanceOf(DataDirInUseError);
    await guard.close();
    await runningGuard(dataDir);
  });

  it.skipIf(onPostgres)('does not start on a corrupt database, and leaves nothing running', async () => {
    const dataDir = await dataFolderFor(await fakeConnector());
    await writeFile(join(dataDir, 'guard.sqlite'), 'no database '.repeat(2000));
    await expect(runningGuard(dataDir)).rejects.toMatchObject({ fault: 'corrupt' });
    await expect(runningGuard(dataDir)).rejects.toMatchObject({ fault: 'corrupt' });
  });
});
