import { randomInt } from 'node:crypto';
import { get } from 'node:http';
import { createServer } from 'node:net';
import getPort, { portNumbers } from 'get-port';

/** Whether a TCP port can be listened on. Throws for any reason but "already in use", such as a missing right. */
export function portIsFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * A free loopback port from 20000 to 31999: below those that Linux (32768 and up), macOS and Windows (49152 and up) give
 * to outgoing connections, so that none takes it until it is used, nor while a server is started anew.
 */
export function freePort(): Promise<number> {
  const first = randomInt(20_000, 31_000);
  return getPort({ host: '127.0.0.1', port: portNumbers(first, first + 999) });
}

/** Asks an address once over HTTP; true for any answer below 500. */
export function answersHttp(url: string, seconds = 5): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: seconds * 1000 }, (response) => {
      response.resume();
      resolve((response.statusCode ?? 500) < 500);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}
