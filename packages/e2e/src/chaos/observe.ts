import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'undici';

/** A TCP connection of a process, as the kernel lists it. */
export interface OpenSocket {
  readonly localPort: number;
  readonly remotePort: number;
  /** The other side, as `127.0.0.1:8080`. */
  readonly remote: string;
  readonly state: string;
}

const LISTENING = '0A';

/** Connections that a process holds, without those it listens on. Linux only: it is read from /proc. */
export function listSockets(pid: number): OpenSocket[] {
  const inodes = new Set<string>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      if (inode !== undefined) inodes.add(inode);
    } catch {
      // Closed since the folder was read.
    }
  }
  return ['tcp', 'tcp6']
    .flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] !== LISTENING && inodes.has(fields[9] ?? ''))
    .map(([, local, remote, state = '']) => ({
      ...{ localPort: parsePort(local), remotePort: parsePort(remote), remote: endpoint(remote) },
      state: states[state] ?? state,
    }));
}

/** Those in which a connection can stay. */
const states: Readonly<Record<string, string>> = { '01': 'ESTABLISHED', '05': 'FIN_WAIT2', '08': 'CLOSE_WAIT' };

/** An IPv4 address stands in the table with its last byte first, also at the end of an IPv6 one. */
function endpoint(address = ''): string {
  const bytes = address.slice(0, address.lastIndexOf(':')).slice(-8).match(/../g) ?? [];
  const ip = bytes.map((byte) => Number.parseInt(byte, 16)).reverse();
  return `${ip.join('.')}:${parsePort(address)}`;
}

const parsePort = (address = ''): number => Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16);

/** Descriptors that a process has open, of any kind. */
export function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Resident memory of a process, in bytes; NaN if it has just ended. */
export function residentMemory(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** The resources of a process after garbage collection. */
export interface ResourceCounts {
  /** Bytes on the main thread's heap, and outside of it. */
  readonly heap: number;
  readonly external: number;
  readonly timers: number;
}

/** Reads the values through Node's inspector, without support of the program. */
export async function countResources(inspector: string): Promise<ResourceCounts> {
  const socket = new WebSocket(inspector);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error('The inspector does not answer.')));
  });
  let id = 0;
  const call = (method: string, params: object = {}): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      const mine = ++id;
      const listen = (event: { data: unknown }): void => {
        const message = JSON.parse(String(event.data));
        if (message.id !== mine) return;
        socket.removeEventListener('message', listen);
        clearTimeout(timeout);
        resolve(message.result);
      };
      const timeout = setTimeout(() => reject(new Error(`The inspector does not answer ${method}.`)), 20_000);
      socket.addEventListener('message', listen);
      socket.send(JSON.stringify({ id: mine, method, params }));
    });
  try {
    // Objects released by a finalizer are collected in the next round.
    for (let round = 0; round < 3; round++) {
      await call('HeapProfiler.collectGarbage');
      await sleep(50);
    }
    const expression = `(() => { const { heapUsed, external } = process.memoryUsage();
      return { heap: heapUsed, external, timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length };
    })()`;
    const { result } = await call('Runtime.evaluate', { expression, returnByValue: true });
    return (result as { value: ResourceCounts }).value;
  } finally {
    socket.close();
  }
}
