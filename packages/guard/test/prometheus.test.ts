import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fakeConnector } from './support/fake-connector.js';
import { recordedLog } from './support/logs.js';
import { dataFolderFor, runningGuard } from './support/running-guard.js';
import { scratchFolder } from './support/scratch.js';

const folder = fileURLToPath(new URL('../../../docs/operator/examples/', import.meta.url));
const rulesFile = join(folder, 'prometheus-alerts.yml');

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

/** Runs promtool, which belongs to Prometheus. @returns what it found; empty when it found nothing */
function promtool(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

/** Writes a file for promtool. JSON is YAML. */
async function written(content: object): Promise<string> {
  const file = join(await scratchFolder(), 'file.yml');
  await writeFile(file, JSON.stringify(content));
  return file;
}

/** The metrics of a guard that has forwarded and refused requests. */
async function metricsAfterVisits(): Promise<string> {
  const dataDir = await dataFolderFor(await fakeConnector(), {}, { metrics: { listen: '127.0.0.1:0' } });
  const { logger, text } = recordedLog();
  const guard = await runningGuard(dataDir, logger);
  for (const path of ['/', '/xmlrpc.php', '/%zz'])
    await (await fetch(`${guard.url}${path}`, { method: 'POST' })).text();
  const [, url] = /"event":"metrics-served","url":"([^"]+)"/.exec(text()) ?? [];
  return (await fetch(`${url}/metrics`)).text();
}

describe.skipIf(!hasPromtool)('promtool of Prometheus', () => {
  it('accepts guard’s metrics: names, types, units, help texts', async () => {
    const metrics = await metricsAfterVisits();
    expect(metrics).toContain('security_optimizer_requests_refused_total{rule="xml-rpc"} 1');
    expect(promtool(['check', 'metrics'], metrics)).toBe('');
  });

  it('accepts the alerts', () => {
    expect(promtool(['check', 'rules', rulesFile])).toBe('');
  });

  it('accepts every expression of the dashboard for Grafana', async () => {
    const { panels } = await readDashboard();
    const rules = panels.flatMap(({ id, targets }) =>
      targets.map(({ refId, expr }) => ({ record: `panel_${id}_${refId}`, expr: toExpression(expr) })),
    );
    expect(rules.length).toBeGreaterThan(20);
    expect(promtool(['check', 'rules', await written({ groups: [{ name: 'dashboard', rules }] })])).toBe('');
  });
});

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig: { readonly defaults: { readonly unit?: string } };
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
}

async function readDashboard(): Promise<{ readonly panels: readonly Panel[] }> {
  return JSON.parse(await readFile(join(folder, 'grafana-dashboard.json'), 'utf8'));
}

/** An expression as Grafana sends it, with values for its variables. */
const toExpression = (text: string) => text.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.+');

describe('the dashboard for Grafana', () => {
  it('has a unit for each panel, and panels that do not overlap', async () => {
    const { panels } = await readDashboard();
    expect(panels.filter(({ fieldConfig }) => !fieldConfig.defaults.unit).map(({ title }) => title)).toEqual([]);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });
});

/** Values of a series, one each minute for two hours: `0+5x120` begins with 0 and adds 5 each time. */
type Values = Readonly<Record<string, string>>;

/** A guard that serves 40 visits a second without a fault. */
const calm: Values = {
  up: '1x120',
  security_optimizer_requests_total: '0+2400x120',
  'security_optimizer_requests_refused_total{rule="xml-rpc"}': '0+240x120',
  'security_optimizer_upstream_failures_total{kind="connect"}': '0x120',
  'security_optimizer_upstream_failures_total{kind="timeout"}': '0+2x120',
  'security_optimizer_upstream_response_seconds_bucket{le="1",status="2xx"}': '0+2000x120',
  'security_optimizer_upstream_response_seconds_bucket{le="10",status="2xx"}': '0+2100x120',
  'security_optimizer_upstream_response_seconds_bucket{le="+Inf",status="2xx"}': '0+2100x120',
  security_optimizer_upstream_requests_waiting: '0 4 0 2x117',
  security_optimizer_storage_operations_waiting: '0 9 1x118',
  'security_optimizer_storage_errors_total{fault="locked"}': '0x120',
  security_optimizer_visits_dropped_total: '0x120',
  security_optimizer_login_failures_total: '0+6x120',
  'security_optimizer_sites{connector="ok"}': '40x120',
  'security_optimizer_sites{connector="missing"}': '0x120',
  'security_optimizer_sites{connector="unknown"}': '3x120',
  'security_optimizer_sites{connector="quarantined"}': '0x120',
  nodejs_eventloop_lag_p99_seconds: '0.02x120',
};

