import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import type { SocketAddress } from '../lib/socket-address.js';
import { isDataDirInUse } from '../storage/data-dir-lock.js';
import { toNamedHost } from '../wordpress/site-origin.js';
import { toLocalServer } from './upstream-server-visits.js';

/** How long guard may take from its start until it answers, milliseconds. With thousands of sites that takes seconds. */
const START_MS = 10_000;
/** Pause between two attempts during that time. */
const POLL_MS = 100;
/** How long guard may take to answer, milliseconds. */
const RESPONSE_MS = 5000;

/**
 * Whether the guard that runs on a data folder answers at its address. One that has just started opens it only after
 * its sites are ready, and is awaited.
 */
export async function guardAnswers(config: Config): Promise<boolean> {
  const end = performance.now() + START_MS;
  while (!(await responds(config))) {
    if (performance.now() > end || !(await hasJustStarted(config.dataDir))) return false;
    await pause(POLL_MS);
  }
  return true;
}

/** Guard writes its process id when it has locked its data folder, which is the first that it does. */
async function hasJustStarted(dataDir: string): Promise<boolean> {
  if (!isDataDirInUse(dataDir)) return false;
  const written = await stat(join(dataDir, 'guard.pid')).catch(() => null);
  return written === null || Math.abs(Date.now() - written.mtimeMs) < START_MS;
}

/** Guard itself refuses an API request without a session, so this starts no PHP. */
async function responds({ listen, sites, proxyProtocol }: Config): Promise<boolean> {
  const name = toNamedHost(sites[0]?.hosts ?? []) ?? 'localhost';
  const server = toLocalServer(listen);
  if (proxyProtocol) return reactsToProxy(server);
  try {
    const outgoing = request({
      ...('path' in server ? { socketPath: server.path } : server),
      path: '/?rest_route=/security-optimizer/v1/fetch-options',
      method: 'POST',
      headers: { host: name },
      signal: AbortSignal.timeout(RESPONSE_MS),
    });
    await once(outgoing.end(), 'response');
    outgoing.destroy();
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a guard that expects a PROXY header responds, or closes the connection because this machine is not a trusted
 * proxy. Both show that it runs.
 */
async function reactsToProxy(server: SocketAddress): Promise<boolean> {
  const socket = connect(server);
  const timeout = setTimeout(() => socket.destroy(new Error('no reaction')), RESPONSE_MS);
  try {
    await once(socket, 'connect');
    socket.write('PROXY UNKNOWN\r\nGET /?rest_route=/security-optimizer/v1/fetch-options HTTP/1.0\r\n\r\n');
    for await (const _ of socket) break;
    return true;
  } catch (error) {
    // The connection was closed before or after the bytes were written.
    return /^(?:ECONNRESET|EPIPE)$/.test((error as NodeJS.ErrnoException).code ?? '');
  } finally {
    clearTimeout(timeout);
    socket.destroy();
  }
}
