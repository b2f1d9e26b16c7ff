import { spawn } from 'node:child_process';
import { link } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { bin } from './command-line.js';
import { eventually } from './scratch.js';

/** Starts each guard with descriptor 3, reports its begin and end, and keeps the socket open in between. */
const SUPERVISOR = `
number=0
while read -r count; do
  {
    sh -c 'echo "begun $$"; LISTEN_FDS=$0 LISTEN_PID=$$ exec "$@"' "$count" "$@"
    echo "ended $number"
  } &
  number=$((number + 1))
done`;

/** `Backlog=` in the example of the socket unit. */
const BACKLOG = 4096;

export interface PassedGuard {
  readonly pid: number;
  /** The events in its log, in order. */
  events(): string[];
  hasEnded(): boolean;
}

/**
 * A supervisor that owns a listening socket and passes it to one guard after another.
 *
 * @param options `path` of a Unix socket, by default a TCP port of this machine; `under`: a command that runs guard in its
 *   own process, with its arguments
 */
export async function passedSocket(options: {
  dataDir: string;
  path?: string;
  count?: number;
  under?: readonly string[];
}) {
  const opened = createServer();
  const { path } = options;
  await new Promise<void>((resolve) => {
    const address = path === undefined ? { port: 0, host: '127.0.0.1' } : { path: `${path}.opened` };
    opened.listen({ ...address, backlog: BACKLOG }, resolve);
  });
  const port = path === undefined ? (opened.address() as AddressInfo).port : 0;
  // Node removes the path at which it has opened the socket.
  if (path !== undefined) await link(`${path}.opened`, path);
  const { fd } = (opened as unknown as { _handle: { fd: number } })._handle;
  const command = [...(options.under ?? []), process.execPath, bin, 'serve', '--data-dir', options.dataDir];
  const supervisor = spawn('sh', ['-c', SUPERVISOR, 'sh', ...command], { stdio: ['pipe', 'pipe', 'pipe', fd] });
  // From now on only the supervisor has it. No client has connected yet.
  opened.close();
  const pids: number[] = [];
  const ended = new Set<number>();
  createInterface({ input: supervisor.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    const [what, number] = line.split(' ');
    if (what === 'begun') pids.push(Number(number));
    else ended.add(Number(number));
  });
  let log = '';
  supervisor.stderr?.on('data', (chunk) => {
    log += chunk;
  });
  onTestFinished(() => {
    supervisor.stdin?.end();
    for (const [number, pid] of pids.entries()) if (!ended.has(number)) process.kill(pid, 'SIGKILL');
  });
  return {
    port,
    log: () => log,
    /** Starts a guard without waiting for anything. The log contains only this guard, if the previous one has ended. */
    async start(): Promise<PassedGuard> {
      const before = pids.length;
      const from = log.length;
      supervisor.stdin?.write(`${options.count ?? 1}\n`);
      await eventually(() => pids.length > before);
      const pid = pids[before] as number;
      return {
        pid,
        events: () => [...log.slice(from).matchAll(/"event":"([^"]+)"/g)].map(([, event]) => event as string),
        hasEnded: () => ended.has(before),
      };
    },
  };
}
