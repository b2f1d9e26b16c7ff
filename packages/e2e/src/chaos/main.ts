import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { crowds } from './crowds.js';
import { kinds } from './kinds.js';
import { type ChaosReport, runChaos } from './run.js';
import { type ChaosSite, stacks, startSite } from './site.js';
import { behaviours } from './upstream.js';
import { addedMs, type WatcherSample } from './verdict.js';

const names = [...kinds, ...crowds].map(([name]) => name);

const help = `npm run chaos -- [options]     visits of ${names.length} kinds, whole and broken, against a guard of its own

  --minutes N        how long (1); or --seconds N
  --seed N           the choices of an earlier run; a new seed unless given
  --connections N    visits at a time (40)
  --only A,B         only kinds of visits whose names hold A or B; --list names them
  --upstream A,B     only these behaviours of the web server behind guard
  --stack NAME       what stands behind guard: ${stacks.join(', ')}; the first one, a web server
                     that does to each request what the request asks for, unless named
  --log FILE         keep guard's log
  --json             print the report as JSON
  --list             print the kinds and the behaviours

It uses loopback addresses of this machine only, and starts all that it attacks. Linux only.
`;

/** @returns the exit code: 0 guard has held, 1 it has not, 2 for a wrong call */
export async function chaos(args: readonly string[]): Promise<number> {
  let values: ReturnType<typeof read>;
  try {
    values = read(args);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${help}`);
    return 2;
  }
  if (values.help || values.list) {
    process.stdout.write(values.help ? help : listing());
    return 0;
  }
  if (process.platform !== 'linux') {
    process.stderr.write('What a process holds is read from /proc: this runs on Linux only.\n');
    return 1;
  }
  const dir = mkdtempSync(join(tmpdir(), 'so-chaos-'));
  let site: ChaosSite | undefined;
  const end = async () => {
    if (values.log !== undefined && site !== undefined) saveLog(site, values.log);
    await site?.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  const interrupted = () => void end().finally(() => process.exit(130));
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted);
  try {
    process.stderr.write(`seed ${values.seed}, ${values.seconds} s\n`);
    site = await startSite(values.stack, dir);
    const report = await runChaos(site.guard, { ...values, ...site });
    process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : readable(report));
    return report.faults.length === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${(error as Error).stack}\n`);
    return 1;
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await end();
  }
}

function read(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ minutes: { type: 'string' }, seconds: { type: 'string' }, seed: { type: 'string' } },
      ...{ connections: { type: 'string', default: '40' }, only: { type: 'string' }, upstream: { type: 'string' } },
      ...{
        log: { type: 'string' },
        stack: { type: 'string', default: 'unruly' },
        json: { type: 'boolean' },
        list: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    },
  });
  const number = (name: string, text: string, max: number): number => {
    if (!/^\d+$/.test(text) || Number(text) < 1 || Number(text) > max) {
      throw new Error(`--${name}: use a whole number from 1 to ${max}`);
    }
    return Number(text);
  };
  const stack = stacks.find((known) => known === values.stack);
  if (stack === undefined) throw new Error(`--stack: use ${stacks.join(', ')}`);
  const seconds = values.seconds !== undefined;
  return {
    stack,
    ...{ log: values.log, json: values.json === true, list: values.list, help: values.help },
    seed: number('seed', values.seed ?? String(1 + Math.floor(Math.random() * (2 ** 31 - 2))), 2 ** 31),
    seconds: seconds
      ? number('seconds', values.seconds ?? '', 36_000)
      : 60 * number('minutes', values.minutes ?? '1', 600),
    connections: number('connections', values.connections, 200),
    ...(values.only === undefined ? {} : { only: values.only.split(',') }),
    ...(values.upstream === undefined ? {} : { behaviours: values.upstream.split(',') }),
  };
}

function listing(): string {
  const list = (title: string, names: readonly string[]) => `${title}\n${names.map((name) => `  ${name}\n`).join('')}`;
  return `${list('Kinds of visits:', names)}${list('What the web server may do:', Object.keys(behaviours))}`;
}

function readable(report: ChaosReport): string {
  const width = Math.max(...Object.keys(report.kinds).map((name) => name.length));
  const rows = Object.entries(report.kinds).map(([name, { visits, statuses }]) => {
    const seen = Object.entries(statuses).map(([status, count]) => `${status} x ${count}`);
    return `${name.padEnd(width)}  ${String(visits).padStart(6)}  ${seen.join(', ')}`;
  });
  const { before, after } = report;
  const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  const toRow = (name: string, one: string | number, other?: string | number) =>
    `${name}: ${one} before, ${other ?? '-'} after`;
  return [
    ...rows,
    '',
    `${report.visits} visits, seed ${report.seed}`,
    toRow('heap', megabytes(before.heap), after === null ? undefined : megabytes(after.heap)),
    toRow('outside the heap', megabytes(before.external), after === null ? undefined : megabytes(after.external)),
    toRow('resident', megabytes(before.resident), after === null ? undefined : megabytes(after.resident)),
    toRow('timers', before.timers, after?.timers),
    toRow('descriptors', before.descriptors, after?.descriptors),
    `resident at its most: ${megabytes(report.peakResident)}`,
    ...watched(report.watcher),
    `requests beside an idle crowd of their address: ${report.besideIdle}`,
    ...(report.faults.length === 0 ? ['Guard has held.'] : ['', ...report.faults.map((fault) => `FAULT: ${fault}`)]),
    '',
  ].join('\n');
}

/** Response times of a plain page for another visitor. */
function watched(samples: readonly WatcherSample[]): string[] {
  if (samples.length === 0) return [];
  const slowest = samples.reduce((slowest, sample) => (addedMs(sample) > addedMs(slowest) ? sample : slowest));
  const failed = samples.filter(({ status }) => status !== 200).length;
  return [
    `a plain page of somebody else: ${samples.length} times, ${failed} failed, the slowest ${slowest.ms} ms (past guard: ${slowest.directMs} ms) ${slowest.when}`,
  ];
}

function saveLog(site: ChaosSite, file: string): void {
  process.stderr.write(`log: ${file}\n`);
  writeFileSync(file, `${site.guard.log().join('\n')}\n`);
}
