import { spawn, spawnSync } from 'node:child_process';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allSimpleSettings } from '@security-optimizer/contract/settings/catalogue';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isAddressOfSite } from '../src/api/signed-calls.js';
import { toRanges } from '../src/lib/own-addresses.js';
import { waitForOutcome } from './support/command-line.js';
import { openTestDatabase } from './support/database.js';
import { fakeConnector, OTHER_SECRET } from './support/fake-connector.js';
import { callApi, dataFolderFor, runningGuard } from './support/running-guard.js';
import { eventually, scratchFolder } from './support/scratch.js';
import { SECRET } from './support/site-config.js';

const program = fileURLToPath(new URL('../../connector/test/wp-cli.php', import.meta.url));
const hasPhp = spawnSync('php', ['--version']).status === 0;

async function guardWithSite() {
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(connector);
  const guard = await runningGuard(dataDir);
  const db = await openTestDatabase(dataDir);
  onTestFinished(() => db.destroy());
  return { connector, dataDir, guard, db };
}

/** The lines of the shell block below a heading of the operations guide. */
function guideCommands(heading: string): readonly string[] {
  const text = readFileSync(new URL('../../../docs/operator/operations.md', import.meta.url), 'utf8');
  const block = new RegExp(`^## ${heading}$[^]*?^\`\`\`sh\n([^]*?)^\`\`\`$`, 'm').exec(text)?.[1] ?? '';
  return block.trim().split('\n');
}

/** Runs a command of WP-CLI in PHP, with a fake WP-CLI and the connector's own classes. */
function wp(home: string, args: readonly string[], { secret = SECRET, env = {} } = {}) {
  const line = [program, home, secret, 'security-optimizer', ...args];
  return waitForOutcome(spawn('php', line, { env: { ...process.env, ...env } }));
}

