import { fstatSync } from 'node:fs';

/** The first descriptor that a supervisor passes; 0 to 2 are the standard streams. */
const FIRST_DESCRIPTOR = 3;

const VARIABLES = ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES'] as const;

/** A supervisor passed something that is not one listening socket; the message says what. */
export class SocketActivationError extends Error {}

/**
 * Takes the listening socket that a supervisor such as systemd has passed to this process (sd_listen_fds(3)). The
 * variables are removed, so that no child takes it for its own.
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
