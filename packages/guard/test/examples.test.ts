import { spawnSync } from 'node:child_process';
import { copyFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { configFile } from '../src/config/config-file.js';
import { createGatewayMetrics, createStateMetrics } from '../src/metrics/metrics.js';
import { fakeConnector } from './support/fake-connector.js';
import { quietState } from './support/quiet-state.js';
import { dataFolderFor, runningGuard } from './support/running-guard.js';
import { scratchFolder } from './support/scratch.js';

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

/** Names of all metrics that guard can report. */
async function metricNames(): Promise<Set<string>> {
  const registry = new Registry();
  createGatewayMetrics(registry);
  createStateMetrics(registry, quietState);
  collectDefaultMetrics({ register: registry });
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

  it.skipIf(!has('fail2ban-regex', '--version'))('is parsed by fail2ban itself', async () => {
    const { file } = await securityLog();
    const args = ['--print-all-matched', file, join(folder, 'fail2ban-filter.conf')];
    const { stdout } = spawnSync('fail2ban-regex', args, { encoding: 'utf8' });
    expect(stdout).toMatch(/Lines: 3 lines, 0 ignored, 3 matched, 0 missed/);
  });

  it('has the fields that the parser for CrowdSec names', async () => {
    const { lines } = await securityLog();
    const parser = (await read('crowdsec-parser.yaml')).replace(/^#.*$/gm, '');
    const fields = new Set([...parser.matchAll(/evt\.Unmarshaled\.guard\.(\w+)/g)].map(([, field]) => field as string));
    expect(fields).toEqual(new Set(['address', 'event', 'rule', 'site', 'time']));
    for (const line of lines) {
      const entry = JSON.parse(line) as Record<string, unknown>;
      const needed = [...fields].filter((field) => field !== 'rule' || entry.event === 'request-refused');
      expect(needed.filter((field) => typeof entry[field] !== 'string')).toEqual([]);
    }
    const events = [...parser.matchAll(/event == '([a-z-]+)'/g)].map(([, event]) => event);
    expect(new Set(events)).toEqual(new Set(lines.map((line) => (JSON.parse(line) as { event: string }).event)));
  });
});
