import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { closing, exchange, RawClient, toBody, toStatus } from './raw-client.js';
import { rawServer, recordingServer, scriptedServer, startGateway, webServer } from './running-gateway.js';
import { eventually } from './support/scratch.js';

describe('an ordinary request', () => {
  it('reaches WordPress unchanged, and its response reaches the visitor unchanged', async () => {
    const { port, seen } = await recordingServer((_request, response) => {
      response.writeHead(201, 'Made', [
        'Set-Cookie',
        'a=1',
        'X-Odd-CASE',
        'b',
        'Set-Cookie',
        'c=2',
        'Content-Length',
        '2',
      ]);
      response.end('ok');
    });
    const gateway = await startGateway(port);
    const received = await exchange(
      gateway.port,
      closing('POST /a%20b/?c=%zz HTTP/1.1\r\nContent-Length: 5\r\nX-WP-Nonce: n', 'hello'),
    );
    expect(received).toMatch(/^HTTP\/1\.1 201 Made\r\n/);
    expect(received).toContain('Set-Cookie: a=1\r\nX-Odd-CASE: b\r\nSet-Cookie: c=2\r\n');
    expect(toBody(received)).toBe('ok');
    expect(seen).toMatchObject([
      { method: 'POST', url: '/a%20b/?c=%zz', body: 'hello', headers: { 'x-wp-nonce': 'n', host: 'example.com' } },
    ]);
  });

  it('with HEAD gets headers and no body', async () => {
    const { port } = await recordingServer();
    const gateway = await startGateway(port);
    const received = await exchange(gateway.port, closing('HEAD / HTTP/1.1'));
    expect([toStatus(received), toBody(received)]).toEqual([200, '']);
  });

  it.each(['204 No Content', '304 Not Modified\r\nETag: "a"'])('with the response %s gets no body', async (head) => {
    const { port } = await scriptedServer(`HTTP/1.1 ${head}\r\n\r\n`);
    const gateway = await startGateway(port);
    const received = await exchange(gateway.port, closing('GET / HTTP/1.1'));
    expect([toStatus(received), toBody(received)]).toEqual([Number(head.slice(0, 3)), '']);
  });

  it('with chunks reaches WordPress with chunks', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    await exchange(
      gateway.port,
      closing('PUT / HTTP/1.1\r\nTransfer-Encoding: chunked', '3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n'),
    );
    expect(seen[0]).toMatchObject({ method: 'PUT', body: 'abcde', headers: { 'transfer-encoding': 'chunked' } });
  });

  it('for a range gets the range', async () => {
    const { port, seen } = await recordingServer((_request, response) => {
      response.writeHead(206, { 'Content-Range': 'bytes 0-1/10', 'Content-Length': '2' }).end('ab');
    });
    const gateway = await startGateway(port);
    const received = await exchange(gateway.port, closing('GET /film.mp4 HTTP/1.1\r\nRange: bytes=0-1'));
    expect(received).toContain('Content-Range: bytes 0-1/10');
    expect(seen[0]?.headers.range).toBe('bytes=0-1');
  });

  it('of HTTP/1.0 gets a response, and the connection ends', async () => {
    const { port, seen } = await recordingServer((_request, response) => {
      response.write('a');
      response.end('b');
    });
    const gateway = await startGateway(port);
    const received = await new RawClient(gateway.port).send('GET / HTTP/1.0\r\nHost: a\r\n\r\n').end();
    expect(toBody(received)).toBe('ab');
    expect(received).not.toMatch(/transfer-encoding/i);
    expect(seen[0]?.headers.host).toBe('a');
  });

  it('with Expect: 100-continue gets 100 Continue', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n',
    );
    await client.until((text) => text === 'HTTP/1.1 100 Continue\r\n\r\n');
    await client.send('hello').until((text) => text.includes('200 OK'));
    expect(seen[0]?.body).toBe('hello');
    expect(seen[0]?.headers.expect).toBeUndefined();
  });

  it('that is refused never gets 100 Continue', async () => {
    const { port, seen } = await recordingServer();
    const gateway = await startGateway(port);
    gateway.rule({ options: { disable_xml_rpc: 1 } });
    const received = await exchange(
      gateway.port,
      'POST /xmlrpc.php HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n',
    );
    expect(toStatus(received)).toBe(403);
    expect(seen).toEqual([]);
  });
});

