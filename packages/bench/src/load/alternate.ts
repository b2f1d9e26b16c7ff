import { Agent, get } from 'node:http';

/**
 * Runs all contenders in turn, round after round (A B C A B C …), so that changes of the machine affect all of them
 * alike. The first round is a warm-up and does not count.
 *
 * @returns the results by contender, one for each round
 */
export async function alternate<Name extends string, Result>(
  contenders: Readonly<Record<Name, (seconds: number) => Promise<Result>>>,
  options: { readonly rounds: number; readonly seconds: number; onRound?(name: Name, round: number): void },
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(contenders) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Name, Result[]>;
  for (let round = 0; round <= options.rounds; round++) {
    for (const name of names) {
      options.onRound?.(name, round);
      const result = await contenders[name](options.seconds);
      if (round > 0) results[name].push(result);
    }
  }
  return results;
}

export interface Route {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Requests the same page by several routes, one request at a time and in turn, each route on its own kept-alive
 * connection. For pages that take PHP tens of milliseconds, so that changes of the machine affect all routes alike.
 *
 * @returns milliseconds from sending to the last byte, by route
 */
export async function pairedRequests<Name extends string>(
  routes: Readonly<Record<Name, Route>>,
  times: number,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(routes) as Name[];
  const agents = new Map(names.map((name) => [name, new Agent({ keepAlive: true, maxSockets: 1 })]));
  const durations = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  try {
    for (let time = 0; time < times; time++) {
      for (const name of getRoundOrder(names, time)) {
        durations[name].push(await measureRequest(routes[name], agents.get(name) as Agent));
      }
    }
  } finally {
    for (const agent of agents.values()) agent.destroy();
  }
  return durations;
}

/**
 * The names in the order of a turn. Each comes first equally often and follows each other one equally often, because a
 * request after one to another copy of WordPress meets cold caches.
 */
export function getRoundOrder<Name>(names: readonly Name[], time: number): Name[] {
  const steps = findSteps(names.length);
  const step = steps[Math.floor(time / names.length) % steps.length] as number;
  return names.map((_, i) => names[(time + i * step) % names.length] as Name);
}

/** The step sizes that reach each of the places once. */
function findSteps(count: number): number[] {
  const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
  return Array.from({ length: count }, (_, i) => i + 1).filter((step) => gcd(count, step) === 1);
}

/** Timeout of a page. */
const TIMEOUT_MS = 20_000;

function measureRequest({ url, headers }: Route, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const sent = get(url, { agent, headers, timeout: TIMEOUT_MS }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
      response.on('data', () => {});
      response.on('error', reject);
      response.on('end', () => resolve(performance.now() - start));
    });
    sent.on('timeout', () => sent.destroy(new Error(`${url} did not answer within ${TIMEOUT_MS} ms`)));
    sent.on('error', reject);
  });
}
