/**
 * A process that sends requests at a fixed rate, whatever becomes of the earlier ones, and counts every response that
 * is not the expected one. It is controlled by messages of its parent; see `load.ts`.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadCommand, LoadReport, LoadSettings } from './load.js';

/** Persistent connections of browsers and proxies. */
const KEPT = 48;
/** Interval at which due requests are sent, milliseconds. */
const TICK_MS = 4;
/** Every n-th request of each kind; all others are pages on persistent connections. */
const EVERY = { newConnection: 4, refused: 40, form: 50 } as const;
/** Failures that are described in the report. */
const DESCRIBED = 20;
/** Refusals after which an attacker stops. */
const REFUSALS = 3;
/** Attempts at a time of one attacker. */
const GUESSES_AT_ONCE = 2;

const settings = JSON.parse(process.argv[2] ?? '') as LoadSettings;
const agent = new Agent({ keepAlive: true, maxSockets: KEPT, maxFreeSockets: KEPT, scheduling: 'fifo' });
const sent = new Map<string, number>();
const kinds: Record<string, number> = {};
const failures: string[] = [];
const waits: number[] = [];
let failed = 0;
let responses = 0;
let underWay = 0;
let skipped = 0;

interface Sent {
  readonly kind: string;
  readonly address: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Pieces of the body, and the pause between two of them. */
  readonly slowly?: { readonly pieces: number; readonly ms: number };
  readonly isNew?: boolean;
  /** By `performance.now`. Default: now. */
  readonly due?: number;
  readonly expect: (status: number, body: Buffer) => boolean;
}

/** Sends a request. @returns its status; 0 when there was no whole response */
function exchange(what: Sent): Promise<number> {
  const { kind, address, path, method = 'GET', headers, body, slowly, isNew, due = performance.now(), expect } = what;
  underWay++;
  sent.set(address, (sent.get(address) ?? 0) + 1);
  kinds[kind] = (kinds[kind] ?? 0) + 1;
  return new Promise((resolve) => {
    const fail = (why: string): void => {
      failed++;
      if (failures.length < DESCRIBED) failures.push(`${kind} after ${Math.round(performance.now() - due)} ms: ${why}`);
    };
    const over = (status: number): void => {
      underWay--;
      resolve(status);
    };
    const options: RequestOptions = {
      ...{ host: '127.0.0.1', port: settings.port, path, method, agent: isNew ? false : agent },
      headers: {
        ...{ host: 'example.com', 'x-forwarded-for': address, ...headers },
        ...(isNew && { connection: 'close' }),
        ...(body !== undefined && { 'content-length': String(body.length) }),
      },
    };
    let hasResponse = false;
    const outgoing = request(options, (response: IncomingMessage) => {
      hasResponse = true;
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('error', () => {});
      response.once('close', () => {
        const status = response.statusCode ?? 0;
        const received = Buffer.concat(pieces);
        responses++;
        waits.push(performance.now() - due);
        if (!response.complete) fail(`cut after ${received.length} bytes`);
        else if (!expect(status, received)) fail(`status ${status}, ${received.toString('latin1', 0, 80)}`);
        over(response.complete ? status : 0);
      });
    });
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      // The response's own end says whether it was whole.
      if (hasResponse) return;
      fail(error.code ?? error.message);
      over(0);
    });
    if (slowly === undefined || body === undefined) outgoing.end(body);
    else void writeSlowly(outgoing, Buffer.from(body), slowly);
  });
}

async function writeSlowly(
  outgoing: ReturnType<typeof request>,
  body: Buffer,
  { pieces, ms }: NonNullable<Sent['slowly']>,
): Promise<void> {
  const size = Math.ceil(body.length / pieces);
  for (let at = 0; at < body.length; at += size) {
    outgoing.write(body.subarray(at, at + size));
    await sleep(ms);
  }
  outgoing.end();
}

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const isPage = (status: number, body: Buffer) => status === 200 && body.equals(page);
const page = Buffer.from(settings.page, 'latin1');
const isRefused = (status: number) => status === 403;
const repeats = (body: string | Buffer) => (status: number, received: Buffer) =>
  status === 200 && received.toString() === sha256(body);