describe.skipIf(!hasPhp)('the commands of WP-CLI', () => {
  it('change settings with the same validation, and the log names WP-CLI', async () => {
    const { guard, db, connector } = await guardWithSite();
    expect((await wp(guard.url, ['settings', 'get', 'disable_feed'])).stdout).toBe('0\n');
    expect(await wp(guard.url, ['settings', 'set', 'disable_feed', 'on'])).toMatchObject({ status: 0, stderr: '' });
    expect((await fetch(`${guard.url}/feed/`)).status).toBe(404);
    expect((await wp(guard.url, ['settings', 'get', 'disable_feed'])).stdout).toBe('1\n');
    expect(connector.policy?.policy).toMatchObject({ disable_feed: 1 });

    const wrong = await wp(guard.url, ['settings', 'set', 'login_attempts', '4']);
    expect(wrong).toMatchObject({ status: 1, stdout: '' });
    expect(wrong.stderr).toContain('login_attempts: Use 0, 3 or 5.');

    const rows = await db.selectFrom('audit').select(['name', 'actor_id', 'actor_login', 'address']).execute();
    expect(rows).toEqual([{ name: 'disable_feed', actor_id: null, actor_login: 'WP-CLI', address: '127.0.0.1' }]);
    await eventually(async () => {
      const { entries } = (await callApi(guard.url, '/activity-registered')).body.data as { entries: object[] };
      return JSON.stringify(entries[0] ?? {}).includes('"user":"WP-CLI"');
    });
    const listed = await wp(guard.url, ['log', '--users', '--format=json']);
    expect(JSON.parse(listed.stdout)[0]).toMatchObject({ user: 'WP-CLI', ip: '127.0.0.1' });
  });

  it('list and set the settings of the catalogue, except those that need a session', async () => {
    const { guard } = await guardWithSite();
    const { stdout } = await wp(guard.url, ['settings', 'list', '--format=json']);
    const listed = new Map(
      (JSON.parse(stdout) as { name: string; value: number }[]).map((row) => [row.name, row.value]),
    );
    for (const setting of allSimpleSettings) {
      if (setting.suffix === undefined || setting.changedBy === 'session') {
        expect(listed.has(setting.field), setting.field).toBe(false);
        continue;
      }
      expect(listed.get(setting.field), setting.field).toBe(setting.default);
      // The same value again: the route accepts this field.
      expect(await wp(guard.url, ['settings', 'set', setting.field, String(setting.default)])).toMatchObject({
        status: 0,
      });
    }
  });

  it('block and unblock, by address and range', async () => {
    const { guard } = await guardWithSite();
    for (const [name, spelling] of [
      ['192.0.2.7', '192.0.2.7'],
      ['198.51.100.0/24', '198.51.100.0/24'],
      ['2001:db8:0:1::5', '2001:db8:0:1:0:0:0:5'],
    ] as const) {
      expect(await wp(guard.url, ['block', name, '--for=1h', '--note=spam'])).toMatchObject({ status: 0, stderr: '' });
      const { entries } = (await callApi(guard.url, '/blocked-users')).body.data as { entries: object[] };
      expect(entries).toEqual([expect.objectContaining({ by: 'cli', note: 'spam' })]);
      expect(await wp(guard.url, ['unblock', spelling])).toMatchObject({ status: 0, stderr: '' });
      expect(await wp(guard.url, ['unblock', name])).toMatchObject({
        status: 1,
        stderr: `Error: ${name} is not blocked.\n`,
      });
    }
    // The same protection as in the dashboard: the caller's machine can't be blocked.
    expect(await wp(guard.url, ['block', '127.0.0.1'])).toMatchObject({ status: 1, stdout: '' });
  });

  it('set the login address, Away Mode and the second factor', async () => {
    const { guard, connector } = await guardWithSite();
    expect(await wp(guard.url, ['login-url', 'set', 'my-door'])).toMatchObject({ status: 0, stderr: '' });
    expect((await wp(guard.url, ['login-url', 'get', '--format=csv'])).stdout).toContain('login,my-door');
    expect((await wp(guard.url, ['login-url', 'set', 'wp-admin'])).status).toBe(1);
    expect(await wp(guard.url, ['login-url', 'off'])).toMatchObject({ status: 0, stderr: '' });

    const [from, to] = [30, 31].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10));
    expect(await wp(guard.url, ['away-mode', 'on', `--from-date=${from}`, `--to-date=${to}`])).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect((await wp(guard.url, ['away-mode', 'status', '--format=csv'])).stdout).toContain(`${from} ${to}`);
    const today = [-1, 0, 1].map((days) =>
      new Date(Date.now() + days * 86_400_000).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' }),
    );
    const atOnce = await wp(guard.url, ['away-mode', 'on', `--weekly=${today.join(',').toLowerCase()}`]);
    expect(atOnce.stderr).toContain('Away Mode would start at once');
    expect(await wp(guard.url, ['away-mode', 'off'])).toMatchObject({ status: 0, stderr: '' });

    expect(await wp(guard.url, ['two-factor', 'on'])).toMatchObject({ status: 0, stderr: '' });
    expect(connector.endedSessions).toHaveLength(1);
    expect((await wp(guard.url, ['two-factor', 'status', '--format=json'])).status).toBe(0);
    expect((await wp(guard.url, ['two-factor', 'reset', 'nobody'])).stderr).toContain('No user with a second factor');
    const status = await wp(guard.url, ['status', '--format=csv']);
    expect(status).toMatchObject({ status: 0, stderr: '' });
    expect(status.stdout).toContain('two_factor,on');
  });

  it('are run as the operations guide names them', async () => {
    const { guard, db } = await guardWithSite();
    await db
      .insertInto('second_factors')
      .values({
        site: 'site',
        user_id: 7,
        login: 'mia',
        secret: 'x',
        key_id: 'x',
        last_step: 0,
        created_at: 1,
        enabled_at: 1,
      } as never)
      .execute();
    const bin = await scratchFolder();
    const command = ['php', program, guard.url, SECRET];
    await writeFile(join(bin, 'wp'), `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`, { mode: 0o755 });
    // Away Mode may not begin at once: two days after tomorrow instead of the guide's, whichever day it is.
    const days = [2, 3].map((each) =>
      new Date(Date.now() + each * 86_400_000).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' }),
    );
    const lines = guideCommands('WP-CLI').map((line) =>
      line.replace('--weekly=saturday,sunday', `--weekly=${days.join(',').toLowerCase()}`),
    );
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) {
      const child = spawn('sh', ['-c', line], { env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } });
      expect([line, await waitForOutcome(child)]).toEqual([line, expect.objectContaining({ status: 0, stderr: '' })]);
    }
    expect((await wp(guard.url, ['settings', 'get', 'disable_xml_rpc'])).stdout).toBe('1\n');
  });

  it('reach guard at another address than the site’s, and report when there is none', async () => {
    const { guard } = await guardWithSite();
    const env = { GUARD_URL: guard.url };
    expect(await wp('http://example.com', ['settings', 'get', 'disable_feed'], { env })).toMatchObject({
      status: 0,
      stdout: '0\n',
    });
    const failed = await wp('http://127.0.0.1:1', ['status']);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toContain('Guard can’t be reached at http://127.0.0.1:1');
  });

  it('are refused with the key of another site', async () => {
    const { guard, db } = await guardWithSite();
    const refused = await wp(guard.url, ['settings', 'set', 'disable_feed', 'on'], { secret: OTHER_SECRET });
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('does not accept this call') });
    expect(await db.selectFrom('audit').selectAll().execute()).toEqual([]);
  });
});

