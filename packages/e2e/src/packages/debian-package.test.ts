import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, startService } from '@security-optimizer/sandbox/lib/service';
import { type RunningWordPress, startEmbeddedWordPress } from '@security-optimizer/sandbox/stacks/embedded';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../stacks/until.js';
import { projectDir } from '../suites/installs/helpers.js';
import { type DebianTree, fetchDebian, layOutDebian } from './debian-tree.js';
import { makePackages } from './make-packages.js';

/** The package in its own small Debian: installed, upgraded under a running guard, removed, purged. */

const DATA = '/var/lib/security-optimizer';
/** A page, a forbidden address, and the refusal of a call without a session. */
const RESPONSES = [200, 403, 403, expect.stringContaining('application/json')];
const reason = fetchDebian();

describe.skipIf(reason !== null)(`the Debian package${reason === null ? '' : ` not tried: ${reason}`}`, () => {
  let dir: string;
  let debian: DebianTree;
  let wordpress: RunningWordPress;
  let guard: Service | null = null;
  let origin: string;
  const packages = new Map<string, string>();

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'so-deb-'));
    debian = layOutDebian(join(dir, 'tree'));
    for (const version of ['1.0.0', '2.0.0']) {
      const to = join(debian.dir, 'packages', version);
      mkdirSync(to, { recursive: true });
      const made = await makePackages(to, '--deb', '--quick', '--version', version);
      packages.set(version, (made.find((file) => file.endsWith('.deb')) ?? '').slice(debian.dir.length));
    }
    origin = `http://127.0.0.1:${await findFreePort()}`;
    wordpress = await startEmbeddedWordPress({
      ...{ dataDir: join(debian.dir, 'srv/site'), php: 'auto', siteUrl: origin, log: () => {} },
    });
  });

  afterAll(async () => {
    await guard?.stop();
    await wordpress?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const program = async (...args: readonly string[]) => {
    const { code, output } = await debian.call('security-optimizer', ...args);
    return [code, output.trim()] as const;
  };
  const dpkg = (...args: readonly string[]) => debian.call('dpkg', ...args);
  const at = (path: string) => join(debian.dir, path);
  const current = () => readlinkSync(at('/usr/lib/security-optimizer/current'));
  const releases = () => readdirSync(at('/usr/lib/security-optimizer/releases')).sort();
  const stored = () =>
    ['guard.json', `sites/${siteId()}.secret`].map((name) => readFileSync(at(join(DATA, name)), 'utf8'));
  const siteId = () => JSON.parse(readFileSync(at(`${DATA}/guard.json`), 'utf8')).sites[0].id as string;
  const user = () =>
    readFileSync(at('/etc/passwd'), 'utf8')
      .split('\n')
      .find((line) => line.startsWith('security-optimizer:'));

  /** Starts guard with two worker processes. */
  async function startGuard(): Promise<Service> {
    const serve = ['env', 'SECURITY_OPTIMIZER_PROCESSES=2', 'security-optimizer', 'serve', '--data-dir', DATA];
    const asUser = ['setpriv', '--reuid=security-optimizer', '--regid=security-optimizer', '--init-groups'];
    const [command, args] = debian.command(...asUser, ...serve);
    return startService({
      ...{ name: 'guard', command, args, readySeconds: 90, stopSeconds: 35 },
      pidFile: join(dir, 'guard.json'),
      logFile: join(dir, 'guard.log'),
      ready: () => answersHttp(`${origin}/%zz`),
    });
  }

  const listWorkers = ({ pid }: Service) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');

  /** Guard's responses to a page, to a forbidden path and to a call that loads more files. */
  async function fetchResponses(): Promise<readonly (number | string | null)[]> {
    const page = await fetch(origin);
    const refused = await fetch(`${origin}//xmlrpc.php`, { method: 'POST', body: '<a/>' });
    const call = await fetch(`${origin}/wp-json/security-optimizer/v1/hardening`);
    return [page.status, refused.status, call.status, call.headers.get('content-type')];
  }

  it('installs a user, a data folder of that user, and a unit that waits for a site', async () => {
    const { code, output } = await dpkg('--install', packages.get('1.0.0') as string);
    expect([code, output]).toEqual([0, expect.stringContaining('Security Optimizer is installed.')]);
    expect(await program('--version')).toEqual([0, '1.0.0']);
    expect(current()).toBe('releases/1.0.0');
    const [, , uid, gid, , home, shell] = (user() ?? '').split(':');
    expect([home, shell]).toEqual([DATA, '/usr/sbin/nologin']);
    const data = statSync(at(DATA));
    expect([data.mode & 0o7777, `${data.uid}`, `${data.gid}`]).toEqual([0o700, uid, gid]);
    const unit = readFileSync(at('/usr/lib/systemd/system/security-optimizer.service'), 'utf8');
    expect(unit).toContain('ExecStart=/usr/bin/security-optimizer serve');
    expect(unit).toContain(`ConditionPathExists=${DATA}/guard.json`);
    // All other rules are the example's.
    const own = /^(?:ExecStart|WorkingDirectory|ConditionPathExists)=/;
    const rules = (text: string) => text.split('\n').filter((line) => /^[A-Z]\w*=/.test(line) && !own.test(line));
    const example = join(projectDir, 'docs/operator/examples/security-optimizer.service');
    expect(rules(unit)).toEqual(rules(readFileSync(example, 'utf8')));
    const enabled = at('/etc/systemd/system/multi-user.target.wants/security-optimizer.service');
    expect(readlinkSync(enabled)).toContain('/lib/systemd/system/security-optimizer.service');
    const units = readdirSync(at('/usr/lib/systemd/system')).filter((name) => name.startsWith('security-optimizer'));
    expect(units).toEqual(['security-optimizer.service']);
    expect((await dpkg('--verify', 'security-optimizer')).output).toBe('');
  });

  it('protects a WordPress with its bundled Node', async () => {
    const [code, output] = await program(
      ...['attach', '--wordpress', '/srv/site/wordpress', '--upstream', wordpress.upstream],
      ...['--listen', new URL(origin).host, '--data-dir', DATA, '--user', 'security-optimizer'],
    );
    expect([code, output]).toEqual([0, expect.stringContaining('Direct requests: allowed')]);
    guard = await startGuard();
    expect(await fetchResponses()).toEqual(RESPONSES);
  });

  it('is upgraded without a running guard loading files of the new version', async () => {
    await guard?.stop();
    const before = stored();
    guard = await startGuard();
    expect((await dpkg('--unpack', packages.get('2.0.0') as string)).code).toBe(0);
    expect(await program('--version')).toEqual([0, '1.0.0']);
    expect(await fetchResponses()).toEqual(RESPONSES);
    expect((await dpkg('--configure', 'security-optimizer')).output).toContain(
      'run security-optimizer attach once more',
    );
    expect(await program('--version')).toEqual([0, '2.0.0']);
    // Without systemd nothing has restarted guard, so it still runs from its own folder.
    expect(releases()).toEqual(['1.0.0', '2.0.0']);
    expect(await fetchResponses()).toEqual(RESPONSES);
    expect(readlinkSync(`/proc/${guard.pid}/exe`)).toContain('releases/1.0.0/bin/node');
    // So does a process that takes the place of another one.
    const [worker] = listWorkers(guard);
    process.kill(Number(worker), 'SIGKILL');
    await until('a worker is replaced', () => readFileSync(join(dir, 'guard.log'), 'utf8').includes('worker-replaced'));
    for (const pid of listWorkers(guard)) {
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toMatch(/releases\/1\.0\.0\/\S*worker\.js/);
    }
    expect(await fetchResponses()).toEqual(RESPONSES);
    await guard.stop();
    guard = await startGuard();
    expect(readlinkSync(`/proc/${guard.pid}/exe`)).toContain('releases/2.0.0/bin/node');
    expect(await fetchResponses()).toEqual(RESPONSES);
    expect(stored()).toEqual(before);
    expect((await dpkg('--install', packages.get('2.0.0') as string)).code).toBe(0);
    expect(releases()).toEqual(['2.0.0']);
  });

  it('is downgraded to the previous version in the same way', async () => {
    expect((await dpkg('--install', packages.get('1.0.0') as string)).code).toBe(0);
    expect([await program('--version'), current()]).toEqual([[0, '1.0.0'], 'releases/1.0.0']);
    await guard?.stop();
    guard = await startGuard();
    expect(await fetchResponses()).toEqual(RESPONSES);
  });

  it('has systemd restart a running guard after an upgrade, and does not start a stopped one', async () => {
    // A stub for systemd, which is not in the tree: it records its calls, and says whether guard runs.
    const log = at('/told');
    const listServiceCalls = () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => /\b(?:start|restart|stop)\b/.test(line));
    const systemctl = at('/usr/bin/systemctl');
    const say = (isActive: boolean) => {
      const script = `#!/bin/sh\necho "$*" >> /told\ncase "$*" in is-active*) exit ${isActive ? 0 : 3} ;; esac\n`;
      writeFileSync(systemctl, script, { mode: 0o755 });
      writeFileSync(log, '');
    };
    mkdirSync(at('/run/systemd/system'), { recursive: true });
    try {
      say(true);
      expect((await dpkg('--install', packages.get('2.0.0') as string)).code).toBe(0);
      expect(listServiceCalls()).toEqual([expect.stringMatching(/restart security-optimizer\.service$/)]);
      say(false);
      expect((await dpkg('--install', packages.get('1.0.0') as string)).code).toBe(0);
      expect(listServiceCalls()).toEqual([]);
    } finally {
      rmSync(at('/run/systemd'), { recursive: true });
      rmSync(systemctl);
    }
  });

  it('refuses to be removed while a site is attached, and says what to do', async () => {
    const { code, output } = await dpkg('--remove', 'security-optimizer');
    expect([code, output]).toEqual([1, expect.stringContaining('not removed, because sites are attached')]);
    expect(output).toContain(`  ${siteId()}\n`);
    expect(await fetchResponses()).toEqual(RESPONSES);
    expect(await program('--version')).toEqual([0, '1.0.0']);
  });

  it('keeps settings and keys when it is removed', async () => {
    await guard?.stop();
    guard = null;
    expect((await program('detach', '--data-dir', DATA))[0]).toBe(0);
    const { code, output } = await dpkg('--remove', 'security-optimizer');
    expect([code, output]).toEqual([0, expect.stringContaining(`stay in ${DATA}`)]);
    expect(
      ['/usr/lib/security-optimizer', '/usr/bin/security-optimizer'].filter((path) => existsSync(at(path))),
    ).toEqual([]);
    expect(readdirSync(at(DATA))).toContain('guard.sqlite');
    expect(user()).toBeDefined();
    expect((await fetch(wordpress.upstream, { redirect: 'manual' })).status).toBeLessThan(400);
  });

  it('can be removed despite an attached site when this is confirmed', async () => {
    expect((await dpkg('--install', packages.get('1.0.0') as string)).code).toBe(0);
    const attach = ['attach', '--wordpress', '/srv/site/wordpress', '--upstream', wordpress.upstream];
    expect((await program(...attach, '--listen', new URL(origin).host, '--data-dir', DATA))[0]).toBe(0);
    const force = ['env', 'SECURITY_OPTIMIZER_REMOVE_ATTACHED=yes', 'dpkg'];
    expect((await debian.call(...force, '--remove', 'security-optimizer')).code).toBe(0);
    expect(existsSync(at('/usr/lib/security-optimizer'))).toBe(false);
    expect((await dpkg('--install', packages.get('1.0.0') as string)).code).toBe(0);
    expect((await program('detach', '--data-dir', DATA))[0]).toBe(0);
  });

  it('uses the kept settings when it is installed again, and deletes them when it is purged', async () => {
    expect((await dpkg('--install', packages.get('2.0.0') as string)).code).toBe(0);
    expect(readdirSync(at(DATA))).toContain('guard.sqlite');
    const { code, output } = await dpkg('--purge', 'security-optimizer');
    expect([code, output]).toEqual([0, expect.stringContaining('Deleting settings, keys and logs')]);
    expect(existsSync(at(DATA))).toBe(false);
    expect(user()).toBeUndefined();
    const { output: remaining } = await debian.call(
      'find',
      '/etc',
      '/usr',
      '/var/lib',
      '-name',
      '*security-optimizer*',
    );
    expect(remaining).toBe('');
  });

  it('has no finding of lintian', ({ skip }) => {
    if (spawnSync('lintian', ['--version']).error) skip('lintian is not installed');
    const file = at(packages.get('2.0.0') as string);
    const { stdout } = spawnSync('lintian', ['--fail-on=error', '--tag-display-limit=0', file], { encoding: 'utf8' });
    expect(stdout.split('\n').filter((line) => line.startsWith('E:'))).toEqual([]);
  });

  it('builds reproducibly: the same file each time', async () => {
    const to = join(dir, 'again');
    mkdirSync(to);
    const made = await makePackages(to, '--deb', '--quick', '--version', '2.0.0');
    const again = made.find((file) => file.endsWith('.deb')) ?? '';
    expect(readFileSync(again).equals(readFileSync(at(packages.get('2.0.0') as string)))).toBe(true);
  });
});
