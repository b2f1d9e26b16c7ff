#!/usr/bin/env node
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench } from './measure.js';
import { measures } from './measures/index.js';
import { type BenchOptions, help, readOptions, UsageError } from './options.js';
import { requirePrograms } from './prerequisites.js';
import {
  ended,
  isBusy,
  machine,
  type Results,
  resultsText,
  table,
  updateDocument,
  writeResults,
} from './report/report.js';

const documentFile = fileURLToPath(new URL('../../../docs/developer/benchmarks.md', import.meta.url));
const resultsFile = fileURLToPath(new URL('../../../bench/results.json', import.meta.url));

/** @returns the exit code: 0 if every bar is met, 1 if one is missed or the run failed, 2 for wrong options */
export async function bench(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(help);
    return 0;
  }
  try {
    const options = readOptions(
      args,
      measures.map((measure) => measure.id),
    );
    requirePrograms(log);
    const all = await run(options);
    process.stdout.write(options.json ? resultsText(all) : `${table(all.flatMap(({ lines }) => lines))}\n`);
    const missed = all.flatMap(({ lines }) => lines).filter((line) => line.pass === false).length;
    log(missed === 0 ? 'Every bar is met.' : `${missed} ${missed === 1 ? 'bar is' : 'bars are'} missed.`);
    return missed === 0 ? 0 : 1;
  } catch (error) {
    if (error instanceof UsageError) {
      log(`${error.message}\n\n${help}`);
      return 2;
    }
    log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return 1;
  }
}

/** Runs the measures one after the other. The results of earlier ones are stored even if a later one fails. */
async function run(options: BenchOptions): Promise<Results[]> {
  const all: Results[] = [];
  for (const measure of measures) {
    if (options.only !== null && !options.only.includes(measure.id)) continue;
    const at = new Date().toISOString();
    const facts = machine();
    // After the first measure the load is that of the bench.
    if (all.length === 0 && isBusy(facts)) {
      log(`Other programs use this machine (load average ${facts.loadBefore}): what follows is partly about them.`);
    }
    log(`${measure.id}: ${measure.title}`);
    const lines = await withBench(options, (given) => measure.run(given));
    const { rounds, seconds: secondsPerTurn } = options;
    const results = { measure: measure.id, at, rounds, secondsPerTurn, machine: ended(facts), lines };
    all.push(results);
    if (options.keep) {
      writeResults(resultsFile, results);
      updateDocument(documentFile, results);
    }
  }
  return all;
}

/** Gives a measure its folder, and stops all that it started when it ends. */
async function withBench<T>(options: BenchOptions, use: (bench: Bench) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'so-bench-'));
  const running: { stop(): Promise<void> }[] = [];
  const stopAll = async (): Promise<void> => {
    try {
      for (let last = running.pop(); last !== undefined; last = running.pop()) await last.stop();
    } finally {
      // A failed stop must not prevent the others.
      if (running.length > 0) await stopAll();
      else rmSync(dir, { recursive: true, force: true });
    }
  };
  const interrupted = () => void stopAll().finally(() => process.exit(130));
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted);
  try {
    return await use({
      dir,
      rounds: options.rounds,
      seconds: options.seconds,
      log,
      stopAtEnd(started) {
        running.push(started);
        return started;
      },
    });
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    await stopAll();
  }
}

function log(text: string): void {
  process.stderr.write(`${text}\n`);
}
