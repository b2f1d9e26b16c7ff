import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../test/support/scratch.js';
import {
  CommandConnections,
  CommandQueue,
  type CommandRequest,
  type SessionPriority,
  type SessionRequest,
} from './command-queue.js';

/** A queue whose tasks run until the test ends them. `started` holds their names in order. */
function watched(options: { sessionWaitMs?: number } = {}) {
  const queue = new CommandQueue(options);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const outcomes = new Map<string, unknown>();
  const run = (name: string, round: CommandRequest | SessionRequest): void => {
    const task = () =>
      new Promise<void>((resolve) => {
        started.push(name);
        ends.set(name, resolve);
      });
    queue.run(round, task).then(
      () => outcomes.set(name, 'done'),
      (error: { code?: string }) => outcomes.set(name, error.code),
    );
  };
  return {
    queue,
    started,
    outcomes,
    checkSession: (name: string, client: string, priority: SessionPriority = 'anonymous', isWanted = () => true) =>
      run(name, { kind: 'session', priority, client, isWanted }),
    command: (name: string, slow = false) => run(name, { kind: 'command', slow, waitMs: 60_000 }),
    async end(...names: string[]) {
      await settle();
      for (const name of names) {
        ends.get(name)?.();
        await settle();
      }
    },
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const names = (count: number, of: string) => Array.from({ length: count }, (_, i) => `${of}${i}`);

describe('session requests', () => {
  it('of anonymous clients run two at a time, one for each address, in rounds of one request for each', async () => {
    const { checkSession, end, started } = watched();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) checkSession(name, name.charAt(0));
    await end();
    expect(started).toEqual(['a1', 'b1']);
    await end('a1', 'b1', 'c1');
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2']);
    // A new client enters the current round.
    checkSession('d1', 'd');
    await end('a2', 'b2');
    expect(started.slice(5)).toEqual(['d1', 'a3']);
  });

  it('run for administrators before members, and for both before anonymous clients', async () => {
    const { checkSession, end, started } = watched();
    for (const name of names(6, 'x')) checkSession(name, name);
    for (const name of names(4, 'member')) checkSession(name, name, 'member');
    for (const name of names(2, 'owner')) checkSession(name, name, 'administrator');
    await end();
    // One connection is reserved for administrators, and one of the others is not available to anonymous clients.
    expect(started).toEqual(['x0', 'x1', 'member0', 'owner0']);
    await end('x0', 'member0', 'owner0');
    expect(started.slice(4)).toEqual(['owner1', 'member1', 'member2']);
  });

  it('of one address wait 16 at a time', async () => {
    const { checkSession, end, outcomes } = watched();
    for (const name of names(20, 'a')) checkSession(name, 'a');
    await end();
    expect([...outcomes]).toEqual(
      names(20, 'a')
        .slice(17)
        .map((name) => [name, 'too_many_calls']),
    );
  });

  it('of all addresses wait 64 at a time, and the address with the most of them loses one to a new one', async () => {
    const { checkSession, end, outcomes } = watched();
    for (const client of ['a', 'b', 'c', 'd', 'e']) for (const name of names(16, client)) checkSession(name, client);
    await end();
    // Two are under way, so 64 wait. One request of each of two clients was refused.
    expect([...outcomes.values()].every((code) => code === 'too_many_calls' || code === 'wordpress_busy')).toBe(true);
    outcomes.clear();
    checkSession('late', 'late');
    await end();
    expect([...outcomes.values()]).toEqual(['too_many_calls']);
    expect(outcomes.has('late')).toBe(false);
  });

  it('are refused when the queue is full and every address waits for one only', async () => {
    const { checkSession, end, outcomes } = watched();
    for (const name of names(67, 'n')) checkSession(name, name);
    await end();
    expect([...outcomes]).toEqual([['n66', 'wordpress_busy']]);
    checkSession('owner', 'owner', 'member');
    await end();
    expect(outcomes.has('owner')).toBe(false);
  });

  it('are refused when they have waited too long', async () => {
    const { checkSession, outcomes, end } = watched({ sessionWaitMs: 20 });
    for (const name of names(3, 'n')) checkSession(name, name);
    await eventually(() => outcomes.size > 0);
    expect([...outcomes]).toEqual([['n2', 'wordpress_busy']]);
    await end('n0');
    expect(outcomes.get('n0')).toBe('done');
  });

  it('of clients that have disconnected are removed from the queue', async () => {
    const { checkSession, end, started } = watched();
    let here = true;
    for (const name of names(5, 'n')) checkSession(name, name, 'anonymous', () => here);
    checkSession('last', 'last');
    await end();
    here = false;
    await end('n0');
    expect(started).toEqual(['n0', 'n1', 'last']);
  });
});

describe('commands', () => {
  it('run six at a time for all users together, at most three slow ones among them', async () => {
    const { checkSession, command, end, started } = watched();
    for (const name of names(90, 'n')) checkSession(name, name);
    for (const name of names(5, 'mail')) command(name, true);
    for (const name of names(5, 'policy')) command(name);
    await end();
    expect(started).toEqual(['n0', 'n1', 'mail0', 'mail1', 'mail2', 'policy0', 'policy1', 'policy2']);
    await end('policy0');
    expect(started.at(-1)).toBe('policy3');
    await end('mail0');
    expect(started.at(-1)).toBe('mail3');
  });

  it('that wait are refused when guard stops', async () => {
    const { queue, command, checkSession, end, outcomes } = watched();
    for (const name of names(7, 'policy')) command(name);
    for (const name of names(3, 'n')) checkSession(name, name);
    await end();
    queue.close('guard is stopping');
    await end();
    expect([...outcomes]).toEqual([
      ['policy6', 'wordpress_unreachable'],
      ['n2', 'wordpress_unreachable'],
    ]);
  });
});

/** A web server that handles each request as the test specifies. */
async function server(respond: (socket: Socket, request: string) => void): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const listening: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      seen.push(data.toString());
      respond(socket, data.toString());
    });
  }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    listening.close();
  });
  const { port } = listening.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/index.php`, seen };
}

function connections(): CommandConnections {
  const made = new CommandConnections();
  onTestFinished(() => made.close());
  return made;
}

const cause = (text: string) => ({ fault: { kind: 'unreachable', cause: text } });
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n{}';

describe('a command on the wire', () => {
  it('is one request on its own connection, with the given headers and body', async () => {
    const { url, seen } = await server((socket) => void socket.end(OK));
    const body = '{"text":"ü"}';
    const response = await connections().exchange(url, { host: 'example.com', 'X-Own': 'yes' }, body, 1000);
    expect(response).toEqual({ status: 200, signal: undefined, text: '{}', setCookies: ['a=1', 'b=2'] });
    const [request = ''] = seen;
    expect(request).toMatch(/^POST \/index\.php HTTP\/1\.1\r\n/);
    expect(request).toMatch(/\r\nhost: example\.com\r\n/i);
    expect(request).toMatch(/\r\nX-Own: yes\r\n/);
    expect(request).toMatch(/\r\ncontent-length: 13\r\n/i);
    expect(request).toMatch(/\r\nconnection: close\r\n/i);
    expect(request).not.toMatch(/transfer-encoding/i);
  });

  it('does not follow a redirect', async () => {
    const { url } = await server(
      (socket) => void socket.end('HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n'),
    );
    expect((await connections().exchange(url, {}, '{}', 1000)).status).toBe(302);
  });

  it.each([
    ['before a response', ''],
    ['in the middle of the response', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"half'],
  ])('fails with the cause when WordPress stops sending %s', async (_when, sent) => {
    const { url } = await server((socket) => void socket.write(sent));
    await expect(connections().exchange(url, {}, '{}', 200)).rejects.toMatchObject(
      cause('no answer within the time allowed'),
    );
  });

  it.each([
    ['before a response', ''],
    ['in the middle of the response', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"half'],
  ])('fails with the cause when the connection is closed %s', async (_when, sent) => {
    const { url } = await server((socket) => void socket.write(sent, () => socket.destroy()));
    await expect(connections().exchange(url, {}, '{}', 1000)).rejects.toMatchObject(
      cause('the connection was closed in the middle'),
    );
  });

  it('fails when the response is too large', async () => {
    const { url } = await server((socket) => void socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(300_000)}`));
    await expect(connections().exchange(url, {}, '{}', 1000)).rejects.toMatchObject(cause('its answer is too large'));
  });

  it('has its own connection and gets its own response', async () => {
    const { url, seen } = await server((socket, request) => {
      const [, body = ''] = request.split('\r\n\r\n');
      setTimeout(() => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`), 20);
    });
    const made = connections();
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, i) => made.exchange(url, {}, String(i).padStart(2, '0'), 4000)),
    );
    expect(responses.map(({ text }) => Number(text))).toEqual(responses.map((_, i) => i));
    expect(seen.every((request) => /\r\nconnection: close\r\n/i.test(request))).toBe(true);
  });

  it('is aborted when guard stops, and refused afterwards', async () => {
    const { url, seen } = await server(() => {});
    const made = connections();
    const running = Array.from({ length: 12 }, () => made.exchange(url, {}, '{}', 60_000));
    const ends = Promise.allSettled(running);
    await eventually(() => seen.length === 12);
    made.close();
    for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: cause('guard is stopping') });
    await expect(made.exchange(url, {}, '{}', 1000)).rejects.toMatchObject(cause('guard is stopping'));
  });
});
