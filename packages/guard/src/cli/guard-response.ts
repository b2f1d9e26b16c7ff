import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import { isDataDirInUse } from '../storage/data-dir-lock.js';
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

/**
 * Whether guard responds to a request without a host, which it records nowhere. A guard that expects a PROXY header may
 * also close the connection because this machine is not a trusted proxy, which shows as well that it runs.
 */
async function responds({ listen, proxyProtocol }: Config): Promise<boolean> {
  const socket = connect(toLocalServer(listen));
  const timeout = setTimeout(() => socket.destroy(new Error('no reaction')), RESPONSE_MS);
  try {
    await once(socket, 'connect');
    socket.write(`${proxyProtocol ? 'PROXY UNKNOWN\r\n' : ''}HEAD / HTTP/1.0\r\n\r\n`);
    for await (const _ of socket) return true;
    return proxyProtocol;
  } catch (error) {
    // The connection was closed before or after the bytes were written.
    return proxyProtocol && /^(?:ECONNRESET|EPIPE)$/.test((error as NodeJS.ErrnoException).code ?? '');
  } finally {
    clearTimeout(timeout);
    socket.destroy();
  }
}
