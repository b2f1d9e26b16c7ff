import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { root } from '../run.mjs';
import { keepBusy } from './busy.mjs';
import { longestFirst, tests } from './jobs.mjs';

const program = join(root, 'scripts/test.mjs');

describe('npm test', () => {
  it.each([
    [['--busy', 'x'], '--busy is x; it can be a whole number from 0'],
    [['--busy', '-1'], '--busy'],
    [['--at-a-time', '0'], '--at-a-time is 0; it can be a whole number from 1'],
    [['--shuffle', '1.5'], '--shuffle is 1.5'],
    [['--only', 'lint,everything'], 'There is no group everything.'],
  ])('refuses %j before it starts, with the reason', (args, reason) => {
    const { status, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
    expect(stderr).toContain(reason);
    expect(status).not.toBe(0);
    expect(stderr).not.toContain('begun:');
  });

  it('runs every end-to-end suite on the stack that most sites have, or where that is missing, on the embedded one', () => {
    const suites = readdirSync(join(root, 'packages/e2e/src/suites'), { recursive: true })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(root, 'packages/e2e/src/suites', name));
    expect(suites.length).toBeGreaterThan(60);
    const onUsual = groupsOn('nginx-defaults', { isUsualMissing: false });
    expect(onUsual).not.toHaveLength(0);
    expect(listFiles(onUsual).sort()).toEqual(suites.sort());
    expect(new Set(groupsOn('embedded', { isUsualMissing: true }))).toEqual(new Set(onUsual));
  });

  it('runs every suite on every stack where it is told to', () => {
    const all = groupsOn('nginx-defaults', { all: true });
    for (const stack of ['embedded', 'production']) expect(groupsOn(stack, { all: true })).toEqual(all);
    expect(all).toEqual(groupsOn('nginx-defaults', { isUsualMissing: false }));
  });

  it('begins with what takes longest', () => {
    const jobs = Object.values(tests({ all: false, isUsualMissing: false })).flat();
    const sorted = longestFirst(jobs);
    expect(sorted[0].name).toBe('packages/e2e, nginx-defaults (installs)');
    expect(sorted).toHaveLength(jobs.length);
  });
});

/** Groups of suites that run on a stack. */
function groupsOn(stack, options) {
  return tests(options)
    .e2e.map(({ name }) => /^packages\/e2e, (\S+) \((.+)\)$/.exec(name))
    .filter(([, on]) => on === stack)
    .flatMap(([, , groups]) => groups.split(','));
}

/** Test files of end-to-end suites by their groups. Each file is there once for each group that holds it. */
function listFiles(groups) {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  return groups.flatMap((group) => {
    const env = { ...process.env, E2E_SUITES: group };
    const args = [vitest, 'list', '--filesOnly', '--json', '--root', join(root, 'packages/e2e')];
    const listed = execFileSync(process.execPath, args, { encoding: 'utf8', env });
    return JSON.parse(listed).map(({ file }) => file);
  });
}

describe('the end-to-end suites', () => {
  it('come from addresses of their own each, since those on one stack share its log, its locks and its limits', () => {
    const folder = join(root, 'packages/e2e/src/suites');
    const suites = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.test.ts'));
    const usedBy = new Map();
    for (const suite of suites) {
      const networks = readFileSync(join(folder, suite), 'utf8').match(/127\.0\.(?!0\.)\d+(?=\.)/g) ?? [];
      for (const network of networks) usedBy.set(network, (usedBy.get(network) ?? new Set()).add(suite));
    }
    expect(usedBy.size).toBeGreaterThan(20);
    expect([...usedBy].filter(([, files]) => files.size > 1)).toEqual([]);
  });
});

describe.skipIf(!existsSync('/proc'))('a busy processor', () => {
  const started = [];
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });

  it('has as many processes as wanted, until it is relieved', async () => {
    const before = loops();
    const relieve = keepBusy(2);
    await expect.poll(() => loops().length).toBe(before.length + 2);
    await relieve();
    expect(loops()).toEqual(before);
  });

  it('is relieved when the process that made it busy is killed', async () => {
    const busy = fileURLToPath(new URL('busy.mjs', import.meta.url));
    const code = `const { keepBusy } = await import(${JSON.stringify(busy)}); keepBusy(2); setInterval(() => {}, 1000);`;
    const before = loops();
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' });
    started.push(child);
    await expect.poll(() => loops().length).toBe(before.length + 2);
    child.kill('SIGKILL');
    await expect.poll(loops).toEqual(before);
  });
});

/** Numbers of the processes that keep the processor busy. Other runs may have some, too. */
function loops() {
  return readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && toCommand(name).includes('setImmediate(keepBusy)'),
  );
}

function toCommand(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has just ended.
    return '';
  }
}
