import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { awaitResponse, crowd, disconnect, openVisit, pause, readSlowly, reset, type Step, send } from './client.js';
import { listSockets } from './observe.js';
import { createRandom } from './random.js';
import { page, several } from './requests.js';

/** What the server has received on one connection. */
interface Seen {
  readonly from: string;
  received: string;
  end: 'open' | 'FIN' | 'RST';
}

const seen: Seen[] = [];
const notes: (number | null)[] = [];
const held: Socket[] = [];
const sockets = new Set<Socket>();
let server: Server;
/** What the server sends to each connection as it begins. */
let greeting: Buffer | string;
/** Whether the server reads nothing, so that data stays in the kernel. */
let readsNothing: boolean;

beforeEach(async () => {
  for (const list of [seen, notes, held]) list.length = 0;
  sockets.clear();
  greeting = '';
  readsNothing = false;
  server = createServer({ allowHalfOpen: true }, watch);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  for (const socket of [...sockets, ...held]) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

function watch(socket: Socket): void {
  const entry: Seen = { from: socket.remoteAddress ?? '', received: '', end: 'open' };
  seen.push(entry);
  sockets.add(socket);
  if (greeting !== '') socket.write(greeting);
  socket.on('error', () => {
    entry.end = 'RST';
  });
  if (readsNothing) return;
  socket.on('data', (bytes) => {
    entry.received += bytes.toString('latin1');
  });
  socket.on('end', () => {
    entry.end = 'FIN';
    socket.end();
  });
}

const port = (): number => (server.address() as AddressInfo).port;

/** Runs the steps of a visit. */
async function visit(...steps: readonly Step[]) {
  const facts = { random: createRandom(1), host: 'example.com', behaviour: 'normal', kind: 'a test', extra: '' };
  const opened = await openVisit(
    { ...facts, port: port(), from: '127.0.0.2' },
    {
      onOpened: () => {},
      onLinger: (socket) => void held.push(socket),
      onNote: (status) => void notes.push(status),
    },
  );
  for (const step of steps) await step(opened);
  return opened;
}

const ends = () => seen.map(({ end }) => end);

/**
 * The server's sockets in the kernel. Node 20 reports a reset after unread bytes as an end. After RST the kernel has no
 * connection any more; after FIN it waits for this side to close.
 */
const states = () =>
  listSockets(process.pid)
    .filter(({ localPort }) => localPort === port())
    .map(({ state }) => state);

describe.runIf(process.platform === 'linux')('a reset', () => {
  beforeEach(() => {
    readsNothing = true;
  });

  it.each<[moment: string, steps: readonly Step[]]>([
    ['as soon as it is connected', [reset]],
    ['after a request header', [send(page), pause(20), reset]],
    ['together with a request header', [send(page), reset]],
    ['in the middle of a body', [send('POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf'), pause(20), reset]],
  ])('arrives as RST %s', async (_moment, steps) => {
    const opened = await visit();
    await expect.poll(states).toEqual(['ESTABLISHED']);
    for (const step of steps) await step(opened);
    await expect.poll(states).toEqual([]);
    expect(sockets.size).toBe(1);
  });

  it('arrives as RST while the response is sent', async () => {
    greeting = 'HTTP/1.1 200 OK\r\n';
    await visit(send(page), awaitResponse(), reset);
    await expect.poll(() => sockets.size).toBe(1);
    await expect.poll(states).toEqual([]);
  });

  it('differs from closing, which arrives as FIN', async () => {
    await visit(send(page), pause(20), disconnect);
    await expect.poll(states).toEqual(['CLOSE_WAIT']);
  });
});

describe('a pipeline', () => {
  it('arrives completely, request after request', async () => {
    await visit(send(several(10_000, page)));
    const line = 'GET / HTTP/1.1\r\nHost: example.com\r\n\r\n';
    await expect.poll(() => seen[0]?.received.length).toBe(10_000 * line.length);
    expect(seen[0]?.received.split(line)).toHaveLength(10_001);
  });
});

describe('a crowd', () => {
  it('opens the requested number of connections, runs the steps on each, and closes all at the end', async () => {
    await visit(crowd({ count: 30 }, send(page)));
    await expect.poll(() => seen.filter(({ received }) => received.startsWith('GET /')).length).toBe(30);
    await expect.poll(() => ends().filter((end) => end === 'open').length).toBe(1);
    expect(new Set(seen.map(({ from }) => from))).toEqual(new Set(['127.0.0.2']));
  });

  it('distributes its connections among its own addresses', async () => {
    await visit(crowd({ count: 12, addresses: 4 }, send(page)));
    await expect.poll(() => seen.length).toBe(13);
    const counts = [...new Set(seen.map(({ from }) => from))].map(
      (from) => seen.filter((each) => each.from === from).length,
    );
    expect(counts.sort()).toEqual([1, 3, 3, 3, 3]);
  });

  it('is still connected when one more connection comes from its address', async () => {
    greeting = 'HTTP/1.1 200 OK\r\n';
    let openCount: number | undefined;
    const last: Step = async (other) => {
      await send(page)(other);
      await expect.poll(() => seen.filter(({ received }) => received !== '').length).toBe(6);
      openCount = ends().filter((end) => end === 'open').length;
      other.note(200);
    };
    await visit(crowd({ count: 5, addresses: 1, last: [last] }, send(page), awaitResponse(60_000)));
    expect(openCount).toBe(7);
    expect(notes).toEqual([200]);
    expect(new Set(seen.slice(1).map(({ from }) => from)).size).toBe(1);
  });

  it('that still waits for responses does not count as idle, and nothing is judged', async () => {
    await visit(crowd({ count: 5, addresses: 1, last: [({ note }) => note(null)] }, send(page)));
    expect(notes).toEqual([]);
  });
});

describe('a slow reader', () => {
  it('leaves most of a large response in the buffers of the server', async () => {
    greeting = Buffer.alloc(30_000_000, 'x');
    const reader = await visit(readSlowly(600));
    expect(reader.socket.bytesRead).toBeGreaterThan(0);
    expect(reader.socket.bytesRead).toBeLessThan(15_000_000);
    expect([...sockets][0]?.writableLength).toBeGreaterThan(0);
  });
});
