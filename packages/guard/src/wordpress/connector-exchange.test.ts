import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../test/support/scratch.js';
import { CommandConnections } from './command-queue.js';

/** A web server that does with each request whatever the test says. */
async function server(answer: (socket: Socket, request: string) => void): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const listening: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      seen.push(data.toString());
      answer(socket, data.toString());
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
  it('is one request on a connection of its own, with the headers and bytes it was given', async () => {
    const { url, seen } = await server((socket) => void socket.end(OK));
    const body = '{"text":"ü"}';
    const answer = await connections().exchange(url, { host: 'example.com', 'X-Own': 'yes' }, body, 1000);
    expect(answer).toEqual({ status: 200, signal: undefined, text: '{}', setCookies: ['a=1', 'b=2'] });
    const [request = ''] = seen;
    expect(request).toMatch(/^POST \/index\.php HTTP\/1\.1\r\n/);
    expect(request).toMatch(/\r\nhost: example\.com\r\n/i);
    expect(request).toMatch(/\r\nX-Own: yes\r\n/);
    expect(request).toMatch(/\r\ncontent-length: 13\r\n/i);
    expect(request).toMatch(/\r\nconnection: close\r\n/i);
    expect(request).not.toMatch(/transfer-encoding/i);
  });

  it('is not followed anywhere else', async () => {
    const { url } = await server(
      (socket) => void socket.end('HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n'),
    );
    expect((await connections().exchange(url, {}, '{}', 1000)).status).toBe(302);
  });

  it.each([
    ['before an answer', ''],
    ['in the middle of the answer', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"half'],
  ])('ends in plain words when WordPress falls silent %s', async (_when, sent) => {
    const { url } = await server((socket) => void socket.write(sent));
    await expect(connections().exchange(url, {}, '{}', 200)).rejects.toMatchObject(
      cause('no answer within the time allowed'),
    );
  });

  it.each([
    ['before an answer', ''],
    ['in the middle of the answer', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"half'],
  ])('ends in plain words when the connection is closed %s', async (_when, sent) => {
    const { url } = await server((socket) => void socket.write(sent, () => socket.destroy()));
    await expect(connections().exchange(url, {}, '{}', 1000)).rejects.toMatchObject(
      cause('the connection was closed in the middle'),
    );
  });

  it('reads no answer that is far too large', async () => {
    const { url } = await server((socket) => void socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(300_000)}`));
    await expect(connections().exchange(url, {}, '{}', 1000)).rejects.toMatchObject(cause('its answer is too large'));
  });

  it('has a connection of its own, and each gets its own answer', async () => {
    const { url, seen } = await server((socket, request) => {
      const [, body = ''] = request.split('\r\n\r\n');
      setTimeout(() => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`), 20);
    });
    const made = connections();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => made.exchange(url, {}, String(i).padStart(2, '0'), 4000)),
    );
    expect(answers.map(({ text }) => Number(text))).toEqual(answers.map((_, i) => i));
    expect(seen.every((request) => /\r\nconnection: close\r\n/i.test(request))).toBe(true);
  });

  it('ends at once when guard stops, and none starts after', async () => {
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
