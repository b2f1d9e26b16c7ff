import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { root } from '../run.mjs';

const runner = fileURLToPath(new URL('run-fixture.mjs', import.meta.url));
const folders = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/**
 * Runs test files through the whole runner in a process of its own.
 *
 * @param files name of a test file to its content; `vitest` is imported already
 */
function runTests(files) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, '.cache/runner-'));
  folders.push(folder);
  const config = "import { defineConfig } from 'vitest/config';\n";
  writeFileSync(
    join(folder, 'vitest.config.mjs'),
    `${config}export default defineConfig({ test: { isolate: false } });\n`,
  );
  for (const [name, content] of Object.entries(files)) {
    const imports =
      "import { existsSync, writeFileSync } from 'node:fs';\nimport { beforeAll, describe, expect, it } from 'vitest';\n";
    writeFileSync(join(folder, name), `${imports}${content}\n`);
  }
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  const { status, stdout, stderr } = spawnSync(process.execPath, [runner, relative(root, folder)], {
    encoding: 'utf8',
    env,
  });
  const lines = stdout.trimEnd().split('\n');
  const flaky = JSON.parse(readFileSync(join(folder, 'results/flaky.json'), 'utf8'));
  return { code: status, lines, last: lines.at(-1), stdout, stderr, flaky };
}

const passing = "it('adds', () => expect(1 + 1).toBe(2));";
const failing = "it('adds wrongly', () => expect(1 + 1).toBe(3));";
/** Fails at its first run only. `name` must differ between the files of one run. */
const failsOnce = (name) => `
const mark = new URL('./${name}.ran', import.meta.url);
it('passes the second time', () => {
  const before = existsSync(mark);
  writeFileSync(mark, '');
  expect(before).toBe(true);
});
it('always passes', () => {});`;

