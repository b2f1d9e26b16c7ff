import { readFileSync, writeFileSync } from 'node:fs';
import type { Results } from './results.js';
import { markdownTable } from './table.js';

const BEGIN = '<!-- results: written by npm run bench -->';
const END = '<!-- end of results -->';

/** Puts the results of a run into the document, so that its table is never typed by hand. */
export function updateDocument(file: string, results: Results): void {
  writeFileSync(file, withResults(readFileSync(file, 'utf8'), results));
}

/** @throws Error when the document has no place for them */
export function withResults(document: string, results: Results): string {
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`the document has no lines ${BEGIN} and ${END}`);
  return `${document.slice(0, begin + BEGIN.length)}\n\n${section(results)}\n${document.slice(end)}`;
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
