import { METHODS } from 'node:http';
import { describe, expect, it } from 'vitest';
import { countResponses, exchange, RawClient, toStatus } from './raw-client.js';
import { recordingServer, startGateway } from './running-gateway.js';

const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n';
const chunked = (header: string, body = `0\r\n\r\n${HIDDEN}`): string =>
  `POST / HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n${body}`;
const get = (rest: string): string => `GET / HTTP/1.1\r\nHost: a\r\n${rest}\r\n\r\n`;

/** Two parsers would interpret each of these in two ways. None may reach WordPress in either. */
const unclear: Record<string, string> = {
  'two equal lengths': chunked('Content-Length: 5\r\nContent-Length: 5', `hello${HIDDEN}`),
  'two different lengths': chunked('Content-Length: 5\r\nContent-Length: 0', `hello${HIDDEN}`),
  'a list of lengths': chunked('Content-Length: 5, 5', `hello${HIDDEN}`),
  'a length with a sign': chunked('Content-Length: +5', `hello${HIDDEN}`),
  'a length in hexadecimal': chunked('Content-Length: 0x5', `hello${HIDDEN}`),
  'a length and chunks': chunked('Content-Length: 5\r\nTransfer-Encoding: chunked'),
  'chunks and a length': chunked('Transfer-Encoding: chunked\r\nContent-Length: 5'),
  xchunked: chunked('Transfer-Encoding: xchunked'),
  'chunked, identity': chunked('Transfer-Encoding: chunked, identity'),
  'identity, chunked': chunked('Transfer-Encoding: identity, chunked'),
  'gzip, chunked': chunked('Transfer-Encoding: gzip, chunked'),
  'chunked twice in one line': chunked('Transfer-Encoding: chunked, chunked'),
  'chunked in two lines': chunked('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'),
  'chunked and another coding in two lines': chunked('Transfer-Encoding: chunked\r\nTransfer-Encoding: x'),
  'chunked in quotes': chunked('Transfer-Encoding: "chunked"'),
  'chunked after a vertical tab': chunked('Transfer-Encoding: \x0bchunked'),
  'chunked on a folded line': chunked('Transfer-Encoding:\r\n chunked'),
  'a space before the colon': chunked('Transfer-Encoding : chunked'),
  'a space before the name': chunked('X: a\r\n Transfer-Encoding: chunked'),
  'a coding in HTTP/1.0': `POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'a bare line feed after a header': get('A: b\nTransfer-Encoding: chunked'),
  'bare line feeds throughout': 'GET / HTTP/1.1\nHost: a\n\n',
  'a bare carriage return in a header': get('A: b\rTransfer-Encoding: chunked'),
  'NUL in a header': get('A: b\0c'),
  'a space in a name': get('A B: c'),
  'an empty name': get(': c'),
  'a folded header': get('A: b\r\n c'),
  'no host': 'GET / HTTP/1.1\r\n\r\n',
  'an empty host': 'GET / HTTP/1.1\r\nHost:\r\n\r\n',
  'two hosts': get('Host: b'),
  'two equal hosts': get('Host: a'),
  'a host with a path': 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n',
  'a host with a user': 'GET / HTTP/1.1\r\nHost: x@a\r\n\r\n',
  'a host with a space': 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n',
  'a host with a list': 'GET / HTTP/1.1\r\nHost: a,b\r\n\r\n',
  'a target of another host': 'GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n',
  'a target with a user': 'GET http://x@a/ HTTP/1.1\r\nHost: a\r\n\r\n',
  'a target of another scheme': 'GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n',
  'an asterisk as target': 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
  'a relative target': 'GET index.php HTTP/1.1\r\nHost: a\r\n\r\n',
  'a fragment': 'GET /#/../xmlrpc.php HTTP/1.1\r\nHost: a\r\n\r\n',
  'a fragment after the host': 'GET http://a#/wp-login.php HTTP/1.1\r\nHost: a\r\n\r\n',
  'a space in the target': 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n',
  'a form feed in the target': 'GET /?a=\x0cb HTTP/1.1\r\nHost: a\r\n\r\n',
  'HTTP/0.9': 'GET / HTTP/0.9\r\nHost: a\r\n\r\n',
  'HTTP/1.2': 'GET / HTTP/1.2\r\nHost: a\r\n\r\n',
  'HTTP/2.0': 'GET / HTTP/2.0\r\nHost: a\r\n\r\n',
  'no version': 'GET /\r\nHost: a\r\n\r\n',
  'the HTTP/2 connection preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a body after a WebSocket upgrade request': `GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  'two routes of the REST API': 'GET /?rest_route=/a&rest.route=/b HTTP/1.1\r\nHost: a\r\n\r\n',
};

