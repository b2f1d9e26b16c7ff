import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from '../run.mjs';
import { nodeBinary } from './other-node.mjs';
import { analysePhp, checkCodingStandard } from './php-code.mjs';
import { vitest } from './vitest.mjs';

/** Folder for what the jobs report. */
export const results = join(root, '.cache/test-results');

/** Groups of checks that take a few seconds, and their jobs. */
export const checks = {
  lint: [
    program('lint', tool('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.'),
    program('dependency rule, length of files', 'scripts/check-structure.mjs'),
    program('words that are gone', 'scripts/check-words.mjs'),
    program('subject of the commit', 'scripts/check-subject.mjs'),
  ],
  types: [program('types of the tests', tool('typescript/bin/tsc'), '--project', 'tsconfig.test.json')],
  docs: [program('docs/developer/api-reference.md is current', 'scripts/generate-api-reference.mjs', '--check')],
  texts: [program('every text is in the catalogue and in every language', 'scripts/run.mjs', 'texts', '--check')],
  connector: [
    check('connector: its own tests in PHP', testConnector),
    check('connector: the WordPress coding standard', checkCodingStandard),
    check('connector: static analysis', analysePhp),
  ],
};

/**
 * Groups of tests that take minutes, and their jobs.
 *
 * @param options `all`: every suite on every stack, and everything on the other Node; `otherNode`: its release, or
 *   undefined; `shuffle`: number that decides the order of the test files, or undefined; `isUsualMissing`: whether the
 *   stack of most sites can't run on this machine
 */
export function tests({ all, otherNode, shuffle, isUsualMissing }) {
  const of = (name, part, options = {}) => {
    const title = part === undefined ? `packages/${name}` : `packages/${name}, ${part}`;
    return testsIn(`packages/${name}`, title, { shuffle, ...options });
  };
  const endToEnd = ([stack, suites]) =>
    of('e2e', `${stack} (${suites})`, {
      env: { E2E_STACK: stack, E2E_SUITES: suites, ...(all ? { E2E_ALL: '1' } : {}) },
    });
  const onOtherNode = (name) =>
    of(name, `Node ${otherNode}`, { node: nodeBinary(otherNode), env: all ? {} : { NODE_INTERFACES: '1' } });
  return {
    unit: ['guard', 'dashboard', 'bench', 'contract', 'translations'].map((name) => of(name)),
    postgres: [of('guard', 'PostgreSQL', { config: 'vitest.postgres.config.ts' })],
    e2e: (all ? everyStack() : usualStacks(isUsualMissing)).map(endToEnd),
    'other-node': otherNode === undefined ? [] : ['guard', 'contract'].map(onOtherNode),
    visual: [of('dashboard', 'visual', { config: 'vitest.visual.config.ts' })],
    sandbox: [of('sandbox')],
    chaos: [of('e2e', 'chaos', { config: 'vitest.chaos.config.ts' })],
    packages: [of('e2e', 'packages', { config: 'vitest.packages.config.ts', env: { PACKAGE_TESTS: 'short' } })],
    runner: [testsIn('scripts', 'scripts', { shuffle })],
  };
}

/**
 * Seconds that jobs take beside others on two cores. They decide the order alone: the longest first, so that none runs
 * by itself at the end.
 */
const SECONDS = {
  'e2e, nginx-defaults (installs)': 600,
  guard: 515,
  'e2e, nginx-defaults (activity)': 445,
  'e2e, embedded (login,activity,others)': 400,
  'e2e, nginx-defaults (login)': 290,
  'e2e, nginx-defaults (interface)': 250,
  'e2e, nginx-defaults (others)': 250,
  'guard, PostgreSQL': 240,
  'guard, Node 26': 200,
  'e2e, packages': 200,
  dashboard: 160,
  'e2e, embedded (installs)': 130,
  'e2e, production (login,installs,others)': 120,
  sandbox: 105,
  'dashboard, visual': 75,
  'e2e, chaos': 65,
  scripts: 30,
};

/** Jobs in the order in which they are to begin. */
export function longestFirst(jobs) {
  const seconds = ({ name }) => SECONDS[name.replace('packages/', '')] ?? 10;
  return [...jobs].sort((one, other) => seconds(other) - seconds(one));
}

const SUITES = ['installs', 'activity', 'login', 'interface', 'others'];

/**
 * Stacks, and the groups of end-to-end suites that have something to do there (packages/e2e/vitest.config.ts). What is
 * the same on every stack runs on the embedded one where the one of most sites is missing.
 */
function usualStacks(isUsualMissing) {
  return [
    ...SUITES.map((suites) => ['nginx-defaults', suites]),
    ['embedded', 'login,activity,others'],
    ['embedded', 'installs'],
    ...(isUsualMissing ? [['embedded', 'interface']] : []),
    ['production', 'login,installs,others'],
  ];
}

function everyStack() {
  return ['nginx-defaults', 'embedded', 'production'].flatMap((stack) => SUITES.map((suites) => [stack, suites]));
}

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

/** The tests of one folder as a job; `workAlone` runs one test file of it, given from the root of the checkout. */
function testsIn(folder, name, options = {}) {
  const report = join(results, name.replace('packages/', '').replace(/[^\w.]+/g, '-'));
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