interface Call {
  readonly secret?: string;
  readonly method?: string;
  readonly route?: string;
  readonly body?: string;
  readonly seconds?: number;
  readonly nonce?: string;
}

/** Signs a call as in docs/developer/connector-protocol.md, with its own code. */
function sign({
  secret = SECRET,
  method = 'POST',
  route = '/disable-feeds',
  body = ON,
  seconds = 0,
  nonce,
}: Call = {}) {
  const keyId = createHash('sha256').update(`security-optimizer key id\n${secret}`).digest('hex').slice(0, 8);
  const time = Math.floor(Date.now() / 1000) + seconds;
  const bodyHash = createHash('sha256').update(body).digest('hex');
  const fields = `1 ${keyId} ${time} ${nonce ?? randomBytes(16).toString('hex')} ${bodyHash}`;
  return `${fields} ${createHmac('sha256', secret).update(`site-call\n${fields}\n${method} ${route}`).digest('hex')}`;
}

const ON = '{"disable_feed":1}';

async function send(
  url: string,
  header: string,
  options: { route?: string; method?: string; body?: string | null } = {},
) {
  const { route = '/disable-feeds', method = 'POST', body = ON } = options;
  const response = await fetch(`${url}/wp-json/security-optimizer/v1${route}`, {
    method,
    body,
    headers: { 'x-security-optimizer-call': header },
  });
  return { status: response.status, body: (await response.json()) as { code?: string } };
}

