import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { until } from '../stacks/until.js';

/**
 * Starts each guard with descriptor 3, reports its begin and end, and keeps the socket open in between. It ends with its
 * input, also when this process is killed, and kills the guards.
 */
const PROGRAM = `
while read -r number; do
  {
    sh -c 'echo "begun $$"; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@" 2>"$0"' "$LOGS.$number" "$@"
    echo "ended $number $?"
  } &
done
kill -KILL 0`;

/** As in the example of the socket unit. */
const BACKLOG = 4096;

export interface SupervisedGuard {
  readonly pid: number;
  /** Its log so far. */
  log(): string;
  /** Its exit code; null while it runs. */
  exitCode(): number | null;
}

/** A supervisor that owns a listening socket and passes it to one guard after another, as systemd does. */
export interface Supervisor {
  readonly port: number;
  /** Starts a guard without waiting for anything but its process. */
  start(): Promise<SupervisedGuard>;
  /** Kills what still runs. */
  stop(): void;
}

/**
 * @param command the program and its arguments
 * @param logs path of the logs, to which the number of the start is added
 */
export async function startSupervisor(command: readonly string[], logs: string): Promise<Supervisor> {
  const opened = createServer();
  await new Promise<void>((resolve) => opened.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, resolve));
  const { port } = opened.address() as AddressInfo;
  const { fd } = (opened as unknown as { _handle: { fd: number } })._handle;
  const child = spawn('sh', ['-c', PROGRAM, 'sh', ...command], {
    env: { ...process.env, LOGS: logs },
    stdio: ['pipe', 'pipe', 'inherit', fd],
    // A process group of its own: a terminal must not stop guard.
    detached: true,
  });
  // From now on only the supervisor has it. No client has connected yet.
  opened.close();
  const pids: number[] = [];
  const codes = new Map<number, number>();
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    const [what, first, second] = line.split(' ');
    if (what === 'begun') pids.push(Number(first));
    else codes.set(Number(first), Number(second));
  });
  return {
    port,
    async start() {
      const number = pids.length;
      const file = `${logs}.${number}`;
      writeFileSync(file, '');
      child.stdin?.write(`${number}\n`);
      await until('guard is begun', () => pids.length > number);
      return {
        pid: pids[number] as number,
        log: () => readFileSync(file, 'utf8'),
        exitCode: () => codes.get(number) ?? null,
      };
    },
    stop: () => void child.stdin?.end(),
  };
}
