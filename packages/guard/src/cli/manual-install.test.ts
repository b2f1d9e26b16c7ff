import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../test/support/command-line.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { wordpressFolder } from '../../test/support/wordpress-folder.js';

const isRoot = process.getuid?.() === 0;
const hasPhp = spawnSync('php', ['-v']).status === 0;

/** A shared connector, and a WordPress into whose code guard does not write. */
async function machine() {
  const [root, wordpress, dataDir] = [await scratchFolder(), await wordpressFolder(), await scratchFolder()];
  await chmod(root, 0o755);
  const shared = join(root, 'connector');
  expect(run('share-connector', shared).status).toBe(0);
  const print = (...more: string[]) => run('attach', '--print', '--data-dir', dataDir, ...more);
  const readSites = async () => JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8')).sites;
  const readSecret = async (id: string) => (await readFile(join(dataDir, 'sites', `${id}.secret`), 'utf8')).trim();
  return { root, wordpress, dataDir, shared, print, readSites, readSecret };
}

describe.skipIf(!isRoot)('attach --print (skipped without root)', () => {
  it('writes nothing into WordPress, and shows what to put where', async () => {
    const { wordpress, shared, print, readSites, readSecret } = await machine();
    const line = ['--wordpress', wordpress, '--host', 'shop.example', '--upstream', 'http://127.0.0.1:1'];
    expect(print(...line)).toMatchObject({ status: 2, stderr: expect.stringContaining('--shared-connector') });
    const output = print(...line, '--shared-connector', shared);
    expect(output).toMatchObject({ status: 0, stderr: '' });
    expect(await readdir(join(wordpress, 'wp-content'))).toEqual([]);
    // Guard stores no folder, so neither `attach --all` nor the restoring of a lost key writes there.
    expect(await readSites()).toMatchObject([{ id: 'shop-example', wordpressDir: null, sharedConnector: shared }]);
    expect(output.stdout).toContain(join(wordpress, 'wp-content', 'mu-plugins'));
    expect(output.stdout).toContain(await readSecret('shop-example'));
    expect(output.stdout).toContain("define( 'SECURITY_OPTIMIZER_KEY_FILE',");
    expect(output.stdout).toContain('SECURITY_OPTIMIZER_REQUIRE_GUARD=0');
    const again = print('--site', 'shop-example', '--require-guard', '--force');
    expect(again.stdout).toContain('SECURITY_OPTIMIZER_REQUIRE_GUARD=1');
    expect(again.stdout).toContain(await readSecret('shop-example'));
    expect(await readSites()).toMatchObject([{ hosts: ['shop.example'], requireGuard: true }]);
  });

  it('needs no folder of WordPress, which may be on another machine', async () => {
    const { shared, print, readSites, dataDir } = await machine();
    const output = print('--host', 'shop.example', '--upstream', 'http://192.0.2.7', '--shared-connector', shared);
    expect(output).toMatchObject({ status: 0, stdout: expect.stringContaining('WPMU_PLUGIN_DIR') });
    expect(output.stdout).toContain('set_real_ip_from ADDRESS_OF_GUARD;');
    expect(await readSites()).toHaveLength(1);
    expect(run('attach', '--all', '--data-dir', dataDir)).toMatchObject({ status: 0 });
    expect(run('detach', '--data-dir', dataDir)).toMatchObject({ status: 0 });
  });

  it('shows the present values of a site into which attach installs, and changes nothing', async () => {
    const { wordpress, print, dataDir, readSecret } = await machine();
    const line = ['--wordpress', wordpress, '--upstream', 'http://127.0.0.1:1', '--data-dir', dataDir];
    expect(run('attach', ...line, '--external-key')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('`attach --print --site site` shows it'),
    });
    const before = await readFile(join(dataDir, 'guard.json'), 'utf8');
    const output = print('--wordpress', wordpress);
    expect(output.stdout).toContain('`attach` has installed it');
    expect(output.stdout).toContain(await readSecret('site'));
    expect(await readFile(join(dataDir, 'guard.json'), 'utf8')).toBe(before);
  });

  it.skipIf(!hasPhp)('shows a one-line loader and a key file that PHP accepts', async () => {
    const { root, wordpress, shared, print, readSecret } = await machine();
    const { stdout } = print('--host', 'a.example', '--upstream', 'http://127.0.0.1:1', '--shared-connector', shared);
    const [loader, key] = stdout.match(/^<\?php[\s\S]*?;$/gm) as [string, string];
    const plugins = join(wordpress, 'wp-content', 'mu-plugins');
    await mkdir(plugins);
    await writeFile(join(plugins, 'security-optimizer.php'), loader);
    await writeFile(join(root, 'key.php'), key);
    const code = `define( 'ABSPATH', '${wordpress}/' ); define( 'SECURITY_OPTIMIZER_KEY_FILE', '${root}/key.php' );
      function add_action() {} function add_filter() {} function get_option() { return array(); }
      function get_site_option() { return array(); }
      spl_autoload_register( static function ( $name ) {
        if ( 'Security_Optimizer_Hooks' === $name ) { eval( 'class Security_Optimizer_Hooks { static function add() {} }' ); }
      } );
      require '${plugins}/security-optimizer.php';
      echo json_encode( array( Security_Optimizer_Secret::read(), SECURITY_OPTIMIZER_FILE, SECURITY_OPTIMIZER_DIR ) );`;
    const output = spawnSync('php', ['-d', 'display_errors=1', '-r', code], { encoding: 'utf8' });
    const [release] = await readdir(shared);
    expect(JSON.parse(output.stdout)).toEqual([
      { secret: await readSecret('a-example'), require_guard: false },
      join(plugins, 'security-optimizer.php'),
      join(shared, release as string),
    ]);
  });
});
