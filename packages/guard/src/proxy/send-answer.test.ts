import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endAnswer } from './send-answer.js';

/** What a visitor gets, in the pieces in which it came. */
async function received(answer: (response: ServerResponse) => void): Promise<string[]> {
  const server = createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const client = connect((server.address() as { port: number }).port, '127.0.0.1');
  const pieces: string[] = [];
  client.on('data', (piece) => pieces.push(piece.toString('utf8')));
  client.write('GET / HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n');
  await once(client, 'close');
  return pieces;
}

const begin = (response: ServerResponse, body: Buffer): void => {
  response.writeHead(403, ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(body.length)]);
};
const textOf = (pieces: readonly string[]): string => pieces.join('').split('\r\n\r\n').slice(1).join('\r\n\r\n');

describe('an answer that guard ends', () => {
  it('goes out as one piece, head and body, letters of all languages whole', async () => {
    const body = Buffer.from('Zugriff gesperrt – “доступ закрыт” 🔒');
    const pieces = await received((response) => {
      begin(response, body);
      endAnswer(response, body, true);
    });
    expect(pieces).toHaveLength(1);
    expect(textOf(pieces)).toBe(body.toString());
  });

  it('is whole when it is long, and when a part has gone out before', async () => {
    const long = Buffer.from('x'.repeat(100_000));
    const pieces = await received((response) => {
      begin(response, long);
      endAnswer(response, long, true);
    });
    expect(textOf(pieces)).toBe(long.toString());
    const parts = await received((response) => {
      begin(response, Buffer.from('one two'));
      response.write('one ');
      endAnswer(response, Buffer.from('two'), false);
    });
    expect(textOf(parts)).toBe('one two');
  });

  it('may have no body', async () => {
    const pieces = await received((response) => {
      response.writeHead(204);
      endAnswer(response, undefined, true);
    });
    expect(pieces.join('')).toMatch(/^HTTP\/1\.1 204 /);
  });
});
