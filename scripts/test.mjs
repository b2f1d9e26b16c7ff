import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { build } from './lib/build.mjs';
import { installPackages } from './lib/install.mjs';
import { requireNode } from './lib/require-node.mjs';
import { stopWithNpm } from './lib/stop-with-npm.mjs';
import { installSystemPackages } from './lib/system-packages.mjs';
import { keepBusy } from './lib/tests/busy.mjs';
import { checks, longestFirst, results, tests } from './lib/tests/jobs.mjs';
import { installNode } from './lib/tests/other-node.mjs';
import { sideBySide } from './lib/tests/side-by-side.mjs';
import { conclude } from './lib/tests/try-again.mjs';

const usage = `npm test                          everything
npm test -- --only lint,unit      some of: lint, types, docs, texts, unit, postgres, visual, connector, sandbox,
                                  chaos, packages, e2e, runner
npm test -- --all                 every end-to-end suite on every stack, and all of guard's tests on the other Node
npm test -- --also-node 26        what touches Node's own interfaces on that Node, too
npm test -- --at-a-time 1         how many parts run side by side (3)
npm test -- --busy 4              with that many processes beside it that keep the processor busy
npm test -- --shuffle 7           test files in another order, a different one for each number
`;

requireNode();
stopWithNpm();
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    all: { type: 'boolean', default: false },
    'also-node': { type: 'string' },
    'at-a-time': { type: 'string', default: '3' },
    busy: { type: 'string', default: '0' },
    shuffle: { type: 'string' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const smallest = { 'at-a-time': 1, busy: 0, shuffle: 0 };
for (const [name, minimum] of Object.entries(smallest)) {
  const given = values[name] ?? String(minimum);
  if (!/^\d{1,6}$/.test(given) || Number(given) < minimum)
    refuse(`--${name} is ${given}; it can be a whole number from ${minimum} to 999999.`);
}

/** Ends the program: it was called wrongly. */
function refuse(why) {
  process.stderr.write(`${why}\n${usage}`);
  process.exit(2);
}

/** Fetches what jobs need from the network, so that none waits for it. A job that lacks it reports that and fails. */
async function fetchNeeded() {
  const release = values['also-node'];
  if (release !== undefined) await installNode(release);
  if (!['e2e', 'sandbox', 'packages'].some((name) => selected.includes(name))) return;
  const { fetchCurrentWordPress, fetchPlugin, fetchWordPress, shopPlugin } = await import(
    '../packages/sandbox/dist/wordpress/download.js'
  );
  const printError = (error) => process.stderr.write(`${error.message}\n`);
  await fetchWordPress().catch(printError);
  // Where these can't be fetched, the stacks and suites report what they use instead and what they skip.
  await fetchCurrentWordPress().catch(printError);
  await fetchPlugin(shopPlugin).catch(() => {});
}

/** The jobs of the requested groups, and those of another release of Node if one is named. */
function listJobs(groups) {
  return Object.entries(groups).flatMap(([name, jobs]) =>
    selected.includes(name) || name === 'other-node' ? jobs : [],
  );
}

/** Jobs whose stacks depend on what this machine has, which the built sandbox knows. */
async function testJobs() {
  const { findProductionStackProblem } = await import('../packages/sandbox/dist/stacks/production.js');
  return longestFirst(listJobs(tests({ ...options, isUsualMissing: findProductionStackProblem() !== null })));
}

const options = { all: values.all, otherNode: values['also-node'], shuffle: values.shuffle };
const known = Object.keys({ ...checks, ...tests(options) }).filter((name) => name !== 'other-node');
const selected = values.only?.split(',') ?? known;
const unknown = selected.filter((name) => !known.includes(name));
if (unknown.length > 0) refuse(`There is no group ${unknown.join(', ')}.`);

const sums = { passed: 0, failed: 0, failures: [], files: [] };
const add = ({ passed, failed, failures, files }) => {
  sums.passed += passed;
  sums.failed += failed;
  sums.failures.push(...failures);
  sums.files.push(...files);
};
let stopped = false;
let relieve = async () => {};
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
  relieve = keepBusy(Number(values.busy));
  const atATime = Number(values['at-a-time']);
  // The checks run while the network is busy.
  const [sumsOfChecks] = await Promise.all([sideBySide(listJobs(checks), atATime, results), fetchNeeded()]);
  add(sumsOfChecks);
  add(await sideBySide(await testJobs(), atATime, results));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  add({ passed: 0, failed: 1, failures: [error.message], files: [] });
}
const { lines, code } = await conclude(sums, results, () => stopped);
await relieve();
process.stdout.write(`${lines.join('\n')}\n`);
process.exit(code);
