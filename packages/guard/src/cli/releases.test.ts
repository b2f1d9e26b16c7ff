import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run, runInChild, serve } from '../../test/support/command-line.js';
import { scratchFolder } from '../../test/support/scratch.js';
import {
  canSwitchUsers,
  changeOwner,
  GUARD,
  linkAs,
  listOwners,
  machine,
  makeWordPress,
  OWNER,
  runAsRoot,
  snapshot,
  VICTIM,
} from '../../test/support/users.js';
import { wordpressFolder } from '../../test/support/wordpress-folder.js';

/** A site whose releases are folders, with a link to the current one, as deployment tools create them. */
async function deployedSite() {
  const [root, bare, dataDir] = [await scratchFolder(), await wordpressFolder(), await scratchFolder()];
  const current = join(root, 'current');
  mkdirSync(join(root, 'releases'));
  /** Deploys a new release. */
  const deploy = (name: string): string => {
    const release = join(root, 'releases', name);
    if (!existsSync(release)) cpSync(bare, release, { recursive: true });
    symlinkSync(join('releases', name), `${current}.next`);
    renameSync(`${current}.next`, current);
    return release;
  };
  const attach = (...args: string[]) => run('attach', '--data-dir', dataDir, ...args);
  const site = ['--wordpress', current, '--upstream', 'http://127.0.0.1:1'];
  return { root, current, dataDir, deploy, attach, site };
}

const plugins = (release: string) => join(release, 'wp-content', 'mu-plugins');
const keyIn = (release: string) =>
  /'secret' => '([0-9a-f]{64})'/.exec(
    readFileSync(join(plugins(release), 'security-optimizer', 'secret.php'), 'utf8'),
  )?.[1];
const readConfig = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, 'guard.json'), 'utf8'));

/** Replaces the folder in the configuration's only site by the folder of its release. */
function storeAsEarlierVersions(dataDir: string, release: string): void {
  const stored = readConfig(dataDir);
  stored.sites[0].wordpressDir = release;
  writeFileSync(join(dataDir, 'guard.json'), JSON.stringify(stored));
  rmSync(join(dataDir, 'sites', 'site.releases'));
}

