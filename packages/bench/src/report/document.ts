import { readFileSync, writeFileSync } from 'node:fs';
import type { Results } from './results.js';
import { markdownTable } from './table.js';

const begin = (measure: string) => `<!-- results of ${measure}: written by npm run bench -->`;
const end = (measure: string) => `<!-- end of results of ${measure} -->`;

/** Puts the results of a measure into the document, so that its table is never typed by hand. */
export function updateDocument(file: string, results: Results): void {
  writeFileSync(file, withResults(readFileSync(file, 'utf8'), results));
}

/** @throws Error when the document has no place for this measure */
export function withResults(document: string, results: Results): string {
  const first = begin(results.measure);
  const last = end(results.measure);
  const from = document.indexOf(first);
  const to = document.indexOf(last);
  if (from === -1 || to < from) throw new Error(`the document has no lines ${first} and ${last}`);
  return `${document.slice(0, from + first.length)}\n\n${section(results)}\n${document.slice(to)}`;
}

function section({ at, rounds, secondsPerTurn, machine, lines }: Results): string {
  const day = at.slice(0, 10);
  return [
    `Run of ${day}: ${rounds} rounds, ${secondsPerTurn} s a turn. A virtual machine with ${machine.cores} cores and`,
    `${machine.memoryGigabytes} GB of memory (${machine.platform}), Node ${machine.node}; load average`,
    `${machine.loadBefore} before the run, ${machine.loadAfter} at its end (the bench itself makes two to three).`,
    '',
    markdownTable(lines),
  ].join('\n');
}
