import { type ExecFileOptions, execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { startService } from '@security-optimizer/sandbox/lib/service';
import { type RunningWordPress, startEmbeddedWordPress } from '@security-optimizer/sandbox/stacks/embedded';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectDir } from '../suites/installs/helpers.js';
import { makePackages, npmEnv } from './make-packages.js';

const run = promisify(execFile);
/** A larger package would contain a source map or an example by mistake. Bytes. */
const MAX_BYTES = 2e6;

describe('the npm package', () => {
  let dir: string;
  let tarball: string;
  let program: string;
  let origin: string;
  let wordpress: RunningWordPress;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'so-npm-'));
    mkdirSync(join(dir, 'made'));
    [tarball = ''] = await makePackages(join(dir, 'made'), '--version', '7.8.9');
    await run('npm', ['install', '--prefix', join(dir, 'installed'), tarball], { cwd: dir, env: npmEnv });
    program = join(dir, 'installed/node_modules/.bin/security-optimizer');
    origin = `http://127.0.0.1:${await findFreePort()}`;
    wordpress = await startEmbeddedWordPress({
      dataDir: join(dir, 'site'),
      php: 'auto',
      siteUrl: origin,
      log: () => {},
    });
  });

  afterAll(async () => {
    await wordpress?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const call = async (args: readonly string[], options: ExecFileOptions = {}) =>
    (await run(program, args, { cwd: dir, ...options })).stdout.toString();

  it('is small', () => {
    expect(statSync(tarball).size).toBeLessThan(MAX_BYTES);
  });

  it('builds reproducibly: the same file each time', async () => {
    mkdirSync(join(dir, 'again'));
    const [again = ''] = await makePackages(join(dir, 'again'), '--version', '7.8.9');
    expect(readFileSync(again).equals(readFileSync(tarball))).toBe(true);
  });

  it('contains the licence, the changelog, the guides, and the licence of every bundled package', () => {
    const folder = join(dir, 'installed/node_modules/security-optimizer');
    expect(readdirSync(folder).sort()).toEqual([
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'THIRD-PARTY.md', 'bin', 'docs', 'node_modules', 'package.json'],
    ]);
    const notices = readFileSync(join(folder, 'THIRD-PARTY.md'), 'utf8');
    const missing = packagesInBundle().filter((name) => !notices.includes(`## ${name} `));
    expect(missing).toEqual([]);
    const texts = [...notices.matchAll(/^Licence: .+, (Text \d+)$/gm)].map(([, text]) => text);
    expect(texts.length).toBeGreaterThan(80);
    for (const text of new Set(texts)) expect(notices).toMatch(new RegExp(`^## ${text}\n\n {4}\\S`, 'm'));
    expect(notices).toContain('Copyright (c) Meta Platforms, Inc. and affiliates.');
  });

  it('names the same bots as the published list', () => {
    const file = 'crawler-user-agents/crawler-user-agents.json';
    const read = (modules: string): { pattern: string; instances: string[] }[] =>
      JSON.parse(readFileSync(join(modules, file), 'utf8'));
    const packed = read(join(dir, 'installed/node_modules/security-optimizer/node_modules'));
    const published = read(join(projectDir, 'node_modules'));
    expect(packed.length).toBeGreaterThan(1000);
    // A name is made of the pattern and the first example.
    expect(packed).toEqual(published.map(({ pattern, instances }) => ({ pattern, instances: instances.slice(0, 1) })));
  });

  it('prints its version and its commands outside any checkout, also with npx', async () => {
    expect(await call(['--version'])).toBe('7.8.9\n');
    expect(await call(['--help'])).toContain('Security Optimizer 7.8.9');
    const { stdout } = await run('npx', ['--no-install', 'security-optimizer', '--version'], {
      cwd: join(dir, 'installed'),
      env: npmEnv,
    });
    expect(stdout).toBe('7.8.9\n');
  });

  it('names a guide in a message by the path at which it is installed', async () => {
    const folder = join(dir, 'mistaken');
    mkdirSync(folder);
    writeFileSync(join(folder, 'guard.json'), '{"colour":"green"}');
    const { stderr } = (await call(['serve', '--data-dir', folder]).catch((error: { stderr: string }) => error)) as {
      stderr: string;
    };
    const guide = /colour: unknown key; see (\S+)/.exec(stderr)?.[1] ?? '';
    expect([guide, existsSync(guide)]).toEqual([expect.stringMatching(/^\/.*configuration\.md$/), true]);
  });

  it('can be installed without a network and without native code', async () => {
    const prefix = join(dir, 'bare');
    await run('npm', ['install', '--prefix', prefix, '--offline', '--omit=optional', tarball], {
      cwd: dir,
      env: { ...npmEnv, npm_config_cache: join(dir, 'empty-cache') },
    });
    const names = readdirSync(prefix, { recursive: true }) as string[];
    expect(names.filter((name) => name.endsWith('.node') || name.includes('@photostructure'))).toEqual([]);
    const { stdout } = await run(join(prefix, 'node_modules/.bin/security-optimizer'), ['--version']);
    expect(stdout).toBe('7.8.9\n');
  });

  it('puts guard in front of a WordPress and removes it again', async ({ skip }) => {
    if (!hasSqlite(join(dir, 'installed'))) skip('the SQLite add-on for this Node can’t be fetched');
    const dataDir = join(dir, 'data');
    const attached = await call([
      ...['attach', '--wordpress', wordpress.wordpressDir, '--upstream', wordpress.upstream],
      ...['--listen', new URL(origin).host, '--data-dir', dataDir],
    ]);
    expect(attached).toContain('Direct requests: allowed');
    const loader = join(wordpress.wordpressDir, 'wp-content/mu-plugins/security-optimizer.php');
    expect(readFileSync(loader, 'utf8')).toContain('Version: 7.8.9');
    const guard = await startService({
      name: 'guard',
      command: program,
      args: ['serve', '--data-dir', dataDir],
      cwd: dir,
      pidFile: join(dir, 'guard.json'),
      logFile: join(dir, 'guard.log'),
      ready: () => answersHttp(`${origin}/%zz`),
      readySeconds: 90,
      stopSeconds: 35,
    });
    try {
      const page = await fetch(origin);
      expect([page.status, (await page.text()).includes('</html>')]).toEqual([200, true]);
      const refused = await fetch(`${origin}//xmlrpc.php`, { method: 'POST', body: '<a/>' });
      expect(refused.status).toBe(403);
      expect(await call(['status', '--data-dir', dataDir])).toContain('All is well.');
    } finally {
      await guard.stop();
    }
    expect(readFileSync(join(dir, 'guard.log'), 'utf8')).not.toContain('translations-missing');
    await call(['detach', '--data-dir', dataDir]);
    expect(existsSync(loader)).toBe(false);
  });
});

/** Whether SQLite is available: from Node since 22.16, or from the add-on, which npm skips without a network. */
function hasSqlite(prefix: string): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 16) || existsSync(join(prefix, 'node_modules/@photostructure/sqlite'));
}

/** Packages whose files are sources of guard's bundle. */
function packagesInBundle(): readonly string[] {
  const folder = join(projectDir, 'packages/guard/dist/program');
  const maps = readdirSync(folder).filter((name) => name.endsWith('.map'));
  const names = maps.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/node_modules\/((?:@[^/"]+\/)?[^/"]+)/g)].map((match) =>
      String(match[1]),
    ),
  );
  return [...new Set(names)];
}
