import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { configFile } from '../src/config/config-file.js';
import { collectProcessMetrics, createGatewayMetrics, createStateMetrics } from '../src/metrics/metrics.js';
import { fakeConnector } from './support/fake-connector.js';
import { freePort } from './support/front-proxy.js';
import { passedSocket } from './support/passed-socket.js';
import { quietState } from './support/quiet-state.js';
import { dataFolderFor, runningGuard } from './support/running-guard.js';
import { eventually, scratchFolder } from './support/scratch.js';

const folder = fileURLToPath(new URL('../../../docs/operator/examples/', import.meta.url));
const read = (name: string) => readFile(join(folder, name), 'utf8');

/** Whether a program is installed. */
const has = (program: string, ...args: string[]) => spawnSync(program, args).error === undefined;

describe('the units for systemd', () => {
  const lines = async (name: string, key: string) =>
    (await read(name)).split('\n').flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));

  it('are consistent, and give guard the time that its limits need', async () => {
    expect(await lines('security-optimizer.service', 'Wants')).toContain('security-optimizer.socket');
    const [stop] = await lines('security-optimizer.service', 'TimeoutStopSec');
    expect(Number(stop)).toBeGreaterThan(30 + 1 + 5);
  });

  it('start guard again however often it fails, so that visitors wait and are not refused', async () => {
    expect(await lines('security-optimizer.service', 'Restart')).toEqual(['on-failure']);
    expect(await lines('security-optimizer.service', 'StartLimitIntervalSec')).toEqual(['0']);
  });

  it('permit guard to read the machine’s own addresses, and V8 to compile', async () => {
    expect(await lines('security-optimizer.service', 'RestrictAddressFamilies')).toEqual([
      'AF_INET AF_INET6 AF_UNIX AF_NETLINK',
    ]);
    expect(await lines('security-optimizer.service', 'MemoryDenyWriteExecute')).toEqual([]);
  });

  it.skipIf(!has('systemd-analyze', '--version'))(
    'expose little of the machine, as systemd-analyze rates it',
    async () => {
      const scratch = await scratchFolder();
      const unit = join(scratch, 'security-optimizer.service');
      for (const name of ['security-optimizer.service', 'security-optimizer.socket']) {
        await copyFile(join(folder, name), join(scratch, name));
      }
      // The threshold is in tenths.
      const rated = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=25', unit], {
        encoding: 'utf8',
      });
      expect(rated.stdout).toMatch(/Overall exposure level for security-optimizer\.service: [01]\.\d/);
      expect(rated.status).toBe(0);
      expect(rated.stderr).not.toMatch(/unknown|ignoring/i);
    },
  );
});

/** The system calls of a group of systemd, with those of the groups in it; and every name that is no group. */
function listSystemCalls(names: readonly string[]): Set<string> {
  const { stdout } = spawnSync('systemd-analyze', ['syscall-filter', '--no-pager'], { encoding: 'utf8' });
  const groups = new Map<string, string[]>();
  let group: string[] = [];
  for (const line of stdout.split('\n')) {
    if (line.startsWith('@')) {
      group = [];
      groups.set(line, group);
    } else if (/^ +[@a-z]/.test(line)) group.push(line.trim());
  }
  const resolve = (name: string): string[] =>
    name.startsWith('@') ? (groups.get(name) ?? []).flatMap(resolve) : [name];
  return new Set(names.flatMap(resolve));
}