describe('a site whose path is a link to the current release', () => {
  it('stays one site when the same command is run after a deployment: its id, key and entry do not change', async () => {
    const { current, dataDir, deploy, attach, site } = await deployedSite();
    const first = deploy('1');
    expect(attach(...site)).toMatchObject({ status: 0, stdout: expect.stringContaining('Attached: site site.') });
    const config = readConfig(dataDir);
    expect(config.sites).toMatchObject([{ id: 'site', wordpressDir: current }]);
    const second = deploy('2');
    expect(attach(...site)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Brought up to date: site site.'),
    });
    expect(readConfig(dataDir)).toEqual(config);
    expect(keyIn(second)).toMatch(/^[0-9a-f]{64}$/);
    expect(keyIn(second)).toBe(keyIn(first));
  });

  it('needs --upstream only the first time, and keeps its value', async () => {
    const { current, dataDir, deploy, attach, site } = await deployedSite();
    deploy('1');
    expect(attach('--wordpress', current)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--upstream is missing'),
    });
    attach(...site, '--host', 'shop.example', '--listen', '127.0.0.1:8099');
    const config = readConfig(dataDir);
    deploy('2');
    expect(attach('--wordpress', current)).toMatchObject({ status: 0, stderr: '' });
    expect(readConfig(dataDir)).toEqual(config);
  });

  it('may also be named by the folder of the release', async () => {
    const { current, dataDir, deploy, attach, site } = await deployedSite();
    const first = deploy('1');
    attach(...site);
    expect(attach('--wordpress', first).stdout).toContain('Brought up to date: site site.');
    expect(readConfig(dataDir).sites).toMatchObject([{ wordpressDir: current }]);
  });

  it('is also found through a link below its path: WordPress in a sub-folder of the release', async () => {
    const { root, dataDir, deploy, attach } = await deployedSite();
    const nested = join(root, 'current', 'web', 'wp');
    for (const name of ['1', '2']) {
      const release = deploy(name);
      mkdirSync(join(release, 'web'));
      renameSync(join(release, 'wp-content'), join(release, 'web', 'app'));
      mkdirSync(join(release, 'web', 'wp'));
      for (const part of ['wp-load.php', 'wp-includes', 'wp-config.php'])
        renameSync(join(release, part), join(release, 'web', 'wp', part));
      const mu = join(root, 'current', 'web', 'app', 'mu-plugins');
      const line = ['--wordpress', nested, '--upstream', 'http://127.0.0.1:1', '--mu-plugins', mu];
      expect(attach(...line)).toMatchObject({ status: 0, stderr: '' });
      expect(readdirSync(join(release, 'web', 'app', 'mu-plugins'))).toContain('security-optimizer.php');
      expect(readConfig(dataDir).sites).toMatchObject([{ wordpressDir: nested, muPluginsDir: mu }]);
    }
  });

  it('that an earlier version stored by its release is stored by its path after an attach', async () => {
    const { current, dataDir, deploy, attach, site } = await deployedSite();
    const first = deploy('1');
    attach(...site);
    storeAsEarlierVersions(dataDir, first);
    expect(attach(...site).stdout).toContain('Brought up to date: site site.');
    expect(readConfig(dataDir).sites).toMatchObject([{ id: 'site', wordpressDir: current }]);
  });

  it('that an earlier version stored by a release that is no longer current is refused with a remedy', async () => {
    const { current, dataDir, deploy, attach, site } = await deployedSite();
    const first = deploy('1');
    attach(...site);
    storeAsEarlierVersions(dataDir, first);
    const second = deploy('2');
    const refused = attach(...site);
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('add --site site --moved') });
    expect(existsSync(plugins(second))).toBe(false);
    expect(attach(...site, '--site', 'site')).toMatchObject({ status: 1, stderr: expect.stringContaining('--moved') });
    expect(attach(...site, '--moved')).toMatchObject({ status: 2 });
    expect(attach(...site, '--site', 'site', '--moved').stdout).toContain('Brought up to date: site site.');
    expect(readConfig(dataDir).sites).toMatchObject([{ id: 'site', wordpressDir: current }]);
    expect(keyIn(second)).toBe(keyIn(first));
  });

  it('is distinguished from another site by its path, where two links lead to different releases', async () => {
    const [one, other] = [await deployedSite(), await deployedSite()];
    one.deploy('1');
    other.deploy('1');
    const upstream = ['--upstream', 'http://127.0.0.1:1'];
    one.attach('--wordpress', one.current, ...upstream, '--host', 'one.example');
    one.attach('--wordpress', other.current, ...upstream, '--host', 'other.example');
    const both = readConfig(one.dataDir);
    expect(both.sites).toHaveLength(2);
    expect(one.attach('--wordpress', one.current, '--site', both.sites[1].id)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`is attached as site ${both.sites[0].id}`),
    });
    expect(readConfig(one.dataDir)).toEqual(both);
  });

  it('is reported by status while the current release lacks the connector', async () => {
    const { current, dataDir, deploy, attach, site } = await deployedSite();
    deploy('1');
    attach(...site);
    const problems = async () =>
      JSON.parse((await runInChild('status', '--json', '--data-dir', dataDir)).stdout).problems;
    expect((await problems()).join()).not.toContain('without the connector');
    const second = deploy('2');
    expect((await problems()).join()).toContain(`${current} leads to ${second}, a release without the connector.`);
    attach(...site);
    expect((await problems()).join()).not.toContain('without the connector');
    deploy('1');
    expect((await problems()).join()).not.toContain('without the connector');
  });

  it('is rolled back with the connector of that release, which the next attach updates from its own record', async () => {
    const { deploy, attach, site, dataDir } = await deployedSite();
    const first = deploy('1');
    attach(...site);
    const old = join('security-optimizer', 'includes-0123456789ab', 'class-old.php');
    mkdirSync(join(plugins(first), 'security-optimizer', 'includes-0123456789ab'));
    await writeFile(join(plugins(first), old), '<?php');
    const record = join(dataDir, 'sites', 'site.files');
    await writeFile(record, `${await readFile(record, 'utf8')}${old}\n`);
    deploy('2');
    attach(...site);
    expect(await readFile(record, 'utf8')).not.toContain('class-old.php');
    expect(existsSync(join(plugins(first), old))).toBe(true);
    deploy('1');
    attach(...site);
    expect(existsSync(join(plugins(first), old))).toBe(false);
  });

  it('keeps nothing in any release after detach, which ignores releases that no longer exist', async () => {
    const { deploy, attach, site, dataDir } = await deployedSite();
    const releases = ['1', '2', '3'].map((name) => {
      const release = deploy(name);
      attach(...site);
      return release;
    });
    await writeFile(join(plugins(releases[1] as string), 'own.php'), '<?php // the site’s');
    rmSync(releases[0] as string, { recursive: true });
    // The current release was never attached.
    deploy('4');
    expect(await runInChild('detach', '--data-dir', dataDir)).toMatchObject({ status: 0 });
    expect(readdirSync(plugins(releases[1] as string))).toEqual(['own.php']);
    expect(readdirSync(join(releases[2] as string, 'wp-content'))).toEqual([]);
    expect(readdirSync(join(dataDir, 'sites'))).toEqual(['site.retired']);
  });
});

