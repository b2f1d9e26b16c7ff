import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './lib/build.mjs';
import { installPackages } from './lib/install.mjs';
import { requireNode } from './lib/require-node.mjs';
import { root, run } from './lib/run.mjs';
import { stopWithNpm } from './lib/stop-with-npm.mjs';
import { installSystemPackages } from './lib/system-packages.mjs';
import { installNode, nodeBinary } from './lib/tests/other-node.mjs';
import { analysePhp, checkCodingStandard } from './lib/tests/php-code.mjs';
import { sideBySide } from './lib/tests/side-by-side.mjs';
import { conclude } from './lib/tests/try-again.mjs';
import { vitest } from './lib/tests/vitest.mjs';

const usage = `npm test                          everything
npm test -- --only lint,unit      some of: lint, types, docs, texts, unit, visual, connector, sandbox, chaos,
                                  packages, e2e, runner
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

/** Checks that take a few seconds. */
const short = {
  lint: [
    program('lint', tool('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.'),
    program('dependency rule', 'scripts/check-imports.mjs'),
    program('subject of the commit', 'scripts/check-subject.mjs'),
  ],
  types: [program('types of the tests', tool('typescript/bin/tsc'), '--project', 'tsconfig.test.json')],
  docs: [program('docs/api-reference.md is current', 'scripts/generate-api-reference.mjs', '--check')],
  texts: [program('every text is in the catalogue and in every language', 'scripts/extract-texts.mjs', '--check')],
  connector: [
    check('connector: its own tests in PHP', testConnector),
    check('connector: the WordPress coding standard', checkCodingStandard),
    check('connector: static analysis', analysePhp),
  ],
};

/** Tests that take minutes, the longest first, so that none runs alone at the end. */
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
  packages: [testsOf('e2e', 'packages', { config: 'vitest.packages.config.ts', env: { PACKAGE_TESTS: 'short' } })],
  runner: [testsIn('scripts', 'scripts')],
};

/** A check that passes or fails as a whole; `work` returns an exit code. */
function check(name, work) {
  return {
    name,
    async work(output) {
      const passed = (await work(output)) === 0;
      return { passed: Number(passed), failed: Number(!passed) };
    },
  };
}

/** A check that is a Node program. */
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
  const folder = 'packages/connector/test';
  for (const name of readdirSync(join(root, folder)).filter((file) => file.endsWith('.test.php'))) {
    const code = await run('php', [`${folder}/${name}`], process.env, output);
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

/** Fetches what jobs need from the network, so that none waits for it. A job that lacks it reports that and fails. */
async function fetchNeeded() {
  const release = values['also-node'];
  if (release !== undefined) await installNode(release);
  if (!['e2e', 'sandbox', 'packages'].some((name) => wanted.includes(name))) return;
  const { fetchCurrentWordPress, fetchWordPress } = await import('../packages/sandbox/dist/fetch/wordpress.js');
  const { fetchPlugin, shopPlugin } = await import('../packages/sandbox/dist/fetch/plugin.js');
  const tell = (error) => process.stderr.write(`${error.message}\n`);
  await fetchWordPress().catch(tell);
  // Where these can't be fetched, the stacks and suites report what they use instead and what they skip.
  await fetchCurrentWordPress().catch(tell);
  await fetchPlugin(shopPlugin).catch(() => {});
}

/** The jobs of the requested groups, and those of another release of Node if one is named. */
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
  // The checks run while the network is busy.
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
