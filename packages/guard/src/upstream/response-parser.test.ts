import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ResponseHead, ResponseParser } from './response-parser.js';

interface Read {
  heads: { status: number; headers: string[]; complete: boolean }[];
  informations: ResponseHead[];
  body: string;
  reusable: boolean | null;
  rest: string | null;
  keepAliveSeconds: number | null;
}

/** Feeds the chunks one after the other, then the end of the connection when `ends`. */
function read(chunks: readonly string[], { headRequest = false, ends = false } = {}): Read {
  const result: Read = { heads: [], informations: [], body: '', reusable: null, rest: null, keepAliveSeconds: null };
  let last = 0;
  const parser = new ResponseParser();
  parser.expect(
    {
      onInformation: (head) => void result.informations.push(head),
      onHead: ({ status, headers }, complete) => void result.heads.push({ status, headers, complete }),
      onBody(chunk, isLast) {
        result.body += chunk.toString('latin1');
        if (isLast) last++;
      },
      onComplete(reusable, rest) {
        result.reusable = reusable;
        result.keepAliveSeconds = parser.keepAliveSeconds;
        result.rest = rest === null ? null : rest.toString('latin1');
      },
    },
    headRequest,
  );
  for (const chunk of chunks) parser.execute(Buffer.from(chunk, 'latin1'));
  if (ends) parser.finish();
  expect(last).toBeLessThan(2);
  return result;
}
const response = (head: string, body = ''): string => `HTTP/1.1 ${head}\r\n\r\n${body}`;

const CHUNKED = response(
  '200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b',
  '5\r\nhello\r\n1;ext="a"\r\n \r\n00A\r\n0123456789\r\n0\r\nX-Trailer: a\r\n\r\n',
);

describe('a chunked response', () => {
  it('is parsed the same wherever it is split', () => {
    for (let i = 1; i < CHUNKED.length; i++) {
      const { body, reusable, heads } = read([CHUNKED.slice(0, i), CHUNKED.slice(i)]);
      expect([i, body, reusable, heads.length]).toEqual([i, 'hello 0123456789', true, 1]);
    }
    expect(read(CHUNKED.split('')).body).toBe('hello 0123456789');
  });

  it('is parsed the same in any number of chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(CHUNKED.length), { maxLength: 8 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), CHUNKED.length];
        const chunks = at.slice(1).map((end, i) => CHUNKED.slice(at[i], end));
        expect(read(chunks)).toMatchObject({ body: 'hello 0123456789', reusable: true });
      }),
    );
  });

  it('is an error when the connection ends too early', () => {
    for (let i = 1; i < CHUNKED.length; i++) {
      expect(() => read([CHUNKED.slice(0, i)], { ends: true }), `cut at ${i}`).toThrow();
    }
  });

  it('loses a Content-Length next to the chunks, and the connection is not reused', () => {
    const { heads, body, reusable } = read([
      response('200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'),
    ]);
    expect(heads[0]?.headers).toEqual(['Transfer-Encoding', 'chunked']);
    expect([body, reusable]).toEqual(['hello', false]);
  });

  it.each([
    '5\nhello\r\n0\r\n\r\n',
    '0x5\r\nhello',
    '-1\r\n',
    ' 5\r\nhello',
    '5 x\r\nhello',
    '\r\n',
    'fffffffffffff\r\n',
    '5\r\nhelloX',
    `${'0'.repeat(1100)}`,
  ])('is refused when it is malformed: %j', (body) => {
    expect(() => read([response('200 OK\r\nTransfer-Encoding: chunked', body)], { ends: true })).toThrow();
  });
});

describe('a response with Content-Length', () => {
  it('ends after that many bytes', () => {
    expect(read([response('200 OK\r\nContent-Length: 5', 'hello')])).toMatchObject({ body: 'hello', reusable: true });
  });

  it('keeps one of two equal lengths', () => {
    const { heads, body } = read([response('200 OK\r\ncontent-length: 5\r\nContent-Length: 5', 'hello')]);
    expect(heads[0]?.headers).toEqual(['content-length', '5']);
    expect(body).toBe('hello');
  });

  it('may be empty', () => {
    expect(read([response('200 OK\r\nContent-Length: 0')])).toMatchObject({
      reusable: true,
      heads: [{ complete: true }],
    });
  });

  it('is an error when bytes follow its end', () => {
    expect(() => read([response('200 OK\r\nContent-Length: 5', 'helloHTTP/1.1 200 OK')])).toThrow(/behind the end/);
  });

  it.each(['5, 5', '+5', '-5', '5 5', '0x5', '', '5\r\nContent-Length: 6', '1e3', '9999999999999999'])(
    'with the value %j is refused',
    (length) => {
      expect(() => read([response(`200 OK\r\nContent-Length: ${length}`, 'hello')])).toThrow(/content-length/);
    },
  );

  it('is an error when it is truncated', () => {
    expect(() => read([response('200 OK\r\nContent-Length: 5', 'hell')], { ends: true })).toThrow(/closed inside/);
  });
});