describe('attach --release', () => {
  /** A release that exists and is not current. */
  async function preparedSite() {
    const at = await deployedSite();
    const first = at.deploy('1');
    at.attach(...at.site);
    const second = at.deploy('2');
    at.deploy('1');
    return { ...at, first, second };
  }

  it('installs the connector in a release before it becomes the current one, and changes nothing else', async () => {
    const { first, second, dataDir, attach, deploy } = await preparedSite();
    const config = readConfig(dataDir);
    expect(attach('--release', second)).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('site'),
    });
    expect(keyIn(second)).toBe(keyIn(first));
    expect(readConfig(dataDir)).toEqual(config);
    deploy('2');
    const { problems } = JSON.parse((await runInChild('status', '--json', '--data-dir', dataDir)).stdout);
    expect(problems.join()).not.toContain('without the connector');
    expect(attach('--all')).toMatchObject({ status: 0, stderr: '' });
    expect(readConfig(dataDir)).toEqual(config);
    expect(await runInChild('detach', '--data-dir', dataDir)).toMatchObject({ status: 0 });
    for (const release of [first, second]) expect(existsSync(plugins(release))).toBe(false);
  });

  it('requires guard in the release where the site requires it', async () => {
    const { second, attach, site } = await preparedSite();
    attach(...site, '--require-guard', '--force');
    expect(attach('--release', second).status).toBe(0);
    expect(readFileSync(join(plugins(second), 'security-optimizer', 'secret.php'), 'utf8')).toContain(
      "'require_guard' => true",
    );
  });

  it('finds must-use plugins that the site has moved: in the release, and where all releases share them', async () => {
    for (const where of ['current/app/mu-plugins', 'shared/mu-plugins']) {
      const { root, current, attach, site, deploy } = await deployedSite();
      mkdirSync(join(root, 'shared'));
      const [second, first] = ['2', '1'].map((name) => {
        const release = deploy(name);
        renameSync(join(release, 'wp-content'), join(release, 'app'));
        return release;
      });
      expect(attach(...site, '--mu-plugins', join(root, where))).toMatchObject({ status: 0, stderr: '' });
      const loader = join(root, where.replace('current', 'releases/2'), 'security-optimizer.php');
      expect(existsSync(loader)).toBe(where.startsWith('shared'));
      expect(attach('--release', second as string)).toMatchObject({ status: 0, stderr: '' });
      expect(existsSync(loader)).toBe(true);
      expect(existsSync(join(first as string, 'wp-content'))).toBe(false);
      expect(current).not.toBe(first);
    }
  });

  it('refuses a folder of another site, requires --site where there are several, and accepts no other option', async () => {
    const { second, attach, dataDir } = await preparedSite();
    const other = await deployedSite();
    const folder = other.deploy('1');
    const line = ['--wordpress', other.current, '--upstream', 'http://127.0.0.1:1', '--host', 'other.example'];
    expect(attach(...line).status).toBe(0);
    const others = other.deploy('2');
    const before = keyIn(folder);
    expect(attach('--release', second)).toMatchObject({ status: 1, stderr: expect.stringContaining('--site') });
    for (const [release, message] of [
      [folder, 'is a release of the site other-example'],
      [others, 'is attached as site other-example'],
      [other.current, 'is attached as site other-example'],
    ] as const) {
      const refused = attach('--release', release, '--site', 'site');
      expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
    }
    expect(keyIn(folder)).toBe(before);
    expect(existsSync(plugins(second))).toBe(false);
    expect(attach('--release', second, '--site', 'nothing')).toMatchObject({ status: 1 });
    expect(attach('--release', second, '--host', 'a.example')).toMatchObject({ status: 2 });
    expect(attach('--release', second, '--site', 'site')).toMatchObject({ status: 0, stderr: '' });
    expect(readConfig(dataDir).sites).toHaveLength(2);
  });
});

