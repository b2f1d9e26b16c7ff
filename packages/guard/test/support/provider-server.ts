import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server of the provider on this machine. */
export interface ProviderServer {
  readonly url: string;
  /** Requests that it received, in order. */
  readonly received: { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[];
  /** Status of its next responses. */
  status: number;
}

/** Starts the server; it is closed after the test. */
export async function providerServer(): Promise<ProviderServer> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    provider.received.push({ path: request.url ?? '', body: JSON.parse(text) });
    response.writeHead(provider.status, { location: '/elsewhere' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  const provider: ProviderServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    status: 204,
  };
  return provider;
}
