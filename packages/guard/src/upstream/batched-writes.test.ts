import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endResponse, scheduleWrite } from './batched-writes.js';

it('scheduled writes are sent at the end of the turn, all of them and in order', async () => {
  const sent: number[] = [];
  for (const item of [1, 2, 3]) scheduleWrite({ sendNow: () => void sent.push(item) });
  await Promise.resolve();
  expect(sent).toEqual([]);
  await nextTurn();
  expect(sent).toEqual([1, 2, 3]);
});

it('each item is sent once, and a write that is scheduled during the flush is sent in the next turn', async () => {
  const sent: string[] = [];
  scheduleWrite({
    sendNow() {
      sent.push('first');
      scheduleWrite({ sendNow: () => void sent.push('second') });
    },
  });
  await nextTurn();
  expect(sent).toEqual(['first']);
  await nextTurn();
  expect(sent).toEqual(['first', 'second']);
  await nextTurn();
  expect(sent).toEqual(['first', 'second']);
});

it('a corked socket that is destroyed before the end of the turn affects no other write', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect(port, '127.0.0.1');
  const [socket] = await accepted;
  let sent = false;
  socket.on('error', () => undefined);
  socket.cork();
  socket.write('lost');
  scheduleWrite({ sendNow: () => socket.uncork() });
  scheduleWrite({
    sendNow() {
      sent = true;
    },
  });
  socket.destroy();
  await nextTurn();
  expect(sent).toBe(true);
  client.destroy();
  server.close();
});

/** What a client receives, in the chunks in which it arrives. */
async function received(respond: (response: ServerResponse) => void): Promise<string[]> {
  const server = createHttpServer((_request, response) => respond(response)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const client = connect((server.address() as { port: number }).port, '127.0.0.1');
  const chunks: string[] = [];
  client.on('data', (chunk) => chunks.push(chunk.toString('utf8')));
  client.write('GET / HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n');
  await once(client, 'close');
  return chunks;
}

const begin = (response: ServerResponse, body: Buffer): void => {
  response.writeHead(403, ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(body.length)]);
};
const toText = (chunks: readonly string[]): string => chunks.join('').split('\r\n\r\n').slice(1).join('\r\n\r\n');

describe('a response that guard ends', () => {
  it('is sent in one chunk, head and body, with all characters intact', async () => {
    const body = Buffer.from('Zugriff gesperrt – “доступ закрыт” 🔒');
    const chunks = await received((response) => {
      begin(response, body);
      endResponse(response, body, true);
    });
    expect(chunks).toHaveLength(1);
    expect(toText(chunks)).toBe(body.toString());
  });

  it('is complete when it is long, and when a part was sent before', async () => {
    const long = Buffer.from('x'.repeat(100_000));
    const chunks = await received((response) => {
      begin(response, long);
      endResponse(response, long, true);
    });
    expect(toText(chunks)).toBe(long.toString());
    const parts = await received((response) => {
      begin(response, Buffer.from('one two'));
      response.write('one ');
      endResponse(response, Buffer.from('two'), false);
    });
    expect(toText(parts)).toBe('one two');
  });

  it('may have no body', async () => {
    const chunks = await received((response) => {
      response.writeHead(204);
      endResponse(response, undefined, true);
    });
    expect(chunks.join('')).toMatch(/^HTTP\/1\.1 204 /);
  });
});
