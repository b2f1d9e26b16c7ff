import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '@security-optimizer/guard/testing';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type Service, startService } from '@security-optimizer/sandbox/lib/service';
import { type RunningWordPress, startEmbeddedWordPress } from '@security-optimizer/sandbox/stacks/embedded';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../stacks/until.js';
import { readGuide, replaceAll } from '../suites/installs/helpers.js';
import { type FollowedGuide, followGuide } from './follow-guide.js';
import { makePackages } from './make-packages.js';

const FILE = 'docs/operator/operations.md';

/** The sections about releases in the operations guide, followed command by command. */
describe('releases in separate folders', () => {
  let dir: string;
  let dataDir: string;
  let origin: string;
  let wordpress: RunningWordPress;
  let guard: Service | null = null;
  let guide: FollowedGuide;
  let table: Readonly<Record<string, string>>;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'so-rel-'));
    for (const name of ['made', 'bin', 'opt', 'units', 'lib']) mkdirSync(join(dir, name));
    for (const version of ['0.1.0', '0.2.0']) await makePackages(join(dir, 'made'), '--version', version);
    origin = `http://127.0.0.1:${await findFreePort()}`;
    wordpress = await startEmbeddedWordPress({
      ...{ dataDir: join(dir, 'site'), php: 'auto', siteUrl: origin, log: () => {} },
    });
    dataDir = join(dir, 'lib/security-optimizer');
    table = {
      '/srv/www/example.com': wordpress.wordpressDir,
      '/var/lib/': `${join(dir, 'lib')}/`,
      '/opt/security-optimizer': join(dir, 'opt'),
      '/usr/local/bin/': `${join(dir, 'bin')}/`,
      '/etc/systemd/system/': `${join(dir, 'units')}/`,
      '/usr/bin/node': process.execPath,
      'http://127.0.0.1:8081': wordpress.upstream,
      '127.0.0.1:8080': new URL(origin).host,
      ' --host example.com': '',
      // One user owns all files here.
      ' --user security-optimizer': '',
    };
    guide = followGuide({
      ...{ dir: join(dir, 'made'), table, bin: join(dir, 'bin') },
      substitute(command) {
        if (command.startsWith('useradd ')) return async () => undefined;
        if (/^systemctl (?:enable --now|start) security-optimizer$/.test(command)) return startGuard;
        if (command === 'systemctl stop security-optimizer') return async () => guard?.stop();
        return undefined;
      },
    });
  });

  afterAll(async () => {
    await guard?.stop();
    await wordpress?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  async function startGuard(): Promise<void> {
    const own = join(dir, 'units/security-optimizer.service.d/npm-package.conf');
    const unit = replaceAll(readFileSync(own, 'utf8'), table);
    const [command = '', ...args] = (/^ExecStart=(.+)$/m.exec(unit)?.[1] ?? '').split(' ');
    guard = await startService({
      ...{ name: 'guard', command, args, readySeconds: 90, stopSeconds: 35 },
      cwd: /^WorkingDirectory=(.+)$/m.exec(unit)?.[1] ?? '',
      pidFile: join(dir, 'guard.json'),
      logFile: join(dir, 'guard.log'),
      ready: () => answersHttp(`${origin}/%zz`),
    });
  }

  /** The versions of guard and the connector, and guard's responses to a page and to a forbidden path. */
  async function state() {
    const line = await until('the start is in the log', () =>
      readFileSync(join(dir, 'guard.log'), 'utf8')
        .split('\n')
        .find((text) => text.includes('"guard-started"')),
    );
    const loader = readFileSync(join(wordpress.wordpressDir, 'wp-content/mu-plugins/security-optimizer.php'), 'utf8');
    const refused = await fetch(`${origin}//xmlrpc.php`, { method: 'POST', body: '<a/>' });
    return {
      guard: JSON.parse(line).version as string,
      connector: /Version: (\S+)/.exec(loader)?.[1],
      answers: [(await fetch(origin)).status, refused.status],
    };
  }

  /** Adds an unknown migration to a database, as if a newer guard had used it. */
  function markAsNewer(name: string): void {
    const database = openSqlite(join(dataDir, name), { busyTimeoutMs: 5000 });
    database.exec("insert into kysely_migration values ('999_newer', '2030-01-01T00:00:00.000Z')");
    database.close();
  }

  it('"With the npm package" puts the first release in front of a site', async () => {
    await guide.follow(readGuide(FILE, 'With the npm package'));
    expect(await state()).toEqual({ guard: '0.1.0', connector: '0.1.0', answers: [200, 403] });
    expect(await guide.shell('security-optimizer --version')).toBe('0.1.0\n');
  });

  it('"Updating" does not affect a running guard until the link is switched', async () => {
    const steps = readGuide(FILE, 'Updating');
    const [beside, rest] = [steps.slice(0, 1), steps.slice(1)];
    await guide.follow(beside);
    expect(await state()).toEqual({ guard: '0.1.0', connector: '0.1.0', answers: [200, 403] });
    await guide.follow(rest);
    expect(await state()).toEqual({ guard: '0.2.0', connector: '0.2.0', answers: [200, 403] });
    expect(readlinkSync(join(dir, 'opt/current'))).toBe('releases/0.2.0');
    expect(await guide.shell('security-optimizer status --data-dir /var/lib/security-optimizer')).toContain(
      'All is well.',
    );
  });

  it('"Going back" needs only the link while the tables are the same', async () => {
    await guide.follow(readGuide(FILE, 'Going back').filter(({ step }) => !step.endsWith('step 2')));
    expect(await state()).toEqual({ guard: '0.1.0', connector: '0.1.0', answers: [200, 403] });
    expect(realpathSync(join(dir, 'opt/current'))).toBe(join(realpathSync(dir), 'opt/releases/0.1.0'));
  });

  it('"Going back" protects without a log when only the log was used by a newer guard', async () => {
    await guard?.stop();
    markAsNewer('activity.sqlite');
    await startGuard();
    expect((await state()).answers).toEqual([200, 403]);
    await until('it is in the log', () =>
      readFileSync(join(dir, 'guard.log'), 'utf8').includes('"activity-log-open-failed"'),
    );
  });

  it('"Going back" uses the backup when the settings were used by a newer guard', async () => {
    await guard?.stop();
    markAsNewer('guard.sqlite');
    await expect(startGuard()).rejects.toThrow('The database was used by a newer version of guard');
    await guide.follow(readGuide(FILE, 'Going back').filter(({ step }) => step.endsWith('step 2')));
    expect(await state()).toEqual({ guard: '0.1.0', connector: '0.1.0', answers: [200, 403] });
    expect(await guide.shell('security-optimizer status --data-dir /var/lib/security-optimizer')).toContain(
      'All is well.',
    );
    expect(existsSync(`${dataDir}.of-0.2.0`)).toBe(true);
  });
});
