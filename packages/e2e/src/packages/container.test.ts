import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type RunningWordPress, startEmbeddedWordPress } from '@security-optimizer/sandbox/stacks/embedded';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../stacks/until.js';
import { projectDir, readSectionCommands } from '../suites/installs/helpers.js';
import { BASE, fetchDebian } from './debian-tree.js';
import { makePackages } from './make-packages.js';

const run = promisify(execFile);
const IMAGE = 'localhost/security-optimizer';
/** The restrictions of the guide, in the command that serves. */
const HARDENED = readRestrictions();
/** Some machines do not allow a container more than the program that starts it. */
const LIMITS = ['--ulimit=nofile=4096:4096', '--ulimit=nproc=1024:1024'];

function readRestrictions(): readonly string[] {
  const serving = readSectionCommands('docs/operator/operations.md', 'In a container').at(-1)?.command ?? '';
  const options = /--read-only .* --security-opt \S+/.exec(serving)?.[0];
  if (options === undefined) throw new Error(`The guide restricts no container: ${serving}`);
  return options.split(' ');
}

function problem(): string | null {
  const missing = ['podman', 'runc'].find((name) => spawnSync(name, ['--version']).error !== undefined);
  return missing === undefined ? fetchDebian() : `${missing} is not installed`;
}

/** Overlays if the system supports them; else each layer is a full copy, which takes minutes. */
function storageDriver(): string {
  return readFileSync('/proc/filesystems', 'utf8').includes('overlay') ? 'overlay' : 'vfs';
}

const reason = problem();

/** Uses a small Debian from the mirror instead of the image `debian:12-slim`. */
describe.skipIf(reason !== null)(`the container${reason === null ? '' : ` not tried: ${reason}`}`, () => {
  let dir: string;
  let origin: string;
  let wordpress: RunningWordPress;

  const podman = async (...args: readonly string[]) => {
    const own = ['--root', join(dir, 'store'), '--runroot', join(dir, 'run'), '--storage-driver', storageDriver()];
    const runtime = ['--runtime', 'runc', '--cgroup-manager', 'cgroupfs'];
    const { stdout } = await run('podman', [...own, ...runtime, ...args], { maxBuffer: 1e7 });
    return stdout.trim();
  };
  const inContainer = (options: readonly string[], ...command: readonly string[]) =>
    podman(
      'run',
      '--pull=never',
      '--network=host',
      '--volume=data:/var/lib/security-optimizer',
      ...LIMITS,
      ...options,
      IMAGE,
      ...command,
    );

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'so-c-'));
    const context = join(dir, 'packages');
    mkdirSync(context);
    await makePackages(context, '--deb', '--quick', '--version', '3.0.0');
    await podman('import', BASE, 'localhost/debian:12');
    const architecture = { x64: 'amd64' }[process.arch as string] ?? process.arch;
    const values = ['BASE=localhost/debian:12', 'VERSION=3.0.0', `TARGETARCH=${architecture}`];
    await podman(
      ...['build', '--format=docker', '--isolation=chroot', '--pull=never', '--tag', IMAGE],
      ...values.flatMap((value) => ['--build-arg', value]),
      ...['--file', join(projectDir, 'packaging/Containerfile'), context],
    );
    origin = `http://127.0.0.1:${await findFreePort()}`;
    wordpress = await startEmbeddedWordPress({
      ...{ dataDir: join(dir, 'site'), php: 'auto', siteUrl: origin, log: () => {} },
    });
  });

  afterAll(async () => {
    await podman('rm', '--all', '--force').catch(() => undefined);
    await wordpress?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('runs as its own user, keeps data in a volume and has a health check', async () => {
    const [image] = JSON.parse(await podman('image', 'inspect', IMAGE));
    expect(image.Config.User).toBe('10001:10001');
    expect(Object.keys(image.Config.Volumes)).toEqual(['/var/lib/security-optimizer']);
    expect(image.HealthCheck ?? image.Healthcheck).toMatchObject({ Retries: 3 });
    expect(await inContainer(['--rm', ...HARDENED], '--version')).toBe('3.0.0');
  });

  it('protects a WordPress with a read-only root file system and without any capability', async () => {
    const attached = await inContainer(
      ['--rm', '--user=0', `--volume=${wordpress.wordpressDir}:/srv/www/example.com`],
      ...['attach', '--wordpress', '/srv/www/example.com', '--upstream', wordpress.upstream],
      ...['--listen', '0.0.0.0:8080', '--data-dir', '/var/lib/security-optimizer'],
    );
    expect(attached).toContain('Direct requests: allowed');
    const listen = `--env=SECURITY_OPTIMIZER_LISTEN=${new URL(origin).host}`;
    await inContainer(['--detach', '--name=guard', listen, ...HARDENED]);
    await until('guard answers', () => answersHttp(`${origin}/%zz`));
    const refused = await fetch(`${origin}//xmlrpc.php`, { method: 'POST', body: '<a/>' });
    expect([(await fetch(origin)).status, refused.status]).toEqual([200, 403]);
    await podman('healthcheck', 'run', 'guard');
    await expect(podman('exec', 'guard', 'touch', '/usr/lib/x')).rejects.toThrow('Read-only file system');
  });

  it('shuts down cleanly with exit code 0 when it is stopped', async () => {
    await podman('stop', '--time=30', 'guard');
    const [container] = JSON.parse(await podman('container', 'inspect', 'guard'));
    expect(container.State.ExitCode).toBe(0);
  });
});