/** A fault for each alert: the series that differ from those of a calm guard. */
const faults: Readonly<Record<string, Values>> = {
  SecurityOptimizerDown: { up: '1x50 0x70' },
  SecurityOptimizerConnector: { 'security_optimizer_sites{connector="missing"}': '0x50 2x70' },
  SecurityOptimizerQuarantine: { 'security_optimizer_sites{connector="quarantined"}': '0x50 1x70' },
  SecurityOptimizerUpstreamFailures: {
    'security_optimizer_upstream_failures_total{kind="connect"}': '0x50 30+30x70',
  },
  SecurityOptimizerSlowWordPress: {
    'security_optimizer_upstream_response_seconds_bucket{le="1",status="2xx"}': '0+1500x120',
  },
  SecurityOptimizerUpstreamQueue: { security_optimizer_upstream_requests_waiting: '0x50 200x70' },
  SecurityOptimizerStorage: { 'security_optimizer_storage_errors_total{fault="locked"}': '0x55 1x65' },
  SecurityOptimizerStorageQueue: { security_optimizer_storage_operations_waiting: '0x50 500x70' },
  SecurityOptimizerVisitsDropped: { security_optimizer_visits_dropped_total: '0x55 900x65' },
  SecurityOptimizerGuessing: { security_optimizer_login_failures_total: '0x40 120+120x80' },
  SecurityOptimizerBusy: { nodejs_eventloop_lag_p99_seconds: '0.02x50 0.4x70' },
};

/** The alerts that fire at one of these minutes, as promtool expects them. */
const firing = (minutes: readonly number[], names: readonly string[]) =>
  minutes.map((minute) => ({
    expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: `${minute}m`,
    exp_samples: names.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
  }));

/** @param expected expressions with their results */
async function runRules(values: Values, expected: readonly object[]): Promise<string> {
  const input_series = Object.entries(values).map(([series, value]) => {
    const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
    const all = ['job="security-optimizer"', 'instance="192.0.2.1:9464"', ...(labels === '' ? [] : [labels])];
    return { series: `${name}{${all.join(',')}}`, values: value };
  });
  const tests = [{ interval: '1m', input_series, promql_expr_test: expected }];
  const file = await written({ rule_files: [rulesFile], evaluation_interval: '1m', tests });
  return promtool(['test', 'rules', file]);
}

describe.skipIf(!hasPromtool)('the alerts, as promtool of Prometheus runs them', () => {
  it('do not fire while guard is calm', async () => {
    expect(await runRules(calm, firing([1, 5, 30, 60, 119], []))).toBe('');
  });

  it.each(Object.entries(faults))('%s fires with its fault, and no other one does', async (name, fault) => {
    expect(await runRules({ ...calm, ...fault }, firing([64], [name]))).toBe('');
  });
});

describe('the alerts', () => {
  it('see the first error of a guard that has just started, since its counter exists before', async () => {
    const lines = (await metricsAfterVisits()).split('\n');
    for (const [name, label, values] of [
      [
        'storage_errors_total',
        'fault',
        ['locked', 'full', 'corrupt', 'read_only', 'cannot_open', 'input_output', 'worker_died', 'other'],
      ],
      ['upstream_failures_total', 'kind', ['connect', 'closed', 'syntax', 'timeout', 'busy']],
    ] as const) {
      const known = values.map((value) => `security_optimizer_${name}{${label}="${value}"} `);
      expect(known.filter((start) => !lines.some((line) => line.startsWith(start)))).toEqual([]);
    }
  });

  it('have a test each', async () => {
    const names = [...(await readFile(rulesFile, 'utf8')).matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    expect(names.sort()).toEqual(Object.keys(faults).sort());
  });
});
