import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type RestartReport, runRestarts } from './run.js';

const help = `npm run restarts -- [options]     restarts and upgrades of a guard under load: what is lost?

  --restarts N       how often guard is restarted (100)
  --upgrades N       how often the next guard is another release, with other tables (10)
  --rate N           requests per second (2000)
  --json             print the report as JSON
  --keep             keep the folder with the logs and databases, and print its path

It uses loopback addresses of this machine only, and starts all that it needs. With the numbers above it takes some ten
minutes. After Ctrl-C it reports what it has seen until then.
`;

/** @returns the exit code: 0 nothing was lost, 1 something was, 2 for a wrong call */
export async function restarts(args: readonly string[]): Promise<number> {
  let values: ReturnType<typeof read>;
  try {
    values = read(args);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${help}`);
    return 2;
  }
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const dir = mkdtempSync(join(tmpdir(), 'so-restarts-'));
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    const onProgress = (line: string) => void process.stderr.write(`${line}\n`);
    const report = await runRestarts(dir, { ...values, onProgress, signal: interrupted.signal });
    process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : readable(report));
    return report.faults.length === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${(error as Error).stack}\n`);
    return 1;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    if (values.keep) process.stderr.write(`${dir}\n`);
    else rmSync(dir, { recursive: true, force: true });
  }
}

function read(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      restarts: { type: 'string', default: '100' },
      upgrades: { type: 'string', default: '10' },
      rate: { type: 'string', default: '2000' },
      ...{ json: { type: 'boolean' }, keep: { type: 'boolean' }, help: { type: 'boolean' } },
    },
  });
  const count = (name: 'restarts' | 'upgrades' | 'rate', smallest: number): number => {
    if (/^\d{1,5}$/.test(values[name]) && Number(values[name]) >= smallest) return Number(values[name]);
    throw new Error(`--${name} is ${values[name]}; it can be a whole number from ${smallest} to 99999.`);
  };
  const numbers = { restarts: count('restarts', 0), upgrades: count('upgrades', 0), perSecond: count('rate', 10) };
  return { ...numbers, json: values.json === true, keep: values.keep === true, help: values.help === true };
}

function readable({ load, faults, restartMs, ...report }: RestartReport): string {
  const { waitMs } = load;
  const lines = [
    `${report.restarts} restarts and ${report.upgrades} upgrades in ${Math.round(load.seconds)} s; from the signal until the next guard serves: median ${restartMs.median} ms, at most ${restartMs.longest} ms`,
    `${load.requests} requests, ${Math.round(load.perSecond)} per second, ${load.skipped} skipped; ${load.failed} failed`,
    `wait for a response: median ${waitMs.p50} ms, 99th percentile ${waitMs.p99} ms, at most ${waitMs.longest} ms`,
    ...Object.entries(load.kinds).map(([kind, count]) => `  ${count} x ${kind}`),
    `Activity Log: ${report.logged} requests in ${report.rows} rows, ${report.dropped} dropped`,
    `${report.lockouts} attackers locked out after ${report.checks} password checks`,
    faults.length === 0 ? 'Nothing was lost.' : faults.join('\n'),
  ];
  return `${lines.join('\n')}\n`;
}
