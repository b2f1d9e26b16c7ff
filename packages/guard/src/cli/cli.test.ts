import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { bin, run, runInChild, serve, waitForOutcome } from '../../test/support/command-line.js';
import { type FakeConnector, fakeConnector } from '../../test/support/fake-connector.js';
import { callApi } from '../../test/support/running-guard.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { wordpressFolder } from '../../test/support/wordpress-folder.js';
import { packVisits } from '../activity/packed-visits.js';
import { openActivityStore } from '../activity/store/open-activity-store.js';
import { silentLogger } from '../lib/logger.js';
import { openSqlite } from '../storage/sqlite.js';

async function attached() {
  const [wordpress, dataDir, connector] = [await wordpressFolder(), await scratchFolder(), await fakeConnector()];
  const attach = (...more: string[]) =>
    runInChild(
      'attach',
      '--wordpress',
      wordpress,
      '--upstream',
      connector.upstream,
      '--listen',
      '127.0.0.1:0',
      '--data-dir',
      dataDir,
      ...more,
    );
  // The connector reads the key from the installed file.
  connector.onRequest = (command) => {
    if (command === 'hello' && !hasKey)
      connector.secret = readFileSync(join(dataDir, 'sites', 'site.secret'), 'utf8').trim();
    hasKey = true;
  };
  let hasKey = false;
  const first = await attach();
  return { wordpress, dataDir, connector, attach, first, plugins: join(wordpress, 'wp-content', 'mu-plugins') };
}

describe('the command line', () => {
  it('prints its version and commands, and the options of each command', () => {
    expect(run('--version')).toMatchObject({ status: 0, stdout: '0.1.0\n' });
    expect(run('--help').stdout).toContain('attach');
    expect(run('attach', '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--allow-direct') });
  });

  it.each(['sites', 'settings', 'privacy', 'migrate'])('prints the commands of the group `%s`', (group) => {
    const help = run(group, '--help');
    expect(help).toMatchObject({ status: 0, stderr: '' });
    expect(help.stdout).toMatch(new RegExp(`^ {2}${group} [a-z-]+ +[A-Z]`));
    expect(run(group, 'help')).toEqual(help);
    expect(run(group)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(help.stdout) });
  });

  it('prints the options of each command of a group', () => {
    for (const name of ['add', 'remove', 'list', 'show', 'export', 'import']) {
      const { status, stdout } = run('sites', name, '--help');
      expect([status, stdout]).toEqual([0, expect.stringContaining(`security-optimizer sites ${name} `)]);
    }
  });

  it('names a few sites when one has to be named, however many there are', async () => {
    const dataDir = await scratchFolder();
    const sites = Array.from({ length: 5000 }, (_, at) => {
      return { id: `site-${at}`, hosts: [`${at}.example.com`], upstream: 'http://127.0.0.1:1' };
    });
    await writeFile(join(dataDir, 'guard.json'), JSON.stringify({ sites }));
    const { status, stderr } = run('pause', '5', '--data-dir', dataDir);
    expect(status).toBe(2);
    expect(stderr).toContain('Name one: --site site-0, --site site-1, ');
    expect(stderr).toContain('--site site-9, … There are 5000 sites; `sites list` shows them.');
    expect(stderr.length).toBeLessThan(500);
  });

  it.each([
    [['fly'], 'Unknown command fly'],
    [['\x1b[31mfly\u202e\r'], 'Unknown command \\u001b[31mfly\\u202e\\u000d. '],
    [['attach', '--colour'], "Unknown option '--colour'"],
    [['attach', '--upstream', 'http://127.0.0.1:1'], '--data-dir is missing'],
    [['serve'], '--data-dir or --config is missing'],
    [
      ['attach', '--data-dir', 'd', '--wordpress', 'w', '--upstream', 'x', '--listen', '1'],
      '--upstream: use the http origin',
    ],
    [['attach', '--data-dir', 'd', '--trusted-proxy', '192.0.2.0/33'], 'check “/33”'],
    [['attach', '--data-dir', 'd', '--trusted-proxy', '0.0.0.0/0'], '--trusted-proxy: this range means everybody'],
  ])('refuses %j with exit code 2, naming what is wrong', (args, message) => {
    const result = run(...args);
    expect(result.status).toBe(2);
    expect(result.stderr).toContain(message);
  });
});

