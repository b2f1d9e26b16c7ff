import { type RawResponse, sendAll } from '../../http/raw.js';
import { type Attack, answered, type Check, frontPage, type Outcome, SERVED } from '../attack.js';
import type { AttackedSite } from '../site.js';

type Bytes = (host: string) => string;

const get =
  (more = '', target = '/') =>
  (host: string) =>
    `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
const post = (head: string, body: string) => (host: string) =>
  `POST /?edge HTTP/1.1\r\nHost: ${host}\r\nContent-Type: text/plain\r\n${head}\r\n${body}`;
/** A server that parses this line as a request answers with the line itself. */
const smuggled = 'GET /?smuggled HTTP/1.1\r\nHost: smuggled.example\r\n\r\n';

/** Guard closes each of these connections. One that is still open after this time is judged by what it has received. */
const PATIENCE_MS = 10_000;

/** Holds if the response is at most one refusal. */
const expectRefused =
  (bytes: Bytes) =>
  async (site: AttackedSite): Promise<Outcome> => {
    const received = await sendAll(site.url, bytes(site.host), PATIENCE_MS);
    const statuses = [...received.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
    const got = statuses.length === 0 ? 'no answer' : statuses.join(', ');
    return { ok: statuses.length <= 1 && statuses.every((status) => status >= 400), got };
  };

/** Holds if the bytes after a request are not parsed as another request. */
const expectServed =
  (bytes: Bytes) =>
  async (site: AttackedSite): Promise<Outcome> => {
    const received = await sendAll(site.url, bytes(site.host), PATIENCE_MS);
    const statuses = [...received.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
    return { ok: statuses.length <= 1 && statuses[0] !== 101, got: statuses.join(', ') || 'no answer' };
  };

/** Holds if the site still answers afterwards. */
const siteSurvives =
  (bytes: Bytes, end: 'reset' | 'finish', times: number) =>
  async (site: AttackedSite): Promise<Outcome> => {
    for (let attempt = 0; attempt < times; attempt++) await sendAll(site.url, bytes(site.host), attempt % 20, end);
    const response = await site.request({ target: '/' }).catch(() => null);
    return {
      ok: SERVED.includes(response?.status ?? 0),
      got: response === null ? 'the site is gone' : `then ${response.status}`,
    };
  };

const raw = (name: string, bytes: Bytes): Check => ({
  name,
  async run(site) {
    const response: RawResponse | null = await site.send(bytes(site.host)).catch(() => null);
    return { ok: SERVED.includes(response?.status ?? 0), got: String(response?.status ?? 'no answer') };
  },
});

const close = 'Connection: close\r\n';
const plainPost = raw('a POST with one length', post(`${close}Content-Length: 3\r\n`, 'abc'));
const chunkedPost = raw('a POST in chunks', post(`${close}Transfer-Encoding: chunked\r\n`, '3\r\nabc\r\n0\r\n\r\n'));
const trailers = raw(
  'chunks with an extension and a trailer',
  post(`${close}Transfer-Encoding: chunked\r\n`, '3;a=b\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n'),
);
const plainGet = raw('a GET', get(close));
const manyHeaders = raw('a GET with 50 headers', get(`${close}${'X-More: 1\r\n'.repeat(50)}`));
const h2c = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
const expecting = raw(
  'a POST with Expect: 100-continue',
  post(`${close}Expect: 100-continue\r\nContent-Length: 3\r\n`, 'abc'),
);

/** Malformed and ambiguous messages, each with a valid message of the same shape. */
const broken: readonly (readonly [string, Bytes, Check])[] = [
  ['two lengths that differ', post('Content-Length: 3\r\nContent-Length: 60\r\n', smuggled), plainPost],
  ['two lengths in one line', post('Content-Length: 3, 60\r\n', smuggled), plainPost],
  ['a length below zero', post('Content-Length: -1\r\n', 'abc'), plainPost],
  ['a length with a sign', post('Content-Length: +3\r\n', 'abc'), plainPost],
  ['a length in hexadecimal', post('Content-Length: 0x3\r\n', 'abc'), plainPost],
  [
    'a length and chunks',
    post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${smuggled}`),
    chunkedPost,
  ],
  [
    'chunks and a length',
    post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', `0\r\n\r\n${smuggled}`),
    chunkedPost,
  ],
  [
    'chunks with a space before the colon',
    post('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${smuggled}`),
    chunkedPost,
  ],
  [
    'chunks behind a tab',
    post('Transfer-Encoding:\tchunked\r\nContent-Length: 3\r\n', `0\r\n\r\n${smuggled}`),
    chunkedPost,
  ],
  [
    'chunks named twice',
    post('Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n', `0\r\n\r\n${smuggled}`),
    chunkedPost,
  ],
  ['chunks under another coding', post('Transfer-Encoding: gzip, xchunked\r\n', `0\r\n\r\n${smuggled}`), chunkedPost],
  ['chunks in an identity', post('Transfer-Encoding: identity, chunked\r\nContent-Length: 3\r\n', 'abc'), chunkedPost],
  ['a folded Transfer-Encoding', post('Transfer-Encoding:\r\n chunked\r\nContent-Length: 3\r\n', 'abc'), chunkedPost],
  ['a chunk of a size that is none', post('Transfer-Encoding: chunked\r\n', `zz\r\nabc\r\n${smuggled}`), chunkedPost],
  [
    'a chunk longer than its size',
    post('Transfer-Encoding: chunked\r\n', `1\r\nabc\r\n0\r\n\r\n${smuggled}`),
    trailers,
  ],
  ['a folded header', get('X-Folded: a\r\n b\r\n'), plainGet],
  ['a space in a header name', get('X Odd: a\r\n'), plainGet],
  ['a NUL in a header', get('X-Nul: a\0b\r\n'), plainGet],
  ['a bare line feed in a header', get('X-Feed: a\nX-Other: b\r\n'), plainGet],
  ['bare line feeds', (host) => `GET / HTTP/1.1\nHost: ${host}\n\n`, plainGet],
  ['no Host', () => 'GET / HTTP/1.1\r\n\r\n', plainGet],
  ['two Hosts', get('Host: other.example\r\n'), plainGet],
  ['a Host that is none', () => 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n', plainGet],
  ['a NUL in the target', get('', '/\0'), plainGet],
  ['a hash in the target', get(close, '/wp-login.php?x#&action=lostpassword'), answered('an encoded hash', '/?s=%23')],
  ['a target that is a word', get('', 'index.php'), plainGet],
  ['a target for a proxy', get(close, 'ftp://example.com/'), plainGet],
  ['CONNECT', () => 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n', plainGet],
  [
    'TRACE',
    (host) => `TRACE / HTTP/1.1\r\nHost: ${host}\r\n${close}\r\n`,
    raw('HEAD', (host) => `HEAD / HTTP/1.1\r\nHost: ${host}\r\n${close}\r\n`),
  ],
  ['HTTP/0.9', () => 'GET /\r\n\r\n', plainGet],
  ['HTTP/3.7', (host) => `GET / HTTP/3.7\r\nHost: ${host}\r\n\r\n`, plainGet],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', plainGet],
  ['a TLS greeting', () => '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03', plainGet],
  ['a target of 100 KB', get('', `/${'a'.repeat(100_000)}`), answered('a target of 2 KB', `/?s=${'a'.repeat(2000)}`)],
  ['headers of 300 KB', get(`X-Long: ${'a'.repeat(300_000)}\r\n`), manyHeaders],
  [
    'a cookie of 100 KB',
    get(`Cookie: a=${'c'.repeat(100_000)}\r\n`),
    raw('a cookie of 2 KB', get(`${close}Cookie: a=${'c'.repeat(2000)}\r\n`)),
  ],
  ['a strange Expect', post('Expect: the-unexpected\r\nContent-Length: 3\r\n', 'abc'), expecting],
];

/** Requests after an upgrade request, or after a request that closes the connection. */
const hidden: readonly (readonly [string, Bytes, Check])[] = [
  ['a request behind h2c', (host) => get(h2c)(host) + smuggled, plainGet],
  [
    'a request behind an unknown protocol',
    (host) => get('Connection: Upgrade\r\nUpgrade: tea/1\r\n')(host) + smuggled,
    plainGet,
  ],
  [
    'a request behind the last one',
    (host) => get(close)(host) + smuggled,
    raw('two requests, one after the other', (host) => get()(host) + get(close)(host)),
  ],
  ['a request behind CONNECT', (host) => `CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n${get()(host)}`, plainGet],
];

const webSocket =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
/** Requests that have crashed or blocked other services. */
const endings: readonly (readonly [string, Bytes, 'reset' | 'finish', number])[] = [
  ['CONNECT, then reset', () => 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 'reset', 40],
  ['no Host and an upgrade in one packet', (host) => `GET / HTTP/1.1\r\n\r\n${get(h2c)(host)}`, 'finish', 10],
  [
    'a strange Expect and an upgrade in one packet',
    (host) => get('Expect: tea\r\n')(host) + get(h2c)(host),
    'finish',
    10,
  ],
  ['a WebSocket, then reset', get(webSocket, '/wp-login.php'), 'reset', 20],
  ['h2c, then FIN', get(h2c), 'finish', 20],
  ['100 requests in one packet, then reset', (host) => get()(host).repeat(100), 'reset', 8],
  ['half a head, then reset', () => 'GET / HT', 'reset', 20],
  ['an upload, then reset', post('Content-Length: 1000000\r\n', 'u'.repeat(50_000)), 'reset', 20],
];

/** Random bytes, cut anywhere. */
export const edgeAttacks: readonly Attack[] = [
  ...broken.map(([name, bytes, twin]) => ({
    ...{ group: 'edge' as const, name, expected: 'refused, nothing behind it read', run: expectRefused(bytes), twin },
  })),
  ...hidden.map(([name, bytes, twin]) => ({
    ...{ group: 'edge' as const, name, expected: 'at most one answer', run: expectServed(bytes), twin },
  })),
  ...endings.map(([name, bytes, end, times]) => ({
    ...{ group: 'edge' as const, name: `${name}, ${times} times`, expected: 'the site answers' },
    ...{ run: siteSurvives(bytes, end, times), twin: frontPage },
  })),
];
