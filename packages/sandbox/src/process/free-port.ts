import { createServer } from 'node:net';

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

/** Below the ports that Linux (32768 and up), macOS and Windows (49152 and up) give to outgoing connections. */
const PORTS = { first: 20_000, many: 12_000 };

/**
 * A free loopback port that no outgoing connection takes until it is used, nor while a server is started anew. Throws
 * when none is found.
 */
export async function freePort(): Promise<number> {
  for (let turn = 0; turn < 100; turn++) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.many);
    if (await portIsFree('127.0.0.1', port)) return port;
  }
  throw new Error('No free port was found.');
}
