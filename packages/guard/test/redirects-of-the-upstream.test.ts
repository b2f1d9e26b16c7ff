import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { exchange } from './raw-client.js';
import { recordingServer, startGateway } from './running-gateway.js';

/** A web server that redirects folders as nginx does by default: to the requested host, with its own port. */
async function redirectingServer(): Promise<number> {
  let port = 0;
  const redirectTo = (host: string, response: ServerResponse): void => {
    const url = `http://${host.replace(/:\d+$/, '')}:${port}/wp-admin/`;
    response.writeHead(301, { Location: url, 'Content-Location': url, Refresh: `0; url=${url}` }).end();
  };
  port = (await recordingServer((request, response) => redirectTo(request.headers.host ?? '', response))).port;
  return port;
}

/** Values of the headers that contain redirect targets, in order. */
const redirects = (text: string): string[] =>
  Array.from(text.matchAll(/^(?:content-location|location|refresh): (.*)\r$/gim), ([, value]) => value as string);

describe('redirects of the upstream web server', () => {
  it('lead to the host that the client requested, and never name the upstream port', async () => {
    const upstream = await redirectingServer();
    const gateway = await startGateway(upstream);
    const text = await exchange(
      gateway.port,
      'GET /wp-admin HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n',
    );
    const url = 'http://shop.example/wp-admin/';
    expect(redirects(text)).toEqual([url, url, `0; url=${url}`]);
    expect(text).not.toContain(String(upstream));
  });

  it('keep https and the client’s own port where a trusted proxy reports them', async () => {
    const gateway = await startGateway(await redirectingServer(), { trustedProxies: ['127.0.0.1'] });
    const text = await exchange(
      gateway.port,
      'GET /wp-admin HTTP/1.1\r\nHost: shop.example:8443\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n',
    );
    expect(redirects(text)[0]).toBe('https://shop.example:8443/wp-admin/');
  });

  it('do not name the port where a WebSocket was requested and refused', async () => {
    const upstream = await redirectingServer();
    const gateway = await startGateway(upstream);
    const text = await exchange(
      gateway.port,
      'GET /wp-admin HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    expect(redirects(text)[0]).toBe('http://shop.example/wp-admin/');
  });
});

describe('a response to HTTP/1.0', () => {
  it('has no header that repeats guard’s request to the web server', async () => {
    const { port, seen } = await recordingServer((request, response) => {
      // As PHP's own web server and some diagnostics do.
      const { host = '', 'x-forwarded-for': address = '' } = request.headers;
      response.writeHead(200, { Host: host, 'X-Forwarded-For': address, 'X-Upstream': host, 'X-WP-Total': '3' }).end();
    });
    const gateway = await startGateway(port);
    const text = await exchange(gateway.port, 'GET / HTTP/1.0\r\nHost: example.com\r\n\r\n');
    expect(seen[0]?.headers.host).toBe('example.com');
    expect(text).toMatch(/^X-WP-Total: 3\r$/m);
    expect(text).not.toMatch(/^(?:host|x-forwarded-for|x-upstream):/im);
    expect(text).not.toContain(String(port));
  });
});
