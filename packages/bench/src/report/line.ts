/** One line of the report: a figure of ours beside one of a rival's from the same run. */
export interface Line {
  /** Id of the measure, such as `p1`. */
  readonly measure: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly rival: string | null;
  readonly rivalValue: number | null;
  /** Ours against the rival's: the median over the rounds, each round compared within itself. */
  readonly ratio: number | null;
  readonly bar: Bar | null;
  /** Null when no bar stands for this line. */
  readonly pass: boolean | null;
}

export interface Bar {
  /** What is held against the limit. */
  readonly of: 'ratio' | 'value';
  readonly is: 'at least' | 'at most';
  readonly limit: number;
}

/** Makes a line and says whether it meets its bar. */
export function line(facts: {
  readonly measure: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** `ratio` is null where one figure has no sense as a multiple of the other: differences may be about nothing. */
  readonly rival?: { readonly name: string; readonly value: number; readonly ratio: number | null };
  readonly bar?: Bar;
}): Line {
  const { measure, what, value, unit, rival, bar } = facts;
  const held = bar?.of === 'ratio' ? (rival?.ratio ?? Number.NaN) : value;
  return {
    measure,
    what,
    value,
    unit,
    rival: rival?.name ?? null,
    rivalValue: rival?.value ?? null,
    ratio: rival?.ratio ?? null,
    bar: bar ?? null,
    // Written so that a figure that is no number misses its bar.
    pass: bar === undefined ? null : bar.is === 'at least' ? held >= bar.limit : held <= bar.limit,
  };
}
