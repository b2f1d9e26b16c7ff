import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockedRequests, readBlockedRequest } from './blocked-request.js';

const GET = 'GET / HTTP/1.1\r\nHost: example.com\r\n\r\n';
const PAGE = 'GET /x HTTP/1.1\r\nHost: example.com\r\nAccept: text/html\r\n\r\n';

describe('the requests of a blocked visitor’s connection', () => {
  it('are read as what they ask for', () => {
    expect(readBlockedRequest(PAGE.slice(0, -2))).toMatchObject({
      ...{ html: true, bare: false, close: false, host: 'example.com' },
    });
    expect(readBlockedRequest('HEAD / HTTP/1.1\r\n')).toMatchObject({
      html: false,
      bare: true,
      close: false,
      host: '',
    });
  });

  it.each([
    'GET / HTTP/1.0\r\n',
    'GET / HTTP/1.1\r\nConnection: close\r\n',
    'POST / HTTP/1.1\r\nContent-Length: 3\r\n',
    'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n',
    'GET / HTTP/1.1\r\nUpgrade: websocket\r\n',
  ])('end with an answer to what may be followed by something else: %j', (head) => {
    expect(readBlockedRequest(head).close).toBe(true);
  });

  it('are known again when the same bytes come', () => {
    const requests = new BlockedRequests();
    const first = requests.read(Buffer.from(GET));
    expect(requests.read(Buffer.from(GET))?.request).toBe(first?.request);
  });

  it('do not change with the memory that they came in', () => {
    const requests = new BlockedRequests();
    const memory = Buffer.from(GET);
    requests.read(memory);
    memory.write('HEAD /', 'latin1');
    expect(requests.read(memory)?.request.bare).toBe(true);
    expect(requests.read(Buffer.from(GET))?.request.bare).toBe(false);
  });

  it('are not kept when they are long', () => {
    const requests = new BlockedRequests();
    const long = Buffer.from(`GET /${'x'.repeat(2000)} HTTP/1.1\r\n\r\n`);
    const first = requests.read(long);
    expect(requests.read(long)?.request).not.toBe(first?.request);
    expect(requests.read(long)).toEqual(first);
  });

  it('come out as if each had been read alone, however they follow each other and are cut', () => {
    const one = fc.constantFrom(GET, PAGE, 'HEAD / HTTP/1.1\r\n\r\n', 'GET /long HTTP/1.1\r\nX: y\r\n\r\n');
    fc.assert(
      fc.property(
        fc.array(one, { maxLength: 12 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 90 })),
        (sent, cuts) => {
          const requests = new BlockedRequests();
          const seen: string[] = [];
          let rest = sent.join('');
          let waiting = '';
          while (rest !== '') {
            const cut = cuts.next().value as number;
            waiting += rest.slice(0, cut);
            rest = rest.slice(cut);
            for (let read = requests.read(Buffer.from(waiting)); read !== null; ) {
              seen.push(`${read.request.head}\r\n`);
              expect(read.request).toEqual(readBlockedRequest(read.request.head));
              waiting = waiting.slice(read.length);
              read = requests.read(Buffer.from(waiting));
            }
          }
          expect(seen).toEqual(sent);
        },
      ),
    );
  });
});