describe('the configuration', () => {
  it('can be read again after attach and detach, whatever keys the operator has set', async () => {
    const { attach, dataDir, connector } = await attached();
    const file = join(dataDir, 'guard.json');
    const ebook = { title: 'Ten steps', link: 'https://example.com/guide' };
    const more = { metrics: { listen: '[::1]:9464' }, branding: { ebook } };
    const own = { trustedProxies: ['192.0.2.0/24'], limits: { maxRows: 5000 }, branding: { rateLink: '' } };
    const written = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...written, ...more, sites: [{ ...written.sites[0], ...own }] }));
    expect(await attach()).toMatchObject({ status: 0, stderr: '' });
    expect(await attach()).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(await readFile(file, 'utf8')).sites).toMatchObject([own]);
    expect((await runInChild('status', '--data-dir', dataDir)).stderr).toBe('');
    expect(await runInChild('detach', '--data-dir', dataDir)).toMatchObject({ status: 0 });
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ metrics: more.metrics, branding: { ebook } });
    // The new site has another key.
    connector.mode = 'broken';
    expect(await attach()).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('attach', () => {
  it('first prints for a new site how the upstream web server can see each visitor', async () => {
    const { attach, first } = await attached();
    expect(first.stdout).toMatch(
      /^Attached: site site\.\nBefore visitors come .*set_real_ip_from 127\.0\.0\.1; real_ip_header X-Forw/,
    );
    expect((await attach()).stdout).not.toContain('set_real_ip_from');
  });
});

