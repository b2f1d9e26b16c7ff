import { randomInt } from 'node:crypto';
import { get } from 'node:http';
import { createServer } from 'node:net';
import getPort, { portNumbers } from 'get-port';

/** Whether a TCP port is free. Throws for other errors than "already in use", such as a missing privilege. */
export function isPortFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Finds a free loopback port from 20000 to 31999. Linux (32768 and up), macOS and Windows (49152 and up) take higher
 * ports for outgoing connections, so no connection takes it before the server listens or while it restarts.
 */
export function findFreePort(): Promise<number> {
  const first = randomInt(20_000, 31_000);
  return getPort({ host: '127.0.0.1', port: portNumbers(first, first + 999) });
}

/** Sends one GET request; true for any response below 500. */
export function answersHttp(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 5000 }, (response) => {
      response.resume();
      resolve((response.statusCode ?? 500) < 500);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}
