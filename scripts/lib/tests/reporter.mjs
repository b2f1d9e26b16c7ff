import { writeFileSync, writeSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from '../run.mjs';

/** Lines of a message that are shown, so that a page of HTML in an assertion does not bury the rest. */
const MESSAGE_LINES = 60;

/**
 * Reporter of Vitest for `npm test`. It prints one line for each test file, shows a failure as soon as it is known, and
 * writes the results to a file when the run has ended. A run that crashes writes none.
 *
 * Environment: `TEST_RESULTS`, path of the results; `TEST_FAILURES`, number of the open file for failures.
 *
 * Results: `{ files, errors }`. A file is `{ file, passed, failed, skipped, seconds, ended, failures }` with its path
 * from the root of the checkout; `ended` is false where its worker went away before, and `failures` are
 * `{ name, text }`. `errors` are the texts of errors that belong to no test.
 */
export default class Reporter {
  /** Failures by path of the test file. */
  #failures = new Map();
  /** Paths of the test files whose worker has reported their end. */
  #ended = new Set();
  #expected = [];
  #folder = '';

  onInit(vitest) {
    this.#folder = relative(root, vitest.config.root);
  }

  onTestRunStart(specifications) {
    this.#expected = specifications.map(toPath);
  }

  onUserConsoleLog({ content }) {
    process.stdout.write(content);
  }

  onTestCaseResult(test) {
    const { state, errors } = test.result();
    if (state !== 'failed') return;
    this.#fail(test.module, test.fullName, errors ?? [], test.meta().guardLog);
  }

  /** An error in a hook around several tests belongs to their suite. */
  onTestSuiteResult(suite) {
    if (suite.errors().length > 0) this.#fail(suite.module, suite.fullName, suite.errors());
  }

  onTestModuleEnd(module) {
    this.#ended.add(toPath(module));
    if (module.errors().length > 0) this.#fail(module, '(the file itself)', module.errors());
    const { file, passed, failed, skipped, seconds, failures } = this.#result(module);
    const counts = [`${passed} passed`];
    if (failed > 0) counts.push(`${failed} failed`);
    if (skipped > 0) counts.push(`${skipped} skipped`);
    const label = failures.length === 0 ? 'ok  ' : 'FAIL';
    process.stdout.write(`${label} ${file} (${counts.join(', ')}, ${seconds.toFixed(1)} s)\n`);
  }

  onTestRunEnd(modules, unhandledErrors) {
    const errors = unhandledErrors.map(toText);
    for (const error of errors) show(`FAIL ${this.#folder}: an error outside all tests\n${indent(error)}\n`);
    const files = modules.map((module) => this.#result(module));
    // Where a worker goes away, Vitest does not name the files that were still to come.
    const missing = this.#expected.filter((file) => files.every((known) => known.file !== file));
    const none = { passed: 0, failed: 0, skipped: 0, seconds: 0, ended: false, failures: [] };
    const results = { files: [...files, ...missing.map((file) => ({ file, ...none }))], errors };
    writeFileSync(process.env.TEST_RESULTS, JSON.stringify(results, null, 1));
  }

  #fail(module, name, errors, guardLog) {
    const file = toPath(module);
    const text = errors.map(toText).join('\n');
    this.#failures.set(file, [...(this.#failures.get(file) ?? []), { name, text }]);
    const log = guardLog === undefined ? '' : `    The end of guard's log:\n${indent(guardLog.join('\n'))}\n`;
    show(`FAIL ${file} > ${name}\n${indent(text)}\n${log}`);
  }

  #result(module) {
    const file = toPath(module);
    const states = [...module.children.allTests()].map((test) => test.result().state);
    const count = (state) => states.filter((each) => each === state).length;
    const failures = this.#failures.get(file) ?? [];
    return {
      file,
      passed: count('passed'),
      // A hook that fails takes its tests with it, which then count as skipped.
      failed: failures.length === 0 ? 0 : Math.max(1, count('failed')),
      skipped: count('skipped'),
      seconds: module.diagnostic().duration / 1000,
      // Not by its tests: in a suite that is skipped, Vitest leaves some of them pending.
      ended: this.#ended.has(file),
      failures,
    };
  }
}

/** Path of a test file from the root of the checkout, for a module or what is to become one. */
function toPath({ moduleId }) {
  return relative(root, moduleId);
}

/** Message, difference and place of an error. */
function toText(error) {
  const at = error.stacks?.find(({ file }) => !file.includes('/node_modules/'));
  const message = `${error.name ?? 'Error'}: ${error.message}`;
  const lines = [at === undefined && error.stack ? error.stack : message];
  if (error.diff) lines.push(error.diff);
  if (at !== undefined) lines.push(`at ${relative(root, at.file)}:${at.line}:${at.column}`);
  if (error.cause?.message !== undefined) lines.push(`cause: ${toText(error.cause)}`);
  return stripVTControlCharacters(lines.join('\n')).split('\n').slice(0, MESSAGE_LINES).join('\n');
}

function indent(text) {
  return text.replace(/^/gm, '    ');
}

/** Writes at once and whole, also to a pipe whose reader is slow. */
function show(text) {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(Number(process.env.TEST_FAILURES), bytes));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}