describe('a signed call', () => {
  it('is accepted once, even after a restart of guard', async () => {
    const { connector, dataDir, guard, db } = await guardWithSite();
    const header = sign();
    expect((await send(guard.url, header)).status).toBe(200);
    expect(await send(guard.url, header)).toMatchObject({ status: 403, body: { code: 'rest_forbidden' } });
    const [one, two] = [sign(), sign({ seconds: -50 })];
    const sent = await Promise.all([one, one, one, two, two].map((each) => send(guard.url, each)));
    expect(sent.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(connector.policy?.policy).toMatchObject({ disable_feed: 1 });
    await guard.close();
    const again = await runningGuard(dataDir);
    expect((await send(again.url, header)).status).toBe(403);
    expect(await db.selectFrom('call_nonces').select('site').distinct().execute()).toEqual([{ site: 'site' }]);
  });

  it.each<[string, () => string, Parameters<typeof send>[2]]>([
    ['with the key of another site', () => sign({ secret: OTHER_SECRET }), {}],
    ['that is too old', () => sign({ seconds: -120 }), {}],
    ['from the future', () => sign({ seconds: 120 }), {}],
    ['with another body', () => sign(), { body: '{"disable_feed":0}' }],
    ['without its body', () => sign(), { body: null }],
    ['for another route', () => sign({ route: '/hide-wp-version' }), {}],
    ['for another method', () => sign({ method: 'GET' }), {}],
    ['with a query', () => sign(), { route: '/disable-feeds?disable_feed=1' }],
    ['without a signature', () => sign().slice(0, -64), {}],
    ['with a changed nonce', () => sign().replace(/[0-9a-f]{32}(?= [0-9a-f]{64} )/, '0'.repeat(32)), {}],
    [
      'for which WP-CLI has no command',
      () => sign({ route: '/force-password-reset', body: '{}' }),
      { route: '/force-password-reset', body: '{}' },
    ],
    [
      'for a setting that only a person may change',
      () => sign({ route: '/alert-quiet-hours', body: '{"alert_quiet_hours":1}' }),
      { route: '/alert-quiet-hours', body: '{"alert_quiet_hours":1}' },
    ],
    [
      'for a file',
      () => sign({ method: 'GET', route: '/activity-export', body: '' }),
      { method: 'GET', route: '/activity-export', body: null },
    ],
  ])('is refused %s', async (_, createHeader, options) => {
    const { guard, db, connector } = await guardWithSite();
    const before = connector.commands.length;
    expect((await send(guard.url, createHeader(), options ?? {})).status).toBe(403);
    expect(await db.selectFrom('audit').selectAll().execute()).toEqual([]);
    expect(connector.policy?.policy.disable_feed ?? 0).toBe(0);
    expect(connector.commands.slice(before)).not.toContain('session');
  });

  it('is accepted from this machine only, even with the right key', async () => {
    const connector = await fakeConnector();
    const dataDir = await dataFolderFor(connector, {}, { trustedProxies: ['127.0.0.1'] });
    const guard = await runningGuard(dataDir);
    for (const [from, status] of [
      ['192.0.2.7', 403],
      ['127.0.0.1', 200],
    ] as const) {
      const headers = { 'x-security-optimizer-call': sign(), 'x-forwarded-for': from };
      const url = `${guard.url}/wp-json/security-optimizer/v1/disable-feeds`;
      expect((await fetch(url, { method: 'POST', body: ON, headers })).status).toBe(status);
    }
  });

  it.each([
    ['192.0.2.7', 'http://192.0.2.7:8081', true],
    ['192.0.2.8', 'http://192.0.2.7:8081', false],
    ['2001:db8::7', 'http://[2001:db8::7]:8081', true],
    ['198.51.100.7', 'http://wordpress:8081', true],
    ['198.51.100.8', 'http://wordpress:8081', false],
    ['203.0.113.9', 'unix:/run/web.sock', true],
    ['203.0.113.10', 'unix:/run/web.sock', false],
    // A carried address does not make a client a machine of the site.
    ['64:ff9b::192.0.2.7', 'http://192.0.2.7:8081', false],
    ['2002:cb00:7109::1', 'unix:/run/web.sock', false],
  ])('from %s of a site at %s: %s', async (address, upstream, expected) => {
    const own = toRanges(['203.0.113.9']);
    const resolve = async (host: string) => (host === 'wordpress' ? ['198.51.100.7'] : [host]);
    expect(await isAddressOfSite(address, upstream, own, resolve)).toBe(expected);
  });

  it('never reaches WordPress', async () => {
    const { guard, connector } = await guardWithSite();
    let seen: unknown = null;
    connector.onRequest = (_command, request) => {
      seen = request.headers['x-security-optimizer-call'] ?? seen;
    };
    await fetch(`${guard.url}/`, { headers: { 'x-security-optimizer-call': sign() } });
    expect(seen).toBe(null);
  });
});