let number = 0;

/** The next request of the steady load. */
function sendNext(due: number): void {
  number++;
  const address = `198.51.100.${1 + (number % settings.addresses)}`;
  const common = { address, due, isNew: number % EVERY.newConnection === 0 };
  if (number % EVERY.refused === 0) {
    void exchange({ ...common, kind: 'refused', path: settings.refusedPath, expect: isRefused });
  } else if (number % EVERY.form === 1) {
    const body = `message=${number}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    void exchange({ ...common, kind: 'form', method: 'POST', path: '/contact', headers, body, expect: repeats(body) });
  } else {
    const path = `/page-${number % 5}.html`;
    void exchange({ ...common, kind: common.isNew ? 'page, new connection' : 'page', path, expect: isPage });
  }
}

/** Uploads and downloads that take this long, milliseconds. */
async function transferSlowly(ms: number, address: string): Promise<void> {
  const body = randomBytes(200_000);
  const slowly = { pieces: 20, ms: ms / 20 };
  const headers = { 'content-type': 'application/octet-stream' };
  const upload = { kind: 'slow upload', method: 'POST', path: '/upload', headers, body, slowly, expect: repeats(body) };
  const path = `/download?ms=${Math.round(ms)}`;
  const expect = (status: number, received: Buffer) => status === 200 && received.length === settings.downloadBytes;
  await Promise.all([
    exchange({ ...upload, address, isNew: true }),
    exchange({ kind: 'slow download', address, path, isNew: true, expect }),
  ]);
}

/** Guesses passwords until the address has been refused several times. */
async function attack(address: string): Promise<void> {
  let refused = 0;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const guess = { kind: 'guess', address, method: 'POST', path: '/wp-login.php', headers };
  const guesser = async () => {
    while (refused < REFUSALS) {
      const expect = (status: number) => status === 200 || status === 429;
      const status = await exchange({ ...guess, body: 'log=owner&pwd=wrong', expect });
      if (status === 429) refused++;
      else if (status !== 200) return;
    }
  };
  await Promise.all(Array.from({ length: GUESSES_AT_ONCE }, guesser));
}

const startedAt = performance.now();
/** When the next request is due, by `performance.now`. */
let next = startedAt;
const timer = setInterval(() => {
  const now = performance.now();
  for (; next <= now; next += 1000 / settings.perSecond) {
    if (underWay < settings.maxUnderWay) sendNext(next);
    else skipped++;
  }
}, TICK_MS);

const extra = new Set<Promise<void>>();
const begin = (work: Promise<void>): void => {
  extra.add(work);
  void work.finally(() => extra.delete(work));
};

process.on('message', (command: LoadCommand) => {
  if (command.name === 'attack') begin(attack(command.address));
  else if (command.name === 'transfer') begin(transferSlowly(command.ms, command.address));
  else if (command.name === 'count') process.send?.({ name: 'count', responses, underWay });
  else void finish();
});
process.on('disconnect', () => process.exit(1));
// The parent decides when the load ends, also when a terminal interrupts both.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

async function finish(): Promise<void> {
  clearInterval(timer);
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all(extra);
  while (underWay > 0) await sleep(10);
  agent.destroy();
  waits.sort((one, other) => one - other);
  const at = (share: number) => Math.round(waits[Math.floor((waits.length - 1) * share)] ?? 0);
  const requests = [...sent.values()].reduce((sum, count) => sum + count, 0);
  const report: LoadReport = {
    ...{ requests, perSecond: requests / seconds, seconds, skipped, failed, failures, kinds },
    sent: Object.fromEntries(sent),
    waitMs: { p50: at(0.5), p99: at(0.99), longest: at(1) },
  };
  process.send?.({ name: 'report', report }, () => process.exit(0));
}