describe('the unit for systemd', () => {
  const canTrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;

  it.skipIf(!canTrace || !has('systemd-analyze', '--version'))(
    'permits every system call of a guard that starts, serves, counts a failed login, reloads and stops',
    async () => {
      const permitted = listSystemCalls(['@default']);
      for (const line of (await read('security-optimizer.service')).matchAll(/^SystemCallFilter=(~?)(.+)$/gm)) {
        for (const call of listSystemCalls((line[2] ?? '').split(' '))) {
          if (line[1] === '~') permitted.delete(call);
          else permitted.add(call);
        }
      }
      const dataDir = await dataFolderFor(await fakeConnector());
      const file = join(dataDir, 'trace');
      // With -D, strace is a child, and guard has the process id that its supervisor knows.
      const supervisor = await passedSocket({ dataDir, under: ['strace', '-D', '-f', '-qq', '-o', file] });
      const guard = await supervisor.start();
      await eventually(() => guard.events().includes('guard-started'));
      const url = `http://127.0.0.1:${supervisor.port}`;
      const body = new URLSearchParams({ log: 'owner', pwd: 'wrong' });
      expect((await fetch(`${url}/wp-login.php`, { method: 'POST', body })).status).toBe(200);
      process.kill(guard.pid, 'SIGHUP');
      process.kill(guard.pid, 'SIGTERM');
      await eventually(() => guard.hasEnded());
      const trace = () => readFile(file, 'utf8');
      await eventually(async () => /^\d+ +exit_group\(/m.test(await trace()));
      const called = new Set((await trace()).match(/(?<=^\d+ +)[a-z0-9_]+(?=\()/gm));
      // SQLite calls it only as root, so that its files belong to the owner of the database.
      if (process.getuid?.() === 0) called.delete('fchown');
      expect(called.size).toBeGreaterThan(40);
      expect([...called].filter((call) => !permitted.has(call))).toEqual([]);
    },
  );
});

/** Names of all metrics that guard can report. */
async function metricNames(): Promise<Set<string>> {
  const registry = new Registry();
  createGatewayMetrics(registry);
  createStateMetrics(registry, quietState);
  collectProcessMetrics(registry);
  const metrics = await registry.getMetricsAsJSON();
  return new Set(
    metrics.flatMap(({ name, type }) =>
      String(type) === 'histogram' ? ['bucket', 'count', 'sum'].map((end) => `${name}_${end}`) : [name],
    ),
  );
}

/** The metrics in an expression of Prometheus. */
const listNames = (expression: string): string[] =>
  expression.match(/\b(?:security_optimizer|process|nodejs)_[a-z0-9_]+/g) ?? [];

describe('the examples for Prometheus and Grafana', () => {
  it('use metrics that guard has, and the dashboard shows all of guard’s own', async () => {
    const known = await metricNames();
    const dashboard = JSON.parse(await read('grafana-dashboard.json')) as {
      panels: { id: number; title: string; targets: { expr: string }[] }[];
    };
    const displayed = dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => listNames(expr)));
    const alerts = (await read('prometheus-alerts.yml')).replace(/^ *#.*$/gm, '');
    const alerted = listNames(alerts);
    expect(displayed.length).toBeGreaterThan(15);
    expect(alerted.length).toBeGreaterThan(8);
    expect([...displayed, ...alerted].filter((name) => !known.has(name))).toEqual([]);
    const own = [...known].filter(
      (name) => name.startsWith('security_optimizer_') && !/_(?:sum|bucket|count)$/.test(name),
    );
    expect(own.filter((name) => !displayed.includes(name))).toEqual([]);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  it('use labels that guard’s metrics have', async () => {
    const labels = new Set([
      'instance',
      'job',
      'le',
      'rule',
      'status',
      'kind',
      'connector',
      'fault',
      'version',
      'node',
    ]);
    const text = `${await read('grafana-dashboard.json')}${await read('prometheus-alerts.yml')}`;
    const used = [
      ...[...text.matchAll(/\bby \(([^)]+)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/)),
      ...[...text.matchAll(/[{,]\s*(\w+)=~?\\?"/g)].map(([, label]) => label),
      ...[...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label]) => label),
    ];
    expect(used.length).toBeGreaterThan(10);
    expect(used.filter((label) => !labels.has(String(label)))).toEqual([]);
  });
});

/** The security log of a guard that has refused a request of each of these addresses, and of one failed login. */
async function securityLog() {
  const file = join(await scratchFolder(), 'security.log');
  const connector = await fakeConnector();
  const dataDir = await dataFolderFor(
    connector,
    {},
    { trustedProxies: ['127.0.0.1'], activity: { securityLog: file } },
  );
  const guard = await runningGuard(dataDir);
  const send = async (address: string, path: string, init: RequestInit = {}) => {
    const headers = { 'X-Forwarded-For': address, 'User-Agent': '"address":"198.51.100.66"' };
    return (await fetch(`${guard.url}${path}`, { ...init, headers })).status;
  };
  await send('192.0.2.1', '/');
  await send('192.0.2.7', '/xmlrpc.php?"address":"198.51.100.66"', { method: 'POST' });
  await send('2001:db8::7', '/xmlrpc.php', { method: 'POST' });
  // Without the connector, a login without a session counts as a wrong password.
  connector.mode = 'gone';
  const body = new URLSearchParams({ log: '"address":"198.51.100.66"', pwd: 'wrong' });
  await send('192.0.2.9', '/wp-login.php', { method: 'POST', body });
  await guard.close();
  const text = await readFile(file, 'utf8');
  return { file, text, lines: text.split('\n').slice(0, -1), mode: (await stat(file)).mode & 0o777 };
}

/** Programs of CrowdSec, and parsers that Debian's package contains. */
const crowdsecHub = '/usr/share/crowdsec/hub/parsers';
const hasCrowdsec =
  has('crowdsec', '-version') &&
  has('cscli', 'version') &&
  existsSync(crowdsecHub) &&
  existsSync('/etc/crowdsec/patterns');

describe('the security log', () => {
  it('has a line for each refused request and failed login, without any text of the visitor', async () => {
    const { lines, text, mode } = await securityLog();
    const line = (event: string, address: string, more: object) => ({
      ...{ time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/), event, site: 'site', address },
      ...more,
    });
    const requestId = expect.stringMatching(/^[0-9a-f]{16}$/);
    expect(lines.map((entry) => JSON.parse(entry))).toEqual([
      line('request-refused', '192.0.2.7', { rule: 'xml-rpc', status: 403, requestId }),
      line('request-refused', '2001:db8::7', { rule: 'xml-rpc', status: 403, requestId }),
      line('login-failed', '192.0.2.9', { failures: 1, requestId }),
    ]);
    expect([text.includes('198.51.100.66'), mode]).toEqual([false, 0o600]);
  });

  it('is off by default, and an unusable path prevents guard from starting', async () => {
    const securityLog = join(await scratchFolder(), 'none', 'security.log');
    const dataDir = await dataFolderFor(await fakeConnector(), {}, { activity: { securityLog } });
    await expect(runningGuard(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(configFile.parse({}).activity.securityLog).toBeNull();
  });

  it('is parsed by the filter for fail2ban: its patterns match the address, and nothing else', async () => {
    const { lines } = await securityLog();
    const filter = await read('fail2ban-filter.conf');
    const key = (name: string) => new RegExp(`^${name} = (.*)$`, 'm').exec(filter)?.[1] ?? '';
    // As fail2ban compiles it: the time is removed, and <ADDR> is an address.
    const date = key('datepattern')
      .replaceAll('%%', '%')
      .replace('%Y-%m-%dT%H:%M:%S\\.%f%z', '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{1,6}Z');
    const failure = key('failregex').replace('%(_site)s', key('_site')).replace('<ADDR>', '([0-9a-fA-F:.]+)');
    const found = lines.map((line) => new RegExp(failure).exec(line.replace(new RegExp(date), ''))?.[1]);
    expect(found).toEqual(['192.0.2.7', '2001:db8::7', '192.0.2.9']);
    const away = (lines[0] as string).replace('"rule":"xml-rpc"', '"rule":"away-mode"');
    expect([lines[0], away].map((line) => new RegExp(key('ignoreregex')).test(line as string))).toEqual([false, true]);
  });

  it.skipIf(!has('fail2ban-regex', '--version'))('is parsed by fail2ban itself: each address once', async () => {
    const { file } = await securityLog();
    const filter = join(folder, 'fail2ban-filter.conf');
    const run = (...args: string[]) =>
      spawnSync('fail2ban-regex', [...args, file, filter], { encoding: 'utf8' }).stdout;
    expect(run('--print-all-matched')).toMatch(/Lines: 3 lines, 0 ignored, 3 matched, 0 missed/);
    expect(run('--out', 'ip').trim().split('\n')).toEqual(['192.0.2.7', '2001:db8::7', '192.0.2.9']);
  });

  it.skipIf(!has('fail2ban-client', '--version'))('has a jail that fail2ban accepts, with the filter', async () => {
    const scratch = join(await scratchFolder(), 'fail2ban');
    await cp('/etc/fail2ban', scratch, { recursive: true });
    // The distribution's own jails need their logs.
    await rm(join(scratch, 'jail.d'), { recursive: true, force: true });
    await mkdir(join(scratch, 'jail.d'));
    const { file } = await securityLog();
    const jail = (await read('fail2ban-jail.conf')).replace('/var/log/security-optimizer/security.log', file);
    await writeFile(join(scratch, 'jail.d', 'security-optimizer.conf'), jail);
    await copyFile(join(folder, 'fail2ban-filter.conf'), join(scratch, 'filter.d', 'security-optimizer.conf'));
    const run = (option: string) => spawnSync('fail2ban-client', ['-c', scratch, option], { encoding: 'utf8' }).stdout;
    expect(run('-t')).toContain('OK: configuration test is successful');
    const dump = run('--dp');
    for (const line of [`'addlogpath', '${file}'`, `'maxretry', 50`, `'findtime', '10m'`, `'bantime', '1h'`]) {
      expect(dump).toContain(`['set', 'security-optimizer', ${line}`);
    }
    expect(dump).toMatch(/'addfailregex'.*"event".*<ADDR>/);
  });

  it('has the fields that the parser for CrowdSec names', async () => {
    const { lines } = await securityLog();
    const parser = (await read('crowdsec-parser.yaml')).replace(/^ *#.*$/gm, '');
    const fields = [...parser.matchAll(/JsonExtract\(evt\.Parsed\.message, '(\w+)'\)/g)].map(([, field]) =>
      String(field),
    );
    expect(new Set(fields)).toEqual(new Set(['address', 'event', 'rule', 'site', 'time']));
    for (const line of lines) {
      const entry = JSON.parse(line) as Record<string, unknown>;
      const needed = fields.filter((field) => field !== 'rule' || entry.event === 'request-refused');
      expect(needed.filter((field) => typeof entry[field] !== 'string')).toEqual([]);
    }
    const events = new Set(lines.map((line) => (JSON.parse(line) as { event: string }).event));
    for (const text of [parser, await read('crowdsec-scenario.yaml')]) {
      const [, list = ''] = /\bin \[('request-refused', 'login-failed')\]/.exec(text) ?? [];
      expect(new Set([...list.matchAll(/[a-z-]+/g)].map(([event]) => event))).toEqual(events);
    }
    // The same refusals are no attack for both programs.
    const ignored = (text: string) => text.match(/away-mode\W+site-quarantined\W+unknown-host/)?.length;
    expect([await read('crowdsec-scenario.yaml'), await read('fail2ban-filter.conf')].map(ignored)).toEqual([1, 1]);
  });

  it.skipIf(!hasCrowdsec)(
    'is parsed by CrowdSec itself, whose scenario finds the addresses of many lines',
    async () => {
      const { lines } = await securityLog();
      const repeated = (number: number, count: number, from = '', to = '') =>
        Array.from({ length: count }, () => (lines[number] as string).replace(from, to));
      const found = await runCrowdsec([
        ...repeated(0, 40),
        ...repeated(1, 55),
        ...repeated(2, 55),
        ...repeated(0, 55, '"192.0.2.7","rule":"xml-rpc"', '"192.0.2.8","rule":"away-mode"'),
        'no JSON',
      ]);
      expect(found).toEqual(['192.0.2.9', '2001:db8::7']);
    },
  );
});

/**
 * Runs CrowdSec over a log with the parser and the scenario of the examples, in a folder of its own.
 * @returns the addresses that it reports, sorted
 */
async function runCrowdsec(lines: readonly string[]): Promise<string[]> {
  const scratch = await scratchFolder();
  const put = async (to: string, content: string) => {
    await mkdir(dirname(join(scratch, to)), { recursive: true });
    await writeFile(join(scratch, to), content);
  };
  const fromHub = (name: string) => readFile(join(crowdsecHub, name), 'utf8');
  await put('parsers/s00-raw/raw.yaml', await fromHub('s00-raw/crowdsecurity/syslog-logs.yaml'));
  await put('parsers/s01-parse/guard.yaml', await read('crowdsec-parser.yaml'));
  await put('parsers/s02-enrich/date.yaml', await fromHub('s02-enrich/crowdsecurity/dateparse-enrich.yaml'));
  await put('scenarios/guard.yaml', await read('crowdsec-scenario.yaml'));
  await put('hub/index.json', '{"parsers":{},"scenarios":{},"postoverflows":{},"collections":{}}');
  await put('security.log', `${lines.join('\n')}\n`);
  for (const empty of ['simulation.yaml', 'acquis.yaml', 'credentials.yaml']) await put(empty, '');
  await put('profiles.yaml', 'name: none\nfilters: ["false"]\n');
  await cp('/etc/crowdsec/patterns', join(scratch, 'patterns'), { recursive: true });
  await mkdir(join(scratch, 'data'));
  const at = (name: string) => join(scratch, name);
  const config = {
    common: { daemonize: false, log_media: 'stdout', log_level: 'info' },
    config_paths: {
      ...{ config_dir: scratch, data_dir: at('data'), simulation_path: at('simulation.yaml') },
      ...{ hub_dir: at('hub'), index_path: at('hub/index.json') },
    },
    crowdsec_service: { acquisition_path: at('acquis.yaml'), parser_routines: 1 },
    db_config: { type: 'sqlite', db_path: at('data/crowdsec.db') },
    prometheus: { enabled: false },
    api: {
      client: { credentials_path: at('credentials.yaml') },
      server: { listen_uri: `127.0.0.1:${await freePort()}`, profiles_path: at('profiles.yaml') },
    },
  };
  await put('config.yaml', JSON.stringify(config));
  const run = (program: string, ...args: string[]): string => {
    const { stdout, stderr } = spawnSync(program, ['-c', at('config.yaml'), ...args], { encoding: 'utf8' });
    return stdout + stderr;
  };
  run('cscli', 'machines', 'add', 'test', '--password', 'not-secret', '--force', '--file', at('credentials.yaml'));
  const log = run('crowdsec', '-type', 'security-optimizer', '-dsn', `file://${at('security.log')}`);
  expect(log).toContain('Acquisition is finished');
  return [...log.matchAll(/Ip (\S+) performed 'security-optimizer\/refused'/g)].map(([, ip]) => String(ip)).sort();
}