describe('a stream', () => {
  it('of events reaches the visitor before the first event', async () => {
    const port = await webServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.flushHeaders();
      setTimeout(() => response.write('data: 1\n\n'), 150);
    });
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const first = await client.until((text) => text.includes('\r\n\r\n'));
    expect(first).not.toContain('data:');
    await client.until((text) => text.includes('data: 1'));
  });

  it('of early hints forwards the hints', async () => {
    const { port } = await scriptedServer(
      'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload; as=style\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    );
    const gateway = await startGateway(port);
    const received = await exchange(gateway.port, closing('GET / HTTP/1.1'));
    expect(received).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>; rel=preload; as=style\r\n\r\nHTTP\/1\.1 200 OK/i,
    );
    const old = await new RawClient(gateway.port).send('GET / HTTP/1.0\r\nHost: a\r\n\r\n').end();
    expect(toStatus(old)).toBe(200);
  });
});

describe('a visitor who disconnects', () => {
  it('ends the request to WordPress', async () => {
    let closed = false;
    const port = await webServer((_request, response) => {
      response.on('close', () => {
        closed = true;
      });
      response.write('some');
    });
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((text) => text.includes('some'));
    client.socket.destroy();
    await eventually(() => closed);
  });

  it('in the middle of an upload leaves WordPress an aborted request, not a short one', async () => {
    const outcome: string[] = [];
    const port = await webServer((request) => {
      request.on('data', () => outcome.push('data'));
      request.on('end', () => outcome.push('end'));
      request.on('close', () => outcome.push('close'));
      request.on('error', () => {});
    });
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send(
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
    );
    await eventually(() => outcome.includes('data'));
    client.socket.destroy();
    await eventually(() => outcome.includes('close'));
    expect(outcome).not.toContain('end');
  });
});

describe('a response that is cut off', () => {
  it.each([
    ['with a length', 'Content-Length: 100\r\n\r\nsome'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n'],
    ['with an invalid chunk', 'Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\nzz\r\n'],
  ])('%s never looks complete to the visitor', async (_how, rest) => {
    const port = await rawServer((socket) => {
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\n${rest}`);
        setTimeout(() => socket.destroy(), 50);
      });
    });
    const gateway = await startGateway(port);
    const outcome = await new Promise<string>((resolve) => {
      const request = httpRequest({ port: gateway.port, host: '127.0.0.1' }, (response) => {
        response.resume();
        response.on('end', () => resolve('whole'));
        response.on('error', () => resolve('broken'));
      });
      request.on('error', () => resolve('broken'));
      request.end();
    });
    expect(outcome).toBe('broken');
  });

  it('is forwarded without the length when it has both a length and chunks', async () => {
    const { port } = await scriptedServer(
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    );
    const gateway = await startGateway(port);
    const received = await exchange(gateway.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(received).not.toMatch(/content-length/i);
    expect(received).toContain('hello');
  });
});

describe('a response before the upload is complete', () => {
  it('reaches the visitor, and the connection to WordPress is not reused', async () => {
    let connections = 0;
    const port = await rawServer((socket) => {
      connections++;
      socket.once('data', () => socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig'));
    });
    const gateway = await startGateway(port);
    const client = new RawClient(gateway.port).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n');
    await client.until((text) => text.includes('\r\n\r\nbig'));
    // The rest of the upload is read and dropped; then the same connection accepts the next request.
    client.send(Buffer.alloc(9_000_000)).send('GET /next HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((text) => text.split('413 Too Large').length === 3, 8000);
    expect(connections).toBe(2);
  });

  it('never makes WordPress read the rest of the body as a next request', async () => {
    const { port, received } = await scriptedServer('HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n');
    const gateway = await startGateway(port);
    const first = await exchange(
      gateway.port,
      'GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 20\r\n\r\n',
    );
    expect(toStatus(first)).toBe(400);
    await exchange(gateway.port, closing('GET /victim HTTP/1.1'));
    expect(received()).toMatch(/^GET \/victim/);
  });
});