describe('a command for several sites', () => {
  it.each([
    ['attach', '--all'],
    ['sites', 'import', 'sites.json'],
  ])('does not say that guard has taken something up when it failed for every site: %s %s', async (...command) => {
    const { dataDir, wordpress } = await attached();
    const { child } = await serve(dataDir);
    const site = { upstream: 'http://127.0.0.1:1', hosts: ['example.com'], wordpressDir: wordpress };
    await writeFile(join(dataDir, 'sites.json'), JSON.stringify({ sites: [site] }));
    await rm(join(wordpress, 'wp-load.php'));
    const args = command.map((word) => (word === 'sites.json' ? join(dataDir, word) : word));
    const { status, stdout, stderr } = await runInChild(...args, '--data-dir', dataDir);
    expect([status, stdout]).toEqual([1, expect.stringMatching(/^0 of 1 sites are (?:up to date|attached)\.\n$/)]);
    expect(stderr).toContain('it has no wp-load.php');
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
});

describe('sites import', () => {
  it('uses proxies, limits and branding of a site as the file has them', async () => {
    const [wordpress, dataDir, connector] = [await wordpressFolder(), await scratchFolder(), await fakeConnector()];
    const own = { trustedProxies: ['192.0.2.0/24'], limits: { maxRows: 5000 }, branding: { rateLink: '' } };
    const entry = { hosts: ['example.com'], upstream: connector.upstream, wordpressDir: wordpress, ...own };
    const file = join(dataDir, 'sites.json');
    await writeFile(file, JSON.stringify({ sites: [entry] }));
    connector.onRequest = () => {
      const file = join(dataDir, 'sites', 'example-com.secret');
      connector.secret = readFileSync(file, 'utf8').trim();
    };
    expect(await runInChild('sites', 'import', file, '--data-dir', dataDir)).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8')).sites).toMatchObject([own]);
  });

  /** Two sites that a file names, with their keys as WordPress reads them. */
  async function importing() {
    const dataDir = await scratchFolder();
    const names = ['a', 'b'];
    const connectors: FakeConnector[] = [];
    const sites = await Promise.all(
      names.map(async (name, index) => {
        const connector = await fakeConnector();
        connectors[index] = connector;
        connector.onRequest = () => {
          const secret = join(dataDir, 'sites', `${name}-example-com.secret`);
          if (existsSync(secret)) connector.secret = readFileSync(secret, 'utf8').trim();
        };
        return { hosts: [`${name}.example.com`], upstream: connector.upstream, wordpressDir: await wordpressFolder() };
      }),
    );
    const config = join(dataDir, 'guard.json');
    await writeFile(config, JSON.stringify({ listen: '127.0.0.1:0' }));
    await mkdir(join(dataDir, 'sites'));
    const file = join(dataDir, 'sites.json');
    await writeFile(file, JSON.stringify({ sites }));
    /** Whether each WordPress refuses direct visitors; undefined before it has a key. */
    const modes = () =>
      sites.map(({ wordpressDir }) => {
        const key = join(wordpressDir, 'wp-content/mu-plugins/security-optimizer/secret.php');
        if (!existsSync(key)) return undefined;
        return / 'require_guard' => (true|false)/.exec(readFileSync(key, 'utf8'))?.[1];
      });
    return {
      ...{ dataDir, config, file, sites, modes, connectors },
      run: (...more: readonly string[]) => runInChild('sites', 'import', file, '--data-dir', dataDir, ...more),
      visited: (id: string) => {
        const now = Date.now();
        return writeFile(join(dataDir, 'sites', `${id}.traffic`), JSON.stringify({ since: now - 60_000, until: now }));
      },
    };
  }

  it('reads a file with a byte order mark', async () => {
    const { file, run: importAll } = await importing();
    await writeFile(file, `\ufeff${await readFile(file, 'utf8')}`);
    expect(await importAll()).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    ['[]', 'the file: use an object with a list `sites`, as `sites export` prints it'],
    ['null', 'the file: use an object with a list `sites`, as `sites export` prints it'],
    ['{}', 'sites: use an object with a list `sites`, as `sites export` prints it'],
    ['{"sites":[]}', 'sites: names no site'],
  ])('says what is missing in %s', async (text, mistake) => {
    const { file, run: importAll } = await importing();
    await writeFile(file, text);
    expect(await importAll()).toMatchObject({ status: 1, stderr: expect.stringContaining(`\n  ${mistake}\n`) });
  });

  /** Runs it, and calls `act` while WordPress of the first site is asked. Its answer waits for that. */
  async function interrupting(act: (child: ChildProcess) => Promise<unknown>, isServed = false) {
    const imported = await importing();
    if (isServed) await serve(imported.dataDir);
    const child = spawn(process.execPath, [bin, 'sites', 'import', imported.file, '--data-dir', imported.dataDir]);
    const ended = waitForOutcome(child);
    let acted: Promise<unknown> | undefined;
    const [connector] = imported.connectors;
    if (connector !== undefined) {
      connector.hold = async () => {
        acted ??= act(child);
        await acted;
      };
    }
    return { ...imported, child, ended };
  }

  it('that is interrupted finishes the present site', async () => {
    const { dataDir, modes, ended } = await interrupting(async (child) => {
      child.kill('SIGINT');
      await once(child.stderr as Readable, 'data');
    });
    const { status, stdout, stderr } = await ended;
    expect([status, stderr]).toEqual([1, 'Ends after this site; the same signal once more ends it at once.\n']);
    expect(stdout).toContain('1 of 2 sites are attached.\nInterrupted. Run the same command again for the others.\n');
    expect(modes()).toEqual(['false', undefined]);
    expect(JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8')).sites).toMatchObject([
      { id: 'a-example-com' },
    ]);
  });

  it('that is interrupted has guard serve what is attached', async () => {
    const { dataDir, ended } = await interrupting(async (child) => {
      child.kill('SIGINT');
      await once(child.stderr as Readable, 'data');
    }, true);
    expect((await ended).stdout).toContain('The running guard has taken it up.');
    expect(JSON.parse(await readFile(join(dataDir, 'guard.sites'), 'utf8')).served).toEqual(['a-example-com']);
  });

  it('ends at once for a second signal', async () => {
    const { child, ended } = await interrupting(async (child) => {
      child.kill('SIGINT');
      await once(child.stderr as Readable, 'data');
      child.kill('SIGINT');
      await once(child, 'exit');
    });
    await ended;
    expect(child.signalCode).toBe('SIGINT');
  });

  it('gives a site that was detached its id again', async () => {
    const { dataDir, file, sites, run: importAll } = await importing();
    expect((await importAll()).status).toBe(0);
    await runInChild('sites', 'remove', '--site', 'a-example-com', '--data-dir', dataDir);
    // Without the id, kept data would stay with the detached site.
    await writeFile(file, JSON.stringify({ sites: [{ ...sites[0], id: 'a-example-com' }] }));
    expect(await importAll()).toMatchObject({ status: 0, stdout: expect.stringContaining('site a-example-com.') });
    expect(existsSync(join(dataDir, 'sites', 'a-example-com.retired'))).toBe(false);
    await writeFile(file, JSON.stringify({ sites: [{ ...sites[0], id: 'never-attached', hosts: ['c.example.com'] }] }));
    expect((await importAll()).stdout).not.toContain('never-attached');
  });

  it('lets WordPress answer direct visitors until visitors have come through a guard that serves the site', async () => {
    const { dataDir, run, modes, visited } = await importing();
    const first = await run();
    expect(first).toMatchObject({ status: 0, stderr: '' });
    const next = 'Lead their visitors through guard, then run this command again; with --force nothing is asked.';
    expect(first.stdout).toContain(`Direct requests are still answered: a-example-com, b-example-com. ${next}`);
    expect(modes()).toEqual(['false', 'false']);
    // Visitors came, but no guard runs that would let them in.
    await visited('a-example-com');
    expect((await run()).stdout).toContain('still answered: a-example-com, b-example-com.');
    expect(modes()).toEqual(['false', 'false']);
    await serve(dataDir);
    const again = await run();
    expect(again).toMatchObject({ status: 0, stderr: '' });
    expect(again.stdout).toContain('Direct requests are refused from now on: site a-example-com.');
    expect(again.stdout).toContain('Direct requests are still answered: b-example-com.');
    expect(modes()).toEqual(['true', 'false']);
  });

  it('has guard serve the sites before WordPress refuses direct visitors, also with --force', async () => {
    const { dataDir, run, modes, sites } = await importing();
    await serve(dataDir);
    const served = async () => JSON.parse(await readFile(join(dataDir, 'guard.sites'), 'utf8')).served as string[];
    const early: string[] = [];
    const imported = run('--force');
    let ended = false;
    void imported.then(() => {
      ended = true;
    });
    while (!ended) {
      const found = modes();
      if (found.includes('true') && (await served()).length < sites.length) early.push(found.join());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(await imported).toMatchObject({ status: 0, stderr: '' });
    expect([early, modes()]).toEqual([[], ['true', 'true']]);
    expect((await served()).sort()).toEqual(['a-example-com', 'b-example-com']);
  });

  it.each<[string, object, string]>([
    ['an invalid upstream', { upstream: 'nonsense' }, 'sites.1.upstream: use the http origin'],
    ['a host of another line', { hosts: ['A.example.com'] }, 'sites.1.hosts: a.example.com is named twice'],
  ])('changes nothing when one line has %s', async (_, mistake, message) => {
    const { config, file, sites, run } = await importing();
    await writeFile(file, JSON.stringify({ sites: [sites[0], { ...sites[1], ...mistake }] }));
    const before = await readFile(config, 'utf8');
    expect(await run('--force')).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(message) });
    expect(await readFile(config, 'utf8')).toBe(before);
    for (const { wordpressDir } of sites) expect(existsSync(join(wordpressDir, 'wp-content/mu-plugins'))).toBe(false);
  });
});