describe('attach --all', () => {
  it('brings every site up to date, and reports the site that fails and why', async () => {
    const [one, other, failing] = [await deployedSite(), await deployedSite(), await deployedSite()];
    for (const [at, { deploy, current }] of [one, other, failing].entries()) {
      deploy('1');
      const line = ['--wordpress', current, '--upstream', 'http://127.0.0.1:1', '--host', `shop-${at}.example`];
      expect(one.attach(...line).status).toBe(0);
    }
    const config = readConfig(one.dataDir);
    const [secondOfOne, secondOfOther] = [one.deploy('2'), other.deploy('2')];
    rmSync(failing.root, { recursive: true });
    const all = one.attach('--all');
    const [first, second, third] = config.sites.map(({ id }: { id: string }) => id);
    expect(all.stdout).toContain(`Brought up to date: site ${first}.\nBrought up to date: site ${second}.\n`);
    expect(all.stdout).toContain('2 of 3 sites are up to date.');
    expect(all.stderr).toContain(`Site ${third}: ${failing.current} is not a WordPress folder`);
    expect(all.status).toBe(1);
    expect(keyIn(secondOfOne)).not.toBe(keyIn(secondOfOther));
    expect(readConfig(one.dataDir)).toEqual(config);
  });

  it('changes nothing else: it accepts no other option, and direct requests stay allowed or refused', async () => {
    const { deploy, attach, site, dataDir } = await deployedSite();
    deploy('1');
    attach(...site, '--require-guard', '--force');
    const second = deploy('2');
    for (const option of [['--allow-direct'], ['--site', 'site'], ['--host=a.example']]) {
      expect(attach('--all', ...option)).toMatchObject({ status: 2, stderr: expect.stringContaining('--all') });
    }
    expect(attach('--all').status).toBe(0);
    expect(readFileSync(join(plugins(second), 'security-optimizer', 'secret.php'), 'utf8')).toContain(
      "'require_guard' => true",
    );
    expect(readConfig(dataDir).sites).toMatchObject([{ requireGuard: true }]);
  });

  it('makes the running guard reload the updated sites', async () => {
    const { deploy, attach, site, dataDir } = await deployedSite();
    deploy('1');
    attach(...site, '--listen', '127.0.0.1:0');
    await serve(dataDir);
    const all = await runInChild('attach', '--all', '--data-dir', dataDir);
    expect(all).toMatchObject({ status: 0, stderr: '' });
    expect(all.stdout).toContain('1 of 1 sites are up to date.\nThe running guard has taken it up.\n');
  });
});

