import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './lib/build.mjs';
import { installPackages } from './lib/install.mjs';
import { requireNode } from './lib/require-node.mjs';
import { npm, root, run } from './lib/run.mjs';
import { installSystemPackages } from './lib/system-packages.mjs';

const usage = `npm test                          everything
npm test -- --only lint,unit      some of: lint, types, docs, texts, unit, connector, sandbox, e2e
npm test -- --also-node 26        afterwards the contract's and guard's tests once more on that Node
`;

requireNode();
const { values } = parseArgs({
  options: { only: { type: 'string' }, 'also-node': { type: 'string' }, help: { type: 'boolean' } },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const results = join(root, '.cache/test-results');
const sums = { passed: 0, failed: 0 };

const groups = {
  lint: () =>
    step('lint', () => run(process.execPath, [tool('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.'])),
  types: () =>
    step('types of the tests', () =>
      run(process.execPath, [tool('typescript/bin/tsc'), '--project', 'tsconfig.test.json']),
    ),
  docs: () =>
    step('docs/api-reference.md is current', () =>
      run(process.execPath, ['scripts/generate-api-reference.mjs', '--check']),
    ),
  texts: () =>
    step('every text is in the catalogue and in every language', () =>
      run(process.execPath, ['scripts/extract-texts.mjs', '--check']),
    ),
  unit: async () => {
    for (const name of ['contract', 'guard', 'dashboard', 'bench']) await vitest(name, process.execPath);
  },
  connector: () =>
    step('connector: its own tests in PHP', async () => {
      for (const name of ['protocol-vectors', 'salts']) {
        const code = await run('php', [`packages/connector/test/${name}.test.php`]);
        if (code !== 0) return code;
      }
      return 0;
    }),
  sandbox: () => vitest('sandbox', process.execPath),
  e2e: () => vitest('e2e', process.execPath),
};

/** Runs one check that either passes or fails as a whole. */
async function step(name, check) {
  process.stderr.write(`\n== ${name}\n`);
  const passed = (await check().catch(() => 1)) === 0;
  sums[passed ? 'passed' : 'failed'] += 1;
  process.stderr.write(`${passed ? 'passed' : 'FAILED'}: ${name}\n`);
}

/** Runs the tests of one package and adds up what they say. */
async function vitest(name, node) {
  process.stderr.write(`\n== packages/${name}\n`);
  const file = join(results, `${name}-${Date.now()}.json`);
  // Colours would make a log of thousands of dots unreadable.
  const env = process.stderr.isTTY ? process.env : { ...process.env, NO_COLOR: '1' };
  const args = [
    tool('vitest/vitest.mjs'),
    'run',
    '--root',
    `packages/${name}`,
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ];
  const code = await run(node, args, env);
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
  const failed = report?.numFailedTests ?? 0;
  sums.passed += report?.numPassedTests ?? 0;
  // A file that does not even load, or a crash, has no failed test of its own.
  sums.failed += code !== 0 && failed === 0 ? 1 : failed;
}

function tool(path) {
  return join(root, 'node_modules', path);
}

/** The tests that need neither a browser nor a WordPress, on another release of Node from the npm package `node`. */
async function onOtherNode(release) {
  const prefix = join(root, `.cache/node-${release}`);
  const binary = join(prefix, 'node_modules/node/bin/node');
  if (!existsSync(binary)) {
    mkdirSync(prefix, { recursive: true });
    await npm(['install', '--prefix', prefix, '--no-save', '--loglevel=error', `node@${release}`]);
  }
  if (!existsSync(binary)) {
    await step(`Node ${release} can be installed`, () => Promise.resolve(1));
    return;
  }
  for (const name of ['contract', 'guard']) await vitest(name, binary);
}

const wanted = values.only?.split(',') ?? Object.keys(groups);
const unknown = wanted.filter((name) => !(name in groups));
if (unknown.length > 0) {
  process.stderr.write(`There is no group ${unknown.join(', ')}.\n${usage}`);
  process.exit(2);
}

try {
  await installPackages();
  const missing = await installSystemPackages();
  for (const what of missing)
    process.stderr.write(`${what} is missing: tests that need it say that they did not run.\n`);
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  await build();
  for (const name of wanted) await groups[name]();
  if (values['also-node']) await onOtherNode(values['also-node']);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  sums.failed += 1;
}
process.stdout.write(`${sums.passed} passed, ${sums.failed} failed\n`);
process.exit(sums.failed === 0 ? 0 : 1);
