import { toAddress } from '@security-optimizer/guard/testing';

/** 192.0.2.0/24, 198.51.100.0/24 and 203.0.113.0/24. */
const IPV4_NETWORKS = [0xc0000200, 0xc6336400, 0xcb007100];

/** An address of the documentation networks (RFC 5737, RFC 3849): IPv4 for the first ones, else IPv6. */
export function toVisitorAddress(index: number): string {
  const network = IPV4_NETWORKS[index >>> 8];
  return toAddress(network === undefined ? [0x20010db8, 0, 0, index] : [0, 0, 0xffff, network + (index & 255)]).text;
}

/** Visitors of the sample site. Visitor 0 sends as many requests as thousands of others. */
export const VISITORS = 200_000;
/** Days over which the visits are spread. */
export const DAYS = 12;

const SECONDS_OF_DAY = 86_400;
/** Share of a day's visits in its last ten minutes. */
const BURST_SHARE = 0.3;
const BURST_SECONDS = 600;

/** Different user agents. */
export const AGENTS = 1000;
/** Reference of the first row; each row has the next one. */
export const FIRST_REFERENCE = 1_000_000;

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
const RESPONSES = [
  { status: 200, rule: '', goal: '', failed: 0 },
  { status: 301, rule: '', goal: '', failed: 0 },
  { status: 302, rule: '', goal: '', failed: 0 },
  { status: 304, rule: '', goal: '', failed: 0 },
  { status: 404, rule: '', goal: '', failed: 0 },
  { status: 500, rule: '', goal: '', failed: 0 },
  { status: 403, rule: 'xml-rpc', goal: 'passwords', failed: 0 },
  { status: 403, rule: 'system-folders', goal: 'holes', failed: 0 },
  { status: 403, rule: 'blocked-visitor', goal: 'overload', failed: 0 },
  { status: 429, rule: 'login-limit', goal: 'passwords', failed: 0 },
  { status: 404, rule: '', goal: 'files', failed: 0 },
  { status: 200, rule: '', goal: 'passwords', failed: 1 },
];

/** Every type with every response. The first ones are the most frequent. */
export const visitKinds = RESPONSES.flatMap((response) => TYPES.map((type) => ({ type, ...response })));

export interface SampleVisit {
  /** Unix seconds in ascending order. */
  readonly second: number;
  /** Index in `visitKinds`. */
  readonly kind: number;
  /** From 0 to `VISITORS`. */
  readonly visitor: number;
  readonly target: string;
}

/**
 * Generates the visits of a site under attack, the same ones for the same arguments: each day is quiet and has a burst
 * at its end; few visitors and types are frequent and many are rare; one visitor has a tenth of all visits.
 */
export function* generateVisits(rows: number, to: number): Generator<SampleVisit> {
  const random = randomNumbers(rows);
  const from = to - DAYS * SECONDS_OF_DAY;
  for (let row = 0; row < rows; row++) {
    const [day, part] = splitNumber((row / rows) * DAYS);
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

function splitNumber(value: number): [whole: number, part: number] {
  return [Math.floor(value), value % 1];
}

/** Pseudo-random numbers from 0 to 1, without 1 (Marsaglia: "Xorshift RNGs", 2003, the 32-bit generator). */
function randomNumbers(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