describe.skipIf(!canSwitchUsers)('attach --all as root (skipped without root)', () => {
  /** A site with releases that root has attached once, and its second release. */
  async function deployed() {
    const at = await machine();
    const releases = join(at.root, 'releases');
    mkdirSync(releases);
    const [first, second] = ['1', '2'].map((name) => makeWordPress(join(releases, name), OWNER));
    const current = join(at.root, 'current');
    const linkTo = (release: string) => {
      rmSync(current, { force: true });
      linkAs(OWNER, release, current);
    };
    linkTo(first as string);
    const { dataDir } = at;
    const upstream = ['--upstream', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0'];
    const attached = runAsRoot('attach', '--wordpress', current, ...upstream, '--data-dir', dataDir);
    expect(attached).toMatchObject({ status: 0, stderr: '' });
    linkTo(second as string);
    /** Changes a file as guard's user, who owns the data folder. */
    const edit = (file: string, change: (content: string) => string) => {
      const path = join(dataDir, file);
      writeFileSync(path, change(readFileSync(path, 'utf8')));
    };
    const attachAll = () => runAsRoot('attach', '--all', '--data-dir', dataDir);
    return { ...at, releases, first: first as string, second: second as string, current, edit, attachAll };
  }

  it('is not needed for a release that its owner has prepared by name', async () => {
    const { second, first, dataDir } = await deployed();
    expect(runAsRoot('attach', '--release', second, '--data-dir', dataDir)).toMatchObject({ status: 0, stderr: '' });
    const plugins = join(second, 'wp-content', 'mu-plugins');
    expect(listOwners(plugins)).toEqual([OWNER]);
    expect(readFileSync(join(plugins, 'security-optimizer', 'secret.php'))).toEqual(
      readFileSync(join(first, 'wp-content', 'mu-plugins', 'security-optimizer', 'secret.php')),
    );
    expect(listOwners(dataDir)).toEqual([GUARD]);
  });

  it('installs in the new release, with the rights of its owner', async () => {
    const { second, first, attachAll, dataDir } = await deployed();
    expect(attachAll()).toMatchObject({ status: 0, stderr: '' });
    const plugins = join(second, 'wp-content', 'mu-plugins');
    expect(listOwners(plugins)).toEqual([OWNER]);
    expect(readFileSync(join(plugins, 'security-optimizer', 'secret.php'))).toEqual(
      readFileSync(join(first, 'wp-content', 'mu-plugins', 'security-optimizer', 'secret.php')),
    );
    expect(listOwners(dataDir)).toEqual([GUARD]);
    expect(attachAll()).toMatchObject({ status: 0, stderr: '' });
  });

  it.each<[string, (at: Awaited<ReturnType<typeof deployed>>) => void, string]>([
    [
      'that guard’s user has written into the configuration',
      ({ edit, current, victim }) => edit('guard.json', (text) => text.replaceAll(current, victim)),
      'belongs to user',
    ],
    [
      'with a release that guard’s user invented',
      ({ edit, current, victim, theirs }) => {
        edit('guard.json', (text) => text.replaceAll(current, victim));
        edit('sites/site.releases', () => JSON.stringify([{ wordpressDir: victim, muPluginsDir: theirs, files: [] }]));
      },
      'no release of its owner has the key',
    ],
    [
      'with a release that guard’s user created',
      ({ root, edit, current, victim, dataDir }) => {
        const own = makeWordPress(join(root, 'own'), GUARD);
        const plugins = join(own, 'wp-content', 'mu-plugins');
        mkdirSync(join(plugins, 'security-optimizer'), { recursive: true });
        const secret = readFileSync(join(dataDir, 'sites', 'site.secret'), 'utf8');
        writeFileSync(join(plugins, 'security-optimizer', 'secret.php'), secret);
        changeOwner(own, GUARD);
        edit('guard.json', (text) => text.replaceAll(current, victim));
        edit('sites/site.releases', () => JSON.stringify([{ wordpressDir: own, muPluginsDir: plugins, files: [] }]));
      },
      `belongs to user ${VICTIM}, and the releases that have the key of this site to user ${GUARD}`,
    ],
    [
      'with an invalid key',
      ({ edit, current, victim, theirs }) => {
        edit('guard.json', (text) => text.replaceAll(current, victim));
        edit('sites/site.releases', () => JSON.stringify([{ wordpressDir: victim, muPluginsDir: theirs, files: [] }]));
        edit('sites/site.secret', () => 'theirs');
      },
      'no release of its owner has the key',
    ],
    [
      'as must-use plugins of the new release',
      ({ edit, theirs }) =>
        edit('guard.json', (text) => {
          const config = JSON.parse(text);
          config.sites[0].muPluginsDir = theirs;
          return JSON.stringify(config);
        }),
      'belongs to user',
    ],
  ])('changes nothing in a folder of another user %s', async (_what, prepare, message) => {
    const at = await deployed();
    prepare(at);
    const before = [snapshot(at.victim), snapshot(at.releases), snapshot(at.ofRoot)];
    expect(at.attachAll()).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
    expect([snapshot(at.victim), snapshot(at.releases), snapshot(at.ofRoot)]).toEqual(before);
  });

  it('requires the folder by name where it belongs to root, since root’s folders belong to many sites', async () => {
    const { releases, current, second, attachAll, dataDir } = await deployed();
    changeOwner(releases, 0);
    rmSync(current);
    symlinkSync(second, current);
    const before = snapshot(releases);
    expect(attachAll()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`Attach it once with --wordpress ${second}`),
    });
    expect(snapshot(releases)).toEqual(before);
    expect(runAsRoot('attach', '--wordpress', current, '--data-dir', dataDir)).toMatchObject({ status: 0, stderr: '' });
  });
});