/** Valid heads with an invalid body. WordPress may see the request break off, but never the hidden request. */
const brokenBodies: Record<string, string> = {
  'a chunk size with a prefix': '0x5\r\nhello\r\n0\r\n\r\n',
  'a chunk size with a space': '5 \r\nhello\r\n0\r\n\r\n',
  'a chunk size that overflows': 'fffffffffffffffff\r\nhello\r\n0\r\n\r\n',
  'a negative chunk size': '-5\r\nhello\r\n0\r\n\r\n',
  'a chunk size with a bare line feed': '5\nhello\r\n0\r\n\r\n',
  'a line feed in a chunk extension': '5;a\nb\r\nhello\r\n0\r\n\r\n',
  'a chunk that is longer than its size': '5\r\nhelloXX\r\n0\r\n\r\n',
  'an end of a chunk with a bare line feed': '5\r\nhello\n0\r\n\r\n',
};

describe('a request that two parsers could interpret in two ways', () => {
  it.each(Object.entries(unclear))('%s: gets 400 and is not forwarded', async (_what, bytes) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    const received = await exchange(gateway.port, bytes);
    expect(toStatus(received)).toBe(400);
    expect(countResponses(received)).toBe(1);
    expect(seen).toEqual([]);
  });

  it.each(Object.entries(brokenBodies))('%s: the hidden request is not forwarded', async (_what, body) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    const received = await exchange(gateway.port, chunked('Transfer-Encoding: chunked', `${body}${HIDDEN}`));
    expect(received).not.toContain('200 OK');
    expect(seen).toEqual([]);
  });
});

describe('a "#" in the request target, which ends the query for some web servers only', () => {
  const targets: Record<string, string> = {
    'in the query': '/wp-login.php?x#&action=register',
    'at the end of the query': '/wp-login.php?action=register#',
    'in the path': '/wp-login.php#?action=register',
    'in front of a dot segment': '/a#/../wp-login.php',
    'right behind the first slash': '/#',
    'in an absolute target': 'http://a/wp-login.php?x#&action=register',
    'in a call of the API': '/wp-json/security-optimizer/v1/rate?x#y',
    'in a call of the API by rest_route': '/?rest_route=/security-optimizer/v1/rate#&rest_route=/wp/v2/users',
  };
  const methods = METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE');

  it.each(Object.entries(targets))('%s: gets 400 with every method and is not forwarded', async (_where, target) => {
    const { port, seen } = await recordingServer();
    const api: string[] = [];
    const gateway = await startGateway(port, {
      api: (request, response) => {
        api.push(request.url ?? '');
        response.end();
      },
    });
    for (const method of methods) {
      const head = `${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
      const received = await new RawClient(gateway.port).send(head).end();
      expect([method, toStatus(received)]).toEqual([method, 400]);
    }
    expect([...seen, ...api]).toEqual([]);
    expect(new Set(gateway.visits.map(({ rule, status }) => `${rule} ${status}`))).toEqual(
      new Set(['ambiguous:fragment 400']),
    );
  });

  it.each(['websocket', 'h2c'])('in a request for another protocol (%s): gets 400 and is not forwarded', async (to) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    const head = (target: string): string =>
      `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${to}\r\n\r\n`;
    for (const target of Object.values(targets)) {
      expect(toStatus(await exchange(gateway.port, head(target)))).toBe(400);
    }
    expect(seen).toEqual([]);
  });

  it('is forwarded when it is encoded', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    expect(toStatus(await exchange(gateway.port, 'GET /a%23b?c=%23d HTTP/1.1\r\nHost: a\r\n\r\n'))).toBe(200);
    expect(seen.map(({ url }) => url)).toEqual(['/a%23b?c=%23d']);
  });
});

describe('a request that is unusual but unambiguous', () => {
  it.each([
    ['an absolute target of the same host', 'GET http://A/x?y HTTP/1.1\r\nHost: a\r\n\r\n', '/x?y'],
    ['an absolute target without a path', 'GET http://a?y HTTP/1.1\r\nHost: a\r\n\r\n', '/?y'],
    ['a tab before chunked', chunked('Transfer-Encoding:\tchunked', '0\r\n\r\n'), '/'],
    ['Chunked in another case', chunked('Transfer-Encoding: CHUNKED', '0\r\n\r\n'), '/'],
    ['an empty line before the request', `\r\n${get('A: b')}`, '/'],
    ['a length with leading zeros', chunked('Content-Length: 005', 'hello'), '/'],
    [
      'trailers',
      chunked('Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\nX-Security-Optimizer-Guard: a\r\n\r\n'),
      '/',
    ],
  ])('with %s gets a response', async (_what, bytes, url) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    expect(toStatus(await exchange(gateway.port, bytes))).toBe(200);
    expect(seen.map((request) => request.url)).toEqual([url]);
    expect(seen[0]?.rawHeaders.filter((text) => text === 'X-Security-Optimizer-Guard')).toHaveLength(1);
  });

  it.each(['TRACE', 'TRACK', 'CONNECT'])('is refused with the method %s', async (method) => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    const received = await exchange(
      gateway.port,
      `${method} ${method === 'CONNECT' ? 'b:80' : '/'} HTTP/1.1\r\nHost: a\r\n\r\n`,
    );
    expect([405, 400]).toContain(toStatus(received));
    expect(seen).toEqual([]);
  });
});
