import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root } from './run.mjs';

let dir;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'so-node-'));
  writeFileSync(
    join(dir, 'old.cjs'),
    "Object.defineProperty(process.versions, 'node', { value: process.env.NODE_VERSION_OF_TEST });",
  );
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  // As the npm package has them.
  copyFileSync(join(root, 'packaging/security-optimizer.js'), join(dir, 'security-optimizer.js'));
  copyFileSync(join(root, 'packages/guard/bin/require-node.js'), join(dir, 'require-node.js'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Runs a program with a Node that says it is another release. */
function runWith(version, ...args) {
  const env = { ...process.env, NODE_VERSION_OF_TEST: version };
  return spawnSync(process.execPath, ['--require', join(dir, 'old.cjs'), ...args], {
    env,
    encoding: 'utf8',
    cwd: root,
  });
}

it.each([
  ['npm start', ['scripts/run.mjs', 'start']],
  ['npm test', ['scripts/test.mjs']],
  ['npm run dev', ['scripts/dev.mjs']],
  ['npm run build', ['scripts/build.mjs']],
  ['npm run unit', ['scripts/unit.mjs', 'packages/guard/src/lib/guides.test.ts']],
  ['npm run package', ['scripts/package.mjs']],
  ['security-optimizer in a checkout', ['packages/guard/bin/security-optimizer.js', '--version']],
  ['security-optimizer of the package', [() => join(dir, 'security-optimizer.js'), '--version']],
])('%s says which Node is needed, and where to get it', (_, args) => {
  const line = args.map((arg) => (typeof arg === 'function' ? arg() : arg));
  for (const version of ['18.20.8', '20.18.3']) {
    const { status, stdout, stderr } = runWith(version, ...line);
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining(
        `Security Optimizer needs Node 20.19 or newer; this is ${version}. Get a current one from https://nodejs.org/.`,
      ),
    });
    expect(stderr).not.toContain('SyntaxError');
  }
});
