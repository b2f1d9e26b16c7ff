import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Number of turns of every contender; the median counts. */
  readonly rounds: number;
  /** Length of one turn. */
  readonly seconds: number;
  /** Ids of the measures to run, lower-case; null for all. */
  readonly only: readonly string[] | null;
  /** Write the results to bench/results.json and docs/developer/benchmarks.md. */
  readonly keep: boolean;
  /** Print the results as JSON instead of a table. */
  readonly json: boolean;
}

/** A mistake on the command line. Its message is for the person who typed it. */
export class UsageError extends Error {}

export const help = `npm run bench -- [options]

  --rounds N      how often every contender has its turn (5)
  --seconds N     length of one turn (2)
  --only p1,p2    take only these measures
  --try           leave bench/results.json and docs/developer/benchmarks.md as they are
  --json          print JSON instead of a table
`;

/** @throws UsageError */
export function readOptions(args: readonly string[], known: readonly string[]): BenchOptions {
  const values = parse(args);
  const only = values.only?.toLowerCase().split(',') ?? null;
  const unknown = only?.find((id) => !known.includes(id));
  if (unknown !== undefined) throw new UsageError(`There is no measure ${unknown}; there are ${known.join(', ')}.`);
  return {
    rounds: parseInteger('rounds', values.rounds ?? '5'),
    seconds: parseInteger('seconds', values.seconds ?? '2'),
    only,
    keep: values.try !== true,
    json: values.json === true,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        only: { type: 'string' },
        try: { type: 'boolean' },
        json: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function parseInteger(name: string, text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new UsageError(`--${name}: use a whole number from 1 to 999`);
  return Number(text);
}
