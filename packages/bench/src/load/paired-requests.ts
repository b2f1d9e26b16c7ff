import { Agent, get } from 'node:http';

export interface Road {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Asks for the same page by several roads, one request at a time and in turn, each road on one connection kept open.
 * For pages that take PHP tens of milliseconds: what the machine does to one road it does to the next one too.
 *
 * @returns milliseconds from sending to the last byte, by road
 */
export async function pairedRequests<Name extends string>(
  roads: Readonly<Record<Name, Road>>,
  times: number,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(roads) as Name[];
  const agents = new Map(names.map((name) => [name, new Agent({ keepAlive: true, maxSockets: 1 })]));
  const taken = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  try {
    for (let time = 0; time < times; time++) {
      for (const name of turnOf(names, time)) {
        taken[name].push(await oneRequest(roads[name], agents.get(name) as Agent));
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

function oneRequest({ url, headers }: Road, agent: Agent): Promise<number> {
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