describe('attach', () => {
  it('installs connector, dashboard and secret, readable like wp-config.php, and writes the configuration', async () => {
    const { first, dataDir, plugins } = await attached();
    expect(first).toMatchObject({ status: 0, stderr: '' });
    const secret = (await readFile(join(dataDir, 'sites', 'site.secret'), 'utf8')).trim();
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(await readFile(join(plugins, 'security-optimizer', 'secret.php'), 'utf8')).toContain(
      `return array( 'secret' => '${secret}', 'require_guard' => false, 'only_through_guard' => false );`,
    );
    expect((await stat(join(plugins, 'security-optimizer', 'secret.php'))).mode & 0o777).toBe(0o640);
    expect((await stat(join(dataDir, 'sites', 'site.secret'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(plugins, 'security-optimizer.php'))).isFile()).toBe(true);
    expect((await stat(join(plugins, 'security-optimizer', 'assets', 'entrypoints.json'))).isFile()).toBe(true);
    expect(await readdir(join(plugins, 'security-optimizer', 'languages'))).toContain('security-optimizer-de_DE.mo');
    expect(await readFile(join(dataDir, 'guard.json'), 'utf8')).not.toContain(secret);
  });

  it('may be repeated: keeps the secret, updates files, removes those of an older version', async () => {
    const { attach, dataDir, plugins } = await attached();
    const secret = await readFile(join(dataDir, 'sites', 'site.secret'), 'utf8');
    const old = join(plugins, 'security-optimizer', 'assets', 'old.js');
    await writeFile(old, 'old');
    await appendFile(join(dataDir, 'sites', 'site.files'), 'security-optimizer/assets/old.js\n');
    await writeFile(join(plugins, 'security-optimizer.php'), 'changed');
    expect(await attach('--allow-direct', '--host', 'Example.com')).toMatchObject({ status: 0 });
    expect(await readFile(join(dataDir, 'sites', 'site.secret'), 'utf8')).toBe(secret);
    expect(await readdir(join(plugins, 'security-optimizer', 'assets'))).not.toContain('old.js');
    expect(await readFile(join(plugins, 'security-optimizer.php'), 'utf8')).toContain(
      'Plugin Name: Security Optimizer',
    );
    expect(await readFile(join(plugins, 'security-optimizer', 'secret.php'), 'utf8')).toContain(
      "'require_guard' => false",
    );
    const { sites } = JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8'));
    expect(sites).toMatchObject([{ id: 'site', hosts: ['example.com'], requireGuard: false }]);
  });

  describe('and requests that go past guard', () => {
    const mode = async (plugins: string, dataDir: string) => {
      const php = await readFile(join(plugins, 'security-optimizer', 'secret.php'), 'utf8');
      const { sites } = JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8'));
      // A connector of an earlier version reads the second key.
      return [
        / 'require_guard' => (true|false),/.exec(php)?.[1],
        / 'only_through_guard' => (true|false) /.exec(php)?.[1],
        String(sites[0].requireGuard),
      ];
    };
    const [open, closed] = [Array(3).fill('false'), Array(3).fill('true')];
    const visited = (dataDir: string, since: number, until = 0) => {
      const now = Date.now();
      const seen = { since: now - since * 1000, until: now - until * 1000 };
      return writeFile(join(dataDir, 'sites', 'site.traffic'), JSON.stringify(seen));
    };

    it('lets them pass at a new site, so that attaching refuses nobody, and prints it', async () => {
      const { first, plugins, dataDir } = await attached();
      expect(first.stdout).toContain('Direct requests: allowed. Run this again with --require-guard when');
      expect(await mode(plugins, dataDir)).toEqual(open);
    });

    it('refuses --require-guard, and changes nothing, until visitors have come through guard for a while', async () => {
      const { attach, plugins, dataDir } = await attached();
      const early = await attach('--require-guard', '--host', 'example.com');
      expect(early).toMatchObject({ status: 1, stderr: expect.stringContaining('No visitor has come through guard') });
      await visited(dataDir, 8);
      expect((await attach('--require-guard')).stderr).toContain('for 8 seconds so far; 30 are asked for');
      await visited(dataDir, 4000, 1200);
      expect((await attach('--require-guard')).stderr).toContain('20 minutes ago');
      expect(await mode(plugins, dataDir)).toEqual(open);
      expect(JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8')).sites[0].hosts).toEqual(['*']);
      await visited(dataDir, 45);
      expect((await attach('--require-guard')).stdout).toContain('Direct requests: refused.');
      expect(await mode(plugins, dataDir)).toEqual(closed);
    });

    it('does not change whether a site requires guard when it is repeated for an update', async () => {
      const { attach, plugins, dataDir } = await attached();
      expect((await attach()).status).toBe(0);
      expect(await mode(plugins, dataDir)).toEqual(open);
      expect((await attach('--require-guard', '--force')).status).toBe(0);
      expect((await attach()).status).toBe(0);
      expect(await mode(plugins, dataDir)).toEqual(closed);
      // Once required, it need not be proved again.
      expect((await attach('--require-guard')).status).toBe(0);
      expect((await attach('--allow-direct')).status).toBe(0);
      expect(await mode(plugins, dataDir)).toEqual(open);
    });

    it('still requires guard at a site that was attached with the key of earlier versions', async () => {
      const { attach, plugins, dataDir } = await attached();
      const file = join(dataDir, 'guard.json');
      const { sites, ...rest } = JSON.parse(await readFile(file, 'utf8'));
      const { requireGuard, ...site } = sites[0];
      await writeFile(file, JSON.stringify({ ...rest, sites: [{ ...site, onlyThroughGuard: !requireGuard }] }));
      expect((await attach()).status).toBe(0);
      expect(await mode(plugins, dataDir)).toEqual(closed);
      await writeFile(file, JSON.stringify({ ...rest, sites: [{ ...sites[0], onlyThroughGuard: true }] }));
      expect((await attach()).stderr).toContain('sites[0].onlyThroughGuard: is the former name of requireGuard');
    });

    it('refuses contradicting options', async () => {
      const { attach } = await attached();
      expect((await attach('--require-guard', '--allow-direct')).status).toBe(2);
      expect((await attach('--force')).status).toBe(2);
    });

    it('has status list the sites that allow them under a heading of its own, as no problem', async () => {
      const { attach, dataDir } = await attached();
      const outcome = await runInChild('status', '--data-dir', dataDir);
      expect(outcome.stdout).toContain('  Direct requests: allowed');
      expect(outcome.stdout).toContain(
        'Do not forget:\n  Site site: direct requests are allowed, so visitors can go past guard. No visitor has come through guard yet. Run `security-optimizer attach` with --require-guard when they come through guard.\n',
      );
      await visited(dataDir, 45);
      const report = JSON.parse((await runInChild('status', '--data-dir', dataDir, '--json')).stdout);
      expect(report).toMatchObject({
        sites: [{ directRequests: 'allowed' }],
        warnings: [expect.stringContaining('They come through guard now')],
        problems: expect.not.arrayContaining([expect.stringContaining('irect requests')]),
      });
      expect((await attach('--require-guard')).status).toBe(0);
      const closedNow = JSON.parse((await runInChild('status', '--data-dir', dataDir, '--json')).stdout);
      expect(closedNow).toMatchObject({ sites: [{ directRequests: 'refused' }], warnings: [] });
    });

    it('has guard log at its start which sites allow them', async () => {
      const { dataDir, attach } = await attached();
      const guard = await serve(dataDir);
      expect(guard.log()).toContain('"event":"direct-requests-allowed","count":1,"sites":["site"]');
      guard.child.kill('SIGTERM');
      await once(guard.child, 'exit');
      expect((await attach('--require-guard', '--force')).status).toBe(0);
      expect((await serve(dataDir)).log()).not.toContain('direct-requests-allowed');
    });
  });

  it('refuses a folder that is not a WordPress, and a data folder inside it, and changes neither', async () => {
    const [empty, wordpress] = [await scratchFolder(), await wordpressFolder()];
    const options = ['--upstream', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0'];
    const notOne = run('attach', '--wordpress', empty, '--data-dir', join(empty, 'data'), ...options);
    expect(notOne).toMatchObject({ status: 1, stderr: expect.stringContaining('is not a WordPress folder') });
    const inside = run('attach', '--wordpress', wordpress, '--data-dir', join(wordpress, 'data'), ...options);
    expect(inside).toMatchObject({ status: 1, stderr: expect.stringContaining('must not lie inside') });
    expect([...(await readdir(empty)), ...(await readdir(join(wordpress, 'wp-content')))]).toEqual([]);
  });

  it('installs where the site has moved its must-use plugins, and remembers the folder', async () => {
    const [wordpress, dataDir, content] = [await wordpressFolder(), await scratchFolder(), await scratchFolder()];
    await rm(join(wordpress, 'wp-content'), { recursive: true });
    const attach = (...more: string[]) => {
      const options = ['--upstream', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0', '--data-dir', dataDir];
      return run('attach', '--wordpress', wordpress, ...options, ...more);
    };
    expect(await attach()).toMatchObject({ status: 1, stderr: expect.stringContaining('--mu-plugins') });
    const nowhere = await attach('--mu-plugins', join(content, 'missing', 'mu-plugins'));
    expect(nowhere).toMatchObject({ status: 1, stderr: expect.stringContaining('There is no folder') });
    const plugins = join(content, 'mu-plugins');
    expect(await attach('--mu-plugins', plugins)).toMatchObject({ status: 0, stderr: '' });
    await rm(plugins, { recursive: true });
    expect(await attach()).toMatchObject({ status: 0, stderr: '' });
    expect((await readdir(plugins)).sort()).toEqual(['security-optimizer', 'security-optimizer.php']);
    expect(await readdir(join(plugins, 'security-optimizer'))).toContain('secret.php');
    expect(await readdir(wordpress)).not.toContain('wp-content');
    expect(run('detach', '--data-dir', dataDir).status).toBe(0);
    expect(await readdir(content)).toEqual([]);
  });

  it('is undone by detach', async () => {
    const { dataDir, wordpress } = await attached();
    expect(run('detach', '--data-dir', dataDir)).toMatchObject({
      status: 0,
      stdout: 'Detached: site.\nSettings and log of site are kept, for `attach --site site`.\n',
    });
    expect(await readdir(join(wordpress, 'wp-content'))).toEqual([]);
    expect(await readdir(join(dataDir, 'sites'))).toEqual(['site.retired']);
    expect(JSON.parse(await readFile(join(dataDir, 'guard.json'), 'utf8')).sites).toEqual([]);
    expect(run('detach', '--data-dir', dataDir).status).toBe(1);
  });
});

describe('serve', () => {
  it('keeps an acknowledged change when it is killed right after the response', async () => {
    const { dataDir } = await attached();
    const first = await serve(dataDir);
    const response = await callApi(first.url, '/disable-xml-rpc', { body: '{"disable_xml_rpc":0}' });
    first.child.kill('SIGKILL');
    expect(response.http).toBe(200);
    await once(first.child, 'exit');
    const second = await serve(dataDir);
    const { body } = await callApi(second.url, '/fetch-options', { body: '{"page":"security"}' });
    expect(body.data).toMatchObject({ disable_xml_rpc: 0 });
    expect((await fetch(`${second.url}/xmlrpc.php`, { method: 'POST' })).status).toBe(200);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('stops with exit code 0 on %s', async (signal) => {
    const { dataDir } = await attached();
    const { child, log } = await serve(dataDir);
    child.kill(signal);
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    expect(log()).toContain('"event":"guard-stopped"');
  });

  it('refuses to run twice on a data folder, and to run on a broken database', async () => {
    const { dataDir } = await attached();
    const { child } = await serve(dataDir);
    expect(run('serve', '--data-dir', dataDir)).toMatchObject({
      status: 1,
      stderr: `Another guard runs on this data folder (process ${child.pid}).\n`,
    });
    child.kill('SIGTERM');
    await once(child, 'exit');
    await writeFile(join(dataDir, 'guard.sqlite'), 'no database '.repeat(2000));
    expect(run('serve', '--data-dir', dataDir)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('The database can’t be used (corrupt)'),
    });
  });
});

describe('status', () => {
  it.each([
    ['the connector is missing', { mode: 'gone' as const }, 'missing'],
    ['the connector has a different secret', { secret: 'b2'.repeat(32) }, 'other_secret'],
    ['the connector has a different version', { version: '0.0.9' }, 'version_differs'],
    ['WordPress is down', { mode: 'broken' as const }, 'unknown'],
  ])('reports that %s, with exit code 1', async (_what, fault, state) => {
    const { dataDir, connector } = await attached();
    Object.assign(connector, fault);
    const { status, stdout } = await runInChild('status', '--data-dir', dataDir, '--json');
    const report = JSON.parse(stdout);
    expect(status).toBe(1);
    expect(report.sites[0].connector).toBe(state);
    expect(report.problems).toContain('Guard is not running. Start it with `security-optimizer serve`.');
    expect(report.problems.length).toBeGreaterThan(1);
  });

  it('prints its report as text, too', async () => {
    const { dataDir } = await attached();
    const { stdout } = await runInChild('status', '--data-dir', dataDir);
    expect(stdout).toContain('Guard:     not running');
    expect(stdout).toContain('Database:  none yet; guard makes it when it starts');
    expect(stdout).toContain('Connector: answers (version 0.1.0)');
    expect(stdout).toContain('Policy:    not yet in force inside WordPress');
  });

  it('creates no file and migrates no table: never started, running, stopped, killed, or of another version', async () => {
    const { dataDir } = await attached();
    /** The files that `status` must not change. The companion of an open database is shared memory, not content. */
    const readFiles = async () => {
      const names = (await readdir(dataDir, { recursive: true }))
        .filter((name) => !name.endsWith('.sqlite-shm'))
        .sort();
      const known = async (name: string) => {
        const found = await stat(join(dataDir, name));
        if (!found.isFile()) return name;
        const content = createHash('sha256').update(await readFile(join(dataDir, name)));
        return `${name} ${found.mtimeMs} ${found.size} ${content.digest('hex')}`;
      };
      return Promise.all(names.map(known));
    };
    const unchanged = async (when: string) => {
      const before = await readFiles();
      const { stdout } = await runInChild('status', '--data-dir', dataDir, '--json');
      expect([when, await readFiles()]).toEqual([when, before]);
      return JSON.parse(stdout).storage;
    };
    expect(await unchanged('never started')).toMatchObject({ ok: true, detail: expect.stringContaining('none yet') });
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const { child } = await serve(dataDir);
      expect((await runInChild('status', '--data-dir', dataDir, '--json')).stdout).toContain('"running":true');
      child.kill(signal);
      await once(child, 'exit');
      expect(await unchanged(signal)).toEqual({ ok: true, database: 'sqlite:guard.sqlite', detail: null });
    }
    const database = openSqlite(join(dataDir, 'guard.sqlite'), { busyTimeoutMs: 0 });
    database.exec("DELETE FROM kysely_migration WHERE name = '024_challenge_stamps'");
    database.close();
    expect(await unchanged('older')).toMatchObject({ ok: false, detail: expect.stringContaining('another version') });
  });

  it('reports how many visits were not recorded, and that the database of the Activity Log is corrupt', async () => {
    const { dataDir } = await attached();
    const store = await openActivityStore({ dataDir, logger: silentLogger(), clock: Date.now });
    await store.write([{ site: 'site', visits: packVisits([]), dropped: 1204 }]);
    await store.close();
    const { stdout } = await runInChild('status', '--data-dir', dataDir);
    expect(stdout).toContain('Activity:  ready, 0.');
    expect(stdout).toContain('1,204 visits of the last 24 hours were not recorded');
    await writeFile(join(dataDir, 'activity.sqlite'), 'no database '.repeat(2000));
    const report = JSON.parse((await runInChild('status', '--data-dir', dataDir, '--json')).stdout);
    expect(report.activity).toMatchObject({ ok: false, detail: expect.stringContaining('corrupt') });
    expect(report.sites[0].droppedVisits).toBeNull();
    expect(report.problems.some((text: string) => text.includes('Activity Log'))).toBe(true);
  });
});
