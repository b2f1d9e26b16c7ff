import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type FakeConnector, fakeConnector } from './fake-connector.js';

export interface UpstreamServer {
  readonly connector: FakeConnector;
  readonly upstream: string;
  /** Scheme, host and address of each request, as in the headers of visitors' requests. */
  readonly seen: string[];
}

/** A web server between guard and the fake connector that may respond to a request itself. */
export async function webServer(
  decide: (request: IncomingMessage, response: ServerResponse) => boolean,
): Promise<UpstreamServer> {
  const connector = await fakeConnector();
  const seen: string[] = [];
  const server: Server = createServer(async (request, response) => {
    const {
      host,
      'x-forwarded-proto': scheme,
      'x-forwarded-for': address,
      'x-forwarded-host': named,
    } = request.headers;
    seen.push(`${scheme} ${host} ${address} ${request.headers['x-real-ip']} ${named === host}`);
    if (decide(request, response)) return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const passed = await fetch(`${connector.upstream}${request.url}`, {
      method: request.method as string,
      headers: Object.entries(request.headers).filter(
        ([name]) => !/^(?:host|connection|content-length)$/.test(name),
      ) as [string, string][],
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const signal = passed.headers.get('x-security-optimizer-signal');
    if (signal !== null) response.setHeader('x-security-optimizer-signal', signal);
    response.writeHead(passed.status).end(await passed.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { connector, upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** `if ($http_x_forwarded_proto != "https") { return 301 https://$host$request_uri; }` */
export const httpsOnly = (request: IncomingMessage, response: ServerResponse): boolean => {
  if (request.headers['x-forwarded-proto'] === 'https') return false;
  response.writeHead(301, { location: `https://${request.headers.host}${request.url}` }).end();
  return true;
};

/** A server for one name. Another server responds for every other name. */
export const forHost =
  (host: string, fallback: (response: ServerResponse) => void) =>
  (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.headers.host === host) return false;
    fallback(response);
    return true;
  };
