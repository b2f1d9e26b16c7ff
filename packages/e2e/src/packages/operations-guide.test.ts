import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createListener } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '@security-optimizer/guard/testing';
import { answersHttp, findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { type RunningWordPress, startEmbeddedWordPress } from '@security-optimizer/sandbox/stacks/embedded';
import { fetchWpCli } from '@security-optimizer/sandbox/wordpress/wp-cli';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../stacks/until.js';
import { projectDir, readSectionCommands, replaceAll } from '../suites/installs/helpers.js';
import { type FollowedGuide, followGuide } from './follow-guide.js';

const FILE = 'docs/operator/operations.md';
const PROGRAM = join(projectDir, 'packages/guard/bin/security-optimizer.js');
const GUARD_UID = 54_322;

/** Guard's user, as after an installation: root's commands act as that user. Without root, all is this user's. */
function chooseOwner(): number {
  const asUser = { uid: GUARD_UID, gid: GUARD_UID, stdio: 'ignore' } as const;
  const isSwitching =
    process.getuid?.() === 0 && spawnSync(process.execPath, [PROGRAM, '--version'], asUser).status === 0;
  return isSwitching ? GUARD_UID : (process.getuid?.() ?? 0);
}

const hasPhp = spawnSync('php', ['-r', 'exit(extension_loaded("pdo_sqlite") ? 0 : 1);']).status === 0;

const toWeekday = (time: number) =>
  new Date(time).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' }).toLowerCase();

/** The constant that the guide names, for a machine where the site's name leads nowhere. */
const guardUrl = (origin: string) => `define( 'SECURITY_OPTIMIZER_GUARD_URL', '${origin}' );`;

/** A WordPress that is only files, for commands that need its folder. */
function makeFolder(folder: string): string {
  for (const each of ['wp-includes', 'wp-content']) mkdirSync(join(folder, each), { recursive: true });
  for (const each of ['wp-load.php', 'wp-includes/version.php', 'wp-config.php'])
    writeFileSync(join(folder, each), '<?php');
  return folder;
}

/**
 * The commands of the operations guide, word for word, with a running guard in front of a WordPress. Paths, addresses and
 * names are this machine's; systemd is a stub. The sections about packages and releases have tests of their own.
 */
describe('docs/operator/operations.md', () => {
  let dir: string;
  let data: string;
  let origin: string;
  let wordpress: RunningWordPress;
  let guide: FollowedGuide;
  let network: Server;
  let guard: ChildProcess | null = null;
  let log = '';
  const owner = chooseOwner();

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'so-ops-'));
    chmodSync(dir, 0o755);
    for (const name of ['bin', 'lib', 'opt', 'units', 'backups', 'srv/www'])
      mkdirSync(join(dir, name), { recursive: true });
    // Only root may read what is here, as in root's own home.
    mkdirSync(join(dir, 'home'), { mode: 0o700 });
    cpSync(join(projectDir, 'docs'), join(dir, 'home/docs'), { recursive: true });
    symlinkSync(PROGRAM, join(dir, 'bin/security-optimizer'));
    data = join(dir, 'lib/security-optimizer');
    mkdirSync(data, { mode: 0o700 });
    if (owner !== process.getuid?.()) chownSync(data, owner, owner);
    origin = `http://127.0.0.1:${await findFreePort()}`;
    wordpress = await startEmbeddedWordPress({
      ...{ dataDir: join(dir, 'site'), php: 'auto', siteUrl: 'http://example.test', log: () => {} },
    });
    symlinkSync(wordpress.wordpressDir, join(dir, 'srv/www/example.test'));
    network = createServer((request, response) => {
      response.end(request.url === '/ips-v4' ? '192.0.2.0/24\n198.51.100.0/24' : '2001:db8::/32');
    }).listen(0, '127.0.0.1');
    await once(network, 'listening');
    guide = followGuide({
      dir: join(dir, 'home'),
      bin: join(dir, 'bin'),
      table: {
        // No name of the guide may be asked for outside this machine.
        'example.com': 'example.test',
        'example-com': 'example-test',
        'example.org': 'example-2.test',
        'example-org': 'example-2-test',
        '/srv/www/': `${join(dir, 'srv/www')}/`,
        '/var/lib/security-optimizer': data,
        '/var/backups/': `${join(dir, 'backups')}/`,
        '/opt/security-optimizer/': `${join(dir, 'opt')}/`,
        '/etc/systemd/system/': `${join(dir, 'units')}/`,
        'http://127.0.0.1:8081': wordpress.upstream,
        'chown security-optimizer:': `chown ${owner}`,
        // Away Mode that would begin at once asks for a confirmation.
        'saturday,sunday': [2, 3].map((days) => toWeekday(Date.now() + days * 86_400_000)).join(','),
        'https://www.cloudflare.com': `http://127.0.0.1:${(network.address() as AddressInfo).port}`,
      },
      substitute: (command) => systemctl[command],
    });
    await guide.shell(`printf '%s' '{"listen":"${new URL(origin).host}"}' > /var/lib/security-optimizer/guard.json`);
    chmodSync(join(data, 'guard.json'), 0o600);
    if (owner !== process.getuid?.()) chownSync(join(data, 'guard.json'), owner, owner);
    await startGuard();
  });

  afterAll(async () => {
    await stopGuard();
    network?.close();
    await wordpress?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** What systemd would do for the commands of the guide. */
  const systemctl: Readonly<Record<string, () => Promise<unknown>>> = {
    'systemctl start security-optimizer': startGuard,
    'systemctl stop security-optimizer': stopGuard,
    'systemctl reload security-optimizer': async () => guard?.kill('SIGHUP'),
    'systemctl daemon-reload && systemctl stop security-optimizer': stopGuard,
    'systemctl enable --now security-optimizer.socket && systemctl start security-optimizer': startWithSocket,
  };

  const isServing = () => answersHttp(`${origin}/%zz`);

  /** @param socket the descriptor of a listening socket, which systemd would pass */
  async function startGuard(socket?: number): Promise<void> {
    const listenFds = { LISTEN_FDS: '1' };
    const env = { ...process.env, ...(socket === undefined ? {} : listenFds) };
    const serve = `exec ${process.execPath} ${PROGRAM} serve --data-dir ${data}`;
    guard = spawn('sh', ['-c', socket === undefined ? serve : `LISTEN_PID=$$ ${serve}`], {
      env,
      stdio: ['ignore', 'ignore', 'pipe', ...(socket === undefined ? [] : [socket])],
    });
    log = '';
    guard.stderr?.on('data', (chunk) => {
      log += chunk;
    });
    await until('guard serves', () => log.includes('"guard-started"') && isServing());
  }

  async function stopGuard(): Promise<void> {
    if (guard === null || guard.exitCode !== null) return;
    const ended = once(guard, 'exit');
    guard.kill('SIGTERM');
    await ended;
    guard = null;
  }

  /** The socket unit's address is the example's; here it is guard's. */
  async function startWithSocket(): Promise<void> {
    expect(readFileSync(join(dir, 'units/security-optimizer.socket'), 'utf8')).toContain('ListenStream=127.0.0.1:8080');
    const { hostname, port } = new URL(origin);
    const listener = createListener().listen(Number(port), hostname);
    await once(listener, 'listening');
    const { fd } = (listener as unknown as { _handle: { fd: number } })._handle;
    await startGuard(fd);
    listener.close();
  }

  const follow = (heading: string) => guide.follow(readSectionCommands(FILE, heading));
  const printed = (part: string) => [...guide.printed].findLast(([command]) => command.includes(part))?.[1];
  const run = (command: string) => guide.shell(command);
  const pageStatus = async () => {
    const text = await run(`curl -s -o /dev/null -w '%{http_code}' -H 'Host: example.test' ${origin}/`);
    return Number(text);
  };
  const sites = () => JSON.parse(readFileSync(join(data, 'guard.json'), 'utf8')).sites as { id: string }[];

  it('"Sites" adds, shows, exports, removes and imports a site while guard runs, from a folder of root’s', async () => {
    await follow('Sites');
    expect(printed('sites list')).toContain('example-test');
    expect(JSON.parse(printed('sites show') ?? '')).toMatchObject({ hosts: ['example.test'] });
    expect(printed('sites import')).toContain('1 of 1 sites are attached.');
    expect(printed('sites import')).toContain('The running guard has taken it up.');
    expect(sites()).toHaveLength(1);
    expect(await pageStatus()).toBe(200);
    // The sections below need the site under its first name, and a second one.
    await run(`security-optimizer sites remove --data-dir /var/lib/security-optimizer`);
    const add = `security-optimizer sites add --data-dir /var/lib/security-optimizer`;
    const first = '--wordpress /srv/www/example.com --host example.com --upstream http://127.0.0.1:8081';
    await run(`${add} ${first} --site example-com`);
    makeFolder(join(dir, 'srv/www/example-2.test'));
    await run(`${add} --wordpress /srv/www/example.org --host example.org --upstream http://127.0.0.1:1`);
    expect(sites().map(({ id }) => id)).toEqual(['example-test', 'example-2-test']);
  });

  it('"When a site misbehaves" examines the site: guard and connector are in order, and its name leads nowhere', async () => {
    const [doctor] = readSectionCommands(FILE, 'When a site misbehaves');
    const text = await run(`${doctor?.command} || [ $? = 1 ]`);
    expect(text).toMatch(/ok +guard/);
    expect(text).toMatch(/ok +connector/);
    expect(text).toMatch(/PROBLEM +public-address/);
  });

  it('"Content delivery networks" refreshes the list of proxies of a running guard', async () => {
    const [json] = /\{ "trustedProxies".*\}/.exec(readFileSync(join(projectDir, FILE), 'utf8')) ?? [];
    const commands = readSectionCommands(FILE, 'Content delivery networks');
    const reload = commands.at(-1)?.command ?? '';
    await guide.follow(commands.filter(({ command }) => command !== reload));
    expect(readFileSync(join(data, 'cdn-ranges.txt'), 'utf8')).toBe('192.0.2.0/24\n198.51.100.0/24\n2001:db8::/32');
    expect(lstatSync(join(data, 'cdn-ranges.txt')).uid).toBe(owner);
    const config = join(data, 'guard.json');
    writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, 'utf8')), ...JSON.parse(json ?? '') }));
    await guide.follow([{ step: '', command: reload }]);
    // An address of the network counts as a proxy, so the one before it in the list is the visitor's.
    // A proxy in the network hands on the visitor's address, which is the one that is logged.
    await until('guard trusts the network', async () => {
      const forwarded = `-H 'X-Forwarded-For: 203.0.113.9, 192.0.2.20'`;
      await run(`curl -s -o /dev/null ${forwarded} -H 'Host: example.com' ${origin}/through-the-network`);
      const logged = 'privacy export example-com --address 203.0.113.9 --data-dir /var/lib/security-optimizer';
      return (await run(`security-optimizer ${logged}`)).includes('/through-the-network');
    });
    expect(log).not.toContain('"configuration-reload-failed"');
    expect(await pageStatus()).toBe(200);
  });

  it('"Back-up and restore" saves the data of a running guard, restores them, and copies settings to another site', async () => {
    await run(`security-optimizer pause 30 --site example-com --data-dir /var/lib/security-optimizer`);
    await follow('Back-up and restore');
    expect(readdirSync(join(dir, 'backups/guard-2026-11-24')).sort()).toContain('named');
    expect(lstatSync(join(dir, 'backups/guard-2026-11-24')).uid).toBe(owner);
    expect(printed('restore')).toMatch(/Restored \d+ files/);
    expect(printed('settings import')).toMatch(/^Set \d+ settings of example-2-test\.\n$/);
    expect(await pageStatus()).toBe(200);
    await run(`security-optimizer resume --site example-com --data-dir /var/lib/security-optimizer`);
  });

  it('"Requests about personal data" exports what is stored about a person, and erases it', async () => {
    const [exporting, erasing] = readSectionCommands(FILE, 'Requests about personal data');
    await guide.follow([exporting as never]);
    expect(JSON.parse(readFileSync(join(dir, 'home/mia.json'), 'utf8'))).toMatchObject({
      site: 'example-test',
      person: { address: '192.0.2.7', user: { logins: ['mia'] }, email: 'mia@example.test' },
    });
    // There is no terminal here to confirm it.
    await expect(run(erasing?.command ?? '')).rejects.toThrow('Nothing was erased. Confirm with --yes.');
    expect(await run(`${erasing?.command} --yes`)).toMatch(/stored|Erased/);
  });

  it('README.md, "Locked out?": each command takes effect while guard runs', async () => {
    const database = openSqlite(join(data, 'guard.sqlite'), { busyTimeoutMs: 5000 });
    database.exec(`insert into second_factors (site, user_id, login, secret, key_id, last_step, created_at, enabled_at)
      values ('example-test', 7, 'owner', 'x', 'x', 0, 1, 1)`);
    database.close();
    const readme = readFileSync(join(projectDir, 'README.md'), 'utf8');
    const commands = [...readme.matchAll(/^\| [^|]* \| `npx (security-optimizer [^`]*)`/gm)].map(
      ([, command]) => command,
    );
    expect(commands).toHaveLength(6);
    for (const command of [...commands, 'security-optimizer unblock --all', 'security-optimizer resume']) {
      const text = await run(`${command} --site example-com --data-dir /var/lib/security-optimizer`);
      expect([command, text]).toEqual([command, expect.stringMatching(/\S/)]);
    }
  });

  it.skipIf(!hasPhp)('"WP-CLI" does what each command says, in the site and through guard', async () => {
    const config = join(wordpress.wordpressDir, 'wp-config.php');
    writeFileSync(config, readFileSync(config, 'utf8').replace('<?php', `<?php ${guardUrl(origin)}`));
    const php = `exec php ${await fetchWpCli()} --allow-root --path=${wordpress.wordpressDir} "$@"`;
    writeFileSync(join(dir, 'bin/wp'), `#!/bin/sh\n${php}\n`, { mode: 0o755 });
    // The section about personal data has erased the second factor of this user, too.
    const database = openSqlite(join(data, 'guard.sqlite'), { busyTimeoutMs: 5000 });
    database.exec(`insert into second_factors (site, user_id, login, secret, key_id, last_step, created_at, enabled_at)
      values ('example-test', 8, 'mia', 'x', 'x', 0, 1, 1)`);
    database.close();
    // A section above has made the guide's address that of a proxy.
    const toOther = (command: string) => command.replace('192.0.2.7', '203.0.113.7');
    const commands = readSectionCommands(FILE, 'WP-CLI');
    await guide.follow(commands.map((each) => ({ ...each, command: toOther(each.command) })));
    expect(printed('wp security-optimizer status')).toMatch(/login_url\s+default/);
    expect(printed('settings list')).toMatch(/^disable_xml_rpc\s+[01]$/m);
    expect(printed('settings get')).toMatch(/^[01]\n$/);
    expect(printed('settings set')).toBe('Success: XML-RPC is turned off.\n');
    expect(printed('wp security-optimizer block')).toBe('Success: 203.0.113.7 is blocked.\n');
    expect(printed('wp security-optimizer unblock')).toBe('Success: 203.0.113.7 is not blocked any more.\n');
    expect(JSON.parse(printed('--preset=blocked') ?? '')).toEqual(expect.any(Array));
    expect(printed('two-factor status')).toMatch(/owner\s+administrator\s+no/);
    expect(printed('two-factor reset mia')).toMatch(/^Success: /);
    expect(printed('login-url set')).toBe('Success: The login is at /my-login now.\n');
    expect(printed('away-mode on')).toMatch(/^Success: Away Mode /);
    const get = (path: string, ...more: readonly string[]) =>
      run(`curl -s -o /dev/null -w '%{http_code}' ${more.join(' ')} -H 'Host: example.test' ${origin}${path}`);
    expect(await get('//xmlrpc.php', '--request POST')).toBe('403');
    expect([await get('/wp-login.php'), await get('/my-login')]).toEqual(['404', '200']);

    // WP-CLI checks options itself, by what the commands declare.
    const help = await run('wp help security-optimizer block | cat');
    expect(help).toContain('wp security-optimizer block <address> [--for=<time>] [--note=<note>]');
    const refused = (command: string) =>
      run(`! { ${command}; } 2>&1`).then((text) => text.trim().split('\n').join(' '));
    expect(await refused('wp security-optimizer settings set login_attempts 4')).toContain('login_attempts: Use 0, 3');
    expect(await refused('wp security-optimizer log --format=xml')).toContain("Invalid value specified for 'format'");
    expect(await refused('wp security-optimizer log --colour')).toContain('unknown --colour parameter');
    expect(await refused('wp security-optimizer block')).toContain('usage: wp security-optimizer block <address>');
    for (const format of ['csv', 'yaml', 'count', 'json', 'table']) {
      expect(await run(`wp security-optimizer log --users --format=${format}`), format).toMatch(/WP-CLI|^\d+$/);
    }
    await run('wp security-optimizer away-mode off && wp security-optimizer login-url off');
    expect([await get('/wp-login.php'), await get('/my-login')]).toEqual(['200', '404']);
  });

  it('"One connector for all sites of a machine" lets the site run the shared copy', async () => {
    await follow('One connector for all sites of a machine');
    expect(readdirSync(join(dir, 'opt/connector'))).toHaveLength(1);
    expect(sites()[0]).toMatchObject({ id: 'example-test', sharedConnector: join(dir, 'opt/connector') });
    expect(await pageStatus()).toBe(200);
  });

  it('"Code that can’t be written" prints what to write where', async () => {
    await run(`security-optimizer sites remove --site example-org --data-dir /var/lib/security-optimizer`);
    const [share, print] = readSectionCommands(FILE, "Code that can't be written");
    await guide.follow([share as never]);
    const text = await run((print?.command ?? '').replace('--host example.com', '--host example.org'));
    expect(text).toContain(join(dir, 'opt/connector'));
    expect(text).toContain('SECURITY_OPTIMIZER_KEY_FILE');
  });

  it('"Starting again without losing a request" hands the socket over', async () => {
    await follow('Starting again without losing a request');
    expect(await pageStatus()).toBe(200);
    await stopGuard();
    await startGuard();
  });

  it('"Sites that are deployed in releases" prepares a release before it is the current one, and brings all up to date', async () => {
    const site = join(dir, 'released');
    for (const release of ['7', '8']) makeFolder(join(site, 'releases', release));
    symlinkSync('releases/7', join(site, 'current'));
    const own = join(dir, 'lib/released');
    mkdirSync(own, { mode: 0o700 });
    await run(
      `security-optimizer attach --wordpress ${site}/current --host example.com --upstream http://127.0.0.1:1 --data-dir ${own}`,
    );
    const table = { '/srv/www/example.com': site, '/var/lib/security-optimizer': own };
    const [prepare, all] = readSectionCommands(FILE, 'Sites that are deployed in releases');
    expect(await run(replaceAll(prepare?.command ?? '', table))).toContain('Prepared: a release of site example-test.');
    expect(existsSync(join(site, 'releases/8/wp-content/mu-plugins/security-optimizer.php'))).toBe(true);
    expect(await run(replaceAll(all?.command ?? '', table))).toContain('1 of 1 sites are up to date.');
  });
});
