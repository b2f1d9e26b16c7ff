import { Agent, get } from 'node:http';

/**
 * Gives every contender its turn, round after round (A B C A B C …), so that changes of the machine affect
 * all of them alike. One more round before the first warms everyone up and is not kept.
 *
 * @returns the results by contender, one per round
 */
export async function alternate<Name extends string, Result>(
  contenders: Readonly<Record<Name, (seconds: number) => Promise<Result>>>,
  options: { readonly rounds: number; readonly seconds: number; onTurn?(name: Name, round: number): void },
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(contenders) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Name, Result[]>;
  for (let round = 0; round <= options.rounds; round++) {
    for (const name of names) {
      options.onTurn?.(name, round);
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
 * Asks for the same page by several routes, one request at a time and in turn, each route on one connection kept open.
 * For pages that take PHP tens of milliseconds: what the machine does to one route it does to the next one too.
 *
 * @returns milliseconds from sending to the last byte, by route
 */
export async function pairedRequests<Name extends string>(
  routes: Readonly<Record<Name, Route>>,
  times: number,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(routes) as Name[];
  const agents = new Map(names.map((name) => [name, new Agent({ keepAlive: true, maxSockets: 1 })]));
  const taken = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  try {
    for (let time = 0; time < times; time++) {
      for (const name of turnOf(names, time)) {
        taken[name].push(await oneRequest(routes[name], agents.get(name) as Agent));
      }
    }
  } finally {
    for (const agent of agents.values()) agent.destroy();
  }
  return taken;
}

/**
 * The names in the order of one turn. Each goes first as often as the others, and none always follows the same one:
 * who comes behind another copy of WordPress finds its caches cold.
 */
export function turnOf<Name>(names: readonly Name[], time: number): Name[] {
  const steps = stepsThrough(names.length);
  const step = steps[Math.floor(time / names.length) % steps.length] as number;
  return names.map((_, i) => names[(time + i * step) % names.length] as Name);
}

/** The strides that visit each of so many places once. */
function stepsThrough(places: number): number[] {
  const divides = (a: number, b: number): number => (b === 0 ? a : divides(b, a % b));
  return Array.from({ length: places }, (_, i) => i + 1).filter((step) => divides(places, step) === 1);
}

/** A page that takes so long has hung. */
const SILENCE_MS = 20_000;

function oneRequest({ url, headers }: Route, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const sent = get(url, { agent, headers, timeout: SILENCE_MS }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
      response.on('data', () => {});
      response.on('error', reject);
      response.on('end', () => resolve(performance.now() - start));
    });
    sent.on('timeout', () => sent.destroy(new Error(`${url} did not answer within ${SILENCE_MS} ms`)));
    sent.on('error', reject);
  });
}