describe('a response without a body', () => {
  it.each([
    '204 No Content',
    '304 Not Modified\r\nContent-Length: 512',
    '304 Not Modified\r\nTransfer-Encoding: chunked',
  ])('is recognized: %s', (head) => {
    expect(read([response(head)])).toMatchObject({ reusable: true, heads: [{ complete: true }] });
  });

  it('to HEAD keeps the length that a response to GET would have', () => {
    const { heads, reusable } = read([response('200 OK\r\nContent-Length: 512')], { headRequest: true });
    expect(heads[0]).toEqual({ status: 200, headers: ['Content-Length', '512'], complete: true });
    expect(reusable).toBe(true);
  });
});

describe('a response that ends with the connection', () => {
  it('is complete when the connection ends, and the connection is closed', () => {
    expect(read([response('200 OK', 'hel'), 'lo'], { ends: true })).toMatchObject({ body: 'hello', reusable: false });
  });
});

describe('a connection', () => {
  it.each([
    ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n', false],
    ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Foo, Close\r\n\r\n', false],
    ['HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', false],
    ['HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n', true],
    ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', true],
  ])('after %j can be reused: %s', (text, reusable) => {
    expect(read([text]).reusable).toBe(reusable);
  });

  it.each([
    ['Content-Type: text/html', null],
    ['Keep-Alive: timeout=5', 5],
    ['Keep-Alive: timeout=5, max=100', 5],
    ['keep-alive: max=100, TIMEOUT=1', 1],
    ['Keep-Alive: timeout="5"', 5],
    ['Keep-Alive: timeout = 30;max=1', 30],
    ['Keep-Alive: timeout=0', 0],
    ['Keep-Alive: timeout=5, max=0', 0],
    ['Keep-Alive: max=0', 0],
    ['Keep-Alive: timeout=60\r\nKeep-Alive: timeout=2', 2],
    ['Keep-Alive: timeout=2\r\nKeep-Alive: max=7', 2],
    ['Keep-Alive: 300', null],
    ['Keep-Alive: timeout=soon', null],
    ['Keep-Alive: x-timeout=3', null],
  ])('is kept for as long as the web server announces: %j, %s', (header, seconds) => {
    const text = response(`200 OK\r\n${header}\r\nContent-Length: 2`, 'ok');
    expect(read([text]).keepAliveSeconds).toBe(seconds);
  });
});

describe('interim responses', () => {
  it('precede the final response', () => {
    const text = `${response('100 Continue')}${response('103 Early Hints\r\nLink: </a.css>')}${response('200 OK\r\nContent-Length: 2', 'ok')}`;
    for (let i = 1; i < text.length; i++) {
      const { informations, body } = read([text.slice(0, i), text.slice(i)]);
      expect(informations.map(({ status }) => status)).toEqual([100, 103]);
      expect(body).toBe('ok');
    }
  });

  it('are limited in number', () => {
    const hint = response('103 Early Hints\r\nLink: </a.css>');
    const end = response('200 OK\r\nContent-Length: 2', 'ok');
    expect(read([hint.repeat(32) + end]).body).toBe('ok');
    expect(() => read([hint.repeat(33) + end])).toThrow('too many interim answers');
  });

  it('of status 101 pass on the bytes after them', () => {
    expect(read([response('101 Switching Protocols', 'abc')])).toMatchObject({ rest: 'abc', reusable: false });
  });
});

describe('a head', () => {
  it.each([
    'HTTP/2 200 OK\r\n\r\n',
    'HTTP/1.1 20 OK\r\n\r\n',
    'HTTP/1.1  200 OK\r\n\r\n',
    'ICY 200 OK\r\n\r\n',
    '<html>\r\n\r\n',
    response('200 OK\r\nNo colon'),
    response('200 OK\r\n: empty name'),
    response('200 OK\r\nSpace : a'),
    response('200 OK\r\nX-A: a\r\n folded'),
    response('200 OK\r\nX-A: a\nX-B: b'),
    response('200 OK\r\nX-A: a\rX-B: b'),
    response('200 OK\r\nX-A: a\0b'),
    response('200 OK\r\nTransfer-Encoding: gzip, chunked'),
    response('200 OK\r\nTransfer-Encoding: identity'),
    response('200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked'),
    response('200 OK\r\nTransfer-Encoding: \x0bchunked'),
  ])('that is malformed is refused: %j', (text) => {
    expect(() => read([text])).toThrow();
  });

  it('is limited in length', () => {
    expect(() => read([`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(300 * 1024)}`])).toThrow(/too long/);
  });

  it('keeps every byte of a value except surrounding whitespace', () => {
    const { heads } = read([response('200 OK\r\nX-A: \t voil\xc3\xa0\t \r\nX-B:\r\nX-A: 2\r\nContent-Length: 0')]);
    expect(heads[0]?.headers).toEqual(['X-A', 'voil\xc3\xa0', 'X-B', '', 'X-A', '2', 'Content-Length', '0']);
  });
});

it('bytes that are no HTTP response are refused without waiting for the end of a head', () => {
  for (const chunks of [['\x15\x03\x01'], ['220 mail.example ESMTP'], ['HTTP', '/2 200'], ['\r\n']]) {
    expect(() => read(chunks)).toThrow('not an answer of HTTP/1');
  }
  expect(read(['H', 'TTP', '/1', '.1 200 OK\r\nContent-Length: 1\r\n\r\nx']).body).toBe('x');
});