describe('npm test', () => {
  it('passes when every test passes', () => {
    const { code, last, flaky } = runTests({ 'a.test.mjs': passing, 'b.test.mjs': passing });
    expect(last).toBe('2 passed, 0 failed');
    expect(code).toBe(0);
    expect(flaky).toEqual([]);
  });

  it('passes with suites that are skipped, whatever they hold', () => {
    const { code, last, stdout } = runTests({
      'a.test.mjs': passing,
      'b.test.mjs': `describe.skip('nothing', () => {});`,
      'c.test.mjs': `describe.skipIf(true).each([1, 2])('%d', () => {
        beforeAll(() => {});
        ${passing}
        it.runIf(true)('runs elsewhere', () => {});
        describe.runIf(false)('inside', () => { ${passing} });
      });`,
    });
    expect(stdout).not.toContain('did not end');
    expect(last).toBe('1 passed, 0 failed');
    expect(code).toBe(0);
  });

  it('fails with a test that fails twice, and shows it at once with its difference', () => {
    const { code, last, lines, stderr } = runTests({ 'a.test.mjs': passing, 'b.test.mjs': `${failing}\n${passing}` });
    expect(code).toBe(1);
    expect(last).toBe('2 passed, 1 failed');
    expect(lines.filter((line) => line.startsWith('failed: '))).toEqual([
      expect.stringMatching(/^failed: \.cache\/runner-\w+\/b\.test\.mjs > adds wrongly \(fixture\)$/),
    ]);
    const shown = stderr.indexOf('b.test.mjs > adds wrongly');
    expect(stderr.slice(shown)).toMatch(
      /AssertionError: expected 2 to be 3[\s\S]*- 3[\s\S]*\+ 2[\s\S]*b\.test\.mjs:\d+/,
    );
    expect(shown).toBeLessThan(stderr.indexOf('once more, alone'));
  });

  it('reports a file that fails at its first run only as flaky, and passes', () => {
    const { code, last, lines, flaky } = runTests({ 'a.test.mjs': passing, 'b.test.mjs': failsOnce('b') });
    expect(last).toBe('3 passed, 0 failed');
    expect(code).toBe(0);
    expect(lines.filter((line) => line.startsWith('flaky: '))).toEqual([
      expect.stringMatching(/^flaky: \S+\/b\.test\.mjs \(fixture\): failed in [\d.]+ s, passed alone in [\d.]+ s$/),
    ]);
    expect(flaky).toEqual([
      {
        job: 'fixture',
        file: expect.stringMatching(/b\.test\.mjs$/),
        seconds: { first: expect.any(Number), second: expect.any(Number) },
        failures: [{ name: 'passes the second time', text: expect.stringContaining('expected false to be true') }],
      },
    ]);
  });

  it('runs a file that failed alone: with none of the others', () => {
    const loud = "it('speaks', () => console.log('the other file ran'));";
    const { stderr } = runTests({ 'a.test.mjs': loud, 'b.test.mjs': failsOnce('b') });
    expect(stderr.split('the other file ran')).toHaveLength(2);
  });

  it('fails with six files that fail at their first run only, and tries none of them again', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const { code, last, stdout, stderr, flaky } = runTests(
      Object.fromEntries(names.map((name) => [`${name}.test.mjs`, failsOnce(name)])),
    );
    expect(code).toBe(1);
    expect(last).toBe('6 passed, 6 failed');
    expect(stdout).toContain('6 test files failed');
    expect(stderr).not.toContain('once more, alone');
    expect(flaky).toEqual([]);
  });

  it('passes with five of them', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const { code, flaky } = runTests(Object.fromEntries(names.map((name) => [`${name}.test.mjs`, failsOnce(name)])));
    expect(code).toBe(0);
    expect(flaky).toHaveLength(5);
  });

  const kill = (pid) => `process.kill(process.${pid}, 'SIGKILL'); return new Promise(() => {});`;

  it.each([
    ['does not load', "import './missing.mjs';", /b\.test\.mjs > \(the file itself\)[\s\S]*missing\.mjs/],
    ['has a syntax error', 'it(', /b\.test\.mjs > \(the file itself\)[\s\S]*syntax/],
    ['throws while it loads', "throw new Error('broken');", /b\.test\.mjs > \(the file itself\)[\s\S]*broken/],
    ['contains no test', '', /b\.test\.mjs > \(the file itself\)[\s\S]*No test suite/],
    [
      'fails in a hook before its tests',
      `describe('a suite', () => { beforeAll(() => { throw new Error('broken'); });\n${passing} });`,
      /b\.test\.mjs > a suite [\s\S]*broken/,
    ],
    [
      'leaves an error behind',
      "it('forgets', () => { Promise.reject(new Error('forgotten')); });",
      /failed: \S+: Error: forgotten/,
    ],
    ['ends its process', "it('leaves', () => process.exit(0));", /b\.test\.mjs > leaves [\s\S]*process\.exit/],
    ['kills its process', `it('dies', () => { ${kill('pid')} });`, /failed: \S+b\.test\.mjs: did not end/],
    ['kills the process above it', `it('kills', () => { ${kill('ppid')} });`, /failed: .*without results/],
  ])('fails with a file that %s, and reports it', (_what, content, reason) => {
    const { code, last, stdout } = runTests({ 'a.test.mjs': passing, 'b.test.mjs': content });
    expect(stdout).toMatch(reason);
    expect(last).toMatch(/^\d+ passed, [1-9]\d* failed$/);
    expect(code).toBe(1);
  });

  it('names the files that were still to come when a worker is killed', () => {
    const dies = `it('dies', () => { ${kill('pid')} });`;
    const { stdout } = runTests({ 'a.test.mjs': dies, 'b.test.mjs': dies, 'c.test.mjs': dies, 'd.test.mjs': dies });
    for (const name of ['a', 'b', 'c', 'd']) expect(stdout).toMatch(new RegExp(`/${name}\\.test\\.mjs: did not end`));
  });

  it('fails when there is no test file at all', () => {
    expect(runTests({}).code).toBe(1);
  });

  it('shows the end of the log that a failed test leaves', () => {
    const { stderr } = runTests({
      'a.test.mjs': "it('logs', ({ task }) => { task.meta.guardLog = ['one', 'two']; expect(1).toBe(2); });",
    });
    expect(stderr).toMatch(/The end of guard's log:\n {4}one\n {4}two\n/);
  });
});
