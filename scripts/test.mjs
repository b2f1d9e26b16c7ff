import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './lib/build.mjs';
import { installPackages } from './lib/install.mjs';
import { requireNode } from './lib/require-node.mjs';
import { root, run } from './lib/run.mjs';
import { stopWithNpm } from './lib/stop-with-npm.mjs';
import { installSystemPackages } from './lib/system-packages.mjs';
import { installNode, nodeBinary } from './lib/tests/other-node.mjs';
import { sideBySide } from './lib/tests/side-by-side.mjs';
import { conclude } from './lib/tests/try-again.mjs';
import { vitest } from './lib/tests/vitest.mjs';

const usage = `npm test                          everything
npm test -- --only lint,unit      some of: lint, types, docs, texts, unit, visual, connector, sandbox, chaos, e2e,
                                  runner
npm test -- --also-node 26        the contract's and guard's tests on that Node too
npm test -- --at-a-time 1         how many parts run side by side (2)
`;

requireNode();
stopWithNpm();
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    'also-node': { type: 'string' },
    'at-a-time': { type: 'string', default: '2' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const results = join(root, '.cache/test-results');

/** Checks of a few seconds. */
const short = {
  lint: [program('lint', tool('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.')],
  types: [program('types of the tests', tool('typescript/bin/tsc'), '--project', 'tsconfig.test.json')],
  docs: [program('docs/api-reference.md is current', 'scripts/generate-api-reference.mjs', '--check')],
  texts: [program('every text is in the catalogue and in every language', 'scripts/extract-texts.mjs', '--check')],
  connector: [check('connector: its own tests in PHP', testConnector)],
};

/** Tests of minutes, the longest first, so that none is left running alone at the end. */
const long = {
  e2e: [
    testsOf('e2e', 'embedded', { env: { E2E_STACK: 'embedded', E2E_SUITES: 'others' } }),
    testsOf('e2e', 'production', { env: { E2E_STACK: 'production', E2E_SUITES: 'others' } }),
    testsOf('e2e', 'nginx-defaults', { env: { E2E_STACK: 'nginx-defaults', E2E_SUITES: 'others' } }),
    testsOf('e2e', 'walks', { env: { E2E_STACK: 'embedded', E2E_SUITES: 'walks' } }),
  ],
  'other-node': onOtherNode(values['also-node']),
  unit: ['guard', 'dashboard', 'bench', 'contract'].map((name) => testsOf(name)),
  visual: [testsOf('dashboard', 'visual', { config: 'vitest.visual.config.ts' })],
  sandbox: [testsOf('sandbox')],
  chaos: [testsOf('e2e', 'chaos', { config: 'vitest.chaos.config.ts' })],
  runner: [testsIn('scripts', 'scripts')],
};

/** A check that passes or fails as a whole; `work` answers an exit code. */
function check(name, work) {
  return {
    name,
    async work(output) {
      const passed = (await work(output)) === 0;
      return { passed: Number(passed), failed: Number(!passed) };
    },
  };
}

/** A check made by a program for Node. */
function program(name, ...args) {
  return check(name, (output) => run(process.execPath, args, process.env, output));
}

/** The tests of one package; `part` tells jobs of the same package apart. */
function testsOf(name, part, options = {}) {
  return testsIn(`packages/${name}`, part === undefined ? `packages/${name}` : `packages/${name}, ${part}`, options);
}

/** The tests of one folder as a job; `workAlone` runs one test file of it, given from the root of the checkout. */
function testsIn(folder, name, options = {}) {
  const report = join(results, name.replace('packages/', '').replace(', ', '-').replace(' ', '-'));
  return {
    name,
    work: (output) => vitest({ folder, results: `${report}.json`, output, ...options }),
    workAlone: (file, output) => vitest({ folder, file, results: `${report}-alone.json`, output, ...options }),
  };
}

async function testConnector(output) {
  for (const name of ['protocol-vectors', 'salts']) {
    const code = await run('php', [`packages/connector/test/${name}.test.php`], process.env, output);
    if (code !== 0) return code;
  }
  return 0;
}

function tool(path) {
  return join(root, 'node_modules', path);
}

/** The tests that need neither a browser nor a WordPress, on another release of Node. */
function onOtherNode(release) {
  if (release === undefined) return [];
  return ['guard', 'contract'].map((name) => testsOf(name, `Node ${release}`, { node: nodeBinary(release) }));
}

/** What jobs need from the network, so that none of them waits for it. One that misses it says so and fails. */
async function fetchNeeded() {
  const release = values['also-node'];
  if (release !== undefined) await installNode(release);
  if (!wanted.includes('e2e') && !wanted.includes('sandbox')) return;
  const { fetchWordPress } = await import('../packages/sandbox/dist/fetch-wordpress.js');
  await fetchWordPress().catch((error) => process.stderr.write(`${error.message}\n`));
}

/** The jobs of the groups that are wanted; those of another Node are whenever one is named. */
function jobsOf(groups) {
  return Object.entries(groups).flatMap(([name, jobs]) => (wanted.includes(name) || name === 'other-node' ? jobs : []));
}

const known = Object.keys({ ...short, ...long });
const wanted = values.only?.split(',') ?? known;
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no group ${unknown.join(', ')}.\n${usage}`);
  process.exit(2);
}

const sums = { passed: 0, failed: 0, failures: [], files: [] };
const add = ({ passed, failed, failures, files }) => {
  sums.passed += passed;
  sums.failed += failed;
  sums.failures.push(...failures);
  sums.files.push(...files);
};
let stopped = false;
try {
  await installPackages();
  const missing = await installSystemPackages();
  for (const what of missing)
    process.stderr.write(`${what} is missing: tests that need it say that they did not run.\n`);
  rmSync(results, { recursive: true, force: true });
  await build();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      stopped = true;
    });
  }
  const atATime = Number(values['at-a-time']);
  // The checks fill the time that the network takes.
  const [checks] = await Promise.all([sideBySide(jobsOf(short), atATime, results), fetchNeeded()]);
  add(checks);
  add(await sideBySide(jobsOf(long), atATime, results));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  add({ passed: 0, failed: 1, failures: [error.message], files: [] });
}
const { lines, code } = await conclude(sums, results, () => stopped);
process.stdout.write(`${lines.join('\n')}\n`);
process.exit(code);
