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
      // Each road goes first as often as the others: the first one finds colder caches.
      for (let i = 0; i < names.length; i++) {
        const name = names[(i + time) % names.length] as Name;
        taken[name].push(await oneRequest(roads[name], agents.get(name) as Agent));
      }
    }
  } finally {
    for (const agent of agents.values()) agent.destroy();
  }
  return taken;
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
