import { execFile } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Logger } from './logger.js';

/** The first descriptor that a supervisor passes; 0 to 2 are the standard streams. */
const FIRST_DESCRIPTOR = 3;

const VARIABLES = ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES'] as const;

/** A supervisor passed something other than one listening socket. The message has the details. */
export class SocketActivationError extends Error {}

/**
 * Returns the listening socket that a supervisor such as systemd has passed to this process (sd_listen_fds(3)). The
 * environment variables are removed, so that no child process uses them.
 *
 * @returns its descriptor, or null when none was passed
 * @throws SocketActivationError for more than one socket, or for a descriptor that is no socket
 */
export function takeActivationSocket(env: NodeJS.ProcessEnv, pid: number): number | null {
  const { LISTEN_PID: owner, LISTEN_FDS: count = '' } = env;
  for (const name of VARIABLES) delete env[name];
  if (owner !== String(pid) || !/^[1-9]\d{0,4}$/.test(count)) return null;
  if (count !== '1') {
    throw new SocketActivationError(`Guard listens on one socket, and ${count} were passed to it (LISTEN_FDS).`);
  }
  if (!isSocket(FIRST_DESCRIPTOR)) {
    throw new SocketActivationError('LISTEN_FDS promises a socket as descriptor 3, and there is none.');
  }
  return FIRST_DESCRIPTOR;
}

function isSocket(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isSocket();
  } catch {
    return false;
  }
}

/** State of the service for a supervisor (sd_notify(3)). */
export type ServiceState = 'READY=1' | 'STOPPING=1';

/**
 * Sends the state of the service to the supervisor, if it has requested that with NOTIFY_SOCKET, which is removed from
 * the environment. The socket receives datagrams, which Node can't send over a Unix socket; the program
 * `systemd-notify` can.
 */
export function createServiceState(env: NodeJS.ProcessEnv, logger: Logger): (state: ServiceState) => Promise<void> {
  const { NOTIFY_SOCKET: socket } = env;
  delete env.NOTIFY_SOCKET;
  return async (state) => {
    if (socket === undefined || socket === '') return;
    try {
      await promisify(execFile)('systemd-notify', [state], { env: { ...env, NOTIFY_SOCKET: socket }, timeout: 10_000 });
    } catch (error) {
      logger.warn({ event: 'service-state-send-failed', state, err: error }, 'systemd could not be told the state.');
    }
  };
}
