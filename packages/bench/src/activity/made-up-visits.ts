/** Visitors of the made-up site. Visitor 0 asks for as much as thousands of others. */
export const VISITORS = 200_000;
/** Days over which the visits are spread. */
export const DAYS = 12;

const SECONDS_OF_DAY = 86_400;
/** Share of a day's visits that come within its last ten minutes. */
const BURST_SHARE = 0.3;
const BURST_SECONDS = 600;

const TYPES = [
  ...[
    'Human',
    'Unknown',
    'Googlebot',
    'Bingbot',
    'AhrefsBot',
    'SemrushBot',
    'Unverified bot',
    'curl',
    'python-requests',
  ],
  ...['Other bot', 'DotBot', 'PetalBot', 'facebookexternalhit', 'UptimeRobot', 'Go-http-client'],
];
const ANSWERS = [
  { status: 200, rule: '' },
  { status: 301, rule: '' },
  { status: 302, rule: '' },
  { status: 304, rule: '' },
  { status: 404, rule: '' },
  { status: 500, rule: '' },
  { status: 403, rule: 'xml-rpc' },
  { status: 403, rule: 'system-folders' },
  { status: 403, rule: 'blocked-visitor' },
  { status: 429, rule: 'login-limit' },
];

/** Every type with every answer; the first ones are the most frequent. */
export const visitKinds = ANSWERS.flatMap((answer) => TYPES.map((type) => ({ type, ...answer })));

export interface MadeUpVisit {
  /** Unix seconds; never less than that of the visit before. */
  readonly second: number;
  /** Index in `visitKinds`. */
  readonly kind: number;
  /** From 0 to `VISITORS`. */
  readonly visitor: number;
  readonly target: string;
}

/**
 * Visits as a site under attack sees them, always the same for the same arguments: a quiet day and a burst at its end,
 * few frequent visitors and types and many rare ones, one visitor with a tenth of everything.
 */
export function* madeUpVisits(rows: number, to: number): Generator<MadeUpVisit> {
  const random = randomNumbers(rows);
  const from = to - DAYS * SECONDS_OF_DAY;
  for (let row = 0; row < rows; row++) {
    const [day, part] = split((row / rows) * DAYS);
    const quiet = 1 - BURST_SHARE;
    const burst = part >= quiet;
    const second = burst
      ? SECONDS_OF_DAY - BURST_SECONDS + ((part - quiet) / BURST_SHARE) * BURST_SECONDS
      : (part / quiet) * (SECONDS_OF_DAY - BURST_SECONDS);
    const visitor = random() < 0.1 ? 0 : Math.floor(random() ** 2 * VISITORS);
    yield {
      second: Math.floor(from + day * SECONDS_OF_DAY + second),
      kind: Math.floor(random() ** 3 * visitKinds.length),
      visitor,
      target: burst ? `/wp-login.php?try=${row}` : `/articles/${Math.floor(random() ** 2 * 5000)}/a-made-up-headline/`,
    };
  }
}

function split(value: number): [whole: number, part: number] {
  return [Math.floor(value), value % 1];
}

/** Numbers from 0 (inside) to 1 (outside) that look random (Marsaglia: "Xorshift RNGs", 2003, the 32-bit generator). */
function randomNumbers(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
