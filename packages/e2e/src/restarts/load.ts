import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The compiled program, also when tests run this module from its source. */
const program = fileURLToPath(new URL('../../dist/restarts/load-program.js', import.meta.url));

export interface LoadSettings {
  readonly port: number;
  readonly perSecond: number;
  /** Requests that may be under way; further ones are skipped, so that a busy machine is not overrun. */
  readonly maxUnderWay: number;
  /** Number of addresses that the trusted proxy reports in turn. */
  readonly addresses: number;
  /** Expected body of every page. */
  readonly page: string;
  readonly downloadBytes: number;
  /** A path that guard refuses with 403. */
  readonly refusedPath: string;
}

/** Messages to the program. */
export type LoadCommand =
  | { readonly name: 'attack'; readonly address: string }
  | { readonly name: 'transfer'; readonly ms: number; readonly address: string }
  | { readonly name: 'count' | 'finish' };

export interface LoadReport {
  readonly requests: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly skipped: number;
  /** Requests without the expected whole response; the first ones are described in `failures`. */
  readonly failed: number;
  readonly failures: readonly string[];
  /** Requests by kind, and by address. */
  readonly kinds: Readonly<Record<string, number>>;
  readonly sent: Readonly<Record<string, number>>;
  /** From the time when a request was due to the end of its response. */
  readonly waitMs: { readonly p50: number; readonly p99: number; readonly longest: number };
}

export interface LoadCounts {
  readonly responses: number;
  readonly underWay: number;
}

export interface Load {
  /** Begins to guess passwords from an address, until it is locked out. */
  attack(address: string): void;
  /** Begins an upload and a download that take this long. */
  transfer(ms: number, address: string): void;
  /** Number of responses so far, and of requests that wait for theirs. */
  count(): Promise<LoadCounts>;
  /** Ends the load and waits for every response. */
  finish(): Promise<LoadReport>;
  kill(): void;
}

/** Starts the load in a process of its own. */
export function startLoad(settings: LoadSettings): Load {
  const child = fork(program, [JSON.stringify(settings)], { execArgv: [] });
  const send = (command: LoadCommand) => void child.send(command);
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('The load has ended.')));
  ended.catch(() => undefined);
  const ask = async (name: 'count' | 'finish'): Promise<LoadCounts & { readonly report: LoadReport }> => {
    const given = new AbortController();
    const response = once(child, 'message', { signal: given.signal });
    send({ name });
    try {
      const [message] = await Promise.race([response, ended]);
      return message;
    } finally {
      response.catch(() => undefined);
      given.abort();
    }
  };
  return {
    attack: (address) => send({ name: 'attack', address }),
    transfer: (ms, address) => send({ name: 'transfer', ms, address }),
    count: () => ask('count'),
    finish: async () => (await ask('finish')).report,
    kill: () => void child.kill('SIGKILL'),
  };
}
