import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { lstat, rm } from 'node:fs/promises';
import { type AddressInfo, connect, type Server } from 'node:net';
import type { SocketAddress } from './socket-address.js';

/** A listening socket that another process has opened. */
export interface ListeningDescriptor {
  readonly descriptor: number;
}

/** The owner and the group of a socket file may connect, for example a proxy that is a member of the group. */
const SOCKET_MODE = 0o660;

/**
 * Connections that wait in the kernel until they are accepted, for example while guard starts. The kernel lowers it to
 * its own limit (`net.core.somaxconn`). Node asks for 511, also for a socket that another process has opened with more;
 * beyond it, connections over TCP wait for seconds or are lost, and those to a Unix socket fail at once.
 */
const BACKLOG = 65_535;

/**
 * Starts a server on an address. The socket file of a process that has ended is replaced. The server removes its socket
 * file when it closes.
 *
 * @returns the address with the port that the system has chosen for port 0; null for the descriptor of a Unix socket
 * @throws the system's error when the server can't listen on the address: EADDRINUSE when another program does
 */
export async function listenOn(server: Server, address: SocketAddress): Promise<SocketAddress>;
export async function listenOn(
  server: Server,
  address: SocketAddress | ListeningDescriptor,
): Promise<SocketAddress | null>;
export async function listenOn(
  server: Server,
  address: SocketAddress | ListeningDescriptor,
): Promise<SocketAddress | null> {
  if ('descriptor' in address) {
    // With a descriptor, Node ignores an option `backlog`.
    await listen(server, () => server.listen({ fd: address.descriptor }, BACKLOG));
    const bound = server.address();
    return bound === null || typeof bound === 'string' ? null : { host: bound.address, port: bound.port };
  }
  if (!('path' in address)) {
    await listen(server, () => server.listen({ host: address.host, port: address.port, backlog: BACKLOG }));
    const bound = server.address() as AddressInfo;
    return { host: bound.address, port: bound.port };
  }
  const { path } = address;
  const listenOnPath = () =>
    listen(server, () => {
      server.listen({ path, backlog: BACKLOG });
      // If `listen` has not failed, the socket file exists when it returns. Its mode must not depend on the umask.
      if (server.listening) chmodSync(path, SOCKET_MODE);
    });
  try {
    await listenOnPath();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || !(await isStale(path))) throw error;
    await rm(path, { force: true });
    await listenOnPath();
  }
  // In a worker process, the primary one creates the file, and `listen` returns before that.
  chmodSync(path, SOCKET_MODE);
  return address;
}

async function listen(server: Server, start: () => void): Promise<void> {
  const listening = once(server, 'listening');
  try {
    start();
    await listening;
  } catch (error) {
    listening.catch(() => {});
    if (server.listening) server.close();
    throw error;
  }
}

/** Whether a file is a socket on which no process listens. */
async function isStale(path: string): Promise<boolean> {
  const file = await lstat(path).catch(() => null);
  if (file === null) return true;
  if (!file.isSocket()) return false;
  const probe = connect({ path });
  try {
    await once(probe, 'connect');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  } finally {
    probe.destroy();
  }
}
